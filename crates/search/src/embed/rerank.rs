//! A cross-encoder of this process for those who wait for it: one ranking at a time, because each
//! uses all processors, and none that nobody waits for any more.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;

use super::{CrossEncoder, EmbedError, Reranker};

/// Ranks inside of the process.
#[derive(Debug)]
pub struct LocalReranker {
    model: Arc<CrossEncoder>,
    turn: tokio::sync::Mutex<()>,
}

/// Tells the work when whoever asked for it has left.
#[derive(Debug)]
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl LocalReranker {
    pub fn new(model: CrossEncoder) -> Self {
        Self {
            model: Arc::new(model),
            turn: tokio::sync::Mutex::default(),
        }
    }

    pub fn name(&self) -> &str {
        self.model.name()
    }

    /// The most tokens of a query and a text that are read.
    pub fn longest(&self) -> usize {
        self.model.longest()
    }

    /// The first text of which not all is read.
    pub async fn too_long(
        &self,
        query: &str,
        texts: &[String],
    ) -> Result<Option<usize>, EmbedError> {
        let (model, query, texts) = (Arc::clone(&self.model), query.to_owned(), texts.to_vec());
        let cut = move || {
            texts
                .iter()
                .position(|text| !model.reads_whole(&query, text))
        };
        let cut = tokio::task::spawn_blocking(cut).await;
        cut.map_err(|_| EmbedError::Stopped)
    }

    /// What the model says of each text, as it says it: above zero for "yes".
    pub async fn raw_scores(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        let _turn = self.turn.lock().await;
        let wanted = Arc::new(AtomicBool::new(true));
        let _waiting = Waiting(Arc::clone(&wanted));
        let (model, query, texts) = (Arc::clone(&self.model), query.to_owned(), texts.to_vec());
        let work = move || model.score(&query, &texts, &|| wanted.load(Ordering::Relaxed));
        let scores = tokio::task::spawn_blocking(work).await;
        let scores = scores.ok().flatten().ok_or(EmbedError::Stopped)?;
        if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
            return Err(EmbedError::Score(at));
        }
        Ok(scores)
    }
}

/// A raw score as a share between 0 and 1.
pub(crate) fn sigmoid(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

#[async_trait]
impl Reranker for LocalReranker {
    /// Between 0 and 1, as servers answer.
    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        let scores = self.raw_scores(query, texts).await?;
        Ok(scores.into_iter().map(sigmoid).collect())
    }
}
