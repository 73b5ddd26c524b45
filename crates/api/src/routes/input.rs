//! Bodies and queries, with errors of one shape that name the field.

use axum::{
    extract::{
        FromRequest, FromRequestParts, Request,
        rejection::{JsonRejection, QueryRejection},
    },
    http::request::Parts,
};
use serde::de::DeserializeOwned;

use crate::error::{ApiError, Code};

/// A JSON body.
#[derive(Debug)]
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        match axum::Json::<T>::from_request(request, state).await {
            Ok(axum::Json(value)) => Ok(Self(value)),
            Err(rejection) => Err(refuse_body(&rejection)),
        }
    }
}

fn refuse_body(rejection: &JsonRejection) -> ApiError {
    let code = match rejection.status().as_u16() {
        413 => Code::TooLarge,
        415 => Code::UnsupportedMediaType,
        422 => Code::Unprocessable,
        _ => Code::Validation,
    };
    ApiError::new(code, rejection.body_text())
}

/// A query string.
#[derive(Debug)]
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match axum::extract::Query::<T>::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(rejection) => Err(refuse_query(&rejection)),
        }
    }
}

fn refuse_query(rejection: &QueryRejection) -> ApiError {
    ApiError::new(Code::Validation, rejection.body_text())
}

/// A part of the path.
#[derive(Debug)]
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match axum::extract::Path::<T>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(rejection) => Err(ApiError::new(Code::Validation, rejection.body_text())),
        }
    }
}
