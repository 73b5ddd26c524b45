//! [`Fetcher`]: one request, one outcome. It follows nothing, repeats nothing and waits for
//! nothing but the answer; robots.txt, scheduling and redirects are its caller's business.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use trawl_rules::AddressGuard;
use trawl_types::{
    OutcomeKind, Reason, ReasonCode,
    spec::{FetchSpec, Oversize, SpecError},
};

use url::Url;

use crate::{
    Answer, Ended, Head, Request,
    clock::{Clock, Timeouts},
    connect::{Connector, Proxy},
    cookies::Jar,
    decode::Caps,
    ended::End,
    failure,
    outgoing::Outgoing,
    resolve::{Resolve, SystemResolver},
    unsent::Unsent,
};

/// Idle connections are worth little for long: sites close them, and thousands of hosts add up.
const IDLE_CONNECTION: Duration = Duration::from_secs(15);

/// More than any sensible number of requests at once to one host, so that none reconnects.
const IDLE_PER_HOST: usize = 256;

/// Holds most pages in one piece. Left to itself the client keeps buffers as large as the largest
/// answer was, and a crawl has a thousand idle connections.
const READ_BUFFER: usize = 24 * 1024;

/// Of one answer. The number of headers is limited by the client itself, at 100.
const MAX_HEADER_BYTES: u32 = 64 * 1024;

/// Fetches. Cheap to clone; clones share connections, names and cookies.
#[derive(Clone)]
pub struct Fetcher {
    parts: Arc<Parts>,
}

struct Parts {
    client: Client<Connector, Unsent>,
    guard: Arc<AddressGuard>,
    outgoing: Outgoing,
    jar: Option<Jar>,
    timeouts: Timeouts,
    caps: Caps,
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher").finish_non_exhaustive()
    }
}

impl Fetcher {
    /// Checks and compiles the spec; an error names the field that cannot be used.
    pub fn new(spec: &FetchSpec) -> Result<Self, SpecError> {
        Self::with_resolver(spec, Arc::new(SystemResolver::default()))
    }

    /// Like [`Fetcher::new`], with another way to look names up. Its answers are guarded too.
    pub fn with_resolver(spec: &FetchSpec, resolver: Arc<dyn Resolve>) -> Result<Self, SpecError> {
        let guard = Arc::new(AddressGuard::compile(spec)?);
        let proxy = match &spec.proxy {
            Some(text) => Some(Arc::new(Proxy::parse(text)?)),
            None => None,
        };
        let connector = Connector::new(spec, Arc::clone(&guard), resolver, proxy.clone())?;
        Ok(Self {
            parts: Arc::new(Parts {
                client: client(connector),
                guard,
                outgoing: Outgoing::of(spec, proxy)?,
                jar: spec.cookies.then(Jar::default),
                timeouts: Timeouts::of(spec),
                caps: Caps {
                    body: spec.max_body_bytes,
                    refuse: spec.oversize == Oversize::Refuse,
                    ratio: u64::from(spec.max_ratio),
                },
            }),
        })
    }

    /// Sends a request and gives its answer once the headers are in.
    pub async fn start(&self, request: Request) -> Result<Answer, Ended> {
        match self.parts.start(&request, &|| true).await {
            Ok(answer) => Ok(answer),
            Err(Halt::Ended(end)) => Err(Ended::before_answer(end)),
            Err(Halt::Withdrawn) => Err(Ended::before_answer(withdrawn())),
        }
    }

    /// As [`Fetcher::start`], for a request that may have to be withdrawn while it waits for its
    /// turn or for a connection: it is sent only if `may_still` says yes right before. Nothing if
    /// it was not sent.
    pub async fn start_while(
        &self,
        request: Request,
        may_still: &(dyn Fn() -> bool + Send + Sync),
    ) -> Option<Result<Answer, Ended>> {
        match self.parts.start(&request, may_still).await {
            Ok(answer) => Some(Ok(answer)),
            Err(Halt::Ended(end)) => Some(Err(Ended::before_answer(end))),
            Err(Halt::Withdrawn) => None,
        }
    }
}

/// Why there is no answer.
enum Halt {
    Ended(End),
    /// It was not sent, because it may not be any more.
    Withdrawn,
}

impl From<End> for Halt {
    fn from(end: End) -> Self {
        Self::Ended(end)
    }
}

fn withdrawn() -> End {
    End::new(OutcomeKind::ConnectFailed, "withdrawn")
}

impl Parts {
    async fn start(
        &self,
        request: &Request,
        may_still: &(dyn Fn() -> bool + Send + Sync),
    ) -> Result<Answer, Halt> {
        self.admit(&request.url)?;
        let message = self.outgoing.message(request, self.jar.as_ref())?;
        let sent = message.body().sent.clone();
        let mut clock = Clock::start(self.timeouts);
        let mut response = pin!(self.client.request(message));
        let response = poll_fn(|cx| {
            // Connecting takes time, in which a process may even have been stopped.
            if sent.get().is_none() && !may_still() {
                return Poll::Ready(Err(Halt::Withdrawn));
            }
            match response.as_mut().poll(cx) {
                Poll::Ready(Ok(response)) => Poll::Ready(Ok(response)),
                Poll::Ready(Err(error)) => Poll::Ready(Err(failure::before_answer(&error).into())),
                Poll::Pending => clock
                    .poll_headers_late(cx, &sent)
                    .map(|end| Err(end.into())),
            }
        })
        .await?;

        let (parts, incoming) = response.into_parts();
        let proxy_speaks = self.outgoing.is_for_proxy(&request.url);
        if proxy_speaks && parts.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            return Err(End::new(
                OutcomeKind::ProxyFailure,
                "the proxy wants other credentials (407)",
            )
            .into());
        }
        // The client's own limit is one of its buffer, which may hold more than it promises.
        if header_bytes(&parts.headers) > MAX_HEADER_BYTES as usize {
            return Err(failure::headers_too_large().into());
        }
        if let Some(jar) = &self.jar {
            jar.store(&request.url, &parts.headers);
        }
        Ok(Answer {
            head: Head::of(parts),
            incoming,
            clock,
            caps: self.caps_for(request),
        })
    }

    /// Refuses what no connection would be opened for, before anything is looked up.
    fn admit(&self, url: &Url) -> Result<(), End> {
        let refused = |reason: Reason| End::new(OutcomeKind::AddressRefused, reason.to_string());
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused(ReasonCode::UnsupportedScheme.into()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused(ReasonCode::Userinfo.into()));
        }
        self.guard.check_url(url).map_err(refused)
    }

    fn caps_for(&self, request: &Request) -> Caps {
        match request.max_body {
            Some(body) => Caps {
                body,
                refuse: false,
                ..self.caps
            },
            None => self.caps,
        }
    }
}

fn header_bytes(headers: &HeaderMap) -> usize {
    let size = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    headers.iter().map(size).sum()
}

/// The pooled client, lenient where browsers are. Requests that a dying connection took no byte
/// of are sent again on another one; nothing else is repeated.
fn client(connector: Connector) -> Client<Connector, Unsent> {
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_CONNECTION)
        .pool_max_idle_per_host(IDLE_PER_HOST)
        .retry_canceled_requests(true)
        .http1_read_buf_exact_size(READ_BUFFER)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http2_max_header_list_size(MAX_HEADER_BYTES)
        .build(connector)
}
