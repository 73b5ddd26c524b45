//! The loop that trawl is compared with: known URLs, the crawler's HTTP library, links found and
//! counted. No store, no frontier, no robots.txt, no normalisation, no limits.
//!
//! * `links`: two ways to find links

mod links;

use std::{
    collections::BTreeMap,
    fs,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use http::Uri;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{HttpConnector, dns::Name},
    },
    rt::TokioExecutor,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::args::{BaselineArguments, Finder};

/// What the baseline prints when it is through.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) pages: u64,
    pub(crate) links: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug)]
struct Work {
    client: Client<HttpConnector<Loopback>, Empty<Bytes>>,
    slots: Semaphore,
    finder: Finder,
    pages: AtomicU64,
    links: AtomicU64,
    bytes: AtomicU64,
}

pub(crate) fn run(arguments: &BaselineArguments) -> anyhow::Result<()> {
    let text = fs::read_to_string(&arguments.urls)
        .with_context(|| format!("cannot read {}", arguments.urls.display()))?;
    let queues = by_host(&text)?;
    let work = Arc::new(Work {
        client: client(),
        slots: Semaphore::new(arguments.concurrency),
        finder: arguments.finder,
        pages: AtomicU64::new(0),
        links: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    });
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(visit_all(&work, queues, arguments.per_host))?;
    let found = Found {
        pages: work.pages.load(Ordering::Relaxed),
        links: work.links.load(Ordering::Relaxed),
        bytes: work.bytes.load(Ordering::Relaxed),
    };
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

/// The URLs of each host, last one first.
fn by_host(text: &str) -> anyhow::Result<Vec<Vec<Uri>>> {
    let mut hosts: BTreeMap<String, Vec<Uri>> = BTreeMap::new();
    for line in text.lines().rev() {
        let uri: Uri = line.parse().with_context(|| format!("no URL: {line}"))?;
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        hosts.entry(host).or_default().push(uri);
    }
    Ok(hosts.into_values().collect())
}

/// As many workers for each host as may ask it at once; the slots bound them all together.
async fn visit_all(work: &Arc<Work>, queues: Vec<Vec<Uri>>, per_host: usize) -> anyhow::Result<()> {
    let mut workers = Vec::new();
    for queue in queues {
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..per_host {
            workers.push(tokio::spawn(visit_host(
                Arc::clone(work),
                Arc::clone(&queue),
            )));
        }
    }
    for worker in workers {
        worker.await??;
    }
    Ok(())
}

async fn visit_host(work: Arc<Work>, queue: Arc<Mutex<Vec<Uri>>>) -> anyhow::Result<()> {
    loop {
        let _slot = work.slots.acquire().await?;
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(uri) = next else {
            return Ok(());
        };
        let body = fetch(&work, uri).await?;
        let links = links::count(&body, work.finder)?;
        work.pages.fetch_add(1, Ordering::Relaxed);
        work.links.fetch_add(links as u64, Ordering::Relaxed);
        work.bytes.fetch_add(body.len() as u64, Ordering::Relaxed);
    }
}

async fn fetch(work: &Work, uri: Uri) -> anyhow::Result<Bytes> {
    let response = work.client.get(uri).await?;
    ensure!(
        response.status().is_success(),
        "status {}",
        response.status()
    );
    Ok(response.into_body().collect().await?.to_bytes())
}

fn client() -> Client<HttpConnector<Loopback>, Empty<Bytes>> {
    let mut connector = HttpConnector::new_with_resolver(Loopback);
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new()).build(connector)
}

/// Every name is on this machine.
#[derive(Debug, Clone)]
struct Loopback;

impl tower_service::Service<Name> for Loopback {
    type Response = std::iter::Once<SocketAddr>;
    type Error = std::io::Error;
    type Future = std::future::Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Name) -> Self::Future {
        // The connector sets the port of the URL.
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        std::future::ready(Ok(std::iter::once(address)))
    }
}
