//! A job over a WebSocket: the messages of its stream, one by one.

use axum::{
    extract::{
        State,
        ws::{Message, WebSocket, WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    response::Response,
};
use futures_util::StreamExt;
use trawl_types::Sequence;

use super::input;
use crate::{
    app::Shared,
    auth::Reader,
    error::{ApiError, Code, ErrorBody},
    spider::{
        fields::Fields,
        stream::{Source, items},
    },
};

/// What a reader may send is small: it has nothing to say.
const MOST_BYTES: usize = 4096;

/// Pages of a job as messages, as they come; figures last.
#[utoipa::path(get, path = "/ws/crawl/{id}", tag = "crawl", params(("id" = String, Path)), responses(
    (status = 101, description = "Switching to WebSocket"), (status = 400, body = ErrorBody),
    (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn watch(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let row = app.job_of(&identity, &id).await?;
    let upgrade = upgrade.map_err(|error| ApiError::new(Code::Validation, error.body_text()))?;
    let fields = Fields::parse(None, None, false)?;
    let source = Source::onlooker(&app, &row, fields, Sequence(0)).await?;
    Ok(upgrade
        .max_message_size(MOST_BYTES)
        .on_upgrade(move |socket| send(socket, source)))
}

async fn send(mut socket: WebSocket, source: Source) {
    let mut messages = std::pin::pin!(items(source));
    loop {
        tokio::select! {
            items = messages.next() => {
                let Some(items) = items else { break };
                for item in items {
                    let text = Message::Text(item.value.to_string().into());
                    if socket.send(text).await.is_err() {
                        return;
                    }
                }
            }
            heard = socket.recv() => {
                if !matches!(heard, Some(Ok(_))) {
                    return;
                }
            }
        }
    }
    let _ = socket.send(Message::Close(None)).await;
}
