//! What all handlers share, and the number of the request at hand.

use std::{sync::Arc, time::Instant};

use trawl_engine::Engine;
use trawl_quick::Quick;
use trawl_store::contract::{accounts::AccountWriter, server::ServerStore};

use crate::{
    auth::password::Passwords, duties::Roster, jobs::Jobs, search::Search, settings::ServerSettings,
};

/// Everything behind the endpoints.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) store: Arc<dyn ServerStore>,
    /// Keys, users and sessions are changed by it.
    pub(crate) accounts: Arc<dyn AccountWriter>,
    pub(crate) engine: Engine,
    pub(crate) jobs: Jobs,
    pub(crate) duties: Arc<Roster<dyn ServerStore>>,
    pub(crate) settings: ServerSettings,
    /// Rates, wake-ups, caches, signs of life.
    pub(crate) quick: Quick,
    pub(crate) passwords: Passwords,
    /// Nothing where it is switched off.
    pub(crate) search: Option<Search>,
    pub(crate) started: Instant,
}

pub(crate) type Shared = Arc<App>;

tokio::task_local! {
    static REQUEST_ID: String;
}

/// The number of the request that is being answered, for errors and log lines.
pub(crate) fn request_id() -> Option<String> {
    REQUEST_ID.try_with(Clone::clone).ok()
}

/// Answers a request under its number.
pub(crate) async fn under_id<T>(id: String, answer: impl Future<Output = T>) -> T {
    REQUEST_ID.scope(id, answer).await
}
