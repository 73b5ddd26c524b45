//! Reads result logs from where it stopped and keeps the index as the crawls left the pages.
//!
//! Each batch of the log is one transaction: its documents and its cursor. Unchanged pages write
//! nothing but that they were seen; of changed ones only what changed is embedded. Pages that are
//! gone are removed, unless that were too many at once to be true.
//!
//! * `vectors`: chunks to vectors
//! * `gone`: pages that are gone, and whether to believe it
//! * [`pace`]: not in the way of crawls
//! * [`background`]: beside a server, for as long as it runs

pub mod background;
mod gone;
pub mod pace;
mod vectors;

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Instant,
};

use async_trait::async_trait;
use rustc_hash::FxHashMap;

use trawl_extract::{
    chunk::{ChunkSettings, EstimatedTokens},
    page_content,
};
use trawl_store::{Store, contract::read::CrawlRow};
use trawl_types::{
    CrawlId, CrawlState, OutcomeKind, PageRecord, Sequence, UnixMillis, record::PageContent,
};

use crate::{
    document::{DocSource, NewDocument},
    error::SearchError,
    file::{Changes, IndexFile, Place, Seen},
    model::Model,
    prepare::{content_hash, prepare},
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

    /// What one entry of the log means for the index.
    async fn take(
        &self,
        source: &Source,
        record: &PageRecord,
        changes: &mut Changes,
        done: &mut Followed,
    ) -> Result<(), SearchError> {
        let crawl = source.crawl;
        match record.outcome {
            OutcomeKind::Fetched if record.duplicate_of.is_some() => {
                done.copies += 1;
                changes.gone.push((record.url.clone(), crawl.0));
            }
            OutcomeKind::Fetched => {
                if let Some(content) = self.content(crawl, record).await? {
                    self.page(source, record, content, changes, done)?;
                } else {
                    done.without_content += 1;
                    changes.seen.push(source.saw_something(record));
                }
            }
            OutcomeKind::NotModified => {
                done.unchanged += 1;
                changes.seen.push(source.saw(record));
            }
            OutcomeKind::NotFound | OutcomeKind::Gone | OutcomeKind::Redirected => {
                changes.gone.push((record.url.clone(), crawl.0));
            }
            // A host that is unwell today has not lost its pages.
            _ => changes.seen.push(source.saw_something(record)),
        }
        Ok(())
    }

    fn page(
        &self,
        source: &Source,
        record: &PageRecord,
        content: PageContent,
        changes: &mut Changes,
        done: &mut Followed,
    ) -> Result<(), SearchError> {
        let language = content.language.as_deref().or(record.language.as_deref());
        let language = language.map(|tag| primary(tag).to_ascii_lowercase());
        let wanted = &self.settings.languages;
        let fits = |name: &String| wanted.is_empty() || wanted.contains(name);
        if !language.as_ref().is_none_or(fits) {
            done.other_languages += 1;
            changes.gone.push((record.url.clone(), source.crawl.0));
            return Ok(());
        }
        let markdown = content.markdown.or(content.text).unwrap_or_default();
        let title = content.title.or_else(|| record.title.clone());
        let hash = content_hash(title.as_deref(), &markdown);
        let known = self.index.known(&record.url)?;
        if known.as_ref().is_some_and(|known| known.not_for_crawls) {
            done.left_alone += 1;
            return Ok(());
        }
        if known.is_some_and(|known| known.content_hash == hash && !known.deleted) {
            done.unchanged += 1;
            changes.seen.push(source.saw(record));
            return Ok(());
        }
        let document = NewDocument {
            url: record.url.clone(),
            parent_url: record.parent.clone(),
            title,
            content: markdown,
            language,
            source: DocSource::Crawl,
            collection: None,
            tags: Vec::new(),
            metadata: content.metadata,
            crawled_at: record.crawled_at,
            crawl: Some(source.crawl.0),
            owner: source.owner.clone(),
        };
        changes
            .put
            .push(prepare(document, &self.settings.chunks, &EstimatedTokens));
        Ok(())
    }

    /// The content that was kept, or what can be made of the body.
    async fn content(
        &self,
        crawl: CrawlId,
        record: &PageRecord,
    ) -> Result<Option<PageContent>, SearchError> {
        if record.has_content
            && let Some(json) = self.store.content(crawl, record.seq).await?
            && let Ok(content) = serde_json::from_slice::<PageContent>(&json)
            && (content.markdown.is_some() || content.text.is_some())
        {
            return Ok(Some(content));
        }
        if !record.has_body {
            return Ok(None);
        }
        let Some(body) = self.store.body(crawl, record.seq).await? else {
            return Ok(None);
        };
        let record = record.clone();
        let work = tokio::task::spawn_blocking(move || page_content(&record, &body));
        // A page that breaks the extraction is a page without content.
        Ok(work.await.unwrap_or_default())
    }
}

impl Source {
    /// The page is as it was.
    fn saw(&self, record: &PageRecord) -> Seen {
        Seen {
            owner: self.owner.clone(),
            ..self.saw_something(record)
        }
    }

    /// The page is there; what it holds is not known.
    fn saw_something(&self, record: &PageRecord) -> Seen {
        Seen {
            url: record.url.clone(),
            crawl: self.crawl.0,
            owner: None,
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

/// `en` of `en-GB`.
fn primary(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or_default()
}
