//! Which fields of a record are shown. Selection hides, it never renames.

use serde_json::{Map, Value, json};
use trawl_store::contract::read::StoredLink;
use trawl_types::PageRecord;

use crate::{display, exit::BadInput};

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
    "etag",
    "last_modified",
    "robots",
    "links_total",
    "attempts",
    "fetch_time_ms",
    "crawled_at",
    "has_body",
    "seq",
    "links",
];

/// Shown unless others are asked for: all but the links, which multiply the size.
const DEFAULT: usize = ALL.len() - 1;

#[derive(Debug, Clone)]
pub(crate) struct Fields(Vec<&'static str>);

impl Fields {
    pub(crate) fn parse(names: &[String]) -> Result<Self, BadInput> {
        if names.is_empty() {
            return Ok(Self(ALL[..DEFAULT].to_vec()));
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

    pub(crate) fn names(&self) -> &[&'static str] {
        &self.0
    }

    pub(crate) fn wants_links(&self) -> bool {
        self.0.contains(&"links")
    }

    /// The chosen fields of a record, in order. Fields without a value are left out.
    pub(crate) fn object(&self, record: &PageRecord, links: &[StoredLink]) -> Map<String, Value> {
        let mut object = Map::new();
        for name in &self.0 {
            let value = value(name, record, links);
            if !value.is_null() {
                object.insert((*name).to_owned(), value);
            }
        }
        object
    }
}

/// One field of a record; `null` where it has no value.
pub(crate) fn value(name: &str, record: &PageRecord, links: &[StoredLink]) -> Value {
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
        "etag" => json!(record.etag),
        "last_modified" => json!(record.last_modified),
        "robots" => json!(record.robots),
        "links_total" => json!(record.links_total),
        "attempts" => json!(record.attempts),
        "fetch_time_ms" => json!(record.fetch_time_ms),
        "crawled_at" => json!(display::time(record.crawled_at)),
        "has_body" => json!(record.has_body),
        "seq" => json!(record.seq),
        "links" => links.iter().map(link).collect(),
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
