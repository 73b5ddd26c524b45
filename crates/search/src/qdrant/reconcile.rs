//! Compares all points of Qdrant with the file and queues what differs.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Qdrant, id_of, payload};
use crate::{error::SearchError, search::blocking};

/// Points that are compared at once.
const BATCH: usize = 500;

/// What differed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Reconciled {
    pub compared: u64,
    /// In the file and not in Qdrant.
    pub missing: u64,
    /// In both, and not equal.
    pub stale: u64,
    /// In Qdrant and not in the file.
    pub extra: u64,
    /// Changes that were sent, those among them.
    pub sent: u64,
}

impl Qdrant {
    /// Finds what differs and, unless it is only to be counted, mends it.
    pub async fn reconcile(&self, mend: bool) -> Result<Reconciled, SearchError> {
        let mut done = Reconciled::default();
        let Some(model) = self.index.model()? else {
            return Ok(done);
        };
        self.ensure_collection(model.dimension).await?;
        let mut there = self.fingerprints().await?;
        let mut wrong: Vec<Uuid> = Vec::new();
        let mut after = 0;
        loop {
            let index = Arc::clone(&self.index);
            let (points, last) = blocking(move || index.mirror_points(after, BATCH)).await??;
            for point in points {
                done.compared += 1;
                match there.remove(&point.chunk) {
                    None => done.missing += 1,
                    Some(found) if found != payload::fingerprint(self.name, &point) => {
                        done.stale += 1;
                    }
                    Some(_) => continue,
                }
                wrong.push(point.chunk);
            }
            match last {
                Some(last) => after = last,
                None => break,
            }
        }
        done.extra = there.len() as u64;
        wrong.extend(there.into_keys());
        if mend {
            let index = Arc::clone(&self.index);
            blocking(move || index.mirror_again(&wrong)).await??;
            done.sent = self.push().await?;
        }
        Ok(done)
    }

    /// Of all points of this index.
    async fn fingerprints(&self) -> Result<FxHashMap<Uuid, String>, SearchError> {
        let mut found = FxHashMap::default();
        let ours = json!({ "key": "index", "match": { "value": self.name.to_string() } });
        let mut offset = Value::Null;
        loop {
            let body = json!({
                "limit": BATCH,
                "offset": offset,
                "filter": { "must": [ours] },
                "with_payload": ["fingerprint"],
                "with_vector": false,
            });
            let answer = self.client.post(&self.path("/points/scroll"), &body).await;
            let answer = answer.map_err(SearchError::Qdrant)?;
            for point in answer["result"]["points"].as_array().into_iter().flatten() {
                let print = point["payload"]["fingerprint"].as_str().unwrap_or_default();
                if let Some(id) = id_of(point) {
                    found.insert(id, print.to_owned());
                }
            }
            offset = answer["result"]["next_page_offset"].clone();
            if offset.is_null() {
                return Ok(found);
            }
        }
    }
}
