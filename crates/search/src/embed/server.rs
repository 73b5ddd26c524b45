//! A model of this process for others: the protocols of Text Embeddings Inference and OpenAI.

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

use super::{Embedder, embed_all};

/// Larger requests are refused.
const LARGEST_REQUEST: usize = 16 << 20;
/// Texts of one request.
const MOST_TEXTS: usize = 2048;
/// Connections wait so long for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// An answer that is no success.
struct Refusal(StatusCode, String);

/// Answers requests until it is dropped.
pub async fn serve(listener: TcpListener, embedder: Arc<dyn Embedder>) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let embedder = Arc::clone(&embedder);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let embedder = Arc::clone(&embedder);
                async move { Ok::<_, Infallible>(respond(request, embedder.as_ref()).await) }
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

async fn respond(request: Request<Incoming>, embedder: &dyn Embedder) -> Response<Full<Bytes>> {
    let (status, value) = match answer(request, embedder).await {
        Ok(value) => (StatusCode::OK, value),
        Err(Refusal(status, message)) => {
            let kind = status.canonical_reason().unwrap_or_default();
            (status, json!({ "error": message, "error_type": kind }))
        }
    };
    let mut response = Response::new(Full::new(Bytes::from(value.to_string())));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

async fn answer(request: Request<Incoming>, embedder: &dyn Embedder) -> Result<Value, Refusal> {
    let path = request.uri().path().trim_end_matches('/').to_owned();
    match (request.method(), path.as_str()) {
        (&Method::GET, "/health" | "") => Ok(json!({ "status": "ok" })),
        (&Method::GET, "/info") => Ok(json!({
            "model_id": embedder.model(),
            "model_type": { "embedding": { "pooling": "mean" } },
            "max_client_batch_size": MOST_TEXTS,
            "version": env!("CARGO_PKG_VERSION"),
        })),
        (&Method::POST, "/embed") => {
            let body = body(request).await?;
            let vectors = embed(&body["inputs"], embedder).await?;
            Ok(json!(vectors))
        }
        (&Method::POST, "/v1/embeddings") => {
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
        (&Method::POST, "/rerank") => Err(Refusal(
            StatusCode::NOT_IMPLEMENTED,
            format!(
                "{} embeds texts and ranks none: a cross-encoder is needed",
                embedder.model()
            ),
        )),
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

async fn body(request: Request<Incoming>) -> Result<Value, Refusal> {
    let limited = Limited::new(request.into_body(), LARGEST_REQUEST)
        .collect()
        .await;
    let bytes =
        limited.map_err(|error| Refusal(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()))?;
    serde_json::from_slice(&bytes.to_bytes())
        .map_err(|error| Refusal(StatusCode::BAD_REQUEST, error.to_string()))
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
    if texts.is_empty() || texts.len() > MOST_TEXTS {
        return Err(bad("between 1 and 2,048 texts are embedded at once"));
    }
    embed_all(embedder, texts)
        .await
        .map_err(|error| Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}
