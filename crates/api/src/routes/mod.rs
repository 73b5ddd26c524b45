//! Every endpoint, in one list. Each file is one family; an endpoint fits on a screen.
//!
//! * [`spider`]: crawls with results in one of five ways
//! * [`crawl`]: single URLs, batches and deep crawls as jobs
//! * [`jobs`]: lists, states, results, events, and what can be done to a job
//! * [`extract`]: main content of pages
//! * [`explain`]: why a URL was or was not crawled
//! * [`frontier`]: the open frontier
//! * [`pages`], [`domains`], [`stats`]: what was crawled, across jobs
//! * [`search`], [`documents`], [`labels`], [`cache`]: what can be found, by whom, and how it is sorted
//! * [`admin`], [`removals`], [`duties`]: cleaning up, and what the server does by itself
//! * [`keys`]: who may use the server
//! * [`session`]: logging in and out
//! * [`health`]: whether it is well
//! * [`input`]: bodies and queries, with errors of one shape
//! * [`docs`]: the contract, to read and for programs

mod admin;
mod cache;
mod crawl;
mod docs;
mod documents;
mod domains;
mod duties;
mod explain;
mod extract;
mod frontier;
mod health;
mod input;
mod jobs;
mod keys;
mod labels;
mod pages;
mod removals;
mod search;
mod session;
mod spider;
mod stats;
mod workers;
mod ws;

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    http::{HeaderName, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tower_http::{
    catch_panic::CatchPanicLayer,
    compression::{
        CompressionLayer, Predicate,
        predicate::{DefaultPredicate, NotForContentType},
    },
    cors::{Any, CorsLayer},
};
use tracing::Instrument;
use utoipa::{
    Modify, OpenApi,
    openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_axum::{router::OpenApiRouter, routes};
use uuid::Uuid;

use crate::{
    app::{self, Shared},
    auth,
    error::{ApiError, Code},
};

#[derive(OpenApi)]
#[openapi(
    info(title = "Trawl", description = "Crawl jobs over HTTP: start, stream, store, pause, resume."),
    servers((url = "/api/v1")),
    modifiers(&Security),
    security(("bearer" = []), ("api_key" = []), ("session" = [])),
)]
struct Contract;

struct Security;

impl Modify for Security {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        let key = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("x-api-key")));
        components.add_security_scheme("api_key", key);
        let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("trawl_session")));
        components.add_security_scheme("session", cookie);
    }
}

fn endpoints() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(Contract::openapi())
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(stats::stats))
        .routes(routes!(stats::timeseries))
        .routes(routes!(spider::spider_crawl))
        .routes(routes!(extract::spider::spider_extract))
        .routes(routes!(extract::extract))
        .routes(routes!(extract::extract_batch))
        .routes(routes!(crawl::crawl))
        .routes(routes!(crawl::crawl_batch))
        .routes(routes!(crawl::crawl_deep))
        .routes(routes!(crawl::crawl_job))
        .routes(routes!(crawl::crawl_stream))
        .routes(routes!(crawl::crawl_cancel))
        .routes(routes!(jobs::list))
        .routes(routes!(jobs::failed))
        .routes(routes!(jobs::get, jobs::delete))
        .routes(routes!(jobs::results))
        .routes(routes!(jobs::stats))
        .routes(routes!(jobs::events))
        .routes(routes!(jobs::pause))
        .routes(routes!(jobs::resume))
        .routes(routes!(jobs::cancel))
        .routes(routes!(jobs::retry))
        .routes(routes!(explain::explain_job))
        .routes(routes!(explain::explain))
        .routes(routes!(frontier::change::clear))
        .routes(routes!(frontier::stats))
        .routes(routes!(frontier::urls))
        .routes(routes!(frontier::add::add))
        .routes(routes!(frontier::add::seed))
        .routes(routes!(frontier::change::recover))
        .routes(routes!(search::hybrid))
        .routes(routes!(search::vector))
        .routes(routes!(search::keyword))
        .routes(routes!(documents::list, documents::upload::one))
        .routes(routes!(documents::upload::batch))
        .routes(routes!(documents::get, documents::change::delete))
        .routes(routes!(documents::chunks))
        .routes(routes!(documents::change::restore))
        .routes(routes!(documents::change::reindex))
        .routes(routes!(documents::change::sort))
        .routes(routes!(documents::change::add_tags))
        .routes(routes!(documents::change::remove_tag))
        .routes(routes!(documents::versions::list))
        .routes(routes!(documents::versions::between))
        .routes(routes!(labels::collections, labels::create_collection))
        .routes(routes!(
            labels::get_collection,
            labels::change_collection,
            labels::delete_collection
        ))
        .routes(routes!(labels::tags, labels::create_tag))
        .routes(routes!(cache::stats))
        .routes(routes!(cache::clear_crawl))
        .routes(routes!(cache::clear_query))
        .routes(routes!(cache::clear_embeddings))
        .routes(routes!(cache::clear_domain))
        .routes(routes!(pages::list))
        .routes(routes!(domains::list))
        .routes(routes!(domains::get))
        .routes(routes!(domains::robots))
        .routes(routes!(admin::reset_domain))
        .routes(routes!(admin::purge_pages))
        .routes(routes!(removals::confirm))
        .routes(routes!(duties::list))
        .routes(routes!(workers::list))
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::revoke))
        .routes(routes!(session::login))
        .routes(routes!(session::logout))
        .routes(routes!(session::password))
        .routes(routes!(session::me))
        .routes(routes!(ws::watch))
}

/// The contract, for programs.
pub fn openapi() -> utoipa::openapi::OpenApi {
    with_rates(endpoints().into_openapi())
}

/// Whoever must say who they are may ask too often.
fn with_rates(mut contract: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    use utoipa::openapi::{ContentBuilder, Ref, ResponseBuilder};
    let body = Ref::from_schema_name("ErrorBody");
    let answer = ResponseBuilder::new()
        .description(
            "Too many requests, or too many wrong keys: `Retry-After` says how long to wait",
        )
        .content(
            "application/json",
            ContentBuilder::new().schema(Some(body)).build(),
        )
        .build();
    for path in contract.paths.paths.values_mut() {
        let operations = [
            &mut path.get,
            &mut path.post,
            &mut path.put,
            &mut path.delete,
            &mut path.patch,
        ];
        for operation in operations.into_iter().flatten() {
            let answers = &mut operation.responses.responses;
            if answers.contains_key("401") && !answers.contains_key("429") {
                answers.insert("429".into(), answer.clone().into());
            }
        }
    }
    contract
}

/// The whole server: the same endpoints at `/`, `/api` and `/api/v1`.
pub(crate) fn router(app: &Shared) -> Router {
    let (api, contract) = endpoints().split_for_parts();
    let api = api
        .merge(docs::router(with_rates(contract)))
        .with_state(Shared::clone(app));
    let most = app.settings.limits.body_bytes;
    Router::new()
        .nest("/api/v1", api.clone())
        .nest("/api", api.clone())
        .merge(api)
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(
            Shared::clone(app),
            auth::identify::identify,
        ))
        .layer(DefaultBodyLimit::max(most))
        .layer(CompressionLayer::new().compress_when(compressible()))
        .layer(cors(&app.settings.cors_origins))
        .layer(CatchPanicLayer::custom(
            |_: Box<dyn std::any::Any + Send>| {
                ApiError::new(Code::Internal, "something went wrong on the server").into_response()
            },
        ))
        .layer(axum::middleware::from_fn(with_id))
}

/// Nobody but pages of the origins that were named may read answers in a browser. They may not
/// send cookies along, so `*` gives nothing away that a key does not.
fn cors(origins: &[String]) -> CorsLayer {
    let layer = CorsLayer::new()
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("x-api-key"),
            HeaderName::from_static("idempotency-key"),
        ]);
    if origins.iter().any(|origin| origin == "*") {
        return layer.allow_origin(Any);
    }
    let origins = origins
        .iter()
        .filter_map(|origin| origin.parse::<HeaderValue>().ok());
    layer.allow_origin(origins.collect::<Vec<_>>())
}

/// What is streamed leaves as it comes: a compressor would hold it back.
fn compressible() -> impl Predicate {
    DefaultPredicate::new().and(NotForContentType::const_new("application/x-ndjson"))
}

async fn unknown(request: Request) -> ApiError {
    let path: String = request.uri().path().chars().take(200).collect();
    ApiError::not_found(format!("there is no endpoint {path}; see /api/v1/docs"))
}

async fn wrong_method(request: Request) -> ApiError {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    ApiError::new(
        Code::MethodNotAllowed,
        format!("{method} does not work on {path}"),
    )
}

/// Every request has a number, which its answer and all its log lines carry.
async fn with_id(request: Request, next: Next) -> Response {
    let id = Uuid::new_v4().simple().to_string();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let began = std::time::Instant::now();
    // Of the gravest kind, so that errors have it even where nothing else is logged.
    let span = tracing::error_span!("request", request_id = id);
    let answer = app::under_id(id.clone(), next.run(request));
    let mut response = answer.instrument(span.clone()).await;
    span.in_scope(|| {
        tracing::info!(
            %method,
            path,
            status = response.status().as_u16(),
            ms = began.elapsed().as_millis() as u64,
            "answered"
        );
    });
    if let Ok(value) = id.parse() {
        response.headers_mut().insert("x-request-id", value);
    }
    response
}
