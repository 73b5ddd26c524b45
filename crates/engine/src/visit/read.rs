//! A body read through: bytes to text, to links and metadata; and to a record for the archive.

use bytes::Bytes;
use trawl_extract::{PageFacts, PageLimits, charset};
use trawl_fetch::{Body, Head};
use trawl_store::segment::{self, Record};
use trawl_types::UnixMillis;
use url::Url;

use super::links::{Links, Parent, links_of};
use crate::plan::CrawlPlan;

/// What was found in a body, and what is kept of it.
pub(super) struct ReadBody {
    pub(super) length: u64,
    pub(super) truncated: bool,
    pub(super) facts: Facts,
    /// Made by whoever owns the body.
    pub(super) record: Option<Record>,
}

/// What was found in a body.
pub(super) struct Facts {
    pub(super) page: PageFacts<'static>,
    pub(super) charset: &'static str,
    pub(super) hash: [u8; 32],
    pub(super) links: Links,
}

/// Bytes to facts: decode, scan, normalise, judge.
pub(super) fn read_through(
    plan: &CrawlPlan,
    url: &Url,
    head: &Head,
    parent: Parent,
    body: &Body,
) -> ReadBody {
    let tld = url.host_str().and_then(|host| host.rsplit('.').next());
    let decoded = charset::decode(&body.bytes, head.content_type.as_deref(), tld);
    let limits = PageLimits {
        max_links: plan.spec.scope.max_links_per_page as usize,
        crawler: plan.spec.fetch.user_agent.robots_name(),
        ..PageLimits::default()
    };
    let (page, found) = trawl_extract::page(&decoded.text, url, limits).apart();
    let links = links_of(plan, &page, head, found, parent);
    let hash = trawl_extract::content_hash(&decoded.text);
    let facts = Facts {
        page,
        charset: decoded.encoding,
        hash,
        links,
    };
    ReadBody {
        length: body.bytes.len() as u64,
        truncated: body.truncated,
        facts,
        record: None,
    }
}

/// The record of an answer, of which the body becomes part.
pub(super) fn record_of(url: &Url, at: UnixMillis, head: &Head, body: Bytes) -> Record {
    let headers = head.headers.iter();
    let headers = headers.map(|(name, value)| (name.as_str(), value.as_bytes()));
    segment::encode(url.as_str(), at, head.status, headers, body)
}
