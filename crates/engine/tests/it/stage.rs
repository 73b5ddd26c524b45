//! A test web, a store and an engine, as the tests need them. It asserts nothing but that things
//! can be started.

use std::{path::PathBuf, sync::Arc, time::Duration};

use trawl_engine::{CrawlEnd, CrawlHandle, Engine, EngineOptions};
use trawl_store::{OpenOptions, SqliteStore, Store};
use trawl_testweb::{Behaviours, LoggedRequest, TestWeb, WebSpec};
use trawl_types::{
    CrawlId, CrawlSpec, PageRecord, Sequence,
    spec::{HostScope, Politeness, RetrySpec},
};

/// Far above what any crawl here takes on a busy machine.
const HANG: Duration = Duration::from_mins(4);

pub(crate) struct Stage {
    pub(crate) web: TestWeb,
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    database: PathBuf,
    _folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) async fn new(spec: WebSpec, behaviours: Behaviours) -> Self {
        Self::with_options(spec, behaviours, EngineOptions::default()).await
    }

    pub(crate) async fn with_options(
        spec: WebSpec,
        behaviours: Behaviours,
        options: EngineOptions,
    ) -> Self {
        let web = TestWeb::start_with(spec, behaviours).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("crawl.db");
        let store = open(&database);
        let engine = Engine::start(Arc::clone(&store), options).await.unwrap();
        Self {
            web,
            engine,
            store,
            database,
            _folder: folder,
        }
    }

    /// Everything but the web and the file is thrown away and started anew.
    pub(crate) async fn restart(&mut self) {
        self.store.close().await.unwrap();
        self.store = open(&self.database);
        self.engine = Engine::start(Arc::clone(&self.store), EngineOptions::default())
            .await
            .unwrap();
    }

    /// A crawl of the whole web from the front page of host 0.
    pub(crate) fn spec(&self, delay_ms: u64) -> CrawlSpec {
        let mut spec = CrawlSpec {
            seeds: vec![self.web.url(0, "/")],
            politeness: Politeness {
                delay_ms,
                retry: RetrySpec {
                    attempts: 2,
                    base_ms: 10,
                    max_ms: 50,
                },
                ..Politeness::default()
            },
            ..CrawlSpec::default()
        };
        spec.scope.hosts = HostScope::Anywhere;
        spec.fetch.allow_networks = vec!["127.0.0.0/8".into()];
        spec.fetch.resolve = vec!["*.test=127.0.0.1".into()];
        spec
    }

    pub(crate) async fn start(&self, spec: CrawlSpec) -> CrawlHandle {
        self.engine.crawl(spec, "test").await.unwrap()
    }

    /// Runs a crawl to its end.
    pub(crate) async fn crawl(&self, spec: CrawlSpec) -> CrawlId {
        ended(&mut self.start(spec).await).await.crawl
    }

    pub(crate) fn requests(&self) -> Vec<LoggedRequest> {
        self.web.log().entries()
    }

    /// The whole result log of a crawl.
    pub(crate) async fn results(&self, crawl: CrawlId) -> Vec<PageRecord> {
        self.store
            .results(crawl, Sequence(0), 1_000_000)
            .await
            .unwrap()
    }

    /// Waits until a crawl has made the web's log fulfil a condition.
    pub(crate) async fn until(
        &self,
        handle: &mut CrawlHandle,
        condition: impl Fn(&LoggedRequest) -> bool,
    ) {
        let log = self.web.log();
        let wait = async {
            while log.count_where(&condition) == 0 {
                handle.progress.changed().await.unwrap();
            }
        };
        tokio::time::timeout(HANG, wait).await.expect("it happens");
    }
}

fn open(database: &std::path::Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(database, &OpenOptions::default()).unwrap())
}

/// Waits for a crawl's end, however it comes.
pub(crate) async fn ended(handle: &mut CrawlHandle) -> CrawlEnd {
    let end = tokio::time::timeout(HANG, handle.ended()).await;
    end.expect("the crawl hangs").unwrap()
}

/// Waits until a crawl has this many pages.
pub(crate) async fn has_pages(handle: &mut CrawlHandle, pages: u64) {
    let wait = handle.progress.wait_for(|progress| progress.pages >= pages);
    let seen = tokio::time::timeout(HANG, wait).await;
    seen.expect("the crawl hangs").unwrap();
}

/// Requests of one host in order, with the time from the arrival of the one before.
pub(crate) fn gaps(requests: &[LoggedRequest], host: u32) -> Vec<(u64, &LoggedRequest)> {
    let of_host: Vec<_> = requests.iter().filter(|r| r.host == host).collect();
    of_host
        .windows(2)
        .map(|pair| (pair[1].at_micros - pair[0].at_micros, pair[1]))
        .collect()
}
