//! Texts to vectors, and texts ranked: one trait each, models inside the process or behind HTTP.
//! What comes back is checked before anybody uses it.

pub mod local;
pub mod remote;
pub(crate) mod rerank;
pub mod server;
mod validate;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

pub use local::{CrossEncoder, LocalModel, ModelError, Precision, check};
pub(crate) use remote::JsonClient;
pub use remote::{OpenAiEmbedder, TeiEmbedder, TeiReranker};
pub use rerank::LocalReranker;
pub use validate::{BadVector, validate};

/// So many texts are sent at once.
pub const BATCH: usize = 32;

/// Why texts could not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("{0} vectors came back for {1} texts")]
    Count(usize, usize),
    #[error("the vector of text {0} cannot be used: {1}")]
    Vector(usize, BadVector),
    #[error("the score of text {0} is no number")]
    Score(usize),
    #[error("{url}: {why}")]
    Http {
        url: String,
        why: String,
        retry: bool,
    },
    #[error("the embedder stopped")]
    Stopped,
}

impl EmbedError {
    /// Whoever was asked has not answered in time.
    pub(crate) fn late(whom: &str) -> Self {
        Self::Http {
            url: whom.to_owned(),
            why: "no answer in time".into(),
            retry: true,
        }
    }
}

/// Turns texts into vectors of one dimension, normalised.
#[async_trait]
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// Vectors of different models are not compared.
    fn model(&self) -> &str;
    fn dimension(&self) -> usize;
    /// A vector for each text, in their order.
    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Says how well texts answer a query.
#[async_trait]
pub trait Reranker: Send + Sync + std::fmt::Debug {
    /// A score for each text, in their order.
    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError>;
}

#[async_trait]
impl Embedder for Arc<LocalModel> {
    fn model(&self) -> &str {
        self.name()
    }

    fn dimension(&self) -> usize {
        LocalModel::dimension(self)
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let model = Arc::clone(self);
        let work = tokio::task::spawn_blocking(move || LocalModel::embed(&model, &texts));
        work.await.map_err(|_| EmbedError::Stopped)
    }
}

/// Embeds in batches, so many at a time, and checks everything that comes back.
pub async fn embed_all(
    embedder: &dyn Embedder,
    texts: Vec<String>,
    at_once: usize,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let mut vectors = Vec::with_capacity(texts.len());
    let mut texts = texts.into_iter();
    let batches = std::iter::from_fn(|| {
        let batch: Vec<String> = texts.by_ref().take(BATCH).collect();
        (!batch.is_empty()).then_some(batch)
    });
    let answers = batches.map(|batch| {
        let count = batch.len();
        let answer = embedder.embed(batch);
        async move { (count, answer.await) }
    });
    let mut answers = std::pin::pin!(stream::iter(answers).buffered(at_once.max(1)));
    while let Some((count, found)) = answers.next().await {
        let found = found?;
        if found.len() != count {
            return Err(EmbedError::Count(found.len(), count));
        }
        for vector in found {
            validate(&vector, embedder.dimension())
                .map_err(|why| EmbedError::Vector(vectors.len(), why))?;
            vectors.push(vector);
        }
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use tokio::sync::Barrier;

    use super::*;

    /// Answers nobody before so many ask at once.
    #[derive(Debug)]
    struct Together(Barrier);

    #[async_trait]
    impl Embedder for Together {
        fn model(&self) -> &'static str {
            "together"
        }

        fn dimension(&self) -> usize {
            1
        }

        async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
            self.0.wait().await;
            let length = |text: &String| vec![text.len() as f32];
            Ok(texts.iter().map(length).collect())
        }
    }

    #[tokio::test]
    async fn several_batches_are_embedded_at_once_and_come_back_in_order() {
        let texts: Vec<String> = (1..=3 * BATCH).map(|n| "x".repeat(n)).collect();
        let together = Together(Barrier::new(3));
        let vectors = embed_all(&together, texts, 3).await.unwrap();
        let expected: Vec<Vec<f32>> = (1..=3 * BATCH).map(|n| vec![n as f32]).collect();
        assert_eq!(vectors, expected);
    }
}
