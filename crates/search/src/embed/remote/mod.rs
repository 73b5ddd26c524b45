//! Embedders behind HTTP: Text Embeddings Inference, and whatever speaks OpenAI's protocol.

mod client;
mod connect;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{EmbedError, Embedder, Reranker};
pub(crate) use client::JsonClient;
pub use connect::{Connector, Stream};

/// A server that speaks `/embed` and `/health`.
#[derive(Debug)]
pub struct TeiEmbedder {
    client: JsonClient,
    model: String,
    dimension: usize,
}

/// A server with a cross-encoder that speaks `/rerank`.
#[derive(Debug)]
pub struct TeiReranker {
    client: JsonClient,
}

impl TeiReranker {
    /// Nothing is asked before there is something to rank.
    pub fn new(base: &str, key: Option<String>) -> Result<Self, EmbedError> {
        let client = JsonClient::new(base, key)?;
        Ok(Self { client })
    }
}

#[async_trait]
impl Reranker for TeiReranker {
    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        let body = json!({ "query": query, "texts": texts, "truncate": true });
        let answer = self.client.post("/rerank", &body).await?;
        let mut scores = vec![f32::NEG_INFINITY; texts.len()];
        for entry in answer.as_array().into_iter().flatten() {
            let at = entry["index"]
                .as_u64()
                .and_then(|at| scores.get_mut(at as usize));
            if let (Some(score), Some(value)) = (at, entry["score"].as_f64()) {
                *score = value as f32;
            }
        }
        let ranked = scores.iter().filter(|score| score.is_finite()).count();
        if ranked != texts.len() {
            return Err(EmbedError::Count(ranked, texts.len()));
        }
        Ok(scores)
    }
}

/// A server that speaks `/v1/embeddings`.
#[derive(Debug)]
pub struct OpenAiEmbedder {
    client: JsonClient,
    model: String,
    dimension: usize,
}

impl TeiEmbedder {
    /// Asks the server for its model unless one is named, and for the dimension of its vectors.
    pub async fn connect(
        base: &str,
        model: Option<String>,
        key: Option<String>,
    ) -> Result<Self, EmbedError> {
        let client = JsonClient::new(base, key)?;
        let info = client.get("/info").await.unwrap_or_default();
        let told = info["model_id"].as_str().map(str::to_owned);
        let mut embedder = Self {
            client,
            model: model.or(told).unwrap_or_else(|| base.to_owned()),
            dimension: 0,
        };
        let probe = embedder.embed(vec!["dimension".to_owned()]).await?;
        embedder.dimension = probe.first().map_or(0, Vec::len);
        Ok(embedder)
    }

    /// Whether the server says that it is well.
    pub async fn is_healthy(&self) -> bool {
        self.client.get("/health").await.is_ok()
    }
}

#[async_trait]
impl Embedder for TeiEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let count = texts.len();
        let body = json!({ "inputs": texts, "truncate": true, "normalize": true });
        let answer = self.client.post("/embed", &body).await?;
        let vectors = answer
            .as_array()
            .map(|list| list.iter().map(vector).collect());
        vectors.unwrap_or(None).ok_or(EmbedError::Count(0, count))
    }
}

impl OpenAiEmbedder {
    /// Asks the server for the dimension of the model's vectors.
    pub async fn connect(
        base: &str,
        model: String,
        key: Option<String>,
    ) -> Result<Self, EmbedError> {
        let mut embedder = Self {
            client: JsonClient::new(base, key)?,
            model,
            dimension: 0,
        };
        let probe = embedder.embed(vec!["dimension".to_owned()]).await?;
        embedder.dimension = probe.first().map_or(0, Vec::len);
        Ok(embedder)
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let count = texts.len();
        let body = json!({ "model": self.model, "input": texts, "encoding_format": "float" });
        let answer = self.client.post("/v1/embeddings", &body).await?;
        let mut vectors = vec![None; count];
        for (at, entry) in answer["data"].as_array().into_iter().flatten().enumerate() {
            // Servers may answer in another order, and say so.
            let at = entry["index"].as_u64().map_or(at, |at| at as usize);
            if let Some(place) = vectors.get_mut(at) {
                *place = vector(&entry["embedding"]).map(normalised);
            }
        }
        let found = vectors.iter().flatten().count();
        let all: Option<Vec<Vec<f32>>> = vectors.into_iter().collect();
        all.ok_or(EmbedError::Count(found, count))
    }
}

fn vector(value: &Value) -> Option<Vec<f32>> {
    let numbers = value.as_array()?.iter();
    numbers
        .map(|number| number.as_f64().map(|number| number as f32))
        .collect()
}

/// Not every server does it; lengths that are no numbers are found by the validation.
fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norm.is_finite() && norm >= 0.1 {
        for value in &mut vector {
            *value /= norm;
        }
    }
    vector
}

#[cfg(test)]
mod tests;
