//! One file for each command. Each ends in an exit code or an error with what to do about it.

pub(crate) mod admin;
pub(crate) mod config;
pub(crate) mod crawl;
pub(crate) mod demo;
pub(crate) mod embed_server;
mod embedder;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod extract;
pub(crate) mod index;
pub(crate) mod keys;
pub(crate) mod map;
pub(crate) mod models;
pub(crate) mod reranker;
pub(crate) mod resume;
pub(crate) mod search;
mod search_parts;
pub(crate) mod serve;
mod session;
mod signals;
pub(crate) mod status;
pub(crate) mod users;
pub(crate) mod worker;

use std::{path::Path, sync::Arc};

use trawl_store::{OpenOptions, SqliteStore, Store, contract::read::CrawlRow};
use trawl_types::{CrawlId, CrawlState};

use crate::{database::must_be_a_file, exit::BadInput};

/// Opens a database for writing; makes it if it does not exist.
pub(crate) fn open(path: &Path) -> anyhow::Result<Arc<dyn Store>> {
    must_be_a_file(path)?;
    Ok(Arc::new(SqliteStore::open(path, &OpenOptions::default())?))
}

/// Opens a database for reading, also while a crawl writes to it.
pub(crate) fn open_to_read(path: &Path) -> anyhow::Result<Arc<dyn Store>> {
    must_be_a_file(path)?;
    if !path.exists() {
        let message = format!(
            "there is no database {}: crawl something first, or name one with --database",
            path.display()
        );
        return Err(BadInput(message).into());
    }
    Ok(Arc::new(SqliteStore::open_read_only(path)?))
}

/// The crawl that was named, or the last one.
pub(crate) async fn pick(store: &dyn Store, crawl: Option<i64>) -> anyhow::Result<CrawlRow> {
    if let Some(id) = crawl {
        return Ok(store.crawl(CrawlId(id)).await?);
    }
    let last = store.crawls().await?.into_iter().max_by_key(|row| row.id);
    last.ok_or_else(|| BadInput("the database holds no crawl yet".into()).into())
}

/// The last crawl with work left.
pub(crate) async fn last_unfinished(store: &dyn Store) -> anyhow::Result<Option<CrawlRow>> {
    let unfinished = |row: &CrawlRow| {
        matches!(
            row.state,
            CrawlState::Running | CrawlState::Paused | CrawlState::Failed
        )
    };
    Ok(store
        .crawls()
        .await?
        .into_iter()
        .filter(unfinished)
        .max_by_key(|row| row.id))
}
