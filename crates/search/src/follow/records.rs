//! What an entry of a log means for the index.

use trawl_extract::{chunk::EstimatedTokens, page_content};
use trawl_types::{CrawlId, OutcomeKind, PageRecord, record::PageContent};

use super::{Followed, Indexer, Source};
use crate::{
    document::{DocSource, NewDocument},
    error::SearchError,
    file::{Changes, Seen},
    prepare::{content_hash, prepare},
};

impl Indexer {
    /// What one entry of the log means for the index.
    pub(super) async fn take(
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

/// `en` of `en-GB`.
fn primary(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or_default()
}
