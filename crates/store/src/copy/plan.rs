//! What becomes of which table: where its rows are read from, in which order, and what their columns are
//! in the other store. Pure.

/// What a column of PostgreSQL holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Col {
    Int2,
    Int4,
    Int8,
    Bool,
    Text,
    Bytes,
}

/// What a column of the file becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum As {
    /// It stays as it is.
    Same,
    /// A number that is not 0 becomes true.
    Truth,
    /// The number of a page, or of none.
    Page,
    /// The number of a host.
    Host,
    /// A host by its name: its own number, which the other store makes of it.
    HostNamed,
    /// A list of links as JSON.
    Links,
    /// Only looked at, by what follows.
    Aside,
    /// Crawl and number of the visit under which a body lies: made of segment and offset (which stand
    /// `Aside` before it) and the page (the last column).
    Owner(Kept),
    /// The record itself, of the visit that owns it; others have no row.
    Record(Kept),
}

/// Bodies, or what was made of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Body,
    Content,
}

#[derive(Debug)]
pub(crate) struct Plan {
    /// What it is called while it is copied.
    pub(crate) name: &'static str,
    pub(crate) table: &'static str,
    /// Names and kinds of columns there.
    pub(crate) columns: &'static [(&'static str, Col)],
    /// Reads rows after a key, which are its first columns, in the order of that key.
    pub(crate) select: &'static str,
    /// How many columns the key has.
    pub(crate) key: usize,
    /// The key before all: numbers, texts or bytes.
    pub(crate) first: &'static [Start],
    /// What becomes of the columns read.
    pub(crate) becomes: &'static [As],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Number,
    Text,
    Bytes,
}

use As::{Aside, Host, HostNamed, Links, Owner, Page, Record, Same, Truth};
use Col::{Bool, Bytes, Int2, Int4, Int8, Text};

/// In the order in which they are copied: what others refer to comes first.
pub(crate) const PLANS: &[Plan] = &[
    Plan {
        name: "hosts",
        table: "hosts",
        columns: &[
            ("id", Int8),
            ("name", Text),
            ("next_allowed", Int8),
            ("delay_ms", Int8),
            ("failures", Int4),
        ],
        select: "SELECT id, name, name, next_allowed, delay_ms, failures FROM hosts
                 WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Number],
        becomes: &[Aside, HostNamed, Same, Same, Same, Same],
    },
    Plan {
        name: "robots",
        table: "robots",
        columns: &[
            ("host", Int8),
            ("scheme", Text),
            ("status", Int4),
            ("body", Bytes),
            ("fetched_at", Int8),
        ],
        select: "SELECT host, scheme, status, body, fetched_at FROM robots
                 WHERE (host, scheme) > (?1, ?2) ORDER BY host, scheme",
        key: 2,
        first: &[Start::Number, Start::Text],
        becomes: &[Host, Same, Same, Same, Same],
    },
    Plan {
        name: "urls",
        table: "urls",
        columns: &[
            ("page", Int8),
            ("key_host", Int8),
            ("key_url", Int8),
            ("url", Text),
        ],
        select: "SELECT id, key_host, key_url, url FROM urls WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Number],
        becomes: &[Page, Same, Same, Same],
    },
    Plan {
        name: "crawls",
        table: "crawls",
        columns: &[
            ("id", Int8),
            ("name", Text),
            ("spec", Text),
            ("state", Text),
            ("why", Text),
            ("started_at", Int8),
            ("finished_at", Int8),
            ("last_seq", Int8),
            ("pages", Int8),
            ("keeps", Int2),
        ],
        select: "SELECT id, name, spec, state, why, started_at, finished_at, last_seq, pages, keeps
                 FROM crawls WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Number],
        becomes: &[Same; 10],
    },
    Plan {
        name: "tallies",
        table: "tallies",
        columns: &[
            ("crawl", Int8),
            ("kind", Int2),
            ("code", Int2),
            ("total", Int8),
            ("slot", Int2),
        ],
        select: "SELECT crawl, kind, code, total, 0 FROM (
                   SELECT id AS crawl, 0 AS kind, 0 AS code, discovered AS total FROM crawls
                   UNION ALL SELECT id, 1, 0, pending FROM crawls
                   UNION ALL SELECT id, 2, 0, done FROM crawls
                   UNION ALL SELECT id, 3, 0, refused FROM crawls
                   UNION ALL SELECT id, 4, 0, hosts FROM crawls
                   UNION ALL SELECT id, 5, 0, edges FROM crawls
                   UNION ALL SELECT id, 6, 0, pages FROM crawls
                   UNION ALL SELECT id, 7, 0, duplicates FROM crawls
                   UNION ALL SELECT id, 8, 0, near_duplicates FROM crawls
                   UNION ALL SELECT id, 11, 0, bytes FROM crawls
                   UNION ALL SELECT crawl, iif(kind = 'outcome', 9, 10), code, total FROM tallies)
                 WHERE (crawl, kind, code) > (?1, ?2, ?3) ORDER BY crawl, kind, code",
        key: 3,
        first: &[Start::Number, Start::Number, Start::Number],
        becomes: &[Same; 5],
    },
    Plan {
        name: "crawl_hosts",
        table: "crawl_hosts",
        columns: &[
            ("crawl", Int8),
            ("host", Int8),
            ("pages_done", Int8),
            ("requests", Int8),
            ("errors", Int8),
            ("suspended", Int2),
            ("closed", Bool),
            ("bytes", Int8),
            ("last_crawled", Int8),
        ],
        select: "SELECT crawl, host, pages_done, requests, errors, suspended, suspended, bytes,
                   last_crawled
                 FROM crawl_hosts WHERE (crawl, host) > (?1, ?2) ORDER BY crawl, host",
        key: 2,
        first: &[Start::Number, Start::Number],
        becomes: &[Same, Host, Same, Same, Same, Same, Truth, Same, Same],
    },
    Plan {
        name: "crawl_pages",
        table: "crawl_pages",
        columns: &[
            ("crawl", Int8),
            ("page", Int8),
            // Numbers of pages ascend with time in a file, so they say the age.
            ("born", Int8),
            ("host", Int8),
            ("rank", Int8),
            ("discovered_at", Int8),
            ("parent", Int8),
            ("seq", Int8),
            ("not_before", Int8),
            ("depth", Int4),
            ("attempts", Int4),
            ("state", Int2),
            ("score", Int2),
            ("reason", Int2),
            ("outcome", Int2),
            ("reason_detail", Text),
            ("chain", Bytes),
        ],
        select: "SELECT crawl, page, page, host, rank, discovered_at, parent, seq, not_before, depth,
                   attempts, state, score, reason, outcome, reason_detail, chain
                 FROM crawl_pages WHERE (crawl, page) > (?1, ?2) ORDER BY crawl, page",
        key: 2,
        first: &[Start::Number, Start::Number],
        becomes: &[
            Same, Page, Same, Host, Same, Same, Page, Same, Same, Same, Same, Same, Same, Same,
            Same, Same, Same,
        ],
    },
    Plan {
        name: "page_links",
        table: "page_links",
        columns: &[
            ("id", Int8),
            ("page", Int8),
            ("first_crawl", Int8),
            ("last_crawl", Int8),
            ("links", Text),
        ],
        select: "SELECT id, page, first_crawl, last_crawl, links FROM page_links
                 WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Number],
        becomes: &[Same, Page, Same, Same, Links],
    },
    Plan {
        name: "results",
        table: "results",
        columns: &[
            ("crawl", Int8),
            ("seq", Int8),
            ("crawled_at", Int8),
            ("fetch_time_ms", Int8),
            ("content_length", Int8),
            ("duplicate_of", Int8),
            ("attempts", Int4),
            ("links_total", Int4),
            ("status", Int4),
            ("outcome", Int2),
            ("truncated", Bool),
            ("content_hash", Bytes),
            ("error", Text),
            ("content_type", Text),
            ("charset", Text),
            ("language", Text),
            ("etag", Text),
            ("last_modified", Text),
            ("robots", Text),
            ("final_url", Text),
            ("redirect_to", Text),
            ("canonical_url", Text),
            ("title", Text),
            ("description", Text),
            ("body_crawl", Int8),
            ("body_seq", Int8),
            ("page", Int8),
        ],
        select: "SELECT crawl, seq, crawled_at, fetch_time_ms, content_length, duplicate_of,
                   attempts, links_total, status, outcome, truncated, content_hash, error,
                   content_type, charset, language, etag, last_modified, robots, final_url,
                   redirect_to, canonical_url, title, description, body_segment, body_offset, 0,
                   page
                 FROM results WHERE (crawl, seq) > (?1, ?2) ORDER BY crawl, seq",
        key: 2,
        first: &[Start::Number, Start::Number],
        becomes: &[
            Same, Same, Same, Same, Same, Page, Same, Same, Same, Same, Truth, Same, Same, Same,
            Same, Same, Same, Same, Same, Same, Same, Same, Same, Same, Aside, Aside,
            Owner(Kept::Body), Page,
        ],
    },
    Plan {
        name: "bodies",
        table: "records",
        columns: RECORD,
        select: "SELECT crawl, seq, 0, body_segment, body_offset, body_length, body_crc, 0, page
                 FROM results WHERE (crawl, seq) > (?1, ?2) AND body_segment IS NOT NULL
                 ORDER BY crawl, seq",
        key: 2,
        first: &[Start::Number, Start::Number],
        becomes: &[
            Same, Same, Same, Aside, Aside, Aside, Aside, Record(Kept::Body), Aside,
        ],
    },
    Plan {
        name: "contents",
        table: "contents",
        columns: &[
            ("crawl", Int8),
            ("seq", Int8),
            ("near", Int8),
            ("near_duplicate_of", Int8),
            ("kept", Int2),
            ("text_hash", Bytes),
            ("record_crawl", Int8),
            ("record_seq", Int8),
        ],
        select: "SELECT c.crawl, c.seq, c.near, c.near_duplicate_of, c.kept, c.text_hash, c.segment,
                   c.offset, 0, r.page
                 FROM contents c JOIN results r ON r.crawl = c.crawl AND r.seq = c.seq
                 WHERE (c.crawl, c.seq) > (?1, ?2) ORDER BY c.crawl, c.seq",
        key: 2,
        first: &[Start::Number, Start::Number],
        becomes: &[
            Same, Same, Same, Page, Same, Same, Aside, Aside, Owner(Kept::Content), Aside,
        ],
    },
    Plan {
        name: "made of bodies",
        table: "records",
        columns: RECORD,
        select: "SELECT c.crawl, c.seq, 1, c.segment, c.offset, c.length, c.crc, 0, r.page
                 FROM contents c JOIN results r ON r.crawl = c.crawl AND r.seq = c.seq
                 WHERE (c.crawl, c.seq) > (?1, ?2) AND c.segment IS NOT NULL
                 ORDER BY c.crawl, c.seq",
        key: 2,
        first: &[Start::Number, Start::Number],
        becomes: &[
            Same, Same, Same, Aside, Aside, Aside, Aside, Record(Kept::Content), Aside,
        ],
    },
    Plan {
        name: "activity",
        table: "activity",
        columns: &[
            ("crawl", Int8),
            ("minute", Int8),
            ("outcome", Int2),
            ("visits", Int8),
            ("bytes", Int8),
        ],
        select: "SELECT crawl, minute, outcome, visits, bytes FROM activity
                 WHERE (crawl, minute, outcome) > (?1, ?2, ?3) ORDER BY crawl, minute, outcome",
        key: 3,
        first: &[Start::Number, Start::Number, Start::Number],
        becomes: &[Same; 5],
    },
    Plan {
        name: "jobs",
        table: "jobs",
        columns: &[
            ("id", Text),
            ("crawl", Int8),
            ("owner", Text),
            ("kind", Text),
            ("request", Text),
            ("idempotency", Text),
            ("created_at", Int8),
        ],
        select: "SELECT id, crawl, owner, kind, request, idempotency, created_at FROM jobs
                 WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Text],
        becomes: &[Same; 7],
    },
    Plan {
        name: "api_keys",
        table: "api_keys",
        columns: &[
            ("id", Text),
            ("name", Text),
            ("hash", Bytes),
            ("scope", Text),
            ("per_minute", Int8),
            ("created_at", Int8),
            ("expires_at", Int8),
            ("revoked_at", Int8),
        ],
        select: "SELECT id, name, hash, scope, per_minute, created_at, expires_at, revoked_at
                 FROM api_keys WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Text],
        becomes: &[Same; 8],
    },
    Plan {
        name: "users",
        table: "users",
        columns: &[
            ("id", Text),
            ("name", Text),
            ("password", Text),
            ("role", Text),
            ("created_at", Int8),
            ("password_changed_at", Int8),
            ("disabled_at", Int8),
        ],
        select: "SELECT id, name, password, role, created_at, password_changed_at, disabled_at
                 FROM users WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Text],
        becomes: &[Same; 7],
    },
    Plan {
        name: "sessions",
        table: "sessions",
        columns: &[
            ("hash", Bytes),
            ("user_id", Text),
            ("created_at", Int8),
            ("last_seen_at", Int8),
            ("expires_at", Int8),
        ],
        select: "SELECT hash, user, created_at, last_seen_at, expires_at FROM sessions
                 WHERE hash > ?1 ORDER BY hash",
        key: 1,
        first: &[Start::Bytes],
        becomes: &[Same; 5],
    },
    Plan {
        name: "login_failures",
        table: "login_failures",
        columns: &[("subject", Text), ("count", Int8), ("last_at", Int8)],
        select: "SELECT subject, count, last_at FROM login_failures
                 WHERE subject > ?1 ORDER BY subject",
        key: 1,
        first: &[Start::Text],
        becomes: &[Same; 3],
    },
];

const RECORD: &[(&str, Col)] = &[
    ("crawl", Int8),
    ("seq", Int8),
    ("kind", Int2),
    ("record", Bytes),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_that_is_sent_has_one_to_go_to() {
        for plan in PLANS {
            let sent: usize = plan
                .becomes
                .iter()
                .map(|becomes| match becomes {
                    Aside => 0,
                    Owner(_) => 2,
                    _ => 1,
                })
                .sum();
            assert_eq!(sent, plan.columns.len(), "{}", plan.name);
            assert_eq!(plan.first.len(), plan.key, "{}", plan.name);
        }
    }
}
