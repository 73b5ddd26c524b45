//! Pages that are gone, and whether to believe it.

use std::sync::atomic::Ordering;

use trawl_store::contract::read::CrawlRow;
use trawl_types::UnixMillis;

use super::{Followed, Indexer};
use crate::{
    document::domain_of,
    error::SearchError,
    file::{Changes, Place},
};

/// So many documents of a host may always be removed.
const ALWAYS: u64 = 5;
/// What is removed within a day is removed at once.
const AT_ONCE_MS: i64 = 24 * 3_600_000;

impl Indexer {
    /// A crawl that was done once before and now has not met a page has lost it. Asked once for
    /// each crawl, when it is over and its log is read.
    pub(super) fn miss_unseen(
        &self,
        row: &CrawlRow,
        before: &[CrawlRow],
        place: Place,
        now: UnixMillis,
    ) -> Result<(), SearchError> {
        let mut changes = Changes::at(now);
        changes.cursor = Some(Place {
            judged: true,
            ..place
        });
        let again = before
            .iter()
            .any(|old| old.spec.seeds == row.spec.seeds && old.spec.scope == row.spec.scope);
        if !again {
            self.index.apply(changes)?;
            return Ok(());
        }
        let mut hosts: Vec<String> = row.spec.seeds.iter().map(|seed| domain_of(seed)).collect();
        hosts.sort();
        hosts.dedup();
        for host in hosts {
            let unseen = self.index.unseen(row.id.0, &host)?;
            changes
                .gone
                .extend(unseen.into_iter().map(|url| (url, row.id.0)));
        }
        self.index.apply(changes)?;
        Ok(())
    }

    pub(super) fn remove_missing(
        &self,
        now: UnixMillis,
        done: &mut Followed,
    ) -> Result<(), SearchError> {
        let mut changes = Changes::at(now);
        let mut held = Vec::new();
        for (host, missing) in self.index.missing(UnixMillis(now.0 - AT_ONCE_MS))? {
            // A site that goes away page by page is one that goes away.
            let gone = missing.urls.len() as u64 + missing.removed;
            let share = gone as f64 / (missing.documents + missing.removed).max(1) as f64;
            let few = gone <= ALWAYS || share <= self.settings.most_removed;
            if few || self.settings.confirmed {
                changes.remove.extend(missing.urls);
            } else {
                done.held_back += missing.urls.len() as u64;
                held.push((host, missing));
            }
        }
        // Said again only when it is another number.
        if self.told.swap(done.held_back, Ordering::Relaxed) != done.held_back {
            for (host, missing) in held {
                let (gone, of) = (missing.urls.len(), missing.documents);
                tracing::warn!(
                    host,
                    gone,
                    of,
                    "too many pages are gone to remove them without confirmation"
                );
            }
        }
        if changes.remove.is_empty() {
            return Ok(());
        }
        done.removed += self.index.apply(changes)?.removed;
        Ok(())
    }
}
