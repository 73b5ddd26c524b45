//! One table of errors and the one shape they have: a flat object with the fields of both design
//! documents. No internals leave the house: what is ours to fix goes to the log.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Value, json};
use trawl_engine::EngineError;
use trawl_store::StoreError;
use trawl_types::{Reason, ReasonCode, spec::SpecError};
use utoipa::ToSchema;

/// After so long a database that was away may be back.
pub(crate) const UNAVAILABLE_SECONDS: u64 = 5;

macro_rules! codes {
    ($($name:ident = $status:literal, $class:literal, $code:literal;)*) => {
        /// What went wrong. Codes are part of the contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Code { $($name),* }

        impl Code {
            fn status(self) -> StatusCode {
                let status = match self { $(Self::$name => $status),* };
                StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
            }

            fn class(self) -> &'static str {
                match self { $(Self::$name => $class),* }
            }

            pub(crate) fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code),* }
            }
        }
    };
}

codes! {
    Validation = 400, "ValidationError", "VALIDATION_ERROR";
    UrlInvalid = 400, "UrlInvalid", "URL_INVALID";
    AuthRequired = 401, "AuthRequired", "AUTH_REQUIRED";
    Forbidden = 403, "Forbidden", "FORBIDDEN";
    UrlBlocked = 403, "UrlBlocked", "URL_BLOCKED";
    NotFound = 404, "NotFound", "NOT_FOUND";
    MethodNotAllowed = 405, "MethodNotAllowed", "METHOD_NOT_ALLOWED";
    Conflict = 409, "Conflict", "CONFLICT";
    TooLarge = 413, "PayloadTooLarge", "PAYLOAD_TOO_LARGE";
    ResultTooLarge = 413, "ResultTooLarge", "RESULT_TOO_LARGE";
    UnsupportedMediaType = 415, "UnsupportedMediaType", "UNSUPPORTED_MEDIA_TYPE";
    Unprocessable = 422, "UnprocessableEntity", "UNPROCESSABLE_ENTITY";
    RateLimited = 429, "RateLimited", "RATE_LIMITED";
    QuotaExceeded = 429, "QuotaExceeded", "QUOTA_EXCEEDED";
    Internal = 500, "InternalError", "INTERNAL_ERROR";
    EmbedderFailed = 502, "EmbedderFailed", "EMBEDDER_FAILED";
    Unavailable = 503, "Unavailable", "UNAVAILABLE";
    EmbedderUnavailable = 503, "EmbedderUnavailable", "EMBEDDER_UNAVAILABLE";
}

/// An answer that says no.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    code: Code,
    message: String,
    details: Option<Value>,
    retry_after: Option<u64>,
}

/// An error as it is sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "error": "NotFound", "code": "NOT_FOUND", "error_code": "NOT_FOUND",
    "message": "there is no job 0b6c", "details": null, "request_id": "5f3a"
}))]
pub(crate) struct ErrorBody {
    /// The class of the error.
    error: String,
    /// A stable code.
    code: String,
    /// The same as `code`.
    error_code: String,
    /// What happened and what to do about it.
    message: String,
    details: Option<Value>,
    request_id: Option<String>,
}

impl ApiError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: None,
            retry_after: None,
        }
    }

    /// A field of the request that cannot be used.
    pub(crate) fn field(field: &str, problem: impl std::fmt::Display) -> Self {
        Self::new(Code::Validation, format!("{field}: {problem}"))
            .with_details(json!({ "field": field }))
    }

    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(Code::NotFound, what)
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    pub(crate) fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn refused(url: &str) -> Self {
        Self::new(Code::UrlBlocked, format!("{url:?} was not fetched"))
    }

    /// A seed that cannot be crawled.
    pub(crate) fn refused_url(url: &str, reason: &Reason) -> Self {
        let code = match reason.code {
            ReasonCode::ForbiddenAddress | ReasonCode::Excluded => Code::UrlBlocked,
            _ => Code::UrlInvalid,
        };
        Self::new(code, format!("{url:?}: {reason}"))
            .with_details(json!({ "url": url, "reason": reason.code.as_str() }))
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoCrawl(_) => Self::not_found("there is no such job"),
            StoreError::Full { .. } => Self::new(Code::Unavailable, "the server's disk is full"),
            StoreError::Unavailable(_) => {
                tracing::warn!(%error, "the database cannot be reached");
                Self::new(
                    Code::Unavailable,
                    "the server's database cannot be reached: try again",
                )
                .with_retry_after(UNAVAILABLE_SECONDS)
            }
            StoreError::Stopped => Self::new(Code::Unavailable, "the server is shutting down"),
            error => {
                tracing::error!(%error, "the store failed");
                Self::new(
                    Code::Internal,
                    "something went wrong on the server; its log says what",
                )
            }
        }
    }
}

impl From<SpecError> for ApiError {
    fn from(error: SpecError) -> Self {
        Self::field(asked_as(&error.field), &error.problem)
    }
}

/// The name that a field of a spec has in requests. What no request can set keeps its own: an
/// operator must read it.
fn asked_as(field: &str) -> &str {
    match field {
        "seeds" => "seed_urls",
        "scope.max_pages" => "max_pages",
        "scope.max_depth" => "max_depth",
        "scope.hosts" => "same_domain_only",
        "scope.include" => "include_patterns",
        "scope.exclude" => "exclude_patterns",
        "strategy.order" => "strategy",
        "strategy.keywords" => "keywords",
        "politeness.concurrency" | "politeness.per_host" => "concurrency",
        "politeness.delay_ms" => "delay_ms",
        "politeness.robots" => "respect_robots",
        "fetch.total_timeout_ms" => "timeout_seconds",
        other => other,
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Spec(error) => error.into(),
            EngineError::Store(error) => error.into(),
            EngineError::NothingLeft(_, state) => Self::new(
                Code::Conflict,
                format!("the job is {state}: nothing is left to resume"),
            ),
            EngineError::Stopped => Self::new(Code::Unavailable, "the server is shutting down"),
            EngineError::StoreFailed(error) => {
                tracing::error!(%error, "the store failed");
                Self::new(Code::Unavailable, "the server cannot write its database")
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = ErrorBody {
            error: self.code.class().to_owned(),
            code: self.code.as_str().to_owned(),
            error_code: self.code.as_str().to_owned(),
            message: self.message,
            details: self.details,
            request_id: crate::app::request_id(),
        };
        let mut response = (self.code.status(), Json(body)).into_response();
        if let Some(seconds) = self.retry_after {
            let value = HeaderValue::from(seconds);
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        if self.code == Code::AuthRequired {
            let value = HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, value);
        }
        response
    }
}
