//! Every setting of the server, once: its key in the file, its flag, its variable, what is allowed,
//! its default and what it is for. Flags, files, variables, `trawl config` and the documentation
//! follow this table.

use super::kind::Kind;

/// One setting.
#[derive(Debug)]
pub(crate) struct Setting {
    /// `section.name`, as in the file.
    pub(crate) key: &'static str,
    /// Without the dashes.
    pub(crate) flag: &'static str,
    pub(crate) kind: Kind,
    /// As it would be typed; empty for nothing.
    pub(crate) default: &'static str,
    pub(crate) value_name: &'static str,
    pub(crate) help: &'static str,
}

impl Setting {
    pub(crate) fn section(&self) -> &'static str {
        self.key.split_once('.').map_or("", |(section, _)| section)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.key.split_once('.').map_or(self.key, |(_, name)| name)
    }

    /// The environment variable.
    pub(crate) fn variable(&self) -> String {
        format!("TRAWL_{}", self.flag.to_uppercase().replace('-', "_"))
    }
}

pub(crate) fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// What a section is about, in the order of the sample file.
pub(crate) const SECTIONS: &[(&str, &str)] = &[
    ("server", "Where it listens and what it remembers"),
    ("access", "Who may do what"),
    ("rates", "Requests a minute"),
    ("sessions", "How long one stays logged in"),
    ("limits", "How much one may ask for"),
    ("search", "What can be found, and by whom"),
    (
        "retention",
        "How long what is kept, if old data is to go by itself (days; 0 for ever)",
    ),
    (
        "archive",
        "Pages as files, before they grow so old that they are removed",
    ),
    ("backup", "Copies of the whole database"),
    ("crawl", "How the web is asked"),
    ("network", "Whom it may contact besides public addresses"),
    ("log", "What it says"),
];

macro_rules! settings {
    ($($key:literal, $flag:literal, $kind:expr, $default:literal, $value:literal, $help:literal;)*) => {
        pub(crate) const SETTINGS: &[Setting] = &[$(Setting {
            key: $key, flag: $flag, kind: $kind, default: $default, value_name: $value, help: $help,
        }),*];
    };
}

const DAYS: Kind = Kind::Number(0, 36_500);
const REQUESTS: Kind = Kind::Number(1, 10_000_000);

settings! {
    "server.listen", "listen", Kind::Address, "127.0.0.1:8080", "ADDRESS",
        "Where to listen";
    "server.database", "database", Kind::Text, "trawl.db", "FILE",
        "What remembers everything: a file, or postgres://user:password@host/name for several servers";
    "server.database-file", "database-file", Kind::Text, "", "FILE",
        "Read the place of the database from this file: for addresses with a password";
    "server.no-worker", "no-worker", Kind::Switch, "false", "BOOL",
        "Only answer, and leave crawling to `trawl worker`; needs a shared database";
    "server.loan", "loan", Kind::Span(1, 3_600), "60s", "TIME",
        "How long a worker that died keeps its hosts from the others; for shared databases";
    "server.redis", "redis", Kind::Text, "", "URL",
        "What servers and workers share and may lose: redis://:password@host, or rediss:// with TLS";
    "server.redis-file", "redis-file", Kind::Text, "", "FILE",
        "Read the address of Redis from this file: for addresses with a password";
    "server.redis-prefix", "redis-prefix", Kind::Text, "trawl:", "TEXT",
        "What all keys in Redis begin with: one of its own for each database";
    "server.redis-timeout", "redis-timeout", Kind::Duration, "500ms", "TIME",
        "How long an answer of Redis is waited for";
    "server.tls-cert", "tls-cert", Kind::Text, "", "FILE",
        "Serve over TLS with the certificates in this PEM file; SIGHUP reads it anew";
    "server.tls-key", "tls-key", Kind::Text, "", "FILE",
        "The private key of the certificate, in a PEM file";
    "server.hsts", "hsts", Kind::Duration, "8760h", "TIME",
        "How long browsers insist on TLS once they have seen it (0 for not at all)";
    "server.trusted-proxy", "trusted-proxy", Kind::Networks, "", "CIDR",
        "Believe what a proxy at this address says about its clients (X-Forwarded-For, -Proto, -Host)";
    "server.cors-origin", "cors-origin", Kind::Texts, "", "ORIGIN",
        "Let web pages of this origin read answers (`*` for all)";
    "access.insecure-no-auth", "insecure-no-auth", Kind::Switch, "false", "BOOL",
        "Let everybody do everything: for closed networks only";
    "access.anonymous", "anonymous", Kind::Word(&["nothing", "stats"]), "nothing", "WHAT",
        "What those may do who have neither key nor session: nothing, or see the server's figures";
    "rates.anonymous", "rate-anonymous", REQUESTS, "10", "N",
        "Of one address without key or session";
    "rates.user", "rate-user", REQUESTS, "100", "N",
        "Of a user, or of a key with the scope read or write";
    "rates.admin", "rate-admin", REQUESTS, "500", "N",
        "Of an administrator";
    "rates.wrong-keys", "rate-wrong-keys", REQUESTS, "20", "N",
        "Wrong keys from one address before they are answered with 429";
    "sessions.idle", "session-idle", Kind::Span(60, 31_536_000), "2h", "TIME",
        "A session ends after so long without a request";
    "sessions.lifetime", "session-lifetime", Kind::Span(60, 31_536_000), "24h", "TIME",
        "A session ends after so long, whatever happens";
    "limits.pages", "limit-pages", Kind::Number(1, 1_000_000), "1000", "N",
        "Pages of one answer, unless the request says otherwise";
    "limits.most-pages", "limit-most-pages", Kind::Number(1, 1_000_000), "10000", "N",
        "Pages of one answer, whatever the request says";
    "limits.content", "limit-content", Kind::Size(1, 1 << 30), "1MB", "SIZE",
        "Content of one page; more is cut";
    "limits.discovered-urls", "limit-discovered-urls", Kind::Number(1, 10_000_000), "10000", "N",
        "URLs of one answer";
    "limits.jobs", "limit-jobs", Kind::Number(1, 1_000_000), "100", "N",
        "Running jobs of one key or user";
    "limits.body", "limit-body", Kind::Size(1024, 1 << 30), "10MiB", "SIZE",
        "Body of a request";
    "limits.retention-days", "retention-days", Kind::Number(0, 36_500), "30", "DAYS",
        "Remove jobs this many days after they ended";
    "limits.unread", "unread", Kind::Span(1, 3_600), "2m", "TIME",
        "On a shared database: end crawls whose reader was on a server that is silent for so long";
    "limits.page-cache", "page-cache", Kind::Duration, "24h", "TIME",
        "Keep the content of single pages for those who accept it (max_age_seconds); 0 for not at all";
    "limits.keep-alive", "keep-alive", Kind::Duration, "15s", "TIME",
        "A stream in which nothing happens gives a sign of life this often";
    "limits.frontier-depth", "frontier-depth", Kind::Number(0, 1_000), "10", "N",
        "Links away from what was added that the open frontier follows";
    "search.off", "no-search", Kind::Switch, "false", "BOOL",
        "Neither index nor search what is crawled";
    "search.index", "search-index", Kind::Text, "", "FILE",
        "The file with the index: the database's name and `.search`, trawl.search beside PostgreSQL";
    "search.no-indexing", "no-indexing", Kind::Switch, "false", "BOOL",
        "Leave the index as it is: pages that are crawled are not added to it";
    "search.languages", "search-languages", Kind::Texts, "en", "CODE",
        "Languages of pages that are indexed, or `all`";
    "search.visibility", "search-visibility", Kind::Word(&["own", "all"]), "own", "WHOSE",
        "Whose pages those find who are no administrators: of their own jobs and the open frontier, or of all";
    "search.model", "model", Kind::Text, "", "NAME|DIR|none",
        "A pulled model, a folder with one, or none for words alone; all-MiniLM-L6-v2 if it is there";
    "search.models", "models", Kind::Text, "", "DIR",
        "Where pulled models are";
    "search.embed-url", "embed-url", Kind::Text, "", "URL",
        "Embed with the server at this URL instead";
    "search.embed-protocol", "embed-protocol", Kind::Word(&["tei", "openai"]), "tei", "PROTOCOL",
        "What that server speaks";
    "search.embed-key-file", "embed-key-file", Kind::Text, "", "FILE",
        "Read the key for that server from this file";
    "search.rerank-model", "rerank-model", Kind::Text, "", "NAME|DIR",
        "Rerank inside of the process with this cross-encoder: a folder, or its name among pulled models";
    "search.rerank-url", "rerank-url", Kind::Text, "", "URL",
        "Rerank with the server at this URL instead, which speaks TEI's /rerank";
    "search.qdrant-url", "qdrant-url", Kind::Text, "", "URL",
        "Look for neighbours in the Qdrant server at this URL, which is told of every change";
    "search.qdrant-collection", "qdrant-collection", Kind::Text, "trawl", "NAME",
        "The collection there; it is made if there is none";
    "search.qdrant-key-file", "qdrant-key-file", Kind::Text, "", "FILE",
        "Read the key for Qdrant from this file";
    "retention.every", "retention-every", Kind::Duration, "0s", "TIME",
        "Remove what is older than the following this often (0 for never)";
    "retention.visits", "retention-visits", DAYS, "90", "DAYS",
        "Visits of pages, with everything that was kept of them";
    "retention.failures", "retention-failures", DAYS, "30", "DAYS",
        "Visits that ended in vain";
    "retention.versions", "retention-versions", DAYS, "0", "DAYS",
        "Visits of pages that a later crawl has visited again";
    "retention.bodies", "retention-bodies", DAYS, "30", "DAYS",
        "Bodies, Markdown and text of pages; what is known of the visits stays";
    "retention.queue", "retention-queue", DAYS, "7", "DAYS",
        "URLs that were pending or refused when their crawl ended";
    "retention.minutes", "retention-minutes", DAYS, "7", "DAYS",
        "Figures by the minute, which become figures by the hour";
    "retention.hours", "retention-hours", DAYS, "90", "DAYS",
        "Figures by the hour, which become figures by the day";
    "retention.robots", "retention-robots", DAYS, "7", "DAYS",
        "Answers to robots.txt, which are asked for again when they are needed";
    "retention.unused", "retention-unused", DAYS, "30", "DAYS",
        "Addresses and hosts that nothing refers to any more; hosts this long after they were last asked";
    "archive.every", "archive-every", Kind::Duration, "0s", "TIME",
        "Archive pages this often (0 for never); then no page is removed for its age that is not archived";
    "archive.output", "archive-output", Kind::Text, "", "DIR",
        "Where to: a folder, or s3://bucket/prefix";
    "archive.after", "archive-after", DAYS, "7", "DAYS",
        "Pages are archived this many days after they were visited";
    "archive.format", "archive-format", Kind::Word(&["ndjson", "csv"]), "ndjson", "FORMAT",
        "How they are written";
    "archive.compress", "archive-compress", Kind::Word(&["zstd", "gzip"]), "zstd", "HOW",
        "How files are compressed";
    "backup.every", "backup-every", Kind::Duration, "0s", "TIME",
        "Make a backup this often, and read it back (0 for never)";
    "backup.output", "backup-output", Kind::Text, "", "DIR",
        "The folder for backups of this database, one folder for each";
    "backup.keep", "backup-keep", Kind::Number(1, 10_000), "7", "N",
        "How many backups are kept; older ones go when a new one was found to be whole";
    "crawl.delay", "delay", Kind::Duration, "1s", "TIME",
        "Least time between two requests to one host; jobs may ask for more";
    "crawl.keep-unread", "keep-unread", Kind::Switch, "false", "BOOL",
        "Go on with crawls whose reader has left";
    "crawl.contact-url", "contact-url", Kind::Text, "", "URL",
        "Where site owners can read about these crawls";
    "crawl.contact-email", "contact-email", Kind::Text, "", "MAIL",
        "Where site owners can complain";
    "network.ca-cert", "ca-cert", Kind::Texts, "", "FILE",
        "Trust the certificates in this PEM file as well";
    "network.allow-network", "allow-network", Kind::Networks, "", "CIDR",
        "Allow addresses that are not public, such as 192.168.0.0/16";
    "network.allow-port", "allow-port", Kind::Ports, "", "PORT",
        "Allow a port besides 80, 443, 8080 and 8443";
    "network.resolve", "resolve", Kind::Texts, "", "NAME=ADDRESS",
        "Take this address for a host name (`name=address`, `*.test=127.0.0.1`)";
    "log.format", "log-format", Kind::Word(&["text", "json"]), "text", "FORMAT",
        "Log lines for people, or one JSON object on each line";
    "log.level", "log-level", Kind::Word(&["error", "warn", "info", "debug", "trace"]), "warn", "LEVEL",
        "What is logged; -v and TRAWL_LOG win";
}
