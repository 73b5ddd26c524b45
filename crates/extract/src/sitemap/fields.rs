//! The fields of one `<url>`, `<sitemap>`, `<item>` or `<entry>` while it is being read.

use quick_xml::events::BytesRef;

use super::{ChangeFrequency, Found, SitemapChild, SitemapEntry};
use crate::page::href::MAX_HREF_BYTES;

/// The element that holds one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Url,
    Sitemap,
    Item,
    Entry,
}

impl Holder {
    pub(super) fn of(local_name: &str) -> Option<Holder> {
        Some(match local_name {
            "url" => Holder::Url,
            "sitemap" => Holder::Sitemap,
            "item" => Holder::Item,
            "entry" => Holder::Entry,
            _ => return None,
        })
    }

    /// The field a child element's text belongs to.
    pub(super) fn field(self, local_name: &str) -> Option<Field> {
        match (self, local_name) {
            (Holder::Url | Holder::Sitemap, "loc") | (Holder::Item, "link") => Some(Field::Loc),
            (Holder::Item, "guid") => Some(Field::Guid),
            (Holder::Entry, "published") => Some(Field::Published),
            (Holder::Url | Holder::Sitemap, "lastmod")
            | (Holder::Item, "pubDate" | "date")
            | (Holder::Entry, "updated") => Some(Field::LastMod),
            (Holder::Url, "priority") => Some(Field::Priority),
            (Holder::Url, "changefreq") => Some(Field::ChangeFreq),
            _ => None,
        }
    }
}

/// A field whose text is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Loc,
    /// An item's identity, which by default is its address.
    Guid,
    LastMod,
    /// The date of an entry that has none of its last change.
    Published,
    Priority,
    ChangeFreq,
}

/// The text of the fields; of repeated fields the first one counts.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) loc: Option<String>,
    pub(super) guid: Option<String>,
    lastmod: Option<String>,
    published: Option<String>,
    priority: Option<String>,
    changefreq: Option<String>,
}

impl Fields {
    pub(super) fn set(&mut self, field: Field, text: &str) {
        let slot = match field {
            Field::Loc => &mut self.loc,
            Field::Guid => &mut self.guid,
            Field::LastMod => &mut self.lastmod,
            Field::Published => &mut self.published,
            Field::Priority => &mut self.priority,
            Field::ChangeFreq => &mut self.changefreq,
        };
        if slot.is_none() {
            *slot = Some(text.trim().to_owned());
        }
    }

    pub(super) fn finish(self, holder: Holder) -> Found {
        let loc = self.loc.unwrap_or_default();
        let lastmod = self
            .lastmod
            .or(self.published)
            .filter(|date| !date.is_empty())
            .map(String::into_boxed_str);
        if holder == Holder::Sitemap {
            return Found::Child(SitemapChild { loc, lastmod });
        }
        let priority = self.priority.and_then(|text| text.parse::<f32>().ok());
        let priority = priority
            .filter(|value| value.is_finite())
            .map(|value| value.clamp(0., 1.));
        let changefreq = self.changefreq.and_then(|text| frequency(&text));
        Found::Page(SitemapEntry {
            loc,
            lastmod,
            priority,
            changefreq,
        })
    }
}

fn frequency(text: &str) -> Option<ChangeFrequency> {
    Some(match text.to_ascii_lowercase().as_str() {
        "always" => ChangeFrequency::Always,
        "hourly" => ChangeFrequency::Hourly,
        "daily" => ChangeFrequency::Daily,
        "weekly" => ChangeFrequency::Weekly,
        "monthly" => ChangeFrequency::Monthly,
        "yearly" => ChangeFrequency::Yearly,
        "never" => ChangeFrequency::Never,
        _ => return None,
    })
}

/// Appends text to a field, up to a little more than an address may have.
pub(super) fn append(buffer: &mut String, text: &str) {
    let room = (MAX_HREF_BYTES + 1).saturating_sub(buffer.len());
    let mut end = text.len().min(room);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    buffer.push_str(text.get(..end).unwrap_or_default());
}

/// Appends what `&name;` stands for. Only the five names of XML and character numbers are known:
/// entities a document declares are never expanded.
pub(super) fn append_reference(buffer: &mut String, reference: &BytesRef<'_>) {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        append(buffer, character.encode_utf8(&mut [0; 4]));
        return;
    }
    let name: &str = reference;
    match name {
        "amp" => append(buffer, "&"),
        "lt" => append(buffer, "<"),
        "gt" => append(buffer, ">"),
        "quot" => append(buffer, "\""),
        "apos" => append(buffer, "'"),
        _ => {}
    }
}
