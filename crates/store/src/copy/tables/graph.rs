//! Hosts, URLs, crawls and where pages stand in them. Pure.

use crate::copy::plan::{
    As::{Aside, Host, HostNamed, Links, Page, Same, Truth},
    Col::{Bool, Bytes, Int2, Int4, Int8, Text},
    Plan, Start,
};

pub(in crate::copy) const PLANS: &[Plan] = &[
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
            ("archived", Int8),
        ],
        select:
            "SELECT id, name, spec, state, why, started_at, finished_at, last_seq, pages, keeps,
                   archived
                 FROM crawls WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Number],
        becomes: &[Same; 11],
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
        select:
            "SELECT crawl, page, page, host, rank, discovered_at, parent, seq, not_before, depth,
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
];
