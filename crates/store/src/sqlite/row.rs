//! One row of `crawl_pages` as the writer needs it.

use rusqlite::{OptionalExtension, Statement};
use trawl_types::{CrawlId, HostId, PageId, PageState, ReasonCode};

use crate::shared::codes;
pub(crate) use crate::shared::codes::{chain_from_blob, chain_to_blob, rank};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) state: PageState,
    pub(crate) depth: u32,
    pub(crate) host: HostId,
    pub(crate) score: u8,
    pub(crate) reason: Option<ReasonCode>,
}

impl Row {
    /// Reads with [`super::statements::FIND_ROW`].
    pub(crate) fn find(
        statement: &mut Statement<'_>,
        crawl: CrawlId,
        page: PageId,
    ) -> rusqlite::Result<Option<Self>> {
        statement
            .query_row([crawl.0, page.0], |row| {
                Ok(Self {
                    state: PageState::from_stored(row.get(0)?).unwrap_or(PageState::Done),
                    depth: row.get(1)?,
                    host: HostId(row.get(2)?),
                    score: row.get(3)?,
                    reason: row
                        .get::<_, Option<u8>>(4)?
                        .and_then(ReasonCode::from_stored),
                })
            })
            .optional()
    }

    /// Refused for the page that links to it, before any other rule was asked.
    pub(crate) fn for_its_parent(&self) -> bool {
        codes::is_for_its_parent(self.reason)
    }

    /// Refused because of the way that led there, not for what the URL is.
    pub(crate) fn may_be_lifted(&self) -> bool {
        codes::may_be_lifted(self.state, self.reason)
    }
}
