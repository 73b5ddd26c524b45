//! Vectors in a Qdrant server, for those who have one. The index file stays the truth: Qdrant is told
//! of every change of it (`mirror`), compared with it (`reconcile`), and asked for neighbours; what it
//! names and the file does not have, or would not show, is left out.
//!
//! A collection that exists is never deleted and never changed, only used if it fits.

mod filter;
mod mirror;
mod payload;
mod reconcile;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    document::Filter,
    embed::{EmbedError, JsonClient},
    error::SearchError,
    file::IndexFile,
    lexical::Scored,
    query::Query,
    search::blocking,
};

pub use mirror::mirror;
pub use reconcile::Reconciled;

/// How deep Qdrant looks; more is slower and finds more (001 §6.3).
const SEARCH_DEPTH: u32 = 128;
/// A search that takes longer is answered without.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where the server is.
#[derive(Clone)]
pub struct QdrantSettings {
    pub url: String,
    pub key: Option<String>,
    pub collection: String,
}

impl std::fmt::Debug for QdrantSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key stays out of logs.
        f.debug_struct("QdrantSettings")
            .field("url", &self.url)
            .field("collection", &self.collection)
            .finish_non_exhaustive()
    }
}

/// A collection of a server, as the mirror of one index.
#[derive(Debug)]
pub struct Qdrant {
    client: JsonClient,
    collection: String,
    index: Arc<IndexFile>,
    /// Under which the points of this index are known: others may share the collection.
    name: Uuid,
}

impl Qdrant {
    /// Nothing is asked of the server yet. An index that is written queues its changes from now on.
    pub fn new(index: Arc<IndexFile>, settings: &QdrantSettings) -> Result<Self, SearchError> {
        let collection = settings.collection.trim();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if collection.is_empty() || collection.len() > 255 || !collection.chars().all(fits) {
            let why = "the name of a collection has letters, digits, `-`, `_` and `.`";
            return Err(SearchError::Invalid(why.into()));
        }
        let client = JsonClient::new(&settings.url, settings.key.clone());
        let client = client.map_err(SearchError::Qdrant)?;
        let name = if index.is_writable() {
            index.mirror_to(&format!("{} {collection}", settings.url))?
        } else {
            let missing = "this index has never been told to Qdrant: `trawl index --qdrant-url …`";
            let name = index.mirror_name()?;
            name.ok_or_else(|| SearchError::Invalid(missing.into()))?
        };
        Ok(Self {
            client,
            collection: collection.to_owned(),
            index,
            name,
        })
    }

    fn path(&self, rest: &str) -> String {
        format!("/collections/{}{rest}", self.collection)
    }

    /// Makes the collection if there is none; one with other vectors is not touched.
    async fn ensure_collection(&self, dimension: usize) -> Result<(), SearchError> {
        let found = self.client.find(&self.path("")).await;
        match found.map_err(SearchError::Qdrant)? {
            Some(found) => self.check(&found, dimension),
            None => self.create(dimension).await,
        }
    }

    fn check(&self, found: &Value, dimension: usize) -> Result<(), SearchError> {
        let vectors = &found["result"]["config"]["params"]["vectors"];
        let (size, distance) = (vectors["size"].as_u64(), vectors["distance"].as_str());
        if size == Some(dimension as u64) && distance == Some("Cosine") {
            return Ok(());
        }
        Err(SearchError::Invalid(format!(
            "the Qdrant collection {} holds other vectors than the model's {dimension} numbers \
             compared by their cosine: name another collection",
            self.collection
        )))
    }

    async fn create(&self, dimension: usize) -> Result<(), SearchError> {
        let set_up = json!({
            "vectors": { "size": dimension, "distance": "Cosine", "on_disk": true },
            "hnsw_config": { "m": 16, "ef_construct": 100, "full_scan_threshold": 10_000 },
            "quantization_config": {
                "scalar": { "type": "int8", "quantile": 0.99, "always_ram": true }
            },
        });
        let made = self.client.put(&self.path(""), &set_up).await;
        made.map_err(SearchError::Qdrant)?;
        for (field, kind) in payload::INDEXED {
            let index = json!({ "field_name": field, "field_schema": kind });
            let made = self
                .client
                .put(&self.path("/index?wait=true"), &index)
                .await;
            made.map_err(SearchError::Qdrant)?;
        }
        Ok(())
    }

    /// The nearest chunks, filtered by the server; what is not in the file is left out.
    pub(crate) async fn nearest(
        &self,
        vector: &[f32],
        model: &str,
        query: &Query,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, SearchError> {
        let body = json!({
            "query": vector,
            "filter": filter::conditions(self.name, model, query, filter),
            "limit": limit,
            "params": { "hnsw_ef": SEARCH_DEPTH },
            "with_payload": false,
        });
        let path = self.path("/points/query");
        let asking = self.client.post(&path, &body);
        let late = |_| EmbedError::late(&path);
        let answer = tokio::time::timeout(PATIENCE, asking).await;
        let answer = answer.map_err(late).and_then(|answer| answer);
        let answer = answer.map_err(SearchError::Qdrant)?;
        let points = answer["result"]["points"].as_array();
        let (mut chunks, mut scores) = (Vec::new(), Vec::new());
        for point in points.into_iter().flatten() {
            if let (Some(id), Some(score)) = (id_of(point), point["score"].as_f64()) {
                chunks.push(id);
                scores.push(score as f32);
            }
        }
        let (index, query, filter) = (Arc::clone(&self.index), query.clone(), filter.clone());
        let numbers = blocking(move || index.allowed_chunks(&chunks, &query, &filter)).await??;
        let found = |(chunk, score): (Option<u32>, f32)| {
            Some(Scored {
                chunk: chunk?,
                score,
            })
        };
        Ok(numbers.into_iter().zip(scores).filter_map(found).collect())
    }
}

fn id_of(point: &Value) -> Option<Uuid> {
    Uuid::parse_str(point["id"].as_str()?).ok()
}
