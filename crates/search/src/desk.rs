//! The desk: documents that people bring, take away and want back. What crawls find comes in by
//! [`follow`](crate::follow).

use std::sync::Arc;

use trawl_extract::chunk::{ChunkSettings, EstimatedTokens};
use trawl_types::UnixMillis;
use uuid::Uuid;

use crate::{
    document::NewDocument,
    embed::{Embedder, embed_all},
    error::SearchError,
    file::{Changes, DocumentRow, IndexFile},
    follow::fill_vectors,
    model::Model,
    prepare::{Prepared, content_hash, prepare},
    search::blocking,
};

/// Takes documents in and hands them out.
#[derive(Debug, Clone)]
pub struct Desk {
    pub index: Arc<IndexFile>,
    pub model: Model,
    pub chunks: ChunkSettings,
}

/// What became of a document that was brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    Created,
    Replaced,
    Unchanged,
}

/// A document that was brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub uuid: Uuid,
    pub url: String,
    pub title: Option<String>,
    pub chunks: usize,
    pub became: Became,
}

/// What came of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    pub documents: Vec<Taken>,
    /// Why vectors are missing, which are made as soon as that is possible.
    pub without_vectors: Option<String>,
}

impl Desk {
    /// Takes documents in, all or none.
    pub async fn put(
        &self,
        documents: Vec<NewDocument>,
        now: UnixMillis,
    ) -> Result<Receipt, SearchError> {
        let (index, settings) = (Arc::clone(&self.index), self.chunks);
        let (documents, prepared) = blocking(move || {
            let mut taken = Vec::with_capacity(documents.len());
            let mut all = Vec::with_capacity(documents.len());
            for document in documents {
                let known = index.known(&document.url)?.filter(|known| !known.deleted);
                let hash = content_hash(document.title.as_deref(), &document.content);
                let prepared = prepare(document, &settings, &EstimatedTokens);
                taken.push(Taken {
                    uuid: prepared.uuid,
                    url: prepared.document.url.clone(),
                    title: prepared.document.title.clone(),
                    chunks: prepared.chunks.len(),
                    became: match known {
                        None => Became::Created,
                        Some(known) if known.content_hash == hash => Became::Unchanged,
                        Some(_) => Became::Replaced,
                    },
                });
                all.push(prepared);
            }
            Ok::<_, SearchError>((taken, all))
        })
        .await??;
        let mut changes = Changes::at(now);
        changes.put = prepared;
        let without_vectors = self.apply(changes).await?;
        Ok(Receipt {
            documents,
            without_vectors,
        })
    }

    /// Removes a document for good, as far as crawls are concerned; people may want it back.
    pub async fn remove(&self, document: &DocumentRow, now: UnixMillis) -> Result<(), SearchError> {
        let mut changes = Changes::at(now);
        changes.withdraw.push(document.url.clone());
        self.write(changes).await
    }

    /// Brings back what was removed; texts that were embedded before keep their vectors.
    pub async fn restore(
        &self,
        document: DocumentRow,
        now: UnixMillis,
    ) -> Result<Option<String>, SearchError> {
        let mut changes = Changes::at(now);
        changes.restore.push(self.again(document).await?);
        self.apply(changes).await
    }

    /// Cuts a document anew and embeds all of it with the model in use. Says how many chunks it has,
    /// and why vectors are missing.
    pub async fn reindex(
        &self,
        document: DocumentRow,
        now: UnixMillis,
    ) -> Result<(usize, Option<String>), SearchError> {
        let mut prepared = self.again(document).await?;
        let chunks = prepared.chunks.len();
        let mut changes = Changes::at(now);
        let failed = match self.model.needed() {
            Ok(embedder) => {
                changes.model = Some((embedder.model().to_owned(), embedder.dimension()));
                embed_anew(embedder.as_ref(), &mut prepared).await.err()
            }
            Err(error) => Some(error),
        };
        changes.put.push(prepared);
        self.write(changes).await?;
        Ok((chunks, failed.map(|error| told(&error))))
    }

    /// Removes the documents whose pages are gone and which were kept because they are many.
    pub async fn remove_gone(&self, now: UnixMillis) -> Result<u64, SearchError> {
        let index = Arc::clone(&self.index);
        let removed = blocking(move || {
            let mut changes = Changes::at(now);
            for missing in index.missing(now)?.into_values() {
                changes.remove.extend(missing.urls);
            }
            index.apply(changes)
        });
        Ok(removed.await??.removed)
    }

    /// A document as it was brought.
    async fn again(&self, row: DocumentRow) -> Result<Prepared, SearchError> {
        let settings = self.chunks;
        let document = NewDocument {
            url: row.url,
            parent_url: row.parent_url,
            title: row.title,
            content: row.content,
            language: row.language,
            source: row.source,
            collection: row.collection,
            tags: row.tags,
            metadata: row.metadata,
            crawled_at: row.crawled_at,
            crawl: row.last_crawl,
            owner: None,
        };
        blocking(move || prepare(document, &settings, &EstimatedTokens)).await
    }

    /// Writes changes with vectors for what is new; says why some are missing.
    async fn apply(&self, mut changes: Changes) -> Result<Option<String>, SearchError> {
        let failed = match self.model.needed() {
            Ok(embedder) => {
                let filled = fill_vectors(&self.index, embedder.as_ref(), &mut changes, 1).await?;
                filled.failed.map(SearchError::from)
            }
            Err(error) => Some(error),
        };
        self.write(changes).await?;
        Ok(failed.map(|error| told(&error)))
    }

    async fn write(&self, changes: Changes) -> Result<(), SearchError> {
        let index = Arc::clone(&self.index);
        blocking(move || index.apply(changes)).await??;
        Ok(())
    }
}

async fn embed_anew(embedder: &dyn Embedder, prepared: &mut Prepared) -> Result<(), SearchError> {
    let texts = prepared.chunks.iter();
    let texts = texts.map(|chunk| chunk.embed_text.clone()).collect();
    let vectors = embed_all(embedder, texts, 1).await?;
    for (chunk, vector) in prepared.chunks.iter_mut().zip(vectors) {
        chunk.vector = Some(vector);
    }
    Ok(())
}

/// Why vectors are missing, for whoever asked; the log has the rest.
fn told(error: &SearchError) -> String {
    if !matches!(error, SearchError::NoModel(_)) {
        tracing::warn!(
            error = error.chain(),
            "documents are indexed without vectors"
        );
    }
    error.public()
}
