//! What `trawl serve` searches with: the index, a model that may come later, a reranker.

use std::{path::Path, sync::Arc, time::Duration};

use trawl_api::search::SearchParts;
use trawl_search::{Model, SearchError, file::IndexFile, qdrant::Qdrant};

use super::{embedder::embedder, reranker::reranker};
use crate::{args::ModelArgs, settings::SearchSettings};

/// A server that embeds and does not answer is asked again after this.
const AGAIN: Duration = Duration::from_secs(10);

/// Opens the index. Where another process keeps it, it is only read.
pub(crate) async fn open(settings: SearchSettings) -> anyhow::Result<SearchParts> {
    let path = settings.index.clone();
    let (index, kept_elsewhere) = tokio::task::spawn_blocking(move || open_index(&path)).await??;
    if let (Some(database), false) = (&settings.database, kept_elsewhere) {
        index.belongs_to(database)?;
    }
    let mut follow = settings.follow;
    if kept_elsewhere {
        let index = settings.index.display();
        eprintln!(
            "trawl: another process writes {index}: it is searched, and not changed, from here"
        );
        follow = None;
    }
    let (local, url) = (
        settings.rerank_model.as_deref(),
        settings.rerank_url.as_deref(),
    );
    let reranker = reranker(local, url, &settings.model).await?;
    let index = Arc::new(index);
    let qdrant = match &settings.qdrant {
        Some(qdrant) => Some(Arc::new(Qdrant::new(Arc::clone(&index), qdrant)?)),
        None => None,
    };
    if qdrant.is_none() && index.is_writable() {
        index.mirror_nowhere()?;
    }
    Ok(SearchParts {
        index,
        model: model(settings.model).await?,
        reranker,
        qdrant,
        follow,
        open: settings.open,
    })
}

fn open_index(path: &Path) -> anyhow::Result<(IndexFile, bool)> {
    match IndexFile::open(path) {
        Ok(index) => Ok((index, false)),
        Err(SearchError::Locked(_)) => Ok((IndexFile::open_to_read(path)?, true)),
        Err(error) => Err(error.into()),
    }
}

/// A model of this machine is there or an error. A server may be away: it is asked until it answers.
async fn model(args: ModelArgs) -> anyhow::Result<Model> {
    let Some(url) = args.embed_url.clone() else {
        return Ok(embedder(&args).await?.into());
    };
    let model = Model::default();
    model.set_away(&url, "it has not answered yet");
    let waiting = model.clone();
    tokio::spawn(async move {
        loop {
            match embedder(&args).await {
                Ok(Some(found)) => return waiting.set(found),
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "the embedder cannot be reached");
                    waiting.set_away(&url, &error.to_string());
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    });
    Ok(model)
}
