//! Tells Qdrant of every change: what is queued is sent, and leaves the queue when Qdrant has it. A
//! server that is gone finds everything waiting when it is back.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::sync::watch;

use super::{Qdrant, payload};
use crate::{embed::EmbedError, error::SearchError, search::blocking};

/// Points in one request.
const BATCH: usize = 128;
/// How often the queue is looked at while it is empty.
const IDLE: Duration = Duration::from_secs(1);
/// The longest wait for a server that is gone.
const LONGEST: Duration = Duration::from_mins(1);

impl Qdrant {
    /// Sends all that is queued; says how much that was.
    pub async fn push(&self) -> Result<u64, SearchError> {
        let mut sent = 0;
        if self.index.mirror_waiting()? == 0 {
            return Ok(0);
        }
        let Some(model) = self.index.model()? else {
            return Ok(0);
        };
        self.ensure_collection(model.dimension).await?;
        loop {
            let index = Arc::clone(&self.index);
            let batch = blocking(move || index.mirror_batch(BATCH)).await??;
            if batch.is_empty() {
                return Ok(sent);
            }
            let points = batch.iter().filter_map(|entry| entry.point.as_ref());
            let points: Vec<_> = points.map(|p| payload::point(self.name, p)).collect();
            let gone = batch.iter().filter(|entry| entry.point.is_none());
            let gone: Vec<String> = gone.map(|entry| entry.chunk.to_string()).collect();
            self.send(points, gone).await?;
            sent += batch.len() as u64;
            let index = Arc::clone(&self.index);
            blocking(move || index.mirror_told(&batch)).await??;
        }
    }

    /// Answered once the points can be found.
    async fn send(
        &self,
        points: Vec<serde_json::Value>,
        gone: Vec<String>,
    ) -> Result<(), SearchError> {
        let told = async {
            if !points.is_empty() {
                let body = json!({ "points": points });
                let path = self.path("/points?wait=true");
                self.client.put(&path, &body).await?;
            }
            if !gone.is_empty() {
                let body = json!({ "points": gone });
                let path = self.path("/points/delete?wait=true");
                self.client.post(&path, &body).await?;
            }
            Ok::<(), EmbedError>(())
        };
        told.await.map_err(SearchError::Qdrant)
    }
}

/// Keeps Qdrant as the index is, until told to stop.
pub async fn mirror(qdrant: Arc<Qdrant>, mut stop: watch::Receiver<bool>) {
    let mut pause = IDLE;
    loop {
        pause = match qdrant.push().await {
            Ok(_) => IDLE,
            Err(error) => {
                let waiting = qdrant.index.mirror_waiting().unwrap_or_default();
                tracing::warn!(
                    error = error.chain(),
                    waiting,
                    "Qdrant could not be told what changed; it is tried again"
                );
                (pause * 2).min(LONGEST)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            changed = stop.changed() => if changed.is_err() || *stop.borrow() { return },
        }
    }
}
