//! Vectors for what is indexed: those of equal texts, the others by the model.

use crate::{
    embed::embed_all,
    error::SearchError,
    file::{Changes, Unembedded},
    prepare::{Prepared, embed_text_of},
};

use super::{Followed, Indexer};

/// Chunks that are embedded between two writes, where vectors are missing.
const MISSING_BATCH: u32 = 256;

impl Indexer {
    /// Gives new chunks their vectors: those of equal texts, the others by the model. Without a
    /// model, or where it fails, chunks are searched by their words until it works again.
    pub(super) async fn embed(
        &self,
        changes: &mut Changes,
        done: &mut Followed,
    ) -> Result<(), SearchError> {
        let Some(embedder) = &self.embedder else {
            return Ok(());
        };
        let mut chunks: Vec<_> = changes
            .put
            .iter_mut()
            .flat_map(|p: &mut Prepared| &mut p.chunks)
            .collect();
        let hashes: Vec<[u8; 16]> = chunks.iter().map(|chunk| chunk.embed_hash).collect();
        let known = self.index.vectors_for(embedder.model(), &hashes)?;
        let mut missing = Vec::new();
        for (at, chunk) in chunks.iter_mut().enumerate() {
            match known.get(&chunk.embed_hash) {
                Some(vector) => chunk.vector = Some(vector.clone()),
                None => missing.push(at),
            }
        }
        done.reused += (chunks.len() - missing.len()) as u64;
        let texts = missing
            .iter()
            .map(|at| chunks[*at].embed_text.clone())
            .collect();
        match embed_all(embedder.as_ref(), texts).await {
            Ok(vectors) => {
                done.embedded += vectors.len() as u64;
                for (at, vector) in missing.into_iter().zip(vectors) {
                    chunks[at].vector = Some(vector);
                }
            }
            Err(error) => tracing::warn!(%error, "pages are indexed without vectors"),
        }
        changes.model = Some((embedder.model().to_owned(), embedder.dimension()));
        Ok(())
    }

    /// Embeds what has no vector of the current model yet, then searches with it.
    pub(super) async fn embed_missing(
        &self,
        done: &mut Followed,
        progress: &(dyn Fn(&Followed) + Sync),
    ) -> Result<(), SearchError> {
        let Some(embedder) = &self.embedder else {
            return Ok(());
        };
        let (model, dimension) = (embedder.model(), embedder.dimension());
        let mut after = 0;
        loop {
            let rows = self.index.unembedded(model, after, MISSING_BATCH)?;
            let Some(last) = rows.last() else { break };
            after = last.chunk;
            let text = |row: &Unembedded| {
                embed_text_of(row.title.as_deref().unwrap_or_default(), &row.content)
            };
            let vectors = embed_all(embedder.as_ref(), rows.iter().map(text).collect()).await?;
            done.embedded += vectors.len() as u64;
            let vectors: Vec<_> = rows.iter().map(|row| row.chunk).zip(vectors).collect();
            self.index.add_vectors(model, dimension, &vectors)?;
            progress(done);
        }
        let current = self.index.model()?;
        if current.is_some_and(|current| current.name != model) {
            self.index.switch_model(model)?;
        }
        Ok(())
    }
}
