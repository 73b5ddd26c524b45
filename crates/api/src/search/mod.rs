//! The search index that belongs to the server: who may find what in it, and what keeps it up to
//! date. How one searches is not known here but in `trawl-search`.
//!
//! * `following`: the index follows what is crawled, on a thread of its own
//! * `owners`: whose crawls are
//! * `error`: what can go wrong, as errors of the one shape

mod error;
pub(crate) mod following;
mod owners;

pub use owners::JobOwners;

use std::sync::Arc;

use trawl_search::{
    Model, SearchError, Searcher,
    desk::Desk,
    document::EVERYBODY,
    embed::Reranker,
    file::{DocumentRow, IndexFile},
    follow::{Settings as FollowSettings, background::Bell},
    qdrant::Qdrant,
};
use trawl_store::contract::overview::Whose;
use uuid::Uuid;

use crate::{
    app::App,
    auth::Identity,
    error::{ApiError, Code},
};

/// What a server needs to search.
#[derive(Debug)]
pub struct SearchParts {
    pub index: Arc<IndexFile>,
    pub model: Model,
    pub reranker: Option<Arc<dyn Reranker>>,
    pub qdrant: Option<Arc<Qdrant>>,
    /// Nothing where another process keeps the index up to date, or none does.
    pub follow: Option<FollowSettings>,
    /// Whoever may read finds what anybody crawled.
    pub open: bool,
}

/// The index behind the endpoints.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) searcher: Searcher,
    pub(crate) desk: Desk,
    pub(crate) bell: Bell,
    qdrant: Option<Arc<Qdrant>>,
    follow: Option<FollowSettings>,
    open: bool,
}

impl Search {
    pub(crate) fn new(parts: SearchParts) -> Self {
        let searcher = Searcher::with_model(Arc::clone(&parts.index), parts.model.clone())
            .remembering()
            .with_reranker(parts.reranker)
            .with_qdrant(parts.qdrant.clone());
        Self {
            searcher,
            desk: Desk {
                index: parts.index,
                model: parts.model,
                chunks: parts.follow.as_ref().map(|s| s.chunks).unwrap_or_default(),
            },
            bell: Bell::default(),
            qdrant: parts.qdrant,
            follow: parts.follow,
            open: parts.open,
        }
    }

    /// Qdrant, if this server has to tell it what changes.
    pub(crate) fn mirrored(&self) -> Option<&Arc<Qdrant>> {
        self.qdrant.as_ref().filter(|_| self.index().is_writable())
    }

    /// Whether this server keeps the index up to date.
    pub(crate) fn follows(&self) -> bool {
        self.follow.is_some()
    }

    pub(crate) fn index(&self) -> &Arc<IndexFile> {
        &self.searcher.index
    }

    /// Whose documents somebody may find; nothing for all.
    pub(crate) fn owners(&self, identity: &Identity) -> Option<Vec<String>> {
        match identity.sees() {
            Whose::Owners(owners) if !self.open => Some(owners),
            _ => None,
        }
    }

    /// Asks the index beside the requests under way.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&IndexFile) -> Result<T, SearchError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let index = Arc::clone(self.index());
        let done = tokio::task::spawn_blocking(move || work(&index)).await;
        let stopped = |_| ApiError::new(Code::Unavailable, "the server is shutting down");
        Ok(done.map_err(stopped)??)
    }

    /// A document that the asker may find, deleted or not. Others are as if they were not there.
    pub(crate) async fn any_document(
        &self,
        identity: &Identity,
        id: &str,
    ) -> Result<DocumentRow, ApiError> {
        let missing = || ApiError::not_found(format!("there is no document {id:?}"));
        let uuid = Uuid::parse_str(id).map_err(|_| missing())?;
        let found = self.read(move |index| index.document(uuid)).await?;
        let row = found.ok_or_else(missing)?;
        match self.owners(identity) {
            Some(owners) if !belongs(&row, &owners) => Err(missing()),
            _ => Ok(row),
        }
    }

    /// The same, and it has not been deleted.
    pub(crate) async fn document(
        &self,
        identity: &Identity,
        id: &str,
    ) -> Result<DocumentRow, ApiError> {
        let row = self.any_document(identity, id).await?;
        if row.deleted_at.is_some() {
            let message = format!("document {id} was deleted; POST /documents/{id}/restore");
            return Err(ApiError::not_found(message));
        }
        Ok(row)
    }

    /// Everybody changes what was uploaded; what was crawled is changed by those who alone crawled
    /// it, and by administrators.
    pub(crate) fn check_change(identity: &Identity, row: &DocumentRow) -> Result<(), ApiError> {
        let everybodys = row.owners.iter().any(|owner| owner == EVERYBODY);
        let alone = row.owners == [identity.owner.as_str()];
        if identity.is_admin() || everybodys || alone {
            return Ok(());
        }
        let message = "the document was crawled by others, too: this needs an administrator";
        Err(ApiError::new(Code::Forbidden, message))
    }
}

fn belongs(row: &DocumentRow, owners: &[String]) -> bool {
    row.owners
        .iter()
        .any(|owner| owner == EVERYBODY || owners.contains(owner))
}

impl App {
    pub(crate) fn search(&self) -> Result<&Search, ApiError> {
        let off = || ApiError::not_found("search is switched off on this server");
        self.search.as_ref().ok_or_else(off)
    }

    /// Something may have been crawled.
    pub(crate) fn tell_search(&self) {
        if let Some(search) = &self.search {
            search.bell.ring();
        }
    }
}
