//! The PostgreSQL server of these tests.

use std::{ops::Deref, path::Path, sync::OnceLock};

use trawl_store::{PostgresOptions, PostgresStore};

/// A running server. It stops when this is dropped.
pub(crate) struct Server(trawl_testdb::Server);

/// The server of all tests that do not stop it.
pub(crate) fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(Server::start)
}

impl Server {
    pub(crate) fn start() -> Self {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
        Self(trawl_testdb::Server::start(cache))
    }

    /// The URL of a database of the newest format with nothing in it.
    pub(crate) async fn database(&self) -> String {
        let make = async |url: String| {
            let model = PostgresStore::open(&url, PostgresOptions::default()).await;
            drop(model.unwrap());
        };
        self.0.database(make).await
    }
}

impl Deref for Server {
    type Target = trawl_testdb::Server;

    fn deref(&self) -> &trawl_testdb::Server {
        &self.0
    }
}
