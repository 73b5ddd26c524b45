//! Where a document leads: the links of Markdown and the entries of feeds, as found.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::{DocumentMetadata, TextDocument};
use crate::page::href::{self, MAX_HREF_BYTES};

/// More links than any reader follows.
const MAX_LINKS: usize = 10_000;
const MAX_ANCHOR_CHARS: usize = 200;

/// A link of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLink {
    /// The address as found, not resolved; never of a scheme other than http or https.
    pub href: String,
    /// What it is called.
    pub anchor: String,
}

/// The links of Markdown in the order of the text; images are none.
pub(super) fn of_markdown(document: &TextDocument) -> Vec<DocumentLink> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    let mut links = Vec::new();
    let mut open: Option<DocumentLink> = None;
    for event in Parser::new_ext(&document.text, options) {
        match event {
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                ..
            }) if link_type != LinkType::Email => {
                open = Some(DocumentLink {
                    href: dest_url.into_string(),
                    anchor: String::new(),
                });
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(link) = &mut open {
                    let room = MAX_ANCHOR_CHARS.saturating_sub(link.anchor.chars().count());
                    link.anchor.extend(text.chars().take(room));
                }
            }
            Event::End(TagEnd::Link) => links.extend(open.take().filter(is_link)),
            _ => {}
        }
        if links.len() >= MAX_LINKS {
            break;
        }
    }
    links
}

/// The pages that the entries of a feed stand for.
pub(super) fn of_feed(metadata: &DocumentMetadata) -> Vec<DocumentLink> {
    let entries = metadata.entries.iter().filter_map(|entry| {
        Some(DocumentLink {
            href: entry.url.as_ref()?.as_str().to_owned(),
            anchor: entry.title.clone().unwrap_or_default(),
        })
    });
    entries.take(MAX_LINKS).collect()
}

fn is_link(link: &DocumentLink) -> bool {
    let href = link.href.as_str();
    let within = href.is_empty() || href.starts_with('#');
    !within && href.len() <= MAX_HREF_BYTES && href::is_crawlable(href)
}

#[cfg(test)]
mod tests {
    use super::super::DocumentKind;
    use super::*;

    #[test]
    fn links_of_markdown_are_found_and_images_fragments_and_mail_are_not() {
        let text = "See [the *log*](../log/2.md), <https://a.test/x> and [notes][n].\n\n\
                    ![pic](p.png) [top](#top) [mail](mailto:a@b.test) <a@b.test> `[code](c)`\n\n[n]: /notes";
        let document = TextDocument::new(DocumentKind::Markdown, text.to_owned());
        let found: Vec<_> = of_markdown(&document)
            .into_iter()
            .map(|link| (link.href, link.anchor))
            .collect();
        let expected = [
            ("../log/2.md", "the log"),
            ("https://a.test/x", "https://a.test/x"),
            ("/notes", "notes"),
        ];
        assert_eq!(found, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }
}
