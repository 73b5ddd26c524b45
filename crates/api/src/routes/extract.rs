//! Main content of pages: one, many, or those of a crawl. A page is fetched once, politely, by the
//! same engine as every crawl; where the asker is content with that, what was fetched a while ago is
//! given again ([`kept`]).

mod kept;

use std::collections::HashMap;

use axum::{Json, extract::State, http::HeaderMap};
use regex::Regex;
use serde::{Deserialize, Serialize};
use trawl_extract::{Extraction, Source, extract as extract_content};
use trawl_rules::Normaliser;
use trawl_types::{OutcomeKind, PageRecord, Sequence, record::PageContent, spec::KeepSpec};
use utoipa::ToSchema;

use super::{crawl::pages, input, spider::begin};
use crate::{
    app::Shared,
    auth::{Identity, Writer},
    error::{ApiError, Code, ErrorBody},
    jobs::{
        follow::Follow,
        view::{duration_seconds, failed, stop_reason},
    },
    spider::{request::SpiderBody, stream::Attendance},
};

/// URLs of one batch.
const MOST_URLS: usize = 100;
const MOST_AT_ONCE: u32 = 20;
/// Somebody waits for the answer.
const INTERACTIVE: Option<&str> = Some("high");

/// What is known of a page besides its content.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub(super) struct PageMetadata {
    title: Option<String>,
    author: Option<String>,
    publish_date: Option<String>,
    language: Option<String>,
    word_count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Success,
    Failed,
}

/// One page of an answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(super) struct ExtractedPage {
    url: String,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<PageMetadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crawl_depth: Option<u32>,
    truncated: bool,
    /// When it was fetched, where that was for somebody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_at: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
enum Format {
    Markdown,
    Text,
    Html,
}

fn format(text: Option<&str>) -> Result<Format, ApiError> {
    match text {
        None | Some("markdown") => Ok(Format::Markdown),
        Some("text") => Ok(Format::Text),
        Some("html") => Ok(Format::Html),
        Some(_) => Err(ApiError::field("format", "must be markdown, text or html")),
    }
}

/// One URL, or HTML that is sent along.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "html": "<h1>Hello</h1><p>World.</p>", "base_url": "https://example.org/" }))]
pub(super) struct ExtractRequest {
    url: Option<String>,
    html: Option<String>,
    /// What links of `html` are relative to.
    base_url: Option<String>,
    /// markdown, text or html.
    format: Option<String>,
    /// Be content with what was fetched at most this long ago; 0 if left out. How long anything is kept
    /// is the server's to decide.
    max_age_seconds: Option<u32>,
}

/// The main content of one page.
#[utoipa::path(post, path = "/extract", tag = "extract", request_body = ExtractRequest, responses(
    (status = 200, body = ExtractedPage), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 413, body = ErrorBody), (status = 415, body = ErrorBody),
    (status = 422, body = ErrorBody), (status = 429, body = ErrorBody)))]
pub(super) async fn extract(
    State(app): State<Shared>,
    Writer(identity): Writer,
    headers: HeaderMap,
    input::Json(body): input::Json<ExtractRequest>,
) -> Result<Json<ExtractedPage>, ApiError> {
    let format = format(body.format.as_deref())?;
    match (body.url, body.html) {
        (Some(url), None) => {
            let wanted = Wanted {
                urls: vec![url.clone()],
                at_once: 1,
                format,
                max_age: body.max_age_seconds.unwrap_or(0),
            };
            let mut pages = read(&app, &identity, &headers, wanted).await?;
            pages.pop().map(Json).ok_or_else(|| ApiError::refused(&url))
        }
        (None, Some(html)) => {
            let base = body.base_url.unwrap_or_else(|| "about:blank".into());
            sent(html, base, format).await.map(Json)
        }
        _ => Err(ApiError::field("url", "give either url or html")),
    }
}

async fn sent(html: String, base: String, format: Format) -> Result<ExtractedPage, ApiError> {
    let base_url =
        url::Url::parse(&base).map_err(|error| ApiError::field("base_url", error.to_string()))?;
    let kind = "text/html; charset=utf-8".to_owned();
    let extracted = extraction(html.into_bytes(), Some(kind), base_url).await?;
    Ok(of_extraction(base, extracted, format))
}

/// Extraction takes a while: it runs beside the answers of others.
async fn extraction(
    bytes: Vec<u8>,
    content_type: Option<String>,
    url: url::Url,
) -> Result<Extraction, ApiError> {
    tokio::task::spawn_blocking(move || {
        let source = Source {
            url: Some(&url),
            content_type: content_type.as_deref(),
            ..Source::default()
        };
        extract_content(&bytes, &source)
    })
    .await
    .map_err(|_| ApiError::new(Code::Internal, "the page could not be read"))
}

fn of_extraction(url: String, extraction: Extraction, format: Format) -> ExtractedPage {
    let found = match extraction {
        Extraction::Content(found) => *found,
        Extraction::Nothing(why) => return failed_page(&url, why.to_string()),
    };
    ExtractedPage {
        url,
        status: Status::Success,
        markdown: (format == Format::Markdown).then_some(found.markdown),
        text: (format == Format::Text).then_some(found.text),
        html: found.html.filter(|_| format == Format::Html),
        metadata: Some(PageMetadata {
            title: found.title,
            author: text_of(&found.metadata, "author"),
            publish_date: text_of(&found.metadata, "publish_date"),
            language: None,
            word_count: found.word_count as u64,
        }),
        error: None,
        crawl_depth: None,
        truncated: found.truncated,
        cached_at: None,
    }
}

/// Many URLs, each on its own.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "urls": ["https://example.org/a"], "format": "markdown", "concurrency": 10 }))]
pub(super) struct BatchExtractRequest {
    urls: Vec<String>,
    /// markdown, text or html.
    format: Option<String>,
    /// 10 if left out, at most 20.
    concurrency: Option<u32>,
    /// As for one page.
    max_age_seconds: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BatchExtractResponse {
    total_urls: usize,
    successful: usize,
    failed: usize,
    results: Vec<ExtractedPage>,
}

/// The main content of many pages; one that fails does not fail the others.
#[utoipa::path(post, path = "/extract/batch", tag = "extract", request_body = BatchExtractRequest, responses(
    (status = 200, body = BatchExtractResponse), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
    (status = 429, body = ErrorBody)))]
pub(super) async fn extract_batch(
    State(app): State<Shared>,
    Writer(identity): Writer,
    headers: HeaderMap,
    input::Json(body): input::Json<BatchExtractRequest>,
) -> Result<Json<BatchExtractResponse>, ApiError> {
    let format = format(body.format.as_deref())?;
    if body.urls.is_empty() || body.urls.len() > MOST_URLS {
        return Err(ApiError::field(
            "urls",
            format!("give 1 to {MOST_URLS} URLs"),
        ));
    }
    let wanted = Wanted {
        urls: body.urls,
        at_once: body.concurrency.unwrap_or(10).clamp(1, MOST_AT_ONCE),
        format,
        max_age: body.max_age_seconds.unwrap_or(0),
    };
    let results = read(&app, &identity, &headers, wanted).await?;
    let successful = results
        .iter()
        .filter(|page| page.status == Status::Success)
        .count();
    Ok(Json(BatchExtractResponse {
        total_urls: results.len(),
        successful,
        failed: results.len() - successful,
        results,
    }))
}

/// Pages to be read.
#[derive(Debug)]
struct Wanted {
    urls: Vec<String>,
    at_once: u32,
    format: Format,
    /// Seconds.
    max_age: u32,
}

/// Reads pages by a crawl that goes nowhere else, and gives them in the order of the URLs.
async fn read(
    app: &Shared,
    identity: &Identity,
    headers: &HeaderMap,
    wanted: Wanted,
) -> Result<Vec<ExtractedPage>, ApiError> {
    let Wanted {
        urls,
        at_once,
        format,
        max_age,
    } = wanted;
    let mut results = HashMap::new();
    let mut good = Vec::new();
    for url in &urls {
        match pages(app, vec![url.clone()], at_once, INTERACTIVE) {
            // Asked after the rules: what may not be fetched is not given either.
            Ok(_) => match kept::find(app, url, format, max_age).await {
                Some(page) => {
                    results.insert(url.clone(), page);
                }
                None => good.push(url.clone()),
            },
            Err(error) if urls.len() == 1 => return Err(error),
            Err(error) => {
                results.insert(url.clone(), failed_page(url, error.message().to_owned()));
            }
        }
    }
    if !good.is_empty() {
        let spec = pages(app, good.clone(), at_once, INTERACTIVE)?;
        let request = serde_json::json!({ "extract": urls }).to_string();
        let started = begin(app, identity, headers, spec, request, true).await?;
        let mut attendance = Attendance::new(app, started.control.clone());
        app.jobs.ended(&started.row.id).await;
        attendance.done();
        let normaliser = Normaliser::new(&started.row.crawl.spec.normalise, app.store.key_secret());
        let found = by_identity(app, started.row.crawl.id, format, &normaliser).await?;
        for url in good {
            if let Some(page) = found.get(&identity_of(&normaliser, &url)) {
                let page = ExtractedPage {
                    url: url.clone(),
                    ..page.clone()
                };
                kept::keep(app, &page, format).await;
                results.insert(url, page);
            }
        }
    }
    let missing =
        |url: &String| failed_page(url, "not fetched: its host or robots.txt refused".into());
    Ok(urls
        .iter()
        .map(|url| results.get(url).cloned().unwrap_or_else(|| missing(url)))
        .collect())
}

/// Pages by what they are compared by, also under the addresses that redirected to them.
async fn by_identity(
    app: &Shared,
    crawl: trawl_types::CrawlId,
    format: Format,
    normaliser: &Normaliser,
) -> Result<HashMap<String, ExtractedPage>, ApiError> {
    let (mut found, mut moved) = (HashMap::new(), Vec::new());
    let mut after = Sequence(0);
    loop {
        let records = app.store.results(crawl, after, 100).await?;
        let Some(last) = records.last() else { break };
        after = last.seq;
        for record in records {
            match &record.redirect_to {
                Some(to) if record.outcome == OutcomeKind::Redirected => {
                    moved.push((
                        identity_of(normaliser, &record.url),
                        identity_of(normaliser, to),
                    ));
                }
                _ => {
                    let page = one(app, crawl, &record, format).await?;
                    found.insert(identity_of(normaliser, &record.url), page);
                }
            }
        }
    }
    // The last hop was recorded last: going backwards, every target is known.
    for (from, to) in moved.into_iter().rev() {
        if let Some(page) = found.get(&to).cloned() {
            found.insert(from, page);
        }
    }
    Ok(found)
}

fn identity_of(normaliser: &Normaliser, url: &str) -> String {
    match normaliser.seed(url) {
        Ok(url) => normaliser.identity(url.address()),
        Err(_) => url.to_owned(),
    }
}

async fn one(
    app: &Shared,
    crawl: trawl_types::CrawlId,
    record: &PageRecord,
    format: Format,
) -> Result<ExtractedPage, ApiError> {
    if !record.outcome.is_page() {
        let error = match &record.error {
            Some(detail) => format!("{}: {detail}", record.outcome.as_str()),
            None => record.outcome.as_str().to_owned(),
        };
        return Ok(failed_page(&record.url, error));
    }
    let json = app.store.content(crawl, record.seq).await?;
    let content: Option<PageContent> = json.and_then(|json| serde_json::from_slice(&json).ok());
    let Some(content) = content else {
        return Ok(failed_page(
            &record.url,
            "no content that can be read".into(),
        ));
    };
    if format == Format::Html {
        return html_of(app, crawl, record).await;
    }
    Ok(ExtractedPage {
        url: record.url.clone(),
        status: Status::Success,
        markdown: content.markdown.filter(|_| format == Format::Markdown),
        text: content.text.filter(|_| format == Format::Text),
        html: None,
        metadata: Some(PageMetadata {
            title: content.title.or_else(|| record.title.clone()),
            author: text_of(&content.metadata, "author"),
            publish_date: text_of(&content.metadata, "publish_date"),
            language: content.language,
            word_count: content.word_count,
        }),
        error: None,
        crawl_depth: Some(record.depth),
        truncated: content.truncated || record.truncated,
        cached_at: None,
    })
}

/// The main content as HTML is made of the body when it is asked for.
async fn html_of(
    app: &Shared,
    crawl: trawl_types::CrawlId,
    record: &PageRecord,
) -> Result<ExtractedPage, ApiError> {
    let address = record.final_url.as_deref().unwrap_or(&record.url);
    let body = app.store.body(crawl, record.seq).await?;
    let (Some(body), Ok(url)) = (body, url::Url::parse(address)) else {
        return Ok(failed_page(
            &record.url,
            "no content that can be read".into(),
        ));
    };
    let extracted = extraction(body, record.content_type.clone(), url).await?;
    Ok(of_extraction(record.url.clone(), extracted, Format::Html))
}

fn text_of(metadata: &serde_json::Value, field: &str) -> Option<String> {
    match metadata.get(field)? {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Array(list) => list.first()?.as_str().map(str::to_owned),
        _ => None,
    }
}

fn failed_page(url: &str, error: String) -> ExtractedPage {
    ExtractedPage {
        url: url.to_owned(),
        status: Status::Failed,
        markdown: None,
        text: None,
        html: None,
        metadata: None,
        error: Some(error),
        crawl_depth: None,
        truncated: false,
        cached_at: None,
    }
}

/// A crawl whose pages are wanted as content.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "seeds": ["https://example.org/"], "scope": { "max_depth": 2 }, "extract_pattern": ".*/article/.*" }))]
pub(super) struct SpiderExtractRequest {
    seeds: Vec<String>,
    scope: Option<SpiderScope>,
    /// Accepted for compatibility: content and metadata are always there.
    include: Vec<String>,
    /// Accepted for compatibility: pages.
    result_mode: Option<String>,
    /// Only pages whose URL this regular expression finds are given.
    extract_pattern: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SpiderScope {
    max_depth: Option<u32>,
    max_pages: Option<u64>,
    same_domain_only: Option<bool>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CrawlStats {
    pages_crawled: u64,
    pages_failed: u64,
    duration_seconds: f64,
    stop_reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SpiderExtractResponse {
    crawl_stats: CrawlStats,
    extracted_pages: Vec<ExtractedPage>,
}

/// Crawls and extracts in one go: every page is fetched once.
#[utoipa::path(post, path = "/spider+extract", tag = "extract", request_body = SpiderExtractRequest, responses(
    (status = 200, body = SpiderExtractResponse), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
    (status = 429, body = ErrorBody)))]
pub(super) async fn spider_extract(
    State(app): State<Shared>,
    Writer(identity): Writer,
    headers: HeaderMap,
    input::Json(body): input::Json<SpiderExtractRequest>,
) -> Result<Json<SpiderExtractResponse>, ApiError> {
    let pattern = match &body.extract_pattern {
        None => None,
        Some(text) => {
            Some(Regex::new(text).map_err(|error| ApiError::field("extract_pattern", error))?)
        }
    };
    let request = serde_json::to_string(&body).unwrap_or_default();
    if body.seeds.is_empty() {
        return Err(ApiError::field("seeds", "give at least one URL"));
    }
    let scope = body.scope.unwrap_or_default();
    if scope.max_pages == Some(0) {
        return Err(ApiError::field("scope.max_pages", "give 1 or more"));
    }
    let spider = SpiderBody {
        seed_urls: body.seeds,
        max_depth: scope.max_depth,
        max_pages: scope.max_pages,
        same_domain_only: scope.same_domain_only,
        ..SpiderBody::default()
    };
    let keep = KeepSpec {
        markdown: true,
        ..KeepSpec::default()
    };
    let spec = spider.to_spec(&app, keep, identity.is_admin())?;
    let started = begin(&app, &identity, &headers, spec, request, true).await?;
    let mut attendance = Attendance::new(&app, started.control.clone());
    app.jobs.ended(&started.row.id).await;
    attendance.done();
    let row = app.job_of(&identity, &started.row.id).await?;
    let mut follow = Follow::new(&app.store, row.crawl.id, Sequence(0), None);
    let mut extracted = Vec::new();
    while let Some(records) = follow.next().await? {
        for record in &records {
            if pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(&record.url))
            {
                extracted.push(one(&app, row.crawl.id, record, Format::Markdown).await?);
            }
        }
    }
    Ok(Json(SpiderExtractResponse {
        crawl_stats: CrawlStats {
            pages_crawled: row.counts.pages,
            pages_failed: failed(&row.counts),
            duration_seconds: duration_seconds(&row),
            stop_reason: stop_reason(&row).unwrap_or_default(),
        },
        extracted_pages: extracted,
    }))
}
