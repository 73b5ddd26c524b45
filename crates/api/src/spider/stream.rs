//! Pages as NDJSON and as server-sent events: `type: page` as they come, `type: stats` last.

use std::{convert::Infallible, pin::Pin, time::Duration};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, header},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use serde_json::{Map, Value, json};
use trawl_engine::CrawlControl;
use trawl_store::{StoreError, contract::jobs::JobRow};
use trawl_types::{PageRecord, Sequence};

use super::{fields::Fields, page::Pages};
use crate::{
    app::Shared,
    error::ApiError,
    jobs::{
        follow::Follow,
        view::{duration_seconds, failed, stop_reason},
    },
};

/// Before a database that was away is asked again.
const AWAY: Duration = Duration::from_millis(500);

/// Cancels a crawl whose results nobody reads any more.
#[derive(Debug)]
pub(crate) struct Attendance(Option<CrawlControl>);

impl Attendance {
    pub(crate) fn new(app: &Shared, control: Option<CrawlControl>) -> Self {
        Self(control.filter(|_| app.settings.stop_when_reader_leaves))
    }

    /// The results were delivered.
    pub(crate) fn done(&mut self) {
        self.0 = None;
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        if let Some(control) = &self.0 {
            control.cancel();
        }
    }
}

/// One message of a stream.
#[derive(Debug)]
pub(crate) struct Item {
    /// The place in the result log, where it has one.
    pub(crate) seq: Option<i64>,
    pub(crate) value: Value,
}

/// What a stream is made of.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) app: Shared,
    pub(crate) job: String,
    pub(crate) follow: Follow,
    pub(crate) pages: Pages,
    pub(crate) attendance: Option<Attendance>,
    /// Figures at the end.
    pub(crate) stats: bool,
}

enum Stage {
    Pages,
    Over,
}

/// Messages as they come, several at a time.
pub(crate) fn items(source: Source) -> impl Stream<Item = Vec<Item>> + Send {
    let items = stream::unfold((source, Stage::Pages), |(mut source, stage)| async move {
        if matches!(stage, Stage::Over) {
            return None;
        }
        match source.next().await {
            Ok(Some(records)) => {
                let mut items = Vec::with_capacity(records.len());
                for record in &records {
                    match source.page(record).await {
                        Ok(page) => items.push(Item {
                            seq: Some(record.seq.0),
                            value: json!({ "type": "page", "data": page }),
                        }),
                        Err(error) => {
                            tracing::error!(%error, "a page could not be read");
                            return None;
                        }
                    }
                }
                Some((items, (source, Stage::Pages)))
            }
            Ok(None) => {
                // The state of a job is written before its last results are given.
                source.app.jobs.ended(&source.job).await;
                let last = source.last().await;
                if let Some(attendance) = &mut source.attendance {
                    attendance.done();
                }
                Some((last.into_iter().collect(), (source, Stage::Over)))
            }
            Err(error) => {
                tracing::error!(%error, "results could not be read");
                None
            }
        }
    });
    // Some who read streams ask once more than they should.
    items.fuse()
}

impl Source {
    /// What somebody sees who only looks on: from a place in the log to the job's end.
    pub(crate) async fn onlooker(
        app: &Shared,
        row: &JobRow,
        fields: Fields,
        after: Sequence,
    ) -> Result<Self, ApiError> {
        let control = app.control(row).await?;
        Ok(Self {
            follow: Follow::new(&app.store, row.crawl.id, after, control.as_ref()),
            pages: Pages::of(app, row, fields),
            app: Shared::clone(app),
            job: row.id.clone(),
            attendance: None,
            stats: true,
        })
    }

    // A reader of a stream has time: while the database is away nothing is said, and then it goes on.

    async fn next(&mut self) -> Result<Option<Vec<PageRecord>>, StoreError> {
        loop {
            let next = self.follow.next().await;
            if !is_away(&next).await {
                return next;
            }
        }
    }

    async fn page(&self, record: &PageRecord) -> Result<Map<String, Value>, StoreError> {
        loop {
            let page = self.pages.page(record).await;
            if !is_away(&page).await {
                return page;
            }
        }
    }

    async fn job(&self) -> Result<Option<JobRow>, StoreError> {
        loop {
            let row = self.app.store.job(&self.job).await;
            if !is_away(&row).await {
                return row;
            }
        }
    }

    async fn last(&self) -> Option<Item> {
        if !self.stats {
            return None;
        }
        let row = self.job().await.ok()??;
        let value = json!({ "type": "stats", "data": {
            "job_id": row.id,
            "status": row.crawl.state.as_str(),
            "pages_crawled": row.counts.pages,
            "pages_failed": failed(&row.counts),
            "duration_seconds": duration_seconds(&row),
            "stop_reason": stop_reason(&row),
        }});
        Some(Item { seq: None, value })
    }
}

/// Whether the database was away; waits a little where it was.
async fn is_away<T>(answer: &Result<T, StoreError>) -> bool {
    let away = matches!(answer, Err(StoreError::Unavailable(_)));
    if away {
        tokio::time::sleep(AWAY).await;
    }
    away
}

/// As the asker wants it: server-sent events or lines.
pub(crate) fn respond(source: Source, headers: &HeaderMap) -> Response {
    if wants_events(headers) {
        events(source)
    } else {
        lines(source)
    }
}

pub(crate) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains(kind))
}

fn wants_events(headers: &HeaderMap) -> bool {
    accepts(headers, "text/event-stream")
}

fn lines(source: Source) -> Response {
    let patience = source.app.settings.limits.keep_alive;
    let chunks = items(source).map(|items| {
        let mut text = String::new();
        for item in items {
            text.push_str(&item.value.to_string());
            text.push('\n');
        }
        Bytes::from(text)
    });
    let mut response = Body::from_stream(kept_alive(chunks, patience)).into_response();
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// An empty line whenever nothing has come for a while: readers of lines skip it, and whoever
/// stands in between sees that the connection is in use.
fn kept_alive(
    chunks: impl Stream<Item = Bytes> + Send + 'static,
    patience: Duration,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
    let chunks: Pin<Box<dyn Stream<Item = Bytes> + Send>> = Box::pin(chunks);
    stream::unfold(chunks, move |mut chunks| async move {
        match tokio::time::timeout(patience, chunks.next()).await {
            Ok(Some(chunk)) => Some((Ok(chunk), chunks)),
            Ok(None) => None,
            Err(_) => Some((Ok(Bytes::from_static(b"\n")), chunks)),
        }
    })
}

/// Events carry the place in the log as their id, so that a reader can go on after a break.
pub(crate) fn events(source: Source) -> Response {
    let patience = source.app.settings.limits.keep_alive;
    let events = items(source).flat_map(|items| {
        stream::iter(items.into_iter().map(|item| {
            let mut event = Event::default().data(item.value.to_string());
            if let Some(seq) = item.seq {
                event = event.id(seq.to_string());
            }
            Ok::<_, Infallible>(event)
        }))
    });
    let keep_alive = KeepAlive::new().interval(patience).text("ping");
    Sse::new(events).keep_alive(keep_alive).into_response()
}
