//! Which reranker is meant: a cross-encoder in a folder, a server, or none.

use std::sync::Arc;

use trawl_search::embed::{CrossEncoder, LocalReranker, Precision, Reranker, TeiReranker};

use super::embedder::named;
use crate::{args::ModelArgs, exit::BadInput};

/// The one that is meant, if one is.
pub(crate) async fn reranker(
    model: Option<&str>,
    url: Option<&str>,
    args: &ModelArgs,
) -> anyhow::Result<Option<Arc<dyn Reranker>>> {
    if let Some(name) = model {
        return Ok(Some(Arc::new(local(name, args).await?)));
    }
    let Some(url) = url else {
        return Ok(None);
    };
    let bad = |error| BadInput(format!("rerank-url: {error}"));
    let reranker = TeiReranker::new(url, None).map_err(bad)?;
    Ok(Some(Arc::new(reranker)))
}

/// A cross-encoder of this machine is there or an error.
pub(crate) async fn local(name: &str, args: &ModelArgs) -> anyhow::Result<LocalReranker> {
    let folder = named(name, args.models.as_deref())?;
    // Eight bits were off by a twentieth of the range of scores, and order is all that is wanted.
    let load = tokio::task::spawn_blocking(move || CrossEncoder::load(&folder, Precision::Float));
    let bad = |error| BadInput(format!("rerank-model: {error}"));
    Ok(LocalReranker::new(load.await?.map_err(bad)?))
}
