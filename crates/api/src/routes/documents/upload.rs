//! Documents that people bring: text, Markdown or HTML, one or up to fifty.

use std::collections::HashSet;

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use trawl_extract::{Extraction, Source, extract};
use trawl_search::{
    desk::{Became, Taken},
    document::{DocSource, EVERYBODY, NewDocument},
};
use utoipa::ToSchema;
use uuid::Uuid;

use super::super::input;
use crate::{
    app::{App, Shared},
    auth::Writer,
    error::{ApiError, Code, ErrorBody},
    jobs::now,
};

/// Documents of one batch.
const MOST: usize = 50;
/// Characters of a URL or title.
const LONGEST: usize = 2048;
/// Characters of a code for a language.
const LONGEST_LANGUAGE: usize = 35;
/// Tags of one document.
const MOST_TAGS: usize = 50;

/// A document to be found.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "url": "upload:handbook/limits", "title": "Limits", "content": "# Limits\n\nAt most ten a minute.",
    "content_type": "text/markdown", "tags": ["handbook"], "metadata": { "author": "Ada" }
}))]
pub(crate) struct UploadBody {
    /// Its identity: a document with the URL of an earlier upload replaces it. Any scheme will do.
    url: String,
    /// What the content says if left out.
    title: Option<String>,
    content: String,
    /// text/markdown (the default), text/plain or text/html.
    content_type: Option<String>,
    collection_id: Option<Uuid>,
    tags: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
    /// Such as en; found out if left out.
    language: Option<String>,
}

/// What became of an upload.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Uploaded {
    /// Nothing where it was refused.
    id: Option<Uuid>,
    url: String,
    title: Option<String>,
    /// created, replaced, unchanged or failed.
    status: &'static str,
    chunks_count: usize,
    /// Why it was refused, or why it is found by its words alone for now.
    message: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "documents": [{ "url": "upload:a", "content": "At most ten a minute." }] }))]
pub(crate) struct BatchBody {
    /// 1 to 50.
    documents: Vec<UploadBody>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchUploaded {
    /// In the order of the request.
    documents: Vec<Uploaded>,
    total_submitted: usize,
    failed_count: usize,
}

/// Makes a document findable; what was uploaded is everybody's who may read.
#[utoipa::path(post, path = "/documents", tag = "documents", request_body = UploadBody, responses(
    (status = 200, body = Uploaded, description = "It replaced an earlier one"), (status = 201, body = Uploaded),
    (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 413, body = ErrorBody),
    (status = 415, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn one(
    State(app): State<Shared>,
    _: Writer,
    input::Json(body): input::Json<UploadBody>,
) -> Result<(StatusCode, Json<Uploaded>), ApiError> {
    let document = body.read().await?;
    let mut uploaded = take(&app, vec![document]).await?;
    let uploaded = uploaded.pop();
    let gone = || ApiError::new(Code::Internal, "the document was lost on its way");
    let uploaded = uploaded.ok_or_else(gone)?;
    let status = match uploaded.status {
        "created" => StatusCode::CREATED,
        _ => StatusCode::OK,
    };
    Ok((status, Json(uploaded)))
}

/// Makes up to 50 documents findable. Those that cannot be used are named, the others are taken.
#[utoipa::path(post, path = "/documents/batch", tag = "documents", request_body = BatchBody, responses(
    (status = 200, body = BatchUploaded), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 413, body = ErrorBody), (status = 415, body = ErrorBody),
    (status = 422, body = ErrorBody)))]
pub(crate) async fn batch(
    State(app): State<Shared>,
    _: Writer,
    input::Json(body): input::Json<BatchBody>,
) -> Result<Json<BatchUploaded>, ApiError> {
    let total = body.documents.len();
    if !(1..=MOST).contains(&total) {
        let problem = format!("{total} documents; 1 to {MOST} can be sent at once");
        return Err(ApiError::field("documents", problem));
    }
    let mut urls = HashSet::new();
    let mut documents = Vec::with_capacity(total);
    for upload in body.documents {
        let url = upload.url.clone();
        let uploaded = if urls.insert(url.clone()) {
            match upload.read().await {
                Ok(document) => take(&app, vec![document]).await,
                Err(error) => Err(error),
            }
        } else {
            Err(ApiError::field("url", "stands in the batch twice"))
        };
        match uploaded {
            Ok(taken) => documents.extend(taken),
            Err(error) => documents.push(Uploaded::refused(url, &error)),
        }
    }
    let failed = documents.iter().filter(|one| one.id.is_none()).count();
    Ok(Json(BatchUploaded {
        documents,
        total_submitted: total - failed,
        failed_count: failed,
    }))
}

async fn take(app: &App, documents: Vec<NewDocument>) -> Result<Vec<Uploaded>, ApiError> {
    let receipt = app.search()?.desk.put(documents, now()).await?;
    let message = receipt.without_vectors;
    let view = |taken: Taken| Uploaded::of(taken, message.clone());
    Ok(receipt.documents.into_iter().map(view).collect())
}

impl Uploaded {
    fn of(taken: Taken, message: Option<String>) -> Self {
        Self {
            id: Some(taken.uuid),
            url: taken.url,
            title: taken.title,
            status: match taken.became {
                Became::Created => "created",
                Became::Replaced => "replaced",
                Became::Unchanged => "unchanged",
            },
            chunks_count: taken.chunks,
            message,
        }
    }

    fn refused(url: String, error: &ApiError) -> Self {
        Self {
            id: None,
            url,
            title: None,
            status: "failed",
            chunks_count: 0,
            message: Some(error.message().to_owned()),
        }
    }
}

impl UploadBody {
    /// Finds the content, beside the requests under way.
    async fn read(self) -> Result<NewDocument, ApiError> {
        self.check()?;
        let reading = tokio::task::spawn_blocking(move || self.document());
        let failed = |_| ApiError::field("content", "cannot be read");
        reading.await.map_err(failed)?
    }

    fn check(&self) -> Result<(), ApiError> {
        let unfit = |c: char| c.is_control() || c.is_whitespace();
        if self.url.chars().count() > LONGEST
            || self.url.contains(unfit)
            || url::Url::parse(&self.url).is_err()
        {
            let problem = "must be a URL of at most 2,048 characters, such as upload:handbook/1";
            return Err(ApiError::field("url", problem));
        }
        let title = self.title.as_deref().unwrap_or_default();
        if title.chars().count() > LONGEST {
            return Err(ApiError::field("title", "has more than 2,048 characters"));
        }
        let language = self.language.as_deref().unwrap_or_default();
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if language.len() > LONGEST_LANGUAGE || !language.chars().all(letter) {
            return Err(ApiError::field("language", "must be a code such as en"));
        }
        if self
            .tags
            .as_ref()
            .is_some_and(|tags| tags.len() > MOST_TAGS)
        {
            return Err(ApiError::field("tags", "at most 50 can be given"));
        }
        Ok(())
    }

    fn document(self) -> Result<NewDocument, ApiError> {
        let url = url::Url::parse(&self.url).ok();
        let content_type = match self.content_type.as_deref() {
            None | Some("text/markdown" | "markdown") => "text/markdown; charset=utf-8",
            Some("text/plain" | "text") => "text/plain; charset=utf-8",
            Some("text/html" | "html") => "text/html; charset=utf-8",
            Some(_) => {
                let problem = "must be text/markdown, text/plain or text/html";
                return Err(ApiError::field("content_type", problem));
            }
        };
        let source = Source {
            url: url.as_ref(),
            content_type: Some(content_type),
            max_content_bytes: self.content.len().max(1),
            ..Source::default()
        };
        let nothing = || ApiError::field("content", "has nothing that could be found");
        let Extraction::Content(found) = extract(self.content.as_bytes(), &source) else {
            return Err(nothing());
        };
        if found.markdown.trim().is_empty() {
            return Err(nothing());
        }
        let language = found.language.best().map(str::to_owned);
        let metadata = self.metadata.map_or(found.metadata, Value::Object);
        let given = |text: &String| !text.trim().is_empty();
        Ok(NewDocument {
            url: self.url,
            parent_url: None,
            title: self.title.filter(given).or(found.title),
            content: found.markdown,
            language: self
                .language
                .filter(given)
                .or(language)
                .map(|tag| tag.trim().to_ascii_lowercase()),
            source: DocSource::Upload,
            collection: self.collection_id,
            tags: self.tags.unwrap_or_default(),
            metadata,
            crawled_at: now(),
            crawl: None,
            owner: Some(EVERYBODY.to_owned()),
        })
    }
}
