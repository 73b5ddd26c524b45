//! A page as it is sent: the record of its visit, and what was kept of it where that is wanted.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trawl_extract::charset::decode;
use trawl_store::{
    StoreError,
    contract::{jobs::JobRow, read::CrawlRow, server::ServerStore},
};
use trawl_types::{
    CrawlId, OutcomeKind, PageRecord,
    record::PageContent,
    spec::{KeepSpec, RobotsPolicy},
};

use super::fields::Fields;
use crate::app::App;

/// Makes pages of records.
#[derive(Debug, Clone)]
pub(crate) struct Pages {
    store: Arc<dyn ServerStore>,
    crawl: CrawlId,
    fields: Fields,
    content_bytes: usize,
    robots_obeyed: bool,
}

/// What a crawl must keep so that these fields can be sent.
pub(crate) fn keep_for(fields: &Fields) -> KeepSpec {
    KeepSpec {
        html: fields.has("content"),
        markdown: fields.has("markdown") || fields.has("metadata"),
        text: fields.has("text"),
    }
}

/// What was kept of a page.
#[derive(Debug, Default)]
struct Kept {
    links: Vec<String>,
    html: Option<String>,
    content: Option<PageContent>,
    truncated: bool,
}

impl Pages {
    pub(crate) fn of(app: &App, row: &JobRow, fields: Fields) -> Self {
        Self::of_crawl(app, &row.crawl, fields)
    }

    pub(crate) fn of_crawl(app: &App, crawl: &CrawlRow, fields: Fields) -> Self {
        Self {
            store: Arc::clone(&app.store),
            crawl: crawl.id,
            fields,
            content_bytes: app.settings.limits.content_bytes as usize,
            robots_obeyed: crawl.spec.politeness.robots != RobotsPolicy::Ignore,
        }
    }

    pub(crate) async fn page(&self, record: &PageRecord) -> Result<Map<String, Value>, StoreError> {
        let kept = self.kept(record).await?;
        let mut page = Map::new();
        for field in self.fields.names() {
            let value = self.value(field, record, &kept);
            // What a page has not is left out, but for the lists and flags that always are there.
            if !value.is_null() {
                page.insert(field.to_owned(), value);
            }
        }
        Ok(page)
    }

    async fn kept(&self, record: &PageRecord) -> Result<Kept, StoreError> {
        let mut kept = Kept::default();
        if self.fields.has("links") {
            let links = self.store.links_of(self.crawl, record.page_id).await?;
            kept.links = links.into_iter().map(|link| link.url).collect();
        }
        let wants = |names: &[&str]| names.iter().any(|name| self.fields.has(name));
        if record.has_content && wants(&["markdown", "text", "metadata"]) {
            let json = self.store.content(self.crawl, record.seq).await?;
            kept.content = json.and_then(|json| serde_json::from_slice(&json).ok());
            kept.truncated |= kept
                .content
                .as_ref()
                .is_some_and(|content| content.truncated);
        }
        if record.has_body && self.fields.has("content") {
            let body = self.store.body(self.crawl, record.seq).await?;
            if let Some(body) = body {
                let header = record.content_type.as_deref();
                let mut html = decode(&body, header, None).text.into_owned();
                kept.truncated |= cut(&mut html, self.content_bytes);
                kept.html = Some(html);
            }
        }
        Ok(kept)
    }

    fn value(&self, field: &str, record: &PageRecord, kept: &Kept) -> Value {
        let content = kept.content.as_ref();
        match field {
            "url" => json!(record.url),
            "final_url" => json!(record.final_url),
            "canonical_url" => json!(record.canonical_url),
            "redirect_to" => json!(record.redirect_to),
            "parent" => json!(record.parent),
            "depth" => json!(record.depth),
            "status_code" => json!(record.status_code.unwrap_or(0)),
            "outcome" => json!(record.outcome.as_str()),
            "title" => json!(record.title),
            "description" => json!(record.description),
            "language" => json!(record.language),
            "content" => json!(kept.html),
            "markdown" => json!(content.and_then(|content| content.markdown.as_ref())),
            "text" => json!(content.and_then(|content| content.text.as_ref())),
            "metadata" => content.map_or(Value::Null, |content| content.metadata.clone()),
            "links" => json!(kept.links),
            "links_total" => json!(record.links_total),
            "mime" => json!(record.content_type),
            "charset" => json!(record.charset),
            "content_length" => json!(record.content_length),
            "content_hash" => json!(record.content_hash),
            "etag" => json!(record.etag),
            "last_modified" => json!(record.last_modified),
            "robots" => json!(record.robots),
            "robots_obeyed" => json!(self.robots_obeyed),
            "disallowed" => json!(record.outcome == OutcomeKind::RobotsDenied),
            "duplicate_of" => json!(record.duplicate_of),
            "near_duplicate_of" => json!(record.near_duplicate_of),
            "attempts" => json!(record.attempts),
            "fetch_time_ms" => json!(record.fetch_time_ms),
            "fetch_error" => fetch_error(record),
            "truncated" => json!(record.truncated || kept.truncated),
            "crawled_at" => json!(record.crawled_at.iso()),
            _ => Value::Null,
        }
    }
}

fn fetch_error(record: &PageRecord) -> Value {
    if !record.outcome.is_error() {
        return Value::Null;
    }
    let outcome = record.outcome.as_str();
    match record.error.as_deref().filter(|text| !text.is_empty()) {
        Some(detail) => json!(format!("{outcome}: {detail}")),
        None => json!(outcome),
    }
}

/// Cuts at a character boundary; true if something was cut.
fn cut(text: &mut String, most: usize) -> bool {
    if text.len() <= most {
        return false;
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or(0));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_cut_at_a_character_boundary() {
        let mut text = "aäöü".to_owned();
        assert!(cut(&mut text, 4));
        assert_eq!(text, "aä");
        assert!(!cut(&mut text, 4));
    }
}
