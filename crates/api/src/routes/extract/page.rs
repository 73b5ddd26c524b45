//! A page as it is given: of what a crawl kept, or of HTML.

use serde::{Deserialize, Serialize};
use trawl_extract::{Extraction, Source, extract as extract_content};
use trawl_types::{CrawlId, PageRecord, record::PageContent};
use utoipa::ToSchema;

use crate::{
    app::Shared,
    error::{ApiError, Code},
};

/// What is known of a page besides its content.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub(in crate::routes) struct PageMetadata {
    title: Option<String>,
    author: Option<String>,
    publish_date: Option<String>,
    language: Option<String>,
    word_count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Success,
    Failed,
}

/// One page of an answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(in crate::routes) struct ExtractedPage {
    pub(super) url: String,
    pub(super) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) markdown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<PageMetadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) crawl_depth: Option<u32>,
    pub(super) truncated: bool,
    /// When it was fetched, where that was for somebody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cached_at: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Format {
    Markdown,
    Text,
    Html,
}

pub(super) fn format(text: Option<&str>) -> Result<Format, ApiError> {
    match text {
        None | Some("markdown") => Ok(Format::Markdown),
        Some("text") => Ok(Format::Text),
        Some("html") => Ok(Format::Html),
        Some(_) => Err(ApiError::field("format", "must be markdown, text or html")),
    }
}

/// Extraction takes a while: it runs beside the answers of others.
pub(super) async fn extraction(
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

pub(super) fn of_extraction(url: String, extraction: Extraction, format: Format) -> ExtractedPage {
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

pub(super) async fn one(
    app: &Shared,
    crawl: CrawlId,
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
    crawl: CrawlId,
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

pub(super) fn failed_page(url: &str, error: String) -> ExtractedPage {
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
