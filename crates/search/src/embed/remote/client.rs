//! JSON over HTTP to one server: bounded answers, timeouts, and another try where that may help.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Method, Request, StatusCode, header};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::Value;

use super::connect::Connector;
use crate::embed::EmbedError;

/// Larger answers are refused: 32 vectors of 4,096 numbers have a tenth of it.
const LARGEST_ANSWER: usize = 64 << 20;
/// How often a request is sent in all.
const ATTEMPTS: u32 = 3;

/// Speaks to one server.
pub(crate) struct JsonClient {
    client: Client<Connector, Full<Bytes>>,
    base: String,
    key: Option<String>,
    timeout: Duration,
    /// The wait before the second attempt; doubles each time.
    pause: Duration,
}

impl std::fmt::Debug for JsonClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key stays out of logs.
        f.debug_struct("JsonClient")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

impl JsonClient {
    pub(crate) fn new(base: &str, key: Option<String>) -> Result<Self, EmbedError> {
        let base = base.trim_end_matches('/').to_owned();
        let bad = |why: String| EmbedError::Http {
            url: base.clone(),
            why,
            retry: false,
        };
        let parsed = url::Url::parse(&base).map_err(|error| bad(error.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(bad("only http and https are spoken".into()));
        }
        let connector = Connector::new().map_err(|error| bad(error.to_string()))?;
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            base,
            key,
            timeout: Duration::from_mins(1),
            pause: Duration::from_millis(500),
        })
    }

    /// Shorter waits, for tests.
    #[cfg(test)]
    pub(super) fn impatient(mut self) -> Self {
        self.pause = Duration::from_millis(5);
        self.timeout = Duration::from_secs(5);
        self
    }

    /// Sends JSON and reads JSON; overload, timeouts and broken connections get further tries.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, EmbedError> {
        self.insist(Method::POST, path, body).await
    }

    /// The same for what may be sent twice.
    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Value, EmbedError> {
        self.insist(Method::PUT, path, body).await
    }

    async fn insist(&self, method: Method, path: &str, body: &Value) -> Result<Value, EmbedError> {
        let mut attempt = 1;
        loop {
            match self.ask(method.clone(), path, Some(body)).await {
                Err(EmbedError::Http {
                    retry: true, why, ..
                }) if attempt < ATTEMPTS => {
                    tracing::debug!(base = self.base, why, attempt, "asking again");
                    tokio::time::sleep(self.pause * 2_u32.pow(attempt - 1)).await;
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value, EmbedError> {
        self.ask(Method::GET, path, None).await
    }

    /// What is there, if it is.
    pub(crate) async fn find(&self, path: &str) -> Result<Option<Value>, EmbedError> {
        let (status, body) = self.exchange(Method::GET, path, None).await?;
        if status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        self.read(path, status, &body).map(Some)
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, EmbedError> {
        let (status, body) = self.exchange(method, path, body).await?;
        self.read(path, status, &body)
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Bytes), EmbedError> {
        let url = format!("{}{path}", self.base);
        let failed = |why: String, retry: bool| EmbedError::Http {
            url: url.clone(),
            why,
            retry,
        };
        let mut request = Request::builder()
            .method(method)
            .uri(&url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(
                header::USER_AGENT,
                concat!("trawl/", env!("CARGO_PKG_VERSION")),
            );
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        let bytes = body.map(Value::to_string).unwrap_or_default();
        let request = request
            .body(Full::new(Bytes::from(bytes)))
            .map_err(|error| failed(error.to_string(), false))?;
        let exchange = async {
            let response = self.client.request(request).await;
            let response = response.map_err(|error| failed(with_causes(&error), true))?;
            let status = response.status();
            let body = Limited::new(response.into_body(), LARGEST_ANSWER)
                .collect()
                .await;
            let body = body.map_err(|error| failed(error.to_string(), true))?;
            Ok::<_, EmbedError>((status, body.to_bytes()))
        };
        let late = |_| failed("no answer in time".into(), true);
        tokio::time::timeout(self.timeout, exchange)
            .await
            .map_err(late)?
    }

    fn read(&self, path: &str, status: StatusCode, body: &[u8]) -> Result<Value, EmbedError> {
        let failed = |why: String, retry: bool| EmbedError::Http {
            url: format!("{}{path}", self.base),
            why,
            retry,
        };
        if !status.is_success() {
            let text: String = String::from_utf8_lossy(body).chars().take(300).collect();
            let retry = status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
                || status == StatusCode::TOO_MANY_REQUESTS;
            return Err(failed(format!("{status}: {text}"), retry));
        }
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(body).map_err(|error| failed(error.to_string(), false))
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
