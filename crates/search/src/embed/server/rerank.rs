//! `/rerank` as Text Embeddings Inference has it.

use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Refusal, counted};
use crate::embed::rerank::{LocalReranker, sigmoid};

#[derive(Debug, Deserialize)]
struct Ranking {
    query: String,
    texts: Vec<String>,
    /// Whether the end of what is too long may be left out.
    #[serde(default)]
    truncate: bool,
    #[serde(default)]
    raw_scores: bool,
    #[serde(default)]
    return_text: bool,
}

/// The best first.
pub(super) async fn rerank(body: Value, reranker: &LocalReranker) -> Result<Value, Refusal> {
    let ranking: Ranking = serde_json::from_value(body)
        .map_err(|error| Refusal(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()))?;
    counted("texts", ranking.texts.len())?;
    let failed = |error: crate::embed::EmbedError| {
        Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    };
    let invalid = |why: String| Refusal(StatusCode::PAYLOAD_TOO_LARGE, why);
    let (query, texts) = (&ranking.query, &ranking.texts);
    if query.is_empty() && texts.iter().any(String::is_empty) {
        return Err(invalid("a query and a text cannot both be empty".into()));
    }
    if !ranking.truncate
        && let Some(at) = reranker.too_long(query, texts).await.map_err(failed)?
    {
        return Err(invalid(format!(
            "the query and text {at} have more than {} tokens: shorten them, or send \
             `\"truncate\": true` to have the end left out",
            reranker.longest()
        )));
    }
    let scores = reranker.raw_scores(query, texts).await.map_err(failed)?;
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let entry = |at: usize| {
        let raw = scores[at];
        let score = if ranking.raw_scores {
            raw
        } else {
            sigmoid(raw)
        };
        let mut entry = json!({ "index": at, "score": score });
        if ranking.return_text {
            entry["text"] = json!(texts[at]);
        }
        entry
    };
    Ok(order.into_iter().map(entry).collect())
}
