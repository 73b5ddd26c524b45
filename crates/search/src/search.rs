//! A search from what was typed to a page of results: keywords and meaning at the same time,
//! fused. If one side fails the other answers, and the answer says so. `sides` asks the two, `page`
//! makes results of what they found.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    cache::{Cache, CacheFigures},
    cursor::Cursor,
    document::{domain_of, is_within},
    embed::{EmbedError, Embedder, Reranker},
    error::SearchError,
    file::IndexFile,
    lexical::{Ranked, Scored},
    model::Model,
    page::{Candidate, candidates, hit},
    qdrant::Qdrant,
    query::Query,
    request::{Degraded, MOST_RESULTS, Mode, Request, Response, Side},
    rest::Rests,
};

/// So many chunks of each side are fused.
const CANDIDATES: usize = 200;
/// A reranker that takes longer is done without.
const RERANK_TIME: Duration = Duration::from_secs(20);
/// Vectors of queries that are remembered: embedding one costs more than all the rest of a search.
const QUERY_VECTORS: usize = 1024;
/// Pages of results that are remembered, and how much of them.
const RESULTS: usize = 1024;
const RESULT_BYTES: usize = 32 << 20;

/// An index with the embedder that fits it, if there is one.
#[derive(Debug, Clone)]
pub struct Searcher {
    pub index: Arc<IndexFile>,
    pub model: Model,
    reranker: Option<Arc<dyn Reranker>>,
    pub(crate) qdrant: Option<Arc<Qdrant>>,
    pub(crate) vectors: Arc<Cache<Arc<Vec<f32>>>>,
    results: Option<Arc<Cache<Arc<Response>>>>,
    /// Which servers do not answer.
    pub(crate) rests: Arc<Rests>,
}

/// What both sides found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) keyword: Ranked,
    pub(crate) vector: Vec<Scored>,
    /// Whether the query's vector was known.
    pub(crate) cached: bool,
    pub(crate) degraded: Vec<Degraded>,
}

impl Searcher {
    pub fn new(index: Arc<IndexFile>, embedder: Option<Arc<dyn Embedder>>) -> Self {
        Self::with_model(index, embedder.into())
    }

    /// With an embedder that may come later.
    pub fn with_model(index: Arc<IndexFile>, model: Model) -> Self {
        Self {
            index,
            model,
            reranker: None,
            qdrant: None,
            vectors: Arc::new(Cache::new(QUERY_VECTORS, usize::MAX)),
            results: None,
            rests: Arc::default(),
        }
    }

    /// Remembers results until the data changes.
    #[must_use]
    pub fn remembering(mut self) -> Self {
        self.results = Some(Arc::new(Cache::new(RESULTS, RESULT_BYTES)));
        self
    }

    #[must_use]
    pub fn with_reranker(mut self, reranker: Option<Arc<dyn Reranker>>) -> Self {
        self.reranker = reranker;
        self
    }

    /// Neighbours are looked for there; if that fails, in the index itself.
    #[must_use]
    pub fn with_qdrant(mut self, qdrant: Option<Arc<Qdrant>>) -> Self {
        self.qdrant = qdrant;
        self
    }

    pub async fn search(&self, request: &Request) -> Result<Response, SearchError> {
        let started = Instant::now();
        if !self.index.is_writable() {
            let index = Arc::clone(&self.index);
            blocking(move || index.refresh()).await??;
        }
        let mut response = match &self.results {
            Some(cache) => self.remembered(cache, request).await?,
            None => self.compute(request).await?,
        };
        response.latency_ms = started.elapsed().as_secs_f64() * 1000.0;
        Ok(response)
    }

    /// The number of the data is part of what an answer is found by: what was computed before a
    /// change is not given after it.
    async fn remembered(
        &self,
        cache: &Cache<Arc<Response>>,
        request: &Request,
    ) -> Result<Response, SearchError> {
        let generation = self.index.generation();
        cache.keep_only(generation);
        let model = self.model.get();
        let model = model.as_ref().map(|embedder| embedder.model());
        let key = blake3::hash(format!("{request:?} {generation} {model:?}").as_bytes());
        let make = async { self.compute(request).await.map(Arc::new) };
        let found = cache.get_or(*key.as_bytes(), size, Box::pin(make)).await;
        let (response, cached) = found?;
        // What passes is not worth remembering: the next one may get the whole answer.
        if response.degraded.iter().any(|part| !part.lasting) {
            cache.forget(*key.as_bytes());
        }
        let mut response = Response::clone(&response);
        response.result_cached = cached;
        Ok(response)
    }

    async fn compute(&self, request: &Request) -> Result<Response, SearchError> {
        let query = Query::parse(&request.query, self.index.analyser())?;
        let cursor = Cursor::read(request.cursor.as_deref(), request)?;
        if request.rerank.is_some() && self.reranker.is_none() {
            let why =
                "there is no reranker: leave it out, or set one (`rerank-model`, `rerank-url`)";
            return Err(SearchError::NoModel(why.into()));
        }
        let limit = request.limit.clamp(1, MOST_RESULTS);
        let end = cursor.skip + limit;
        let most = end.max(request.rerank.unwrap_or_default());
        let found = self
            .find(request, &query, CANDIDATES.max(most).min(MOST_RESULTS))
            .await?;
        let total_count = found.keyword.total.max(found.vector.len() as u64);
        let (query_embedding_cached, mut degraded) = (found.cached, found.degraded.clone());
        let (index, asked) = (Arc::clone(&self.index), request.clone());
        let typed = query.clone();
        let (mut best, more) =
            blocking(move || candidates(&index, &asked, &typed, &found, most)).await??;
        if let Some(top) = request.rerank {
            degraded.extend(self.rerank(&query, &mut best, top).await);
        }
        let more = more || best.len() > end;
        let page: Vec<Candidate> = best.into_iter().skip(cursor.skip).take(limit).collect();
        let next = cursor.skip + page.len();
        let (index, asked) = (Arc::clone(&self.index), request.clone());
        let results = blocking(move || {
            page.into_iter()
                .map(|candidate| hit(&index, &asked, &query, candidate))
                .collect::<Result<Vec<_>, _>>()
        });
        Ok(Response {
            results: results.await??,
            total_count,
            next_cursor: more.then(|| Cursor { skip: next }.write(request)),
            query_embedding_cached,
            result_cached: false,
            latency_ms: 0.0,
            searched: searched(request.mode, &degraded),
            degraded,
        })
    }

    /// Puts the first ones in another order; they stay as they are if that fails.
    async fn rerank(&self, query: &Query, best: &mut [Candidate], top: usize) -> Option<Degraded> {
        let reranker = self.reranker.as_ref()?;
        let top = top.min(best.len());
        let (first, _) = best.split_at_mut(top);
        if first.is_empty() {
            return None;
        }
        let failed = |reason: &str| {
            Some(Degraded {
                part: "rerank",
                reason: reason.to_owned(),
                lasting: false,
            })
        };
        let rest = &self.rests.reranker;
        if rest.why(Instant::now()).is_some() {
            return failed("the reranker did not answer a moment ago");
        }
        let texts: Vec<String> = first.iter().map(|one| one.row.content.clone()).collect();
        let ranking = reranker.rerank(&query.text, &texts);
        let late = |_| EmbedError::late("the reranker");
        let scores = tokio::time::timeout(RERANK_TIME, ranking).await;
        match scores.map_err(late).and_then(|scores| scores) {
            Ok(scores) => {
                rest.worked();
                for (one, score) in first.iter_mut().zip(scores) {
                    one.rerank_score = Some(score);
                }
                let score = |one: &Candidate| one.rerank_score.unwrap_or_default();
                first.sort_by(|a, b| score(b).total_cmp(&score(a)));
                None
            }
            Err(error) => {
                let error = rest.failed(Instant::now(), SearchError::from(error));
                tracing::warn!(error = error.chain(), "results could not be reranked");
                failed("the reranker gave no answer that can be used")
            }
        }
    }

    /// The cache of results in numbers, if there is one.
    pub fn result_figures(&self) -> CacheFigures {
        let cache = self.results.as_ref();
        cache.map(|cache| cache.figures()).unwrap_or_default()
    }

    /// The cache of queries' vectors in numbers.
    pub fn vector_figures(&self) -> CacheFigures {
        self.vectors.figures()
    }

    /// Forgets all results; says how many there were.
    pub fn forget_results(&self) -> u64 {
        self.results.as_ref().map_or(0, |cache| cache.clear())
    }

    /// Forgets the vectors of queries.
    pub fn forget_vectors(&self) -> u64 {
        self.vectors.clear()
    }

    /// Forgets results that name a document of a host, or of one below it.
    pub fn forget_domain(&self, domain: &str) -> u64 {
        let names = |response: &Arc<Response>| {
            let mut hits = response.results.iter();
            hits.any(|hit| is_within(&domain_of(&hit.url), domain))
        };
        self.results
            .as_ref()
            .map_or(0, |cache| cache.drop_if(names))
    }
}

/// About as many bytes as a page of results holds.
fn size(response: &Arc<Response>) -> usize {
    let texts = |hit: &crate::request::Hit| {
        let around: usize = hit.expanded_chunks.iter().flatten().map(String::len).sum();
        hit.content.len() + hit.url.len() + around + 256
    };
    response.results.iter().map(texts).sum::<usize>() + 256
}

fn searched(mode: Mode, degraded: &[Degraded]) -> Vec<Side> {
    let asked = match mode {
        Mode::Hybrid => &[Side::Keyword, Side::Vector][..],
        Mode::Keyword => &[Side::Keyword],
        Mode::Vector => &[Side::Vector],
    };
    let failed = |side: &Side| degraded.iter().any(|part| part.part == side.as_str());
    asked.iter().copied().filter(|side| !failed(side)).collect()
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SearchError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| SearchError::Stopped)
}
