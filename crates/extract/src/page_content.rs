//! What a crawl would have kept of a page, made of its body afterwards.

use trawl_types::{PageRecord, record::PageContent};
use url::Url;

use crate::extraction::{Extraction, Source, extract};

/// The content of a body with Markdown; nothing if there is none to be had.
pub fn page_content(record: &PageRecord, body: &[u8]) -> Option<PageContent> {
    let address = record.final_url.as_ref().unwrap_or(&record.url);
    let url = Url::parse(address).ok();
    let source = Source {
        url: url.as_ref(),
        content_type: record.content_type.as_deref(),
        ..Source::default()
    };
    let Extraction::Content(page) = extract(body, &source) else {
        return None;
    };
    Some(PageContent {
        kind: page.kind.to_owned(),
        language: page.language.best().map(str::to_owned),
        title: page.title,
        word_count: page.word_count as u64,
        reading_time_seconds: page.reading_time_seconds,
        truncated: page.truncated,
        markdown: Some(page.markdown),
        text: None,
        metadata: page.metadata,
    })
}
