//! The suite that every back end must pass, and what only terrain maps need.

use trawl_store::{
    PostgresOptions, PostgresStore, Store,
    conformance::web::breadth,
    contract::write::{Terrain, TerrainHost, WriteRules},
};
use trawl_types::{CrawlSpec, UnixMillis, terrain::DomainClass};

use crate::server;

async fn fresh() -> (PostgresStore, ()) {
    let url = server::shared().database().await;
    let store = PostgresStore::open(&url, PostgresOptions::default()).await;
    (store.unwrap(), ())
}

trawl_store::conformance_suite!(fresh().await);

/// The same as workers open a store: with the fence around loans.
mod fenced {
    use trawl_store::LoanOptions;

    use super::{PostgresStore, server};
    use crate::web::worker;

    async fn fresh() -> (PostgresStore, ()) {
        let url = server::shared().database().await;
        (worker(&url, LoanOptions::new("one")).await, ())
    }

    trawl_store::conformance_suite!(fresh().await);
}

/// Two processes on one database.
async fn with_accounts() -> (PostgresStore, PostgresStore, ()) {
    let url = server::shared().database().await;
    let open = async || PostgresStore::open(&url, PostgresOptions::default()).await;
    (open().await.unwrap(), open().await.unwrap(), ())
}

trawl_store::accounts_suite!(with_accounts().await);

struct Map;

impl Terrain for Map {
    fn origins(&self) -> &[String] {
        &[]
    }

    fn of_host(&self, host: &str) -> TerrainHost {
        TerrainHost {
            domain: host.to_owned(),
            class: DomainClass::Quality,
            origin: None,
        }
    }

    fn identity(&self, address: &str) -> String {
        address.to_owned()
    }
}

#[tokio::test]
async fn a_terrain_map_is_refused_in_plain_words() {
    let (store, ()) = fresh().await;
    let rules = WriteRules {
        terrain: Some(Box::new(Map)),
        ..breadth()
    };
    let spec = CrawlSpec::default();
    let begun = store.create_crawl(&spec, "", Vec::new(), rules, None, UnixMillis(0));
    let error = begun.await.unwrap_err().to_string();
    assert!(
        error.contains("terrain maps are kept in SQLite files"),
        "{error}"
    );
    assert!(store.crawls().await.unwrap().is_empty());
}
