//! Vectors for what is indexed: those of equal texts, the others by the model.

use std::time::Instant;

use crate::{
    embed::{EmbedError, Embedder, embed_all},
    error::SearchError,
    file::{Changes, IndexFile, Unembedded},
    prepare::{Prepared, embed_text_of},
};

use super::{Followed, Indexer};

/// Chunks that are embedded between two writes, where vectors are missing.
const MISSING_BATCH: u32 = 256;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    pub(crate) embedded: u64,
    pub(crate) reused: u64,
    /// Why the rest has none.
    pub(crate) failed: Option<EmbedError>,
}

/// Gives new chunks their vectors: those of equal texts, the others by the model. Where it fails,
/// chunks are searched by their words until it works again.
pub(crate) async fn fill_vectors(
    index: &IndexFile,
    embedder: &dyn Embedder,
    changes: &mut Changes,
    at_once: usize,
) -> Result<Filled, SearchError> {
    let mut filled = Filled::default();
    let documents = changes.put.iter_mut().chain(&mut changes.restore);
    let mut chunks: Vec<_> = documents
        .flat_map(|document: &mut Prepared| &mut document.chunks)
        .collect();
    let hashes: Vec<[u8; 16]> = chunks.iter().map(|chunk| chunk.embed_hash).collect();
    let known = index.vectors_for(embedder.model(), &hashes)?;
    let mut missing = Vec::new();
    for (at, chunk) in chunks.iter_mut().enumerate() {
        match known.get(&chunk.embed_hash) {
            Some(vector) => chunk.vector = Some(vector.clone()),
            None => missing.push(at),
        }
    }
    filled.reused = (chunks.len() - missing.len()) as u64;
    let texts = missing
        .iter()
        .map(|at| chunks[*at].embed_text.clone())
        .collect();
    match embed_all(embedder, texts, at_once).await {
        Ok(vectors) => {
            filled.embedded = vectors.len() as u64;
            for (at, vector) in missing.into_iter().zip(vectors) {
                chunks[at].vector = Some(vector);
            }
        }
        Err(error) => filled.failed = Some(error),
    }
    changes.model = Some((embedder.model().to_owned(), embedder.dimension()));
    Ok(filled)
}

impl Indexer {
    /// Without a model chunks get their vectors once there is one.
    pub(super) async fn embed(
        &self,
        changes: &mut Changes,
        done: &mut Followed,
    ) -> Result<(), SearchError> {
        let Some(embedder) = self.model.get() else {
            return Ok(());
        };
        let filled =
            fill_vectors(&self.index, embedder.as_ref(), changes, self.pace.at_once()).await?;
        done.reused += filled.reused;
        done.embedded += filled.embedded;
        if let Some(error) = filled.failed {
            tracing::warn!(%error, "pages are indexed without vectors");
        }
        Ok(())
    }

    /// Embeds what has no vector of the current model yet, then searches with it.
    pub(super) async fn embed_missing(
        &self,
        done: &mut Followed,
        progress: &(dyn Fn(&Followed) + Sync),
    ) -> Result<(), SearchError> {
        let Some(embedder) = self.model.get() else {
            return Ok(());
        };
        let (model, dimension) = (embedder.model(), embedder.dimension());
        let current = self.index.model()?;
        let same = current.as_ref().is_some_and(|found| found.name == model);
        let counts = self.index.counts();
        if same && counts.embedded == counts.chunks {
            return Ok(());
        }
        let mut after = 0;
        loop {
            let began = Instant::now();
            let rows = self.index.unembedded(model, after, MISSING_BATCH)?;
            let Some(last) = rows.last() else { break };
            after = last.chunk;
            let text = |row: &Unembedded| {
                embed_text_of(row.title.as_deref().unwrap_or_default(), &row.content)
            };
            let vectors = embed_all(
                embedder.as_ref(),
                rows.iter().map(text).collect(),
                self.pace.at_once(),
            )
            .await?;
            done.embedded += vectors.len() as u64;
            let vectors: Vec<_> = rows.iter().map(|row| row.chunk).zip(vectors).collect();
            self.index.add_vectors(model, dimension, &vectors)?;
            progress(done);
            self.pace.rest(began).await;
        }
        if current.is_some_and(|current| current.name != model) {
            // Makes the model known, where there was nothing to embed.
            self.index.add_vectors(model, dimension, &[])?;
            self.index.switch_model(model)?;
        }
        Ok(())
    }
}
