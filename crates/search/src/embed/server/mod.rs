//! Models of this process for others: the protocols of Text Embeddings Inference and OpenAI.

mod rerank;
#[cfg(test)]
mod tests;

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{Embedder, LocalReranker, embed_all};

/// Larger requests are refused.
const LARGEST_REQUEST: usize = 16 << 20;
/// Texts of one request.
const MOST_TEXTS: usize = 2048;
/// Connections wait so long for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// What is served: one of them or both.
#[derive(Debug, Clone, Default)]
pub struct Models {
    pub embedder: Option<Arc<dyn Embedder>>,
    pub reranker: Option<Arc<LocalReranker>>,
}

/// An answer that is no success.
#[derive(Debug)]
struct Refusal(StatusCode, String);

impl Refusal {
    /// What TEI calls it.
    fn kind(&self) -> &'static str {
        match self.0 {
            StatusCode::BAD_REQUEST
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNPROCESSABLE_ENTITY => "Validation",
            status if status.is_server_error() => "Backend",
            status => status.canonical_reason().unwrap_or_default(),
        }
    }
}

/// Answers requests until it is dropped.
pub async fn serve(listener: TcpListener, models: Models) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let models = models.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let models = models.clone();
                async move { Ok::<_, Infallible>(respond(request, &models).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(stream), service);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke");
            }
        });
    }
}

async fn respond(request: Request<Incoming>, models: &Models) -> Response<Full<Bytes>> {
    let (status, value) = match answer(request, models).await {
        Ok(value) => (StatusCode::OK, value),
        Err(refusal) => {
            let kind = refusal.kind();
            let Refusal(status, message) = refusal;
            (status, json!({ "error": message, "error_type": kind }))
        }
    };
    let mut response = Response::new(Full::new(Bytes::from(value.to_string())));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

async fn answer(request: Request<Incoming>, models: &Models) -> Result<Value, Refusal> {
    let path = request.uri().path().trim_end_matches('/').to_owned();
    match (request.method(), path.as_str()) {
        (&Method::GET, "/health" | "") => Ok(json!({ "status": "ok" })),
        (&Method::GET, "/info") => Ok(info(models)),
        (&Method::POST, "/embed") => {
            let embedder = models.embedder()?;
            let body = body(request).await?;
            let vectors = embed(&body["inputs"], embedder).await?;
            Ok(json!(vectors))
        }
        (&Method::POST, "/v1/embeddings") => {
            let embedder = models.embedder()?;
            let body = body(request).await?;
            let vectors = embed(&body["input"], embedder).await?;
            let entry = |(index, vector): (usize, Vec<f32>)| json!({ "object": "embedding", "index": index, "embedding": vector });
            let data: Vec<Value> = vectors.into_iter().enumerate().map(entry).collect();
            Ok(json!({
                "object": "list",
                "data": data,
                "model": embedder.model(),
                "usage": { "prompt_tokens": 0, "total_tokens": 0 },
            }))
        }
        (&Method::POST, "/rerank") => {
            let reranker = models.reranker()?;
            rerank::rerank(body(request).await?, reranker).await
        }
        (_, "/embed" | "/v1/embeddings" | "/rerank" | "/health" | "/info") => Err(Refusal(
            StatusCode::METHOD_NOT_ALLOWED,
            "another method is needed".into(),
        )),
        _ => Err(Refusal(
            StatusCode::NOT_FOUND,
            format!("there is no {path}"),
        )),
    }
}

impl Models {
    fn embedder(&self) -> Result<&dyn Embedder, Refusal> {
        let missing = || {
            let why = "no model that embeds is served: start the server with --model";
            Refusal(StatusCode::NOT_IMPLEMENTED, why.into())
        };
        self.embedder.as_deref().ok_or_else(missing)
    }

    fn reranker(&self) -> Result<&LocalReranker, Refusal> {
        let missing = || {
            let why = "no model that ranks is served: a cross-encoder is needed; start the server \
                       with --rerank-model and the folder of one";
            Refusal(StatusCode::NOT_IMPLEMENTED, why.into())
        };
        self.reranker.as_deref().ok_or_else(missing)
    }
}

fn info(models: &Models) -> Value {
    let embedder = models.embedder.as_ref().map(|embedder| embedder.model());
    let reranker = models.reranker.as_ref().map(|reranker| reranker.name());
    let kind = if embedder.is_some() {
        json!({ "embedding": { "pooling": "mean" } })
    } else {
        json!({ "reranker": { "id2label": { "0": "LABEL_0" }, "label2id": { "LABEL_0": 0 } } })
    };
    json!({
        "model_id": embedder.or(reranker),
        "model_type": kind,
        "reranker_id": reranker,
        "max_client_batch_size": MOST_TEXTS,
        "version": env!("CARGO_PKG_VERSION"),
    })
}

async fn body(request: Request<Incoming>) -> Result<Value, Refusal> {
    let limited = Limited::new(request.into_body(), LARGEST_REQUEST)
        .collect()
        .await;
    let bytes =
        limited.map_err(|error| Refusal(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()))?;
    serde_json::from_slice(&bytes.to_bytes())
        .map_err(|error| Refusal(StatusCode::BAD_REQUEST, error.to_string()))
}

/// At least one text, and no more than may be sent at once.
fn counted(field: &str, count: usize) -> Result<(), Refusal> {
    match count {
        0 => Err(Refusal(
            StatusCode::BAD_REQUEST,
            format!("`{field}` cannot be empty"),
        )),
        1..=MOST_TEXTS => Ok(()),
        more => Err(Refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("{more} {field} are more than the {MOST_TEXTS} that may be sent at once"),
        )),
    }
}

/// One text or a list of them.
async fn embed(inputs: &Value, embedder: &dyn Embedder) -> Result<Vec<Vec<f32>>, Refusal> {
    let bad = |why: &str| Refusal(StatusCode::UNPROCESSABLE_ENTITY, why.to_owned());
    let texts: Option<Vec<String>> = match inputs {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(list) => list
            .iter()
            .map(|text| text.as_str().map(str::to_owned))
            .collect(),
        _ => None,
    };
    let texts = texts.ok_or_else(|| bad("a text or a list of texts is needed"))?;
    counted("inputs", texts.len())?;
    embed_all(embedder, texts, 1)
        .await
        .map_err(|error| Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}
