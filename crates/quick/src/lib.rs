//! What must be quick and may be lost: rates, wake-ups, caches, signs of life. A crate of its own because
//! it is a contract with two implementations (this process alone, and Redis between processes) and hides
//! a dependency (the Redis client).
//!
//! Nothing here is the truth about anything. Whoever asks gets an answer at once, whether Redis is
//! there or not: without it, what this process knows by itself has to do.
//!
//! * [`address`]: where Redis is and how it is reached; passwords are never shown
//! * `link`, `breaker`: one connection, which mends itself and costs nothing while Redis is away
//! * [`rates`]: how many requests a minute
//! * [`bell`]: whoever follows a crawl is woken when it has moved
//! * [`cache`]: what was fetched a short while ago
//! * [`beats`]: workers give signs of life

pub mod address;
pub mod beats;
pub mod bell;
mod breaker;
pub mod cache;
mod link;
pub mod rates;

use std::{sync::Arc, time::Duration};

pub use address::{Address, AddressError};
use bell::Bell;
use cache::Cache;
use link::Link;
use rates::Rates;

/// How Redis is used.
#[derive(Debug, Clone)]
pub struct RedisOptions {
    pub address: Address,
    /// All keys and channels begin with it.
    pub prefix: String,
    /// No question takes longer.
    pub timeout: Duration,
}

impl RedisOptions {
    pub fn new(address: Address) -> Self {
        Self {
            address,
            prefix: "trawl:".into(),
            timeout: Duration::from_millis(500),
        }
    }
}

/// How Redis stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// There is none: this process is on its own.
    None,
    Well,
    /// It cannot be used, for this reason.
    Away(String),
}

/// Everything that is quick; shared freely.
#[derive(Debug, Clone)]
pub struct Quick(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    link: Option<Arc<Link>>,
    rates: Rates,
    bell: Arc<Bell>,
    cache: Cache,
}

impl Default for Quick {
    fn default() -> Self {
        Self::here()
    }
}

impl Quick {
    /// In this process alone.
    pub fn here() -> Self {
        Self(Arc::new(Parts {
            link: None,
            rates: Rates::default(),
            bell: Arc::new(Bell::here()),
            cache: Cache::default(),
        }))
    }

    /// Shared with other processes through Redis, which need not be there: it is looked for until it
    /// is. Must be called in a tokio runtime.
    pub fn with_redis(options: RedisOptions) -> Self {
        let link = Link::start(options);
        Self(Arc::new(Parts {
            rates: Rates::default(),
            bell: Bell::between(Arc::clone(&link)),
            cache: Cache::default(),
            link: Some(link),
        }))
    }

    /// Wakes those who follow crawls.
    pub fn bell(&self) -> &Bell {
        &self.0.bell
    }

    /// Whether other processes are told anything.
    pub fn is_shared(&self) -> bool {
        self.link().is_some()
    }

    /// Asks Redis how it is.
    pub async fn standing(&self) -> Standing {
        match self.link() {
            None => Standing::None,
            Some(link) => link.standing().await,
        }
    }

    fn link(&self) -> Option<&Link> {
        self.0.link.as_deref()
    }
}
