//! `trawl embed-server`: local models for other programs, over HTTP.

use std::{process::ExitCode, sync::Arc};

use anyhow::Context;
use tokio::{net::TcpListener, signal::ctrl_c};
use trawl_search::embed::server::{self, Models};

use super::{embedder::embedder, reranker};
use crate::{args::EmbedServerArgs, exit::BadInput};

pub(crate) async fn run(args: &EmbedServerArgs) -> anyhow::Result<ExitCode> {
    let mut models = Models {
        embedder: embedder(&args.model).await?,
        reranker: None,
    };
    if let Some(name) = &args.rerank_model {
        models.reranker = Some(Arc::new(reranker::local(name, &args.model).await?));
    }
    if models.embedder.is_none() && models.reranker.is_none() {
        let none = "there is no model to serve: `trawl models pull` gets one";
        return Err(BadInput(none.into()).into());
    }
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("listening on {}", args.listen))?;
    let base = format!("http://{}", listener.local_addr()?);
    if let Some(embedder) = &models.embedder {
        let (model, dimension) = (embedder.model(), embedder.dimension());
        eprintln!("{model} with {dimension} dimensions at {base}: /embed, /v1/embeddings");
    }
    if let Some(reranker) = &models.reranker {
        let (model, longest) = (reranker.name(), reranker.longest());
        eprintln!("{model}, which reads {longest} tokens, at {base}: /rerank");
    }
    tokio::select! {
        result = server::serve(listener, models) => result?,
        _ = ctrl_c() => {}
    }
    Ok(ExitCode::SUCCESS)
}
