//! Reads result logs from where it stopped and keeps the index as the crawls left the pages.
//!
//! Each batch of the log is one transaction: its documents and its cursor. Unchanged pages write
//! nothing but that they were seen; of changed ones only what changed is embedded. Pages that are
//! gone are removed, unless that were too many at once to be true.

mod vectors;

use std::sync::Arc;

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
    embed::Embedder,
    error::SearchError,
    file::{Changes, IndexFile},
    prepare::{content_hash, prepare},
};

/// Records that are read, and written, at once.
const BATCH: u32 = 100;
/// So many documents of a host may always be removed.
const ALWAYS: usize = 5;

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
    pub chunks_written: u64,
    pub chunks_kept: u64,
    pub embedded: u64,
    pub reused: u64,
}

/// Follows result logs.
#[derive(Debug)]
pub struct Indexer {
    pub store: Arc<dyn Store>,
    pub index: Arc<IndexFile>,
    pub embedder: Option<Arc<dyn Embedder>>,
    pub settings: Settings,
}

impl Indexer {
    /// Reads everything that is there and not yet read.
    pub async fn catch_up(
        &self,
        now: UnixMillis,
        progress: &(dyn Fn(&Followed) + Sync),
    ) -> Result<Followed, SearchError> {
        let mut done = Followed::default();
        let mut crawls = self.store.crawls().await?;
        crawls.sort_by_key(|row| row.id);
        for position in 0..crawls.len() {
            let row = &crawls[position];
            if self.settings.crawl.is_some_and(|wanted| wanted != row.id) {
                continue;
            }
            let read = self.read_log(row.id, now, &mut done, progress).await?;
            if read > 0 && row.state == CrawlState::Completed {
                self.miss_unseen(row, &crawls[..position], now)?;
            }
        }
        self.remove_missing(now, &mut done)?;
        self.embed_missing(&mut done, progress).await?;
        Ok(done)
    }

    async fn read_log(
        &self,
        crawl: CrawlId,
        now: UnixMillis,
        done: &mut Followed,
        progress: &(dyn Fn(&Followed) + Sync),
    ) -> Result<u64, SearchError> {
        let mut cursor = self.index.cursor(crawl.0)?;
        let mut read = 0;
        loop {
            let records = self.store.results(crawl, Sequence(cursor), BATCH).await?;
            let Some(last) = records.last() else {
                return Ok(read);
            };
            cursor = last.seq.0;
            read += records.len() as u64;
            let mut changes = Changes::at(now);
            changes.cursor = Some((crawl.0, cursor));
            for record in &records {
                self.take(crawl, record, &mut changes, done).await?;
            }
            self.embed(&mut changes, done).await?;
            let report = self.index.apply(changes)?;
            done.read += records.len() as u64;
            done.added += report.added;
            done.changed += report.changed;
            done.chunks_written += report.chunks_written;
            done.chunks_kept += report.chunks_kept;
            progress(done);
        }
    }

    /// What one entry of the log means for the index.
    async fn take(
        &self,
        crawl: CrawlId,
        record: &PageRecord,
        changes: &mut Changes,
        done: &mut Followed,
    ) -> Result<(), SearchError> {
        match record.outcome {
            OutcomeKind::Fetched if record.duplicate_of.is_some() => {
                done.copies += 1;
                changes.gone.push((record.url.clone(), crawl.0));
            }
            OutcomeKind::Fetched => {
                if let Some(content) = self.content(crawl, record).await? {
                    self.page(crawl, record, content, changes, done)?;
                } else {
                    done.without_content += 1;
                    changes.seen.push((record.url.clone(), crawl.0));
                }
            }
            OutcomeKind::NotModified => {
                done.unchanged += 1;
                changes.seen.push((record.url.clone(), crawl.0));
            }
            OutcomeKind::NotFound | OutcomeKind::Gone | OutcomeKind::Redirected => {
                changes.gone.push((record.url.clone(), crawl.0));
            }
            // A host that is unwell today has not lost its pages.
            _ => changes.seen.push((record.url.clone(), crawl.0)),
        }
        Ok(())
    }

    fn page(
        &self,
        crawl: CrawlId,
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
            changes.gone.push((record.url.clone(), crawl.0));
            return Ok(());
        }
        let markdown = content.markdown.or(content.text).unwrap_or_default();
        let title = content.title.or_else(|| record.title.clone());
        let hash = content_hash(title.as_deref(), &markdown);
        let known = self.index.known(&record.url)?;
        if known.is_some_and(|(known, deleted)| known == hash && !deleted) {
            done.unchanged += 1;
            changes.seen.push((record.url.clone(), crawl.0));
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
            crawl: Some(crawl.0),
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

    /// A crawl that was done once before and now has not met a page has lost it.
    fn miss_unseen(
        &self,
        row: &CrawlRow,
        before: &[CrawlRow],
        now: UnixMillis,
    ) -> Result<(), SearchError> {
        let again = before
            .iter()
            .any(|old| old.spec.seeds == row.spec.seeds && old.spec.scope == row.spec.scope);
        if !again {
            return Ok(());
        }
        let mut changes = Changes::at(now);
        let mut hosts: Vec<String> = row
            .spec
            .seeds
            .iter()
            .map(|seed| crate::document::domain_of(seed))
            .collect();
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

    fn remove_missing(&self, now: UnixMillis, done: &mut Followed) -> Result<(), SearchError> {
        let mut changes = Changes::at(now);
        for (host, missing) in self.index.missing()? {
            let share = missing.urls.len() as f64 / missing.documents.max(1) as f64;
            let few = missing.urls.len() <= ALWAYS || share <= self.settings.most_removed;
            if few || self.settings.confirmed {
                changes.remove.extend(missing.urls);
            } else {
                done.held_back += missing.urls.len() as u64;
                tracing::warn!(
                    host,
                    gone = missing.urls.len(),
                    of = missing.documents,
                    "too many pages are gone to remove them without confirmation"
                );
            }
        }
        done.removed += self.index.apply(changes)?.removed;
        Ok(())
    }
}

/// `en` of `en-GB`.
fn primary(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or_default()
}
