//! Main content of pages: one, many, or those of a crawl. A page is fetched once, politely, by the
//! same engine as every crawl; where the asker is content with that, what was fetched a while ago is
//! given again.
//!
//! * [`page`]: a page as it is given
//! * [`read`]: pages of a list of URLs
//! * [`kept`]: what was fetched a while ago
//! * [`spider`]: pages of a crawl

mod kept;
mod page;
mod read;
pub(super) mod spider;

use axum::{Json, extract::State, http::HeaderMap};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::input;
use crate::{
    app::Shared,
    auth::Writer,
    error::{ApiError, ErrorBody},
};
use page::{ExtractedPage, Format, Status, extraction, format, of_extraction};
use read::{Wanted, read};

/// URLs of one batch.
const MOST_URLS: usize = 100;
const MOST_AT_ONCE: u32 = 20;

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
