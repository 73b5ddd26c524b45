//! The settings as the server takes them, with what must fit together.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use trawl_api::{
    ServerSettings,
    settings::{
        AccessSettings, Anonymous, Limits, Rates, SessionSettings, TlsFiles, UpkeepSettings,
    },
};
use trawl_quick::{Address, Quick, RedisOptions};
use trawl_types::spec::{FetchSpec, UserAgent};

use super::{Origin, Settings, kind::network};
use crate::{
    database::{Database, address_in},
    exit::BadInput,
    spec::pem_of,
    units,
};

impl Settings {
    pub(crate) fn database(&self) -> anyhow::Result<Database> {
        let (name, file) = ("server.database", "server.database-file");
        match self.text(file) {
            None => Ok(Database::parse(self.text(name).unwrap_or("trawl.db"))),
            Some(path) if *self.origin(name) == Origin::Default => {
                Ok(Database::from_file(Path::new(path))?)
            }
            Some(_) => Err(self.clash(file, &format!("without {name}"))),
        }
    }

    /// What must be quick: with Redis where one is named. Must be called in a tokio runtime.
    pub(crate) fn quick(&self) -> anyhow::Result<Quick> {
        let (name, file) = ("server.redis", "server.redis-file");
        let (text, place) = match (self.text(name), self.text(file)) {
            (None, None) => return Ok(Quick::here()),
            (Some(text), None) => (text.to_owned(), name),
            (None, Some(path)) => (address_in(Path::new(path))?, file),
            (Some(_), Some(_)) => return Err(self.clash(file, &format!("without {name}"))),
        };
        let address = Address::parse(&text)
            .map_err(|error| BadInput(format!("{}: {error}", self.place(place))))?;
        Ok(Quick::with_redis(RedisOptions {
            address,
            prefix: self
                .text("server.redis-prefix")
                .unwrap_or_default()
                .to_owned(),
            timeout: self
                .time("server.redis-timeout")
                .max(Duration::from_millis(10)),
        }))
    }

    pub(crate) fn no_worker(&self) -> bool {
        self.switch("server.no-worker")
    }

    pub(crate) fn loan(&self) -> Duration {
        self.time("server.loan")
    }

    pub(crate) fn json_logs(&self) -> bool {
        self.text("log.format") == Some("json")
    }

    pub(crate) fn log_level(&self) -> &str {
        self.text("log.level").unwrap_or("warn")
    }

    /// All of them, for a server.
    pub(crate) fn server(&self) -> anyhow::Result<ServerSettings> {
        let fetch = self.fetch()?;
        fetch.validate()?;
        let listen = self.text("server.listen").unwrap_or_default();
        Ok(ServerSettings {
            listen: listen.parse()?,
            no_auth: self.switch("access.insecure-no-auth"),
            fetch,
            delay: self.time("crawl.delay"),
            stop_when_reader_leaves: !self.switch("crawl.keep-unread"),
            limits: self.limits()?,
            cors_origins: self.texts("server.cors-origin").to_vec(),
            access: self.access()?,
            upkeep: UpkeepSettings {
                every: self.time("retention.every"),
                keeping: self.keeping(),
            },
        })
    }

    /// How many days jobs are kept after they ended.
    pub(crate) fn job_days(&self) -> u32 {
        self.number("limits.retention-days") as u32
    }

    fn fetch(&self) -> anyhow::Result<FetchSpec> {
        let mut extra_roots = Vec::new();
        for path in self.texts("network.ca-cert") {
            let place = self.place("network.ca-cert");
            extra_roots.push(pem_of(&place, Path::new(path))?);
        }
        let ports = self.texts("network.allow-port").iter();
        Ok(FetchSpec {
            user_agent: UserAgent {
                contact_url: self.text("crawl.contact-url").map(str::to_owned),
                contact_email: self.text("crawl.contact-email").map(str::to_owned),
                ..UserAgent::default()
            },
            extra_roots,
            allow_networks: self.texts("network.allow-network").to_vec(),
            allow_ports: ports.filter_map(|port| port.parse().ok()).collect(),
            resolve: self.texts("network.resolve").to_vec(),
            ..FetchSpec::default()
        })
    }

    fn limits(&self) -> anyhow::Result<Limits> {
        let limits = Limits {
            pages_per_request: self.number("limits.pages"),
            most_pages_per_request: self.number("limits.most-pages"),
            content_bytes: self.size("limits.content"),
            discovered_urls: self.number("limits.discovered-urls") as usize,
            jobs_per_key: self.number("limits.jobs"),
            body_bytes: self.size("limits.body") as usize,
            keep_alive: self
                .time("limits.keep-alive")
                .max(Duration::from_millis(10)),
            frontier_depth: self.number("limits.frontier-depth") as u32,
            retention: Duration::from_hours(24 * self.number("limits.retention-days")),
            unread: self.time("limits.unread"),
            page_cache: self.time("limits.page-cache"),
        };
        if limits.pages_per_request > limits.most_pages_per_request {
            return Err(self.clash(
                "limits.pages",
                &format!(
                    "at most limits.most-pages ({})",
                    limits.most_pages_per_request
                ),
            ));
        }
        Ok(limits)
    }

    fn access(&self) -> anyhow::Result<AccessSettings> {
        let sessions = SessionSettings {
            idle: self.time("sessions.idle"),
            lifetime: self.time("sessions.lifetime"),
        };
        if sessions.idle > sessions.lifetime {
            let lifetime = self.text("sessions.lifetime").unwrap_or_default();
            let allowed = format!("at most sessions.lifetime ({lifetime})");
            return Err(self.clash("sessions.idle", &allowed));
        }
        Ok(AccessSettings {
            anonymous: match self.text("access.anonymous") {
                Some("stats") => Anonymous::Stats,
                _ => Anonymous::Nothing,
            },
            rates: Rates {
                anonymous: self.number("rates.anonymous") as u32,
                user: self.number("rates.user") as u32,
                admin: self.number("rates.admin") as u32,
                wrong_keys: self.number("rates.wrong-keys") as u32,
            },
            sessions,
            trusted_proxies: self
                .texts("server.trusted-proxy")
                .iter()
                .filter_map(|text| network(text))
                .collect(),
            tls: self.tls()?,
            hsts_seconds: self.time("server.hsts").as_secs(),
        })
    }

    fn tls(&self) -> anyhow::Result<Option<TlsFiles>> {
        let (cert, key) = ("server.tls-cert", "server.tls-key");
        match (self.text(cert), self.text(key)) {
            (None, None) => Ok(None),
            (Some(certificates), Some(key)) => Ok(Some(TlsFiles {
                certificates: PathBuf::from(certificates),
                key: PathBuf::from(key),
            })),
            (Some(_), None) => Err(self.clash(cert, &format!("together with {key}"))),
            (None, Some(_)) => Err(self.clash(key, &format!("together with {cert}"))),
        }
    }

    pub(super) fn clash(&self, key: &str, allowed: &str) -> anyhow::Error {
        let found = self.text(key).unwrap_or_default();
        let place = self.place(key);
        BadInput(format!("{place}: found {found:?}; allowed: {allowed}")).into()
    }

    // Values were checked when they were read.

    pub(super) fn switch(&self, key: &str) -> bool {
        self.text(key) == Some("true")
    }

    pub(super) fn number(&self, key: &str) -> u64 {
        let number = self.text(key).and_then(|text| text.parse().ok());
        number.unwrap_or_default()
    }

    fn size(&self, key: &str) -> u64 {
        let size = self.text(key).and_then(|text| units::bytes(text).ok());
        size.unwrap_or_default()
    }

    pub(super) fn time(&self, key: &str) -> Duration {
        let time = self.text(key).and_then(|text| units::duration(text).ok());
        time.unwrap_or_default()
    }
}
