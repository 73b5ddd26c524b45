//! Opening connections: the one way out to the network. The HTTP client above asks for a
//! connection to a URI and knows nothing of how it came about.
//!
//! * [`target`]: where a request is going
//! * [`dial`]: resolve, ask the guard, connect
//! * [`proxy`], [`tunnel`], [`socks5`]: the same by way of a proxy
//! * [`tls`]: certificates and handshakes
//! * [`stream`]: the connection that comes out

mod dial;
mod proxy;
mod socks5;
mod stream;
mod target;
mod tls;
mod tunnel;

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, atomic::AtomicUsize},
    task::{Context, Poll},
};

use http::Uri;
use tokio::time::timeout;
use tower_service::Service;
use trawl_rules::AddressGuard;
use trawl_types::{
    OutcomeKind,
    spec::{FetchSpec, SpecError},
};

use crate::{
    clock::{Timeouts, late},
    ended::End,
    resolve::{FixedNames, Resolve},
};
use dial::Dialer;
pub(crate) use proxy::Proxy;
use stream::{Live, Stream};
use target::Target;
use tls::Tls;
pub(crate) use tls::tls_error;

/// Makes connections; what the HTTP client's pool asks when it has none to reuse.
#[derive(Clone)]
pub(crate) struct Connector {
    parts: Arc<Parts>,
}

struct Parts {
    dialer: Dialer,
    tls: Tls,
    proxy: Option<Arc<Proxy>>,
    timeouts: Timeouts,
    live: Arc<AtomicUsize>,
    keep: usize,
}

impl Connector {
    pub(crate) fn new(
        spec: &FetchSpec,
        guard: Arc<AddressGuard>,
        resolver: Arc<dyn Resolve>,
        proxy: Option<Arc<Proxy>>,
    ) -> Result<Self, SpecError> {
        let timeouts = Timeouts::of(spec);
        Ok(Self {
            parts: Arc::new(Parts {
                dialer: Dialer {
                    guard,
                    fixed: FixedNames::parse(&spec.resolve)?,
                    resolver,
                    patience: timeouts.connect,
                },
                tls: Tls::of(spec)?,
                proxy,
                timeouts,
                live: Arc::default(),
                keep: connections_to_keep(),
            }),
        })
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = End;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, End>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), End>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let parts = Arc::clone(&self.parts);
        Box::pin(async move {
            let limit = parts.timeouts.connect;
            timeout(limit, parts.connect(&uri))
                .await
                .unwrap_or_else(|_| Err(late(OutcomeKind::ConnectTimeout, limit)))
        })
    }
}

impl Parts {
    async fn connect(&self, uri: &Uri) -> Result<Stream, End> {
        let target = Target::of(uri)?;
        let tcp = if let Some(proxy) = &self.proxy {
            proxy.reach(&self.dialer, &target).await?
        } else {
            let addresses = self.dialer.guarded(&target).await?;
            self.dialer.dial(&target.host, &addresses).await?
        };
        let live = Live::count(&self.live, self.keep);
        if target.tls {
            let tls = self.tls.handshake(&target.host, tcp).await?;
            return Ok(Stream::tls(tls, live));
        }
        let to_proxy = self
            .proxy
            .as_ref()
            .is_some_and(|proxy| proxy.takes_requests_for(target.tls));
        Ok(Stream::plain(tcp, to_proxy, live))
    }
}

/// How many connections stay open for reuse: half of the files this process may open, so that
/// requests under way and the store always find some, and no more than memory is well spent on.
fn connections_to_keep() -> usize {
    let files = std::fs::read_to_string("/proc/self/limits")
        .ok()
        .and_then(|limits| {
            let line = limits
                .lines()
                .find(|line| line.starts_with("Max open files"))?;
            line.split_ascii_whitespace().nth(3)?.parse::<usize>().ok()
        })
        .unwrap_or(1024);
    (files / 2).clamp(64, 2048)
}
