//! Which fields of a record are shown. Selection hides, it never renames.

use serde_json::{Map, Value, json};
use trawl_store::contract::read::StoredLink;
use trawl_types::PageRecord;

use super::besides::Besides;
use crate::exit::BadInput;

/// Every field, in the order in which they are written.
const ALL: &[&str] = &[
    "url",
    "final_url",
    "redirect_to",
    "canonical_url",
    "depth",
    "parent",
    "outcome",
    "status_code",
    "error",
    "title",
    "description",
    "content_type",
    "charset",
    "language",
    "content_length",
    "content_hash",
    "truncated",
    "duplicate_of",
    "near_duplicate_of",
    "etag",
    "last_modified",
    "robots",
    "links_total",
    "attempts",
    "fetch_time_ms",
    "crawled_at",
    "has_body",
    "seq",
    "markdown",
    "text",
    "metadata",
    "word_count",
    "html",
    "links",
];

/// Multiply the size of the output, so they are shown only where they are asked for.
const LARGE: &[&str] = &[
    "markdown",
    "text",
    "metadata",
    "word_count",
    "html",
    "links",
];

#[derive(Debug, Clone)]
pub(crate) struct Fields(Vec<&'static str>);

impl Fields {
    pub(crate) fn parse(names: &[String]) -> Result<Self, BadInput> {
        if names.is_empty() {
            let small = ALL.iter().filter(|name| !LARGE.contains(name));
            return Ok(Self(small.copied().collect()));
        }
        let known = |name: &String| {
            let name = name.trim();
            ALL.iter()
                .find(|field| **field == name)
                .copied()
                .ok_or_else(|| {
                    BadInput(format!(
                        "--fields: there is no field {name:?}; there are: {}",
                        ALL.join(", ")
                    ))
                })
        };
        names.iter().map(known).collect::<Result<_, _>>().map(Self)
    }

    /// Every field, the large ones too.
    pub(crate) fn all() -> Self {
        Self(ALL.to_vec())
    }

    pub(crate) fn names(&self) -> &[&'static str] {
        &self.0
    }

    /// Adds fields to those that are shown.
    pub(crate) fn show(&mut self, names: &[&'static str]) {
        let new = names.iter().filter(|name| !self.0.contains(name));
        let new: Vec<&'static str> = new.copied().collect();
        self.0.extend(new);
    }

    pub(crate) fn wants(&self, names: &[&str]) -> bool {
        self.0.iter().any(|name| names.contains(name))
    }

    /// The chosen fields of a record, in order. Fields without a value are left out.
    pub(crate) fn object(&self, record: &PageRecord, besides: &Besides) -> Map<String, Value> {
        let mut object = Map::new();
        for name in &self.0 {
            let value = value(name, record, besides);
            if !value.is_null() {
                object.insert((*name).to_owned(), value);
            }
        }
        object
    }
}

/// One field of a record; `null` where it has no value.
pub(crate) fn value(name: &str, record: &PageRecord, besides: &Besides) -> Value {
    let content = besides.content.as_ref();
    match name {
        "url" => json!(record.url),
        "final_url" => json!(record.final_url),
        "redirect_to" => json!(record.redirect_to),
        "canonical_url" => json!(record.canonical_url),
        "depth" => json!(record.depth),
        "parent" => json!(record.parent),
        "outcome" => json!(record.outcome),
        "status_code" => json!(record.status_code),
        "error" => json!(record.error),
        "title" => json!(record.title),
        "description" => json!(record.description),
        "content_type" => json!(record.content_type),
        "charset" => json!(record.charset),
        "language" => json!(record.language),
        "content_length" => json!(record.content_length),
        "content_hash" => json!(record.content_hash),
        "truncated" => json!(record.truncated),
        "duplicate_of" => json!(record.duplicate_of),
        "near_duplicate_of" => json!(record.near_duplicate_of),
        "etag" => json!(record.etag),
        "last_modified" => json!(record.last_modified),
        "robots" => json!(record.robots),
        "links_total" => json!(record.links_total),
        "attempts" => json!(record.attempts),
        "fetch_time_ms" => json!(record.fetch_time_ms),
        "crawled_at" => json!(record.crawled_at.iso()),
        "has_body" => json!(record.has_body),
        "seq" => json!(record.seq),
        "markdown" => json!(content.and_then(|content| content.markdown.as_ref())),
        "text" => json!(content.and_then(|content| content.text.as_ref())),
        "metadata" => content.map_or(Value::Null, |content| content.metadata.clone()),
        "word_count" => json!(content.map(|content| content.word_count)),
        "html" => json!(besides.html),
        "links" => besides.links.iter().map(link).collect(),
        _ => Value::Null,
    }
}

fn link(link: &StoredLink) -> Value {
    json!({
        "url": link.url,
        "anchor": link.anchor,
        "kind": link.kind,
        "rel": link.rel.words(),
        "place": link.place,
    })
}
