//! Texts to vectors, and texts ranked: one trait each, models inside the process or behind HTTP.
//! What comes back is checked before anybody uses it.

pub mod local;
pub mod remote;
pub(crate) mod rerank;
pub mod server;
mod validate;

use std::sync::Arc;

use async_trait::async_trait;

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

/// Embeds in batches and checks everything that comes back.
pub async fn embed_all(
    embedder: &dyn Embedder,
    texts: Vec<String>,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let mut vectors = Vec::with_capacity(texts.len());
    let mut texts = texts.into_iter();
    loop {
        let batch: Vec<String> = texts.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(vectors);
        }
        let count = batch.len();
        let found = embedder.embed(batch).await?;
        if found.len() != count {
            return Err(EmbedError::Count(found.len(), count));
        }
        for vector in found {
            validate(&vector, embedder.dimension())
                .map_err(|why| EmbedError::Vector(vectors.len(), why))?;
            vectors.push(vector);
        }
    }
}
