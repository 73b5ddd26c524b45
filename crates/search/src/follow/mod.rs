//! Reads result logs from where it stopped and keeps the index as the crawls left the pages.
//!
//! Each batch of the log is one transaction: its documents and its cursor. Unchanged pages write
//! nothing but that they were seen; of changed ones only what changed is embedded. Pages that are
//! gone are removed, unless that were too many at once to be true.
//!
//! * `records`: what an entry of a log means for the index
//! * `vectors`: chunks to vectors
//! * `gone`: pages that are gone, and whether to believe it
//! * [`pace`]: not in the way of crawls
//! * [`background`]: beside a server, for as long as it runs

pub mod background;
mod gone;
pub mod pace;
mod records;
mod vectors;

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Instant,
};

use async_trait::async_trait;
use rustc_hash::FxHashMap;

use trawl_extract::chunk::ChunkSettings;
use trawl_store::{Store, contract::read::CrawlRow};
use trawl_types::{CrawlId, CrawlState, Sequence, UnixMillis};

use crate::{
    error::SearchError,
    file::{Changes, IndexFile, Place},
    model::Model,
};
use pace::Pace;
pub(crate) use vectors::fill_vectors;

/// Records that are read, and written, at once; fewer while crawls run, which wait for less then.
const BATCH: u32 = 100;
const SMALL_BATCH: u32 = 20;

/// What is indexed, and how.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Only this crawl.
    pub crawl: Option<CrawlId>,
    /// Languages by their first part; empty for all. Pages of unknown language are taken.
    pub languages: Vec<String>,
    pub chunks: ChunkSettings,
    /// No larger share of a host's documents is removed at once...
    pub most_removed: f64,
    /// ...unless somebody says that it is right.
    pub confirmed: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            crawl: None,
            languages: vec!["en".to_owned()],
            chunks: ChunkSettings::default(),
            most_removed: 0.2,
            confirmed: false,
        }
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Followed {
    /// Entries of logs that were read.
    pub read: u64,
    pub added: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub removed: u64,
    /// Documents whose pages are gone, but too many to be removed without confirmation.
    pub held_back: u64,
    /// Pages of which nothing was kept.
    pub without_content: u64,
    pub other_languages: u64,
    /// Pages that repeat another one to the letter.
    pub copies: u64,
    /// Pages whose documents somebody removed or uploaded.
    pub left_alone: u64,
    pub chunks_written: u64,
    pub chunks_kept: u64,
    pub embedded: u64,
    pub reused: u64,
}

/// Says whom crawls belong to.
#[async_trait]
pub trait Owners: Send + Sync + std::fmt::Debug {
    /// The owners of these crawls, as far as they have one.
    async fn owners(&self, crawls: &[CrawlRow]) -> Result<FxHashMap<CrawlId, String>, SearchError>;
}

/// Follows result logs.
#[derive(Debug)]
pub struct Indexer {
    pub store: Arc<dyn Store>,
    pub index: Arc<IndexFile>,
    pub model: Model,
    pub settings: Settings,
    /// Without it documents belong to nobody, and administrators alone may find them.
    pub owners: Option<Arc<dyn Owners>>,
    pub pace: Pace,
    /// How many documents were kept back when it was last said.
    told: AtomicU64,
}

/// The crawl whose log is read, and whose it is.
#[derive(Debug)]
struct Source {
    crawl: CrawlId,
    owner: Option<String>,
}

impl Indexer {
    pub fn new(
        store: Arc<dyn Store>,
        index: Arc<IndexFile>,
        model: Model,
        settings: Settings,
    ) -> Self {
        Self {
            store,
            index,
            model,
            settings,
            owners: None,
            pace: Pace::default(),
            told: AtomicU64::new(0),
        }
    }

    /// Reads everything that is there and not yet read.
    pub async fn catch_up(
        &self,
        now: UnixMillis,
        progress: &(dyn Fn(&Followed) + Sync),
    ) -> Result<Followed, SearchError> {
        let mut done = Followed::default();
        let mut crawls = self.store.crawls().await?;
        crawls.sort_by_key(|row| row.id);
        let places = self.index.places()?;
        let waiting: Vec<(usize, Place)> = crawls
            .iter()
            .enumerate()
            .filter(|(_, row)| self.settings.crawl.is_none_or(|wanted| wanted == row.id))
            .map(|(position, row)| (position, place_of(row, &places)))
            .filter(|(position, place)| is_waiting(&crawls[*position], *place))
            .collect();
        let rows: Vec<CrawlRow> = waiting
            .iter()
            .map(|(position, _)| crawls[*position].clone())
            .collect();
        let mut owners = match &self.owners {
            Some(known) if !rows.is_empty() => known.owners(&rows).await?,
            _ => FxHashMap::default(),
        };
        for (position, mut place) in waiting {
            let row = &crawls[position];
            let source = Source {
                crawl: row.id,
                owner: owners.remove(&row.id),
            };
            self.read_log(&source, &mut place, now, &mut done, progress)
                .await?;
            if place.seq < row.last_seq.0 {
                // The log has no gaps but what was purged: there is nothing to wait for.
                place.seq = row.last_seq.0;
                let mut changes = Changes::at(now);
                changes.cursor = Some(place);
                self.index.apply(changes)?;
            }
            if row.state == CrawlState::Completed {
                self.miss_unseen(row, &crawls[..position], place, now)?;
            }
        }
        self.remove_missing(now, &mut done)?;
        self.embed_missing(&mut done, progress).await?;
        Ok(done)
    }

    async fn read_log(
        &self,
        source: &Source,
        place: &mut Place,
        now: UnixMillis,
        done: &mut Followed,
        progress: &(dyn Fn(&Followed) + Sync),
    ) -> Result<(), SearchError> {
        loop {
            let began = Instant::now();
            let size = if self.pace.is_busy() {
                SMALL_BATCH
            } else {
                BATCH
            };
            let behind = Sequence(place.seq);
            let records = self.store.results(source.crawl, behind, size).await?;
            let Some(last) = records.last() else {
                return Ok(());
            };
            place.seq = last.seq.0;
            let mut changes = Changes::at(now);
            changes.cursor = Some(*place);
            for record in &records {
                self.take(source, record, &mut changes, done).await?;
            }
            self.embed(&mut changes, done).await?;
            let report = self.index.apply(changes)?;
            done.read += records.len() as u64;
            done.added += report.added;
            done.changed += report.changed;
            done.left_alone += report.left_alone;
            done.chunks_written += report.chunks_written;
            done.chunks_kept += report.chunks_kept;
            progress(done);
            self.pace.rest(began).await;
        }
    }
}

/// How far the log of a crawl has been read. A crawl that has the number of one that was deleted
/// is another crawl.
fn place_of(row: &CrawlRow, places: &FxHashMap<i64, Place>) -> Place {
    let fresh = Place {
        crawl: row.id.0,
        started_at: row.started_at.0,
        seq: 0,
        judged: false,
    };
    match places.get(&row.id.0) {
        Some(place) if place.started_at == fresh.started_at => *place,
        Some(place) if place.started_at == 0 => Place {
            started_at: fresh.started_at,
            ..*place
        },
        _ => fresh,
    }
}

/// Whether a log has something to be read, or a crawl that is over is still to be judged.
fn is_waiting(row: &CrawlRow, place: Place) -> bool {
    place.seq < row.last_seq.0 || row.state == CrawlState::Completed && !place.judged
}
