//! Markdown files: front matter to metadata, the rest as it is.
//!
//! Reads the simple keys that front matter has in practice, not all of YAML or TOML.

use super::{DocumentKind, TextDocument, plain};
use crate::metadata::Date;
use crate::metadata::text::{clean, language_tag, push_unique, split_keywords};

const MAX_FRONT_MATTER_LINES: usize = 200;
const MAX_LIST: usize = 64;

pub(super) fn read(text: &str) -> TextDocument {
    let text = plain::clean(text);
    let (front, body) = split(&text);
    let mut document = TextDocument::new(
        DocumentKind::Markdown,
        body.trim_start_matches('\n').to_owned(),
    );
    let mut key = String::new();
    for line in front.lines() {
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            set(&mut document, &key, item);
        } else if let Some((name, value)) = line.split_once([':', '=']) {
            if name.starts_with([' ', '\t']) {
                continue;
            }
            key = name.trim().to_ascii_lowercase();
            set(&mut document, &key, value);
        }
    }
    document.metadata.author = document.metadata.authors.first().cloned();
    document.title = document.title.take().or_else(|| heading(&document.text));
    document
}

/// The front matter between two lines of `---` or `+++`, and what follows.
fn split(text: &str) -> (&str, &str) {
    let Some(first) = text.lines().next().map(str::trim_end) else {
        return ("", text);
    };
    if first != "---" && first != "+++" {
        return ("", text);
    }
    let start = text.find('\n').map_or(text.len(), |at| at + 1);
    let mut at = start;
    for line in text
        .get(start..)
        .unwrap_or_default()
        .split_inclusive('\n')
        .take(MAX_FRONT_MATTER_LINES)
    {
        let behind = at + line.len();
        if line.trim_end() == first || (first == "---" && line.trim_end() == "...") {
            let front = text.get(start..at).unwrap_or_default();
            return (front, text.get(behind..).unwrap_or_default());
        }
        at = behind;
    }
    ("", text)
}

fn set(document: &mut TextDocument, key: &str, value: &str) {
    let value = value.trim();
    let list = value
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'));
    let unquoted = |text: &str| clean(text.trim().trim_matches(['"', '\'']));
    let Some(text) = unquoted(list.unwrap_or(value)) else {
        return;
    };
    let metadata = &mut document.metadata;
    match key {
        "title" => document.title = document.title.take().or(Some(text)),
        "description" | "summary" | "abstract" => {
            metadata.description = metadata.description.take().or(Some(text));
        }
        "author" | "authors" => {
            let names = list.map_or(vec![value], |list| list.split(',').collect());
            for name in names.into_iter().filter_map(unquoted) {
                push_unique(&mut metadata.authors, name, MAX_LIST);
            }
        }
        "date" | "published" | "created" | "pubdate" => {
            metadata.publish_date = metadata.publish_date.or_else(|| Date::parse(&text));
        }
        "lastmod" | "updated" | "modified" => {
            metadata.modified_date = metadata.modified_date.or_else(|| Date::parse(&text));
        }
        "tags" | "keywords" | "categories" => {
            split_keywords(&text.replace(['"', '\''], ""), &mut metadata.keywords);
        }
        "lang" | "language" => metadata.language = language_tag(&text),
        _ => {}
    }
}

/// The first heading, if it stands before any other text.
fn heading(text: &str) -> Option<String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    if let Some(title) = first.strip_prefix("# ") {
        return clean(title.trim_end_matches('#'));
    }
    let underline = lines.next()?.trim_end();
    let underlined = underline.len() >= 3 && underline.chars().all(|c| c == '=');
    underlined.then(|| clean(first))?
}
