//! JSON feeds, versions 1 and 1.1.

use serde_json::Value;
use url::Url;

use super::TextDocument;
use super::feed::{Builder, Raw};

pub(super) fn read(text: &str, url: Option<&Url>) -> Option<TextDocument> {
    let feed: Value = serde_json::from_str(text).ok()?;
    let mut builder = Builder::new(url);
    for item in feed
        .get("items")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let link = first(item, &["url", "external_url"]);
        let mut content = first(item, &["content_html"]);
        if content.is_empty() {
            content = as_html(&first(item, &["content_text"]));
        }
        let raw = Raw {
            title: escaped(&first(item, &["title"])),
            link,
            authors: authors(item),
            published: first(item, &["date_published"]),
            updated: first(item, &["date_modified"]),
            content,
            summary: as_html(&first(item, &["summary"])),
            ..Raw::default()
        };
        if !builder.add(&raw) {
            break;
        }
    }
    let head = Raw {
        title: escaped(&first(&feed, &["title"])),
        link: first(&feed, &["home_page_url"]),
        authors: authors(&feed),
        summary: escaped(&first(&feed, &["description"])),
        language: first(&feed, &["language"]),
        ..Raw::default()
    };
    Some(builder.finish(&head))
}

fn first(value: &Value, keys: &[&str]) -> String {
    let mut texts = keys.iter().filter_map(|key| value.get(*key)?.as_str());
    texts.next().unwrap_or_default().to_owned()
}

fn authors(value: &Value) -> Vec<String> {
    let list = value
        .get("authors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let names = list
        .chain(value.get("author"))
        .map(|author| first(author, &["name"]));
    names.filter(|name| !name.is_empty()).take(16).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Plain text as paragraphs of HTML.
fn as_html(text: &str) -> String {
    let paragraphs = text
        .split("\n\n")
        .map(|paragraph| format!("<p>{}</p>", escaped(paragraph).replace('\n', "<br>")));
    if text.is_empty() {
        String::new()
    } else {
        paragraphs.collect()
    }
}
