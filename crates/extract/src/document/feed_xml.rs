//! RSS (0.9 to 2.0, RDF) and Atom feeds, well-formed or not.
//!
//! One pass without a tree; entities of the document's own making are never expanded. What could
//! be read before the first thing that is not XML is used.

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use url::Url;

use super::TextDocument;
use super::feed::{Builder, Raw};
use crate::html::entities;
use crate::warning::{Warning, warn_once};

const MAX_FIELD_BYTES: usize = 1024 * 1024;

/// A field whose text is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Title,
    Link,
    Guid,
    Author,
    Published,
    Updated,
    Content,
    Summary,
    Language,
    Generator,
}

/// A field, the depth of its element, and whether its text is plain and not HTML.
#[derive(Clone, Copy, Debug)]
struct Reading {
    field: Field,
    depth: usize,
    is_plain: bool,
}

#[derive(Debug)]
struct FeedReader<'a> {
    builder: Builder<'a>,
    depth: usize,
    head: Raw,
    /// The depth of the element whose children describe the feed.
    head_depth: Option<usize>,
    entry: Option<(Raw, usize)>,
    guid: String,
    reading: Option<Reading>,
    buffer: String,
}

pub(super) fn read(text: &str, url: Option<&Url>) -> TextDocument {
    let mut reader = Reader::from_str(text.trim_start());
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut feed = FeedReader {
        builder: Builder::new(url),
        depth: 0,
        head: Raw::default(),
        head_depth: None,
        entry: None,
        guid: String::new(),
        reading: None,
        buffer: String::new(),
    };
    let mut malformed = false;
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) if feed.handle(&event) => {}
            Ok(_) => break,
            Err(_) => {
                malformed = true;
                break;
            }
        }
    }
    malformed |= feed.entry.is_some();
    // An entry cut in two still has its title and address.
    feed.finish_entry();
    let cut = feed.builder.cut;
    let mut document = feed.builder.finish(&feed.head);
    if malformed {
        warn_once(&mut document.warnings, Warning::FeedMalformed);
    }
    if cut {
        warn_once(&mut document.warnings, Warning::ContentTruncated);
    }
    document
}

impl FeedReader<'_> {
    /// Says whether to go on.
    fn handle(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Start(tag) => {
                self.start(tag);
                self.depth += 1;
            }
            Event::Empty(tag) => {
                self.start(tag);
                return self.close(tag.name().as_ref());
            }
            Event::End(tag) => {
                self.depth = self.depth.saturating_sub(1);
                return self.close(tag.name().as_ref());
            }
            Event::Text(text) => self.text(text),
            Event::CData(text) => self.text(text),
            Event::GeneralRef(name) => self.reference(name),
            _ => {}
        }
        true
    }

    fn start(&mut self, tag: &BytesStart<'_>) {
        if let Some(reading) = self.reading {
            // Markup inside a field: XHTML content, or an author's name.
            let name = tag.local_name();
            let name: &str = name.as_ref();
            if reading.field == Field::Author {
                self.append(if name == "name" { "\u{1}" } else { "\u{2}" });
            } else {
                self.append("<");
                self.append(tag);
                self.append(">");
            }
            return;
        }
        let qualified = tag.name();
        let qualified: &str = qualified.as_ref();
        let local = tag.local_name();
        let local: &str = local.as_ref();
        match local {
            "channel" | "feed" if self.head_depth.is_none() => self.head_depth = Some(self.depth),
            "item" | "entry" if self.entry.is_none() => {
                self.entry = Some((Raw::default(), self.depth));
                self.guid.clear();
            }
            _ => self.field_start(tag, qualified, local),
        }
    }

    fn field_start(&mut self, tag: &BytesStart<'_>, qualified: &str, local: &str) {
        let parent = self
            .entry
            .as_ref()
            .map(|(_, depth)| *depth)
            .or(self.head_depth);
        if parent.is_none_or(|parent| self.depth != parent + 1) {
            return;
        }
        let Some(field) = field(qualified, local) else {
            return;
        };
        let is_atom = attribute(tag, "type");
        if field == Field::Link
            && let Some(href) = attribute(tag, "href")
        {
            let rel = attribute(tag, "rel").unwrap_or_default();
            if rel.is_empty() || rel == "alternate" {
                self.set(Field::Link, &href);
            }
            return;
        }
        let is_html = is_atom.as_deref().is_some_and(|kind| kind.contains("html"));
        // Only Atom says what a text is; everything in RSS may be HTML.
        let is_plain = matches!(local, "summary" | "subtitle" | "content") && !is_html
            || is_atom.as_deref() == Some("xhtml");
        self.reading = Some(Reading {
            field,
            depth: self.depth,
            is_plain,
        });
        self.buffer.clear();
    }

    fn text(&mut self, text: &str) {
        let Some(reading) = self.reading else { return };
        if reading.is_plain {
            self.append(&text.replace('&', "&amp;").replace('<', "&lt;"));
        } else {
            self.append(text);
        }
    }

    fn reference(&mut self, name: &str) {
        let Some(reading) = self.reading else { return };
        let reference = format!("&{name};");
        if reading.is_plain {
            return self.append(&reference);
        }
        // The references of HTML are decoded when the field is.
        match name {
            "amp" => self.append("&"),
            "lt" => self.append("<"),
            "gt" => self.append(">"),
            _ => self.append(&entities::text(&reference)),
        }
    }

    fn append(&mut self, text: &str) {
        let room = MAX_FIELD_BYTES.saturating_sub(self.buffer.len());
        let end = text.floor_char_boundary(room.min(text.len()));
        self.buffer.push_str(text.get(..end).unwrap_or_default());
    }

    /// An element ended. Says whether there is room for more entries.
    fn close(&mut self, name: &str) -> bool {
        if let Some(reading) = self.reading {
            if self.depth > reading.depth {
                if reading.field == Field::Author {
                    self.append("\u{2}");
                } else {
                    self.append("</");
                    self.append(name);
                    self.append(">");
                }
                return true;
            }
            self.reading = None;
            let text = std::mem::take(&mut self.buffer);
            self.set(reading.field, &text);
        }
        match self.entry {
            Some((_, depth)) if self.depth <= depth => self.finish_entry(),
            _ => true,
        }
    }

    fn finish_entry(&mut self) -> bool {
        let Some((mut raw, _)) = self.entry.take() else {
            return true;
        };
        if raw.link.is_empty() && self.guid.starts_with("http") {
            raw.link = std::mem::take(&mut self.guid);
        }
        self.builder.add(&raw)
    }

    fn set(&mut self, field: Field, text: &str) {
        let raw = self.entry.as_mut().map_or(&mut self.head, |(raw, _)| raw);
        let slot = match field {
            Field::Title => &mut raw.title,
            Field::Link => &mut raw.link,
            Field::Guid => &mut self.guid,
            Field::Published => &mut raw.published,
            Field::Updated => &mut raw.updated,
            Field::Content => &mut raw.content,
            Field::Summary => &mut raw.summary,
            Field::Language => &mut raw.language,
            Field::Generator => &mut raw.generator,
            Field::Author => {
                if raw.authors.len() < 16 {
                    raw.authors.push(author_name(text));
                }
                return;
            }
        };
        if slot.is_empty() {
            text.trim().clone_into(slot);
        }
    }
}

/// The name in `<name>` of an Atom author, in `mail@host (Name)` of RSS, or the text itself.
fn author_name(text: &str) -> String {
    if let Some((_, named)) = text.split_once('\u{1}') {
        return named
            .split('\u{2}')
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned();
    }
    let in_brackets = text
        .split_once('(')
        .and_then(|(_, behind)| behind.split_once(')'));
    in_brackets.map_or(text, |(name, _)| name).trim().to_owned()
}

fn field(qualified: &str, local: &str) -> Option<Field> {
    let prefix = qualified.strip_suffix(local).unwrap_or_default();
    if matches!(
        prefix,
        "media:" | "itunes:" | "googleplay:" | "podcast:" | "image:"
    ) {
        return None;
    }
    Some(match local {
        "title" => Field::Title,
        "link" => Field::Link,
        "guid" | "id" => Field::Guid,
        "author" | "creator" => Field::Author,
        "pubDate" | "date" | "published" | "issued" | "created" => Field::Published,
        "updated" | "modified" | "lastBuildDate" => Field::Updated,
        "encoded" | "content" => Field::Content,
        "description" | "summary" | "subtitle" | "tagline" => Field::Summary,
        "language" => Field::Language,
        "generator" => Field::Generator,
        _ => return None,
    })
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let mut attributes = attributes.with_checks(false).flatten();
    let found = attributes.find(|attribute| attribute.key.as_ref() == name)?;
    Some(entities::attribute_value(&found.value).into_owned())
}
