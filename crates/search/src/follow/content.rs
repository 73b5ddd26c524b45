//! The content of a page whose body was kept.

use trawl_extract::{Extraction, Source, extract};
use trawl_types::{PageRecord, record::PageContent};
use url::Url;

/// `en` of `en-GB`.
pub(super) fn primary(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or_default()
}

/// What can be made of a body.
pub(super) fn extracted(record: &PageRecord, body: &[u8]) -> Option<PageContent> {
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
