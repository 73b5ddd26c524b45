//! `trawl embed-server`: the local model for other programs, over HTTP.

use std::process::ExitCode;

use anyhow::Context;
use tokio::{net::TcpListener, signal::ctrl_c};
use trawl_search::embed::server;

use super::embedder::embedder;
use crate::{args::EmbedServerArgs, exit::BadInput};

pub(crate) async fn run(args: &EmbedServerArgs) -> anyhow::Result<ExitCode> {
    let none = || BadInput("there is no model to serve: `trawl models pull` gets one".into());
    let embedder = embedder(&args.model).await?.ok_or_else(none)?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("listening on {}", args.listen))?;
    eprintln!(
        "{} with {} dimensions at http://{}: /embed, /v1/embeddings, /health, /info",
        embedder.model(),
        embedder.dimension(),
        listener.local_addr()?
    );
    tokio::select! {
        result = server::serve(listener, embedder) => result?,
        _ = ctrl_c() => {}
    }
    Ok(ExitCode::SUCCESS)
}
