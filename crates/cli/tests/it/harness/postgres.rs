//! PostgreSQL databases for servers, spoken to from tests without a runtime.

use std::{path::Path, sync::OnceLock};

use trawl_testdb::Server as Postgres;

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work)
}

pub(crate) fn start() -> Postgres {
    Postgres::start(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// The address of a database with nothing in it, on a server that all tests share.
pub(crate) fn database() -> String {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    block_on(SERVER.get_or_init(start).empty_database())
}
