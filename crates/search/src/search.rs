//! A search from what was typed to a page of results: keywords and meaning at the same time,
//! fused. If one side fails the other answers, and the answer says so.

use std::{sync::Arc, time::Instant};

use crate::{
    cache::QueryVectors,
    cursor::Cursor,
    embed::{EmbedError, Embedder, embed_all},
    error::SearchError,
    file::{ChunkRow, IndexFile},
    fuse::{Fused, fuse},
    highlight::{has_exactly, highlights},
    lexical::{Ranked, Scored},
    query::Query,
    request::{Hit, MOST_RESULTS, Mode, Request, Response, Side},
};

/// So many chunks of each side are fused.
const CANDIDATES: usize = 200;

/// An index with the embedder that fits it, if there is one.
#[derive(Debug, Clone)]
pub struct Searcher {
    pub index: Arc<IndexFile>,
    pub embedder: Option<Arc<dyn Embedder>>,
    vectors: Arc<QueryVectors>,
}

/// What both sides found.
struct Found {
    keyword: Ranked,
    vector: Vec<Scored>,
    cached: bool,
    degraded: Vec<String>,
}

impl Searcher {
    pub fn new(index: Arc<IndexFile>, embedder: Option<Arc<dyn Embedder>>) -> Self {
        Self {
            index,
            embedder,
            vectors: Arc::default(),
        }
    }

    pub async fn search(&self, request: &Request) -> Result<Response, SearchError> {
        let started = Instant::now();
        let query = Query::parse(&request.query, self.index.analyser())?;
        let cursor = Cursor::read(request.cursor.as_deref(), request)?;
        let limit = request.limit.clamp(1, MOST_RESULTS);
        let deep = CANDIDATES.max(cursor.skip + limit).min(MOST_RESULTS);
        let found = self.find(request, &query, deep).await?;
        let index = Arc::clone(&self.index);
        let asked = request.clone();
        let page =
            move || page(&index, &asked, &query, &found, cursor, limit).map(|page| (page, found));
        let ((results, more), found) = blocking(page).await??;
        let next = cursor.skip + results.len();
        Ok(Response {
            next_cursor: more.then(|| Cursor { skip: next }.write(request)),
            total_count: found.keyword.total.max(found.vector.len() as u64),
            results,
            query_embedding_cached: found.cached,
            result_cached: false,
            latency_ms: started.elapsed().as_secs_f64() * 1000.0,
            degraded: found.degraded,
        })
    }

    /// Asks both sides at once.
    async fn find(
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
                return Ok((Vec::new(), false));
            }
            self.by_meaning(request, query, deep).await
        };
        let (keyword, vector) = tokio::join!(keyword, vector);
        let mut degraded = Vec::new();
        // With one side asked for, its failure is the answer; of two, one may answer alone.
        let keyword = match keyword {
            Ok(keyword) => keyword,
            Err(error) if request.mode == Mode::Hybrid && vector.is_ok() && !is_request(&error) => {
                degraded.push(format!("keyword search: {}", chain(&error)));
                Ranked::default()
            }
            Err(error) => return Err(error),
        };
        let (vector, cached) = match vector {
            Ok(found) => found,
            Err(error) if request.mode == Mode::Hybrid && !is_request(&error) => {
                degraded.push(format!("vector search: {}", chain(&error)));
                (Vec::new(), false)
            }
            Err(error) => return Err(error),
        };
        Ok(Found {
            keyword,
            vector,
            cached,
            degraded,
        })
    }

    async fn by_meaning(
        &self,
        request: &Request,
        query: &Query,
        deep: usize,
    ) -> Result<(Vec<Scored>, bool), SearchError> {
        let embedder = self.embedder.as_ref();
        let embedder =
            embedder.ok_or_else(|| SearchError::Invalid("there is no embedder".into()))?;
        let known = self.index.model()?;
        let known = known.ok_or_else(|| SearchError::Invalid("nothing is embedded yet".into()))?;
        if known.name != embedder.model() {
            let message = format!(
                "the index was embedded by {}, not {}",
                known.name,
                embedder.model()
            );
            return Err(SearchError::Invalid(message));
        }
        let (vector, cached) = self.query_vector(embedder.as_ref(), &query.text).await?;
        let (index, query, filter) = (
            Arc::clone(&self.index),
            query.clone(),
            request.filter.clone(),
        );
        let found = blocking(move || index.by_vector(&vector, &query, &filter, deep)).await??;
        Ok((found, cached))
    }

    async fn query_vector(
        &self,
        embedder: &dyn Embedder,
        text: &str,
    ) -> Result<(Arc<Vec<f32>>, bool), EmbedError> {
        if let Some(vector) = self.vectors.get(embedder.model(), text) {
            return Ok((vector, true));
        }
        let mut vectors = embed_all(embedder, vec![text.to_owned()]).await?;
        let vector = Arc::new(vectors.pop().unwrap_or_default());
        self.vectors
            .put(embedder.model(), text, Arc::clone(&vector));
        Ok((vector, false))
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SearchError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| SearchError::Stopped)
}

/// Whether the request itself is at fault, so that no side can answer it.
fn is_request(error: &SearchError) -> bool {
    matches!(
        error,
        SearchError::Unknown { .. } | SearchError::Query(_) | SearchError::BadCursor
    )
}

fn chain(error: &SearchError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// The results of a page, and whether there are more behind it.
fn page(
    index: &IndexFile,
    request: &Request,
    query: &Query,
    found: &Found,
    cursor: Cursor,
    limit: usize,
) -> Result<(Vec<Hit>, bool), SearchError> {
    let ranked = ranked(request, query, found);
    let mut hits = Vec::with_capacity(limit);
    let mut documents = rustc_hash::FxHashSet::default();
    let mut passed = 0;
    for fused in ranked {
        if fused.score < request.min_score {
            break;
        }
        let Some(row) = index.chunks(&[fused.chunk])?.pop() else {
            continue;
        };
        let exact = |phrase| {
            has_exactly(&row.content, phrase)
                || row
                    .title
                    .as_deref()
                    .is_some_and(|title| has_exactly(title, phrase))
        };
        if !query.phrases.iter().all(exact) {
            continue;
        }
        if request.one_per_document && !documents.insert(row.document) {
            continue;
        }
        passed += 1;
        if passed <= cursor.skip {
            continue;
        }
        if hits.len() == limit {
            return Ok((hits, true));
        }
        hits.push(hit(index, request, query, &fused, row)?);
    }
    Ok((hits, false))
}

fn ranked(request: &Request, query: &Query, found: &Found) -> Vec<Fused> {
    match request.mode {
        Mode::Keyword => alone(&found.keyword.hits, true),
        Mode::Vector => alone(&found.vector, false),
        Mode::Hybrid => {
            // What must or must not occur is decided by words: meaning cannot overrule it.
            let strict = !query.phrases.is_empty() || !query.without.is_empty();
            let vector = if strict {
                let known: rustc_hash::FxHashSet<u32> = found
                    .keyword
                    .hits
                    .iter()
                    .map(|scored| scored.chunk)
                    .collect();
                let near = found.vector.iter().copied();
                near.filter(|scored| known.contains(&scored.chunk))
                    .collect()
            } else {
                found.vector.clone()
            };
            fuse(&found.keyword.hits, &vector, request.weights)
        }
    }
}

fn alone(list: &[Scored], keyword: bool) -> Vec<Fused> {
    let fused = |scored: &Scored| Fused {
        chunk: scored.chunk,
        score: scored.score,
        vector_score: (!keyword).then_some(scored.score),
        keyword_score: keyword.then_some(scored.score),
    };
    list.iter().map(fused).collect()
}

fn hit(
    index: &IndexFile,
    request: &Request,
    query: &Query,
    fused: &Fused,
    row: ChunkRow,
) -> Result<Hit, SearchError> {
    let expanded = if request.expand_chunks {
        let before = row.position.checked_sub(1);
        let around = before.into_iter().chain([row.position + 1]);
        let mut texts = Vec::new();
        for position in around {
            texts.extend(
                index
                    .chunk_at(row.document, position)?
                    .map(|chunk| chunk.content),
            );
        }
        Some(texts)
    } else {
        None
    };
    Ok(Hit {
        document_id: row.document_uuid,
        chunk_id: row.uuid,
        highlights: highlights(&row.content, query, index.analyser()),
        url: row.url,
        title: row.title,
        content: row.content,
        score: fused.score,
        vector_score: fused.vector_score,
        keyword_score: fused.keyword_score,
        source: match (fused.vector_score, fused.keyword_score) {
            (Some(_), Some(_)) => Side::Fused,
            (Some(_), None) => Side::Vector,
            _ => Side::Keyword,
        },
        section_header: row.header,
        content_type: row.kind,
        chunk_index: row.position,
        crawled_at: row.crawled_at,
        expanded_chunks: expanded,
    })
}
