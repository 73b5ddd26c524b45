//! The two sides of a search, asked at the same time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    embed::{EmbedError, Embedder, embed_all},
    error::SearchError,
    lexical::{Ranked, Scored},
    query::Query,
    request::{Degraded, Mode, Request},
    search::{Found, Searcher, blocking},
};

/// A query that takes longer to be embedded is answered by its words.
const QUERY_TIME: Duration = Duration::from_secs(5);

/// What was found by meaning.
#[derive(Debug, Default)]
struct Meaning {
    found: Vec<Scored>,
    /// Whether the query's vector was known.
    cached: bool,
    /// Qdrant was asked in vain: the vectors of the index itself answered.
    degraded: Option<Degraded>,
}

impl Searcher {
    /// Asks both sides at once.
    pub(crate) async fn find(
        &self,
        request: &Request,
        query: &Query,
        deep: usize,
    ) -> Result<Found, SearchError> {
        let keyword = async {
            if request.mode == Mode::Vector {
                return Ok(Ranked::default());
            }
            let (index, query, filter) = (
                Arc::clone(&self.index),
                query.clone(),
                request.filter.clone(),
            );
            blocking(move || index.by_keywords(&query, &filter, deep)).await?
        };
        let vector = async {
            if request.mode == Mode::Keyword || query.asks_for_nothing() {
                return Ok(Meaning::default());
            }
            self.by_meaning(request, query, deep).await
        };
        let (keyword, vector) = tokio::join!(keyword, vector);
        let mut degraded = Vec::new();
        // With one side asked for, its failure is the answer; of two, one may answer alone.
        let keyword = match keyword {
            Ok(keyword) => keyword,
            Err(error) if request.mode == Mode::Hybrid && vector.is_ok() && !is_request(&error) => {
                degraded.push(missing("keyword", &error));
                Ranked::default()
            }
            Err(error) => return Err(error),
        };
        let meaning = match vector {
            Ok(found) => found,
            Err(error) if request.mode == Mode::Hybrid && !is_request(&error) => {
                degraded.push(missing("vector", &error));
                Meaning::default()
            }
            Err(error) => return Err(error),
        };
        degraded.extend(meaning.degraded);
        Ok(Found {
            keyword,
            vector: meaning.found,
            cached: meaning.cached,
            degraded,
        })
    }

    async fn by_meaning(
        &self,
        request: &Request,
        query: &Query,
        deep: usize,
    ) -> Result<Meaning, SearchError> {
        let embedder = self.model.needed()?;
        let known = self.index.model()?;
        let none = || SearchError::NoModel("nothing is embedded yet".into());
        let known = known.ok_or_else(none)?;
        if known.name != embedder.model() {
            return Err(SearchError::NoModel(format!(
                "the index was embedded by {}, not by {}: it is being embedded anew",
                known.name,
                embedder.model()
            )));
        }
        let (vector, cached) = self.query_vector(embedder.as_ref(), &query.text).await?;
        let mut degraded = None;
        if let Some(qdrant) = &self.qdrant {
            let asked = async {
                if let Some(error) = self.rests.qdrant.why(Instant::now()) {
                    return Err(SearchError::Shared(error));
                }
                let asked = qdrant.nearest(&vector, &known.name, query, &request.filter, deep);
                self.note_qdrant(asked.await)
            };
            match asked.await {
                Ok(found) => {
                    return Ok(Meaning {
                        found,
                        cached,
                        degraded: None,
                    });
                }
                Err(error) if is_request(&error) => return Err(error),
                Err(error) => degraded = Some(missing("qdrant", &error)),
            }
        }
        let (index, query, filter) = (
            Arc::clone(&self.index),
            query.clone(),
            request.filter.clone(),
        );
        let found = blocking(move || index.by_vector(&vector, &query, &filter, deep)).await??;
        Ok(Meaning {
            found,
            cached,
            degraded,
        })
    }

    /// A server that fails is not asked again so soon.
    fn note_qdrant(
        &self,
        asked: Result<Vec<Scored>, SearchError>,
    ) -> Result<Vec<Scored>, SearchError> {
        let rest = &self.rests.qdrant;
        match asked {
            Ok(found) => {
                rest.worked();
                Ok(found)
            }
            Err(error) if is_request(&error) => Err(error),
            Err(error) => {
                let error = rest.failed(Instant::now(), error);
                tracing::warn!(error = error.chain(), "Qdrant did not answer");
                Err(SearchError::Shared(error))
            }
        }
    }

    async fn query_vector(
        &self,
        embedder: &dyn Embedder,
        text: &str,
    ) -> Result<(Arc<Vec<f32>>, bool), SearchError> {
        let key = blake3::hash(format!("{}\0{text}", embedder.model()).as_bytes());
        let size = |vector: &Arc<Vec<f32>>| vector.len() * 4;
        let make = self.embed_query(embedder, text);
        self.vectors
            .get_or(*key.as_bytes(), size, Box::pin(make))
            .await
    }

    async fn embed_query(
        &self,
        embedder: &dyn Embedder,
        text: &str,
    ) -> Result<Arc<Vec<f32>>, SearchError> {
        let rest = &self.rests.embedder;
        if let Some(error) = rest.why(Instant::now()) {
            return Err(SearchError::Shared(error));
        }
        let embedding = embed_all(embedder, vec![text.to_owned()], 1);
        let late = |_| EmbedError::late(embedder.model());
        let found = tokio::time::timeout(QUERY_TIME, embedding).await;
        match found.map_err(late).and_then(|vectors| vectors) {
            Ok(mut vectors) => {
                rest.worked();
                Ok(Arc::new(vectors.pop().unwrap_or_default()))
            }
            Err(error) => {
                let error = rest.failed(Instant::now(), SearchError::from(error));
                tracing::warn!(error = error.chain(), "a query could not be embedded");
                Err(SearchError::Shared(error))
            }
        }
    }
}

/// Whether the request itself is at fault, so that no side can answer it.
fn is_request(error: &SearchError) -> bool {
    matches!(
        error.root(),
        SearchError::Unknown { .. } | SearchError::Query(_) | SearchError::BadCursor
    )
}

fn missing(part: &'static str, error: &SearchError) -> Degraded {
    Degraded {
        part,
        reason: error.public(),
        lasting: matches!(error.root(), SearchError::NoModel(_)),
    }
}
