//! The contract, to read and for programs. The page works offline: it loads nothing but the
//! contract itself.

use axum::{
    Json, Router,
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use utoipa::openapi::OpenApi;

use crate::app::Shared;

const PAGE: &str = include_str!("docs.html");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'";

pub(super) fn router(contract: OpenApi) -> Router<Shared> {
    Router::new()
        .route(
            "/openapi.json",
            get(move || std::future::ready(Json(contract.clone()))),
        )
        .route("/docs", get(page))
}

async fn page() -> Response {
    let mut response = Html(PAGE).into_response();
    let policy = HeaderValue::from_static(POLICY);
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}
