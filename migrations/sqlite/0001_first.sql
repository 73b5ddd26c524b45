-- Format 1. Times are milliseconds since 1970 (UTC); codes are the numbers of trawl-types.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- One run of a crawl specification, with its counters: they change in the same transaction as
-- the rows they count.
CREATE TABLE crawls (
  id          INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  spec        TEXT NOT NULL,              -- JSON
  state       TEXT NOT NULL,              -- running, paused, completed, cancelled, failed
  why         TEXT NOT NULL DEFAULT '',
  started_at  INTEGER NOT NULL,
  finished_at INTEGER,
  last_seq    INTEGER NOT NULL DEFAULT 0, -- last number given out in the result log
  discovered  INTEGER NOT NULL DEFAULT 0,
  pending     INTEGER NOT NULL DEFAULT 0,
  done        INTEGER NOT NULL DEFAULT 0,
  refused     INTEGER NOT NULL DEFAULT 0,
  hosts       INTEGER NOT NULL DEFAULT 0,
  pages       INTEGER NOT NULL DEFAULT 0,
  edges       INTEGER NOT NULL DEFAULT 0
) STRICT;

-- How many results ended in an outcome, how many URLs were refused for a reason.
CREATE TABLE tallies (
  crawl INTEGER NOT NULL,
  kind  TEXT NOT NULL,                    -- outcome, reason
  code  INTEGER NOT NULL,
  name  TEXT NOT NULL,
  total INTEGER NOT NULL,
  PRIMARY KEY (crawl, kind, code)
) STRICT, WITHOUT ROWID;

-- The unit of politeness, shared by all crawls.
CREATE TABLE hosts (
  id           INTEGER PRIMARY KEY,
  name         TEXT NOT NULL UNIQUE,
  next_allowed INTEGER NOT NULL DEFAULT 0,
  delay_ms     INTEGER NOT NULL DEFAULT 0,
  failures     INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE robots (
  host       INTEGER NOT NULL,
  scheme     TEXT NOT NULL,               -- http, https
  status     INTEGER NOT NULL,            -- 0: no answer came
  body       BLOB NOT NULL,
  fetched_at INTEGER NOT NULL,
  PRIMARY KEY (host, scheme)
) STRICT, WITHOUT ROWID;

-- Hosts from which a crawl has admitted URLs.
CREATE TABLE crawl_hosts (
  crawl      INTEGER NOT NULL,
  host       INTEGER NOT NULL,
  pages_done INTEGER NOT NULL DEFAULT 0,
  suspended  INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (crawl, host)
) STRICT, WITHOUT ROWID;

-- Identities, shared by all crawls. Row numbers ascend, so that inserts go to the right edge; the
-- unique key clusters by host.
CREATE TABLE pages (
  id       INTEGER PRIMARY KEY,
  key_host INTEGER NOT NULL,
  key_url  INTEGER NOT NULL,
  host_id  INTEGER NOT NULL,
  url      TEXT NOT NULL                  -- the first address seen
) STRICT;
CREATE UNIQUE INDEX pages_key ON pages (key_host, key_url);

-- Where a page stands in a crawl: the frontier and the record of decisions.
CREATE TABLE crawl_pages (
  crawl         INTEGER NOT NULL,
  page          INTEGER NOT NULL,
  state         INTEGER NOT NULL,         -- 0 pending, 1 refused, 2 done
  host          INTEGER NOT NULL,
  rank          INTEGER NOT NULL,         -- lower is earlier
  depth         INTEGER NOT NULL,         -- shortest distance from the seeds over recorded edges
  score         INTEGER NOT NULL,
  parent        INTEGER,                  -- page before this one on that path
  attempts      INTEGER NOT NULL DEFAULT 0,
  not_before    INTEGER NOT NULL DEFAULT 0,
  discovered_at INTEGER NOT NULL,
  reason        INTEGER,                  -- why refused
  reason_detail TEXT,
  outcome       INTEGER,                  -- of the last attempt
  seq           INTEGER,                  -- its result
  chain         BLOB,                     -- redirects before it: 8 bytes each, little endian
  PRIMARY KEY (crawl, page)
) STRICT, WITHOUT ROWID;
CREATE INDEX crawl_pages_pending ON crawl_pages (crawl, host, rank, page) WHERE state = 0;

-- What a page links to: one row for each list of links that differs from the one before it. Rows
-- are appended; a page seen again with the same links only moves `last_crawl`.
CREATE TABLE page_links (
  id          INTEGER PRIMARY KEY,
  page        INTEGER NOT NULL,
  first_crawl INTEGER NOT NULL,
  last_crawl  INTEGER NOT NULL,
  links       TEXT NOT NULL               -- JSON: [[dst, kind, rel, place, "anchor"], ...]
) STRICT;
CREATE INDEX page_links_page ON page_links (page);

-- The same, one row for each link, with the newest evidence.
CREATE VIEW edges AS
SELECT src, dst, kind, rel, place, anchor, first_crawl, last_crawl FROM (
  SELECT l.page AS src,
    link.value ->> 0 AS dst,
    link.value ->> 1 AS kind,             -- 0 anchor, 1 canonical, 2 redirect, 3 meta refresh, 4 sitemap
    link.value ->> 2 AS rel,              -- 1 nofollow, 2 ugc, 4 sponsored
    link.value ->> 3 AS place,            -- 0 body, 1 nav, 2 header, 3 main, 4 footer, 5 aside
    link.value ->> 4 AS anchor,
    min(l.first_crawl) OVER (PARTITION BY l.page, link.value ->> 0) AS first_crawl,
    max(l.last_crawl) OVER (PARTITION BY l.page, link.value ->> 0) AS last_crawl,
    row_number() OVER (PARTITION BY l.page, link.value ->> 0 ORDER BY l.id DESC) AS age
  FROM page_links l, json_each(l.links) AS link)
WHERE age = 1;

-- The result log: one entry for each visit that ended, numbered without gaps in each crawl.
CREATE TABLE results (
  crawl          INTEGER NOT NULL,
  seq            INTEGER NOT NULL,
  page           INTEGER NOT NULL,
  outcome        INTEGER NOT NULL,
  status         INTEGER,
  error          TEXT,
  attempts       INTEGER NOT NULL,
  crawled_at     INTEGER NOT NULL,
  fetch_time_ms  INTEGER NOT NULL,
  links_total    INTEGER NOT NULL,
  truncated      INTEGER NOT NULL,
  content_length INTEGER,
  content_hash   BLOB,
  content_type   TEXT,
  charset        TEXT,
  language       TEXT,
  etag           TEXT,
  last_modified  TEXT,
  robots         TEXT,
  final_url      TEXT,
  redirect_to    TEXT,
  canonical_url  TEXT,
  title          TEXT,
  description    TEXT,
  body_segment   INTEGER,                 -- number of the segment file
  body_offset    INTEGER,
  body_length    INTEGER,
  body_crc       INTEGER,                 -- CRC-32 of the compressed record
  PRIMARY KEY (crawl, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX results_page ON results (page, crawl);

-- How much of each body segment file is referred to; bytes behind that were never committed.
CREATE TABLE segments (
  number INTEGER PRIMARY KEY,
  bytes  INTEGER NOT NULL
) STRICT;
