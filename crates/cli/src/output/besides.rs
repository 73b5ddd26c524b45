//! What is known of a page besides its record: links, kept content, its body. Asked of the store
//! only where it is written.

use trawl_extract::charset::decode;
use trawl_store::{Store, contract::read::StoredLink};
use trawl_types::{CrawlId, PageRecord, record::PageContent};

use super::rows::Rows;

#[derive(Debug, Default)]
pub(crate) struct Besides {
    pub(crate) links: Vec<StoredLink>,
    pub(crate) content: Option<PageContent>,
    /// The body as text.
    pub(crate) html: Option<String>,
}

/// What of it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    links: bool,
    content: bool,
    html: bool,
}

impl Wanted {
    pub(super) fn of_rows(rows: &Rows, links: bool) -> Self {
        Self {
            links: links || rows.wants(&["links"]),
            content: rows.wants(&["markdown", "text", "metadata", "word_count"]),
            html: rows.wants(&["html"]),
        }
    }

    pub(super) async fn of(
        self,
        store: &dyn Store,
        crawl: CrawlId,
        record: &PageRecord,
    ) -> anyhow::Result<Besides> {
        let mut besides = Besides::default();
        if self.links {
            besides.links = store.links_of(crawl, record.page_id).await?;
        }
        if self.content && record.has_content {
            besides.content = content(store, crawl, record).await?;
        }
        if self.html && record.has_body {
            let body = store.body(crawl, record.seq).await?;
            let header = record.content_type.as_deref();
            besides.html = body.map(|body| decode(&body, header, None).text.into_owned());
        }
        Ok(besides)
    }
}

/// The kept content of a page; nothing where it was lost or cannot be read.
pub(super) async fn content(
    store: &dyn Store,
    crawl: CrawlId,
    record: &PageRecord,
) -> anyhow::Result<Option<PageContent>> {
    let json = store.content(crawl, record.seq).await?;
    Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
}
