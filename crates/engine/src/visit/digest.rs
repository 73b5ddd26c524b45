//! What a page or document means, beyond its links: content, fingerprints, documents other than
//! HTML, sitemaps. Slow next to everything else, so it runs on threads of its own after the host
//! has its lease back, and writes into the settlement that the visit has made.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use trawl_extract::{
    Extracted, Extraction, Source, Unreadable, content_hash, extract, extract_page,
    metadata::Hints,
    sitemap::{Sitemap, SitemapLimits},
};
use trawl_fetch::{Body, Head};
use trawl_store::{
    contract::write::{Digest, NewLink, Settlement, Visit, VisitEnd},
    segment,
};
use trawl_types::{
    CrawlSpec, OutcomeKind, PageRecord, UnixMillis, record::PageContent, spec::KeepSpec,
};
use url::Url;

use super::{
    answer::names_a_sitemap,
    links::Parent,
    listed::{document_links, sitemap_links},
    read::record_of,
};
use crate::{plan::CrawlPlan, task::PageTask};

/// A body of which more is to be made.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) body: Body,
    kind: RawKind,
    url: Url,
    head: Head,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawKind {
    Page,
    Document,
}

impl Raw {
    pub(super) fn boxed(kind: RawKind, url: &Url, head: &Head, body: Body) -> Box<Self> {
        Box::new(Self {
            body,
            kind,
            url: url.clone(),
            head: head.clone(),
        })
    }
}

/// Adds to a settlement what its body means. A body that breaks the program is left as it is.
pub(crate) fn digest(plan: &CrawlPlan, raw: &Raw, task: &PageTask, settlement: &mut Settlement) {
    let work = AssertUnwindSafe(|| {
        let VisitEnd::Final(visit) = &mut settlement.end else {
            return;
        };
        let source = source(plan, raw);
        match raw.kind {
            RawKind::Page => take(plan, raw, visit, &extract_page(&raw.body.bytes, &source)),
            RawKind::Document => {
                let links = read_document(plan, raw, task, &source, visit);
                settlement.links.extend(links);
            }
        }
    });
    if catch_unwind(work).is_err() {
        tracing::error!(url = %raw.url, "content broke the program: please report it");
    }
}

fn source<'r>(plan: &'r CrawlPlan, raw: &'r Raw) -> Source<'r> {
    let all = |name: &str| -> Vec<&'r str> {
        let values = raw.head.headers.get_all(name).iter();
        values.filter_map(|value| value.to_str().ok()).collect()
    };
    Source {
        url: Some(&raw.url),
        content_type: raw.head.content_type.as_deref(),
        hints: hints(&plan.spec, all),
        max_content_bytes: usize::try_from(plan.spec.content.max_content_bytes)
            .unwrap_or(usize::MAX),
    }
}

/// What headers say about the content; `all` gives the values of one.
fn hints<'r>(spec: &'r CrawlSpec, all: impl Fn(&str) -> Vec<&'r str>) -> Hints<'r> {
    let one = |name: &str| all(name).first().copied();
    Hints {
        crawler: spec.fetch.user_agent.robots_name(),
        x_robots_tag: all("x-robots-tag"),
        content_signal: [all("content-signal"), all("content-usage")].concat(),
        link: all("link"),
        content_language: one("content-language"),
        last_modified: one("last-modified"),
        tdm_reservation: one("tdm-reservation"),
        tdm_policy: one("tdm-policy"),
    }
}

/// A document becomes a page if it has content. What it leads to is given back.
fn read_document(
    plan: &CrawlPlan,
    raw: &Raw,
    task: &PageTask,
    source: &Source<'_>,
    visit: &mut Visit,
) -> Vec<NewLink> {
    let others = plan.others();
    let named = others.sitemaps && names_a_sitemap(raw.url.path());
    if !others.documents {
        let lists = named || may_be_a_list(&raw.body.bytes);
        return if lists {
            list(plan, raw, task, visit)
        } else {
            Vec::new()
        };
    }
    match extract(&raw.body.bytes, source) {
        Extraction::Content(found) if named && found.kind == "plain_text" => {
            list(plan, raw, task, visit)
        }
        Extraction::Content(found) => {
            visit.outcome.kind = OutcomeKind::Fetched;
            visit.title.clone_from(&found.title);
            visit.language.clone_from(&found.language.declared);
            visit.content_hash = Some(content_hash(&found.text));
            keep_body(plan, raw, visit);
            take(plan, raw, visit, &found);
            let links = document_links(plan, &raw.url, &found.links, Parent::of(task));
            visit.links_total = found.links.len() as u32;
            links
        }
        Extraction::Nothing(Unreadable::Sitemap) if others.sitemaps => list(plan, raw, task, visit),
        Extraction::Nothing(_) if named => list(plan, raw, task, visit),
        Extraction::Nothing(why) => {
            visit.outcome.detail = why.to_string();
            Vec::new()
        }
    }
}

/// The addresses a sitemap lists.
fn list(plan: &CrawlPlan, raw: &Raw, task: &PageTask, visit: &mut Visit) -> Vec<NewLink> {
    let sitemap = Sitemap::parse(&raw.body.bytes, SitemapLimits::default());
    visit.links_total = (sitemap.entries.len() + sitemap.children.len()) as u32;
    sitemap_links(plan, &raw.url, &sitemap, task)
}

/// Markup or a packed file, at least: whatever comes without a type is no list of addresses.
fn may_be_a_list(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.starts_with(b"\x1f\x8b") || bytes.trim_ascii_start().starts_with(b"<")
}

fn keep_body(plan: &CrawlPlan, raw: &Raw, visit: &mut Visit) {
    if !plan.spec.keep.html {
        return;
    }
    let body = raw.body.bytes.clone();
    visit.body = Some(record_of(&raw.url, visit.crawled_at, &raw.head, body));
}

fn take(plan: &CrawlPlan, raw: &Raw, visit: &mut Visit, found: &Extracted) {
    visit.truncated |= found.truncated;
    let keep = plan.spec.keep;
    let json = keep.content().then(|| content_json(keep, found));
    visit.digest = Some(digest_of(&raw.url, visit.crawled_at, found, json));
}

/// Fingerprints, and the content where it is kept.
fn digest_of(url: &Url, at: UnixMillis, found: &Extracted, json: Option<Vec<u8>>) -> Digest {
    let content = json.map(|json| segment::encode_content(url.as_str(), at, json));
    Digest {
        // Pages without text are no copies of each other.
        text_hash: (found.word_count > 0).then_some(found.text_sha256),
        near: found.near_fingerprint.map(|print| print.0.0),
        near_duplicate_of: None,
        content,
    }
}

fn content_json(keep: KeepSpec, found: &Extracted) -> Vec<u8> {
    serde_json::to_vec(&content_of(keep, found)).unwrap_or_default()
}

fn content_of(keep: KeepSpec, found: &Extracted) -> PageContent {
    PageContent {
        kind: found.kind.to_owned(),
        title: found.title.clone(),
        language: found.language.best().map(str::to_owned),
        word_count: found.word_count as u64,
        reading_time_seconds: found.reading_time_seconds,
        truncated: found.truncated,
        markdown: keep.markdown.then(|| found.markdown.clone()),
        text: keep.text.then(|| found.text.clone()),
        metadata: metadata_of(found),
    }
}

/// What the entries of a feed say is in its text already, and that is cut where it is too much.
fn metadata_of(found: &Extracted) -> Value {
    let mut metadata = found.metadata.clone();
    let entries = metadata.get_mut("entries").and_then(Value::as_array_mut);
    for entry in entries
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        entry.remove("text");
    }
    metadata
}

/// What a page that was kept means by the rules of today: its digest, and the content in it as JSON.
/// Nothing if it has no content, or breaks the program.
/// `answer` is the answer as it was kept.
pub fn redigest(spec: &CrawlSpec, page: &PageRecord, answer: &[u8]) -> Option<(Digest, Vec<u8>)> {
    let (headers, body) = segment::split_answer(answer);
    let all = |name: &str| -> Vec<&str> {
        let named = headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        named.map(|(_, value)| *value).collect()
    };
    let url = Url::parse(page.final_url.as_ref().unwrap_or(&page.url)).ok()?;
    let source = Source {
        url: Some(&url),
        content_type: page.content_type.as_deref(),
        hints: hints(spec, all),
        max_content_bytes: usize::try_from(spec.content.max_content_bytes).unwrap_or(usize::MAX),
    };
    let work = AssertUnwindSafe(|| {
        let found = match extract(body, &source) {
            Extraction::Content(found) => found,
            Extraction::Nothing(_) => return None,
        };
        let json = content_json(spec.keep, &found);
        let digest = digest_of(&url, page.crawled_at, &found, Some(json.clone()));
        Some((digest, json))
    });
    let done = catch_unwind(work);
    done.unwrap_or_else(|_| {
        tracing::error!(%url, "content broke the program: please report it");
        None
    })
}
