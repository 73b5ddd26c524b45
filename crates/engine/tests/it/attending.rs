//! A crawl that others work on, in a store that is away for a while: what is asked of it is not lost, and
//! whoever asks is told why it cannot be done.

use std::{path::Path, sync::Arc, time::Duration};

use trawl_engine::{Engine, EngineError, EngineOptions};
use trawl_store::{
    PostgresOptions, PostgresStore, Store, StoreError, contract::queue::QueueChange,
};
use trawl_testdb::Server;
use trawl_types::{CrawlSpec, CrawlState};

use crate::stage::ended;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_that_finds_the_database_away_is_said_when_it_is_back() {
    let server = Server::start(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let url = server.empty_database().await;
    let options = PostgresOptions {
        patience: Duration::from_millis(300),
        ..PostgresOptions::default()
    };
    let store = Arc::new(PostgresStore::open(&url, options).await.unwrap());
    let shared = Arc::clone(&store) as Arc<dyn Store>;
    let engine = Engine::start(shared, EngineOptions::default())
        .await
        .unwrap();
    let spec = CrawlSpec {
        seeds: vec!["http://a.test/".into()],
        ..CrawlSpec::default()
    };
    let mut handle = engine.crawl(spec, "").await.unwrap();
    server.crash();
    handle.cancel();
    // Asked for later, so that the store has been told in vain by now.
    let change = handle
        .control()
        .change(QueueChange::Clear { host: None })
        .await;
    let away = matches!(change, Err(EngineError::Store(StoreError::Unavailable(_))));
    assert!(away, "{change:?}");
    server.start_again();
    server.ready().await;
    let end = ended(&mut handle).await;
    assert_eq!(end.state, CrawlState::Cancelled);
    let row = store.crawl(handle.crawl).await.unwrap();
    assert_eq!(row.state, CrawlState::Cancelled);
}
