//! What was asked, when, and how often. Requests are written down on arrival and completed when
//! their answer has been handed over; nothing is ever judged here.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

/// One request as the test web saw it.
#[derive(Debug, Clone, Serialize)]
pub struct LoggedRequest {
    /// Arrival on the monotonic clock.
    #[serde(skip)]
    pub at: Instant,
    /// Arrival in microseconds since the web was started.
    pub at_micros: u64,
    /// When the answer had been handed over to the connection; `None` while it is under way.
    pub finished_micros: Option<u64>,
    pub method: String,
    /// Number of the host.
    pub host: u32,
    /// The authority as the client wrote it.
    pub authority: String,
    pub path_and_query: String,
    pub version: String,
    pub tls: bool,
    pub user_agent: Option<String>,
    pub accept_encoding: Option<String>,
    pub if_none_match: Option<String>,
    pub if_modified_since: Option<String>,
    pub cookie: Option<String>,
    pub authorization: Option<String>,
    pub range: Option<String>,
    /// Status of the answer; 0 while none was given, and where the answer was not HTTP at all.
    pub status: u16,
    pub peer: SocketAddr,
    /// Requests in flight on this host, this one included, when it arrived.
    pub concurrent_on_host: u32,
}

impl LoggedRequest {
    /// The path without its query.
    pub fn path(&self) -> &str {
        self.path_and_query.split('?').next().unwrap_or("")
    }
}

#[derive(Debug, Default)]
struct State {
    /// Entries removed by `clear`: late answers to them must not touch newer ones.
    cleared: usize,
    entries: Vec<LoggedRequest>,
    in_flight: HashMap<u32, u32>,
}

#[derive(Debug)]
struct Inner {
    enabled: AtomicBool,
    started: Instant,
    state: Mutex<State>,
}

/// A cheap handle on the log of a running web.
#[derive(Debug, Clone)]
pub struct RequestLog(Arc<Inner>);

impl RequestLog {
    pub(crate) fn new(enabled: bool) -> Self {
        Self(Arc::new(Inner {
            enabled: AtomicBool::new(enabled),
            started: Instant::now(),
            state: Mutex::default(),
        }))
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.0.enabled.load(Ordering::Relaxed)
    }

    /// The instant from which `at_micros` counts.
    pub fn started(&self) -> Instant {
        self.0.started
    }

    /// All requests in order of arrival.
    pub fn entries(&self) -> Vec<LoggedRequest> {
        self.state().entries.clone()
    }

    /// Forgets all requests; those under way stay counted as in flight.
    pub fn clear(&self) {
        let mut state = self.state();
        state.cleared += state.entries.len();
        state.entries.clear();
    }

    /// Number of requests.
    pub fn len(&self) -> usize {
        self.state().entries.len()
    }

    /// Whether nothing was asked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Requests for a path of a host. A path without a query counts every query of it.
    pub fn count(&self, host: u32, path: &str) -> usize {
        let whole = path.contains('?');
        self.count_where(|entry| {
            let asked = if whole {
                &entry.path_and_query
            } else {
                entry.path()
            };
            entry.host == host && asked == path
        })
    }

    /// Requests that a condition holds for.
    pub fn count_where(&self, condition: impl Fn(&LoggedRequest) -> bool) -> usize {
        self.state()
            .entries
            .iter()
            .filter(|entry| condition(entry))
            .count()
    }

    /// Requests to one host, in order of arrival.
    pub fn of_host(&self, host: u32) -> Vec<LoggedRequest> {
        self.state()
            .entries
            .iter()
            .filter(|entry| entry.host == host)
            .cloned()
            .collect()
    }

    /// Shortest time between the arrivals of two successive requests to a host.
    pub fn min_gap(&self, host: u32) -> Option<Duration> {
        let arrivals: Vec<u64> = self
            .of_host(host)
            .iter()
            .map(|entry| entry.at_micros)
            .collect();
        arrivals
            .windows(2)
            .map(|pair| Duration::from_micros(pair[1] - pair[0]))
            .min()
    }

    /// Most requests that were in flight on a host at once.
    pub fn max_concurrent(&self, host: u32) -> u32 {
        let state = self.state();
        let of_host = state.entries.iter().filter(|entry| entry.host == host);
        of_host
            .map(|entry| entry.concurrent_on_host)
            .max()
            .unwrap_or(0)
    }

    /// Requests under way on all hosts.
    pub fn in_flight(&self) -> u32 {
        self.state().in_flight.values().sum()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn micros(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.0.started).as_micros() as u64
    }

    /// Writes a request down; the ticket completes it.
    pub(crate) fn begin(&self, arrival: Arrival<'_>) -> Ticket {
        let mut entry = arrival.into_entry();
        let mut state = self.state();
        // Taken inside the lock, so that entries are in order of time.
        entry.at = Instant::now();
        entry.at_micros = self.micros(entry.at);
        let in_flight = state.in_flight.entry(entry.host).or_insert(0);
        *in_flight += 1;
        entry.concurrent_on_host = *in_flight;
        let number = state.cleared + state.entries.len();
        let host = entry.host;
        state.entries.push(entry);
        drop(state);
        Ticket {
            log: self.clone(),
            number,
            host,
        }
    }
}

/// A request as it arrives.
#[derive(Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) request: &'a http::request::Parts,
    pub(crate) authority: &'a str,
    pub(crate) host: u32,
    pub(crate) tls: bool,
    pub(crate) peer: SocketAddr,
}

impl Arrival<'_> {
    fn into_entry(self) -> LoggedRequest {
        let header = |name: http::HeaderName| {
            let value = self.request.headers.get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let path = self
            .request
            .uri
            .path_and_query()
            .map_or("", http::uri::PathAndQuery::as_str);
        LoggedRequest {
            at: Instant::now(),
            at_micros: 0,
            finished_micros: None,
            method: self.request.method.to_string(),
            host: self.host,
            authority: self.authority.to_owned(),
            path_and_query: path.to_owned(),
            version: format!("{:?}", self.request.version),
            tls: self.tls,
            user_agent: header(http::header::USER_AGENT),
            accept_encoding: header(http::header::ACCEPT_ENCODING),
            if_none_match: header(http::header::IF_NONE_MATCH),
            if_modified_since: header(http::header::IF_MODIFIED_SINCE),
            cookie: header(http::header::COOKIE),
            authorization: header(http::header::AUTHORIZATION),
            range: header(http::header::RANGE),
            status: 0,
            peer: self.peer,
            concurrent_on_host: 0,
        }
    }
}

/// Completes an entry of the log; dropping it says that the answer is out.
#[derive(Debug)]
pub(crate) struct Ticket {
    log: RequestLog,
    number: usize,
    host: u32,
}

impl Ticket {
    pub(crate) fn answered(&self, status: u16) {
        self.with_entry(|entry| entry.status = status);
    }

    fn with_entry(&self, change: impl FnOnce(&mut LoggedRequest)) {
        let mut state = self.log.state();
        let index = self.number.checked_sub(state.cleared);
        if let Some(entry) = index.and_then(|index| state.entries.get_mut(index)) {
            change(entry);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let now = self.log.micros(Instant::now());
        self.with_entry(|entry| entry.finished_micros = Some(now));
        if let Some(in_flight) = self.log.state().in_flight.get_mut(&self.host) {
            *in_flight = in_flight.saturating_sub(1);
        }
    }
}
