//! What was crawled and uploaded, by words, by meaning, and by both (001 §7.3, §9.2).

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_search::{
    Degraded, Hit, Mode, Request, Response,
    document::{ChunkKind, DocSource, Filter},
    fuse::Weights,
    request::Side,
};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{input, pages::time};
use crate::{
    app::{App, Shared},
    auth::{Identity, Reader},
    error::{ApiError, ErrorBody},
};

/// Results of one answer.
const MOST: usize = 100;
/// Results that are reranked unless the request says otherwise, and at most.
const RERANKED: usize = 20;
const MOST_RERANKED: usize = 100;
/// How soon ranks stop to differ.
const USUAL_K: f32 = 60.0;

/// A search.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({
    "query": "how are \"rate limits\" announced -proxy site:example.org",
    "domains": ["example.org"], "date_from": "2025-01-15", "limit": 10
}))]
pub(super) struct SearchBody {
    /// Words, "phrases", -not, prefix*, site:host; 1 to 1,000 characters.
    query: String,
    // Lists that are left out or empty leave everything in.
    collection_ids: Option<Vec<Uuid>>,
    tag_ids: Option<Vec<Uuid>>,
    /// Names of tags.
    tags: Option<Vec<String>>,
    /// Hosts; each stands for what is below it, too.
    domains: Option<Vec<String>>,
    /// Crawled or uploaded at this time or later (ISO 8601, or a date).
    date_from: Option<String>,
    /// Not after this time.
    date_to: Option<String>,
    /// crawl, upload, api.
    #[schema(value_type = Option<Vec<String>>)]
    source_types: Option<Vec<DocSource>>,
    /// Such as en.
    languages: Option<Vec<String>>,
    /// Results with a lower score are left out.
    min_score: f32,
    /// At most one result of a document.
    dedup: bool,
    /// With the chunks before and after each result.
    expand_chunks: bool,
    /// Put the best in order by a cross-encoder, where the server has one.
    use_reranker: bool,
    /// How many of them, 1 to 100 (20 if left out).
    rerank_top_n: Option<usize>,
    /// `scores` (the default), or `ranks`: reciprocal rank fusion, which a given `rrf_k` means as well.
    fusion: Option<String>,
    /// 1 to 1,000 (60 if left out).
    rrf_k: Option<f32>,
    /// How much meaning counts, 0 to 100 (1.5; 1 by ranks).
    vector_weight: Option<f32>,
    /// How much words count, 0 to 100 (1).
    keyword_weight: Option<f32>,
    /// Results of this answer, 1 to 100 (10 if left out).
    limit: Option<usize>,
    /// The `next_cursor` of the answer before, with the same search.
    cursor: Option<String>,
}

/// One result: a chunk of a document.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "document_id": "7d0c6bd4-5c49-8f4e-9d2c-0a6fd37c9a11", "chunk_id": "1f6c2a90-7e0b-8a53-b0f2-6f0c3d1e8b77",
    "url": "https://example.org/limits", "title": "Limits", "content": "Rate limits are announced …",
    "score": 0.93, "vector_score": 0.61, "keyword_score": 11.2, "rerank_score": null, "source": "fused",
    "highlights": [[0, 4], [5, 11]], "section_header": "Limits", "content_type": "prose",
    "chunk_index": 0, "crawled_at": "2025-01-15T10:30:00.000Z"
}))]
pub(super) struct SearchResult {
    document_id: Uuid,
    chunk_id: Uuid,
    url: String,
    title: Option<String>,
    /// Markdown.
    content: String,
    score: f32,
    vector_score: Option<f32>,
    keyword_score: Option<f32>,
    rerank_score: Option<f32>,
    /// vector, keyword, or fused where both sides found it.
    source: &'static str,
    /// Ranges of characters of the content.
    #[schema(value_type = Vec<Vec<u64>>)]
    highlights: Vec<(usize, usize)>,
    /// The nearest heading above.
    section_header: Option<String>,
    /// prose, code, table or list.
    content_type: &'static str,
    chunk_index: u32,
    crawled_at: String,
    /// The chunks before and after, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    expanded_chunks: Option<Vec<String>>,
}

/// A part that could not be asked; the rest answered alone.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MissingPart {
    /// vector, keyword or rerank.
    part: &'static str,
    reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SearchResponse {
    results: Vec<SearchResult>,
    /// Chunks that have a word of the query, or that were compared.
    total_count: u64,
    next_cursor: Option<String>,
    has_more: bool,
    /// The sides that answered: keyword, vector.
    searched: Vec<&'static str>,
    degraded: Vec<MissingPart>,
    query_embedding_cached: bool,
    result_cached: bool,
    latency_ms: f64,
}

impl From<Hit> for SearchResult {
    fn from(hit: Hit) -> Self {
        Self {
            document_id: hit.document_id,
            chunk_id: hit.chunk_id,
            url: hit.url,
            title: hit.title,
            content: hit.content,
            score: hit.score,
            vector_score: hit.vector_score,
            keyword_score: hit.keyword_score,
            rerank_score: hit.rerank_score,
            source: hit.source.as_str(),
            highlights: hit.highlights,
            section_header: hit.section_header,
            content_type: kind(hit.content_type),
            chunk_index: hit.chunk_index,
            crawled_at: hit.crawled_at.iso(),
            expanded_chunks: hit.expanded_chunks,
        }
    }
}

pub(super) fn kind(kind: ChunkKind) -> &'static str {
    match kind {
        ChunkKind::Prose => "prose",
        ChunkKind::Code => "code",
        ChunkKind::Table => "table",
        ChunkKind::List => "list",
    }
}

impl From<Response> for SearchResponse {
    fn from(response: Response) -> Self {
        let part = |part: Degraded| MissingPart {
            part: part.part,
            reason: part.reason,
        };
        Self {
            has_more: response.next_cursor.is_some(),
            results: response.results.into_iter().map(Into::into).collect(),
            total_count: response.total_count,
            next_cursor: response.next_cursor,
            searched: response.searched.into_iter().map(Side::as_str).collect(),
            degraded: response.degraded.into_iter().map(part).collect(),
            query_embedding_cached: response.query_embedding_cached,
            result_cached: response.result_cached,
            latency_ms: response.latency_ms,
        }
    }
}

/// Searches by words and by meaning; where one side cannot answer, by the other.
#[utoipa::path(post, path = "/search", tag = "search", request_body = SearchBody, responses(
    (status = 200, body = SearchResponse), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn hybrid(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Json(body): input::Json<SearchBody>,
) -> Result<Json<SearchResponse>, ApiError> {
    answer(&app, &identity, body, Mode::Hybrid).await
}

/// Searches by meaning alone.
#[utoipa::path(post, path = "/search/vector", tag = "search", request_body = SearchBody, responses(
    (status = 200, body = SearchResponse), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
    (status = 502, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(super) async fn vector(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Json(body): input::Json<SearchBody>,
) -> Result<Json<SearchResponse>, ApiError> {
    answer(&app, &identity, body, Mode::Vector).await
}

/// Searches by words alone.
#[utoipa::path(post, path = "/search/keyword", tag = "search", request_body = SearchBody, responses(
    (status = 200, body = SearchResponse), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn keyword(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Json(body): input::Json<SearchBody>,
) -> Result<Json<SearchResponse>, ApiError> {
    answer(&app, &identity, body, Mode::Keyword).await
}

async fn answer(
    app: &App,
    identity: &Identity,
    body: SearchBody,
    mode: Mode,
) -> Result<Json<SearchResponse>, ApiError> {
    let search = app.search()?;
    let weights = body.weights()?;
    let rerank = body.rerank()?;
    let limit = within("limit", body.limit.unwrap_or(10), 1, MOST)?;
    if !body.min_score.is_finite() {
        return Err(ApiError::field("min_score", "must be a number"));
    }
    let names = body.tags.clone().unwrap_or_default();
    let mut filter = body.filter()?;
    filter.owners = search.owners(identity);
    if !names.is_empty() {
        let tags = search.read(move |index| index.tag_ids(&names)).await?;
        filter.tags.extend(tags);
    }
    let request = Request {
        query: body.query,
        mode,
        filter,
        weights,
        min_score: body.min_score,
        expand_chunks: body.expand_chunks,
        one_per_document: body.dedup,
        rerank,
        limit,
        cursor: body.cursor,
    };
    let response = search.searcher.search(&request).await?;
    Ok(Json(response.into()))
}

fn within<T: Copy + PartialOrd + std::fmt::Display>(
    field: &str,
    value: T,
    least: T,
    most: T,
) -> Result<T, ApiError> {
    if value >= least && value <= most {
        return Ok(value);
    }
    let problem = format!("{value} is not between {least} and {most}");
    Err(ApiError::field(field, problem))
}

impl SearchBody {
    fn weights(&self) -> Result<Weights, ApiError> {
        let ranks = match self.fusion.as_deref() {
            None => self.rrf_k.is_some(),
            Some("scores") if self.rrf_k.is_some() => {
                return Err(ApiError::field("rrf_k", "is for the fusion by ranks"));
            }
            Some("scores") => false,
            Some("ranks" | "rrf") => true,
            Some(_) => return Err(ApiError::field("fusion", "must be scores or ranks")),
        };
        let usual = if ranks {
            let k = within("rrf_k", self.rrf_k.unwrap_or(USUAL_K), 1.0, 1000.0)?;
            Weights::ranks(k, 1.0, 1.0)
        } else {
            Weights::default()
        };
        let vector = self.vector_weight.unwrap_or(usual.vector);
        let keyword = self.keyword_weight.unwrap_or(usual.keyword);
        let weights = Weights {
            vector: within("vector_weight", vector, 0.0, 100.0)?,
            keyword: within("keyword_weight", keyword, 0.0, 100.0)?,
            ..usual
        };
        if weights.vector + weights.keyword <= 0.0 {
            let problem = "one of vector_weight and keyword_weight must be more than 0";
            return Err(ApiError::field("vector_weight", problem));
        }
        Ok(weights)
    }

    fn rerank(&self) -> Result<Option<usize>, ApiError> {
        let top = self.rerank_top_n.unwrap_or(RERANKED);
        let top = within("rerank_top_n", top, 1, MOST_RERANKED)?;
        Ok(self.use_reranker.then_some(top))
    }

    fn filter(&self) -> Result<Filter, ApiError> {
        Ok(Filter {
            collections: self.collection_ids.clone().unwrap_or_default(),
            tags: self.tag_ids.clone().unwrap_or_default(),
            domains: self.domains.clone().unwrap_or_default(),
            date_from: time("date_from", self.date_from.as_deref())?,
            date_to: time("date_to", self.date_to.as_deref())?,
            sources: self.source_types.clone().unwrap_or_default(),
            languages: self.languages.clone().unwrap_or_default(),
            owners: None,
        })
    }
}
