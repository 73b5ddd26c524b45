-- What all migrations together make of an empty file, for new ones: one step instead of many. Made of the
-- migrations; the test in store/src/sqlite/schema.rs says what to do when it is not.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

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
, config_hash TEXT, keeps INTEGER NOT NULL DEFAULT 0, duplicates INTEGER NOT NULL DEFAULT 0, near_duplicates INTEGER NOT NULL DEFAULT 0, originals_seq INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE tallies (
  crawl INTEGER NOT NULL,
  kind  TEXT NOT NULL,                    -- outcome, reason
  code  INTEGER NOT NULL,
  name  TEXT NOT NULL,
  total INTEGER NOT NULL,
  PRIMARY KEY (crawl, kind, code)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE crawl_hosts (
  crawl      INTEGER NOT NULL,
  host       INTEGER NOT NULL,
  pages_done INTEGER NOT NULL DEFAULT 0,
  suspended  INTEGER NOT NULL DEFAULT 0, requests INTEGER NOT NULL DEFAULT 0, errors INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, last_crawled INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (crawl, host)
) STRICT, WITHOUT ROWID;

CREATE TABLE "urls" (
  id       INTEGER PRIMARY KEY,
  key_host INTEGER NOT NULL,
  key_url  INTEGER NOT NULL,
  host_id  INTEGER NOT NULL,
  url      TEXT NOT NULL                  -- the first address seen
) STRICT;

CREATE UNIQUE INDEX pages_key ON "urls" (key_host, key_url);

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

CREATE TABLE page_links (
  id          INTEGER PRIMARY KEY,
  page        INTEGER NOT NULL,
  first_crawl INTEGER NOT NULL,
  last_crawl  INTEGER NOT NULL,
  links       TEXT NOT NULL               -- JSON: [[dst, kind, rel, place, "anchor"], ...]
) STRICT;

CREATE INDEX page_links_page ON page_links (page);

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
  body_crc       INTEGER, duplicate_of INTEGER, body_within INTEGER NOT NULL DEFAULT 0,                 -- CRC-32 of the compressed record
  PRIMARY KEY (crawl, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX results_page ON results (page, crawl);

CREATE TABLE segments (
  number INTEGER PRIMARY KEY,
  bytes  INTEGER NOT NULL
) STRICT;

CREATE TABLE map_origins (
  crawl  INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  domain TEXT NOT NULL,
  PRIMARY KEY (crawl, origin)
) STRICT, WITHOUT ROWID;

CREATE TABLE map_hosts (
  crawl  INTEGER NOT NULL,
  host   INTEGER NOT NULL,
  domain TEXT NOT NULL,                   -- without `www.` and port
  class  INTEGER NOT NULL,                -- 0 quality, 1 blacklisted, 2 stubbed, 3 discovered
  origin INTEGER,                         -- which quality domain it belongs to
  PRIMARY KEY (crawl, host)
) STRICT, WITHOUT ROWID;

CREATE TABLE map_pages (
  page        INTEGER PRIMARY KEY,
  url         TEXT NOT NULL,
  first_crawl INTEGER NOT NULL,
  last_crawl  INTEGER NOT NULL
) STRICT;

CREATE INDEX map_pages_url ON map_pages (url);

CREATE TABLE map_depths (
  crawl  INTEGER NOT NULL,
  page   INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  depth  INTEGER NOT NULL,
  PRIMARY KEY (crawl, page, origin)
) STRICT, WITHOUT ROWID;

CREATE TABLE map_links (
  src         INTEGER NOT NULL,
  dst         INTEGER NOT NULL,
  kind        INTEGER NOT NULL,           -- as in `edges`
  rel         INTEGER NOT NULL,
  place       INTEGER NOT NULL,
  position    INTEGER NOT NULL,           -- 0 for the first link of the page
  anchor      TEXT NOT NULL,
  first_crawl INTEGER NOT NULL,
  last_crawl  INTEGER NOT NULL,
  PRIMARY KEY (src, dst)
) STRICT, WITHOUT ROWID;

CREATE INDEX map_links_dst ON map_links (dst);

CREATE VIEW runs AS
SELECT id,
  strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS started_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', finished_at / 1000.0, 'unixepoch') AS finished_at,
  config_hash,
  CASE state WHEN 'running' THEN 'running' WHEN 'completed' THEN 'completed'
    ELSE 'interrupted' END AS status
FROM crawls WHERE config_hash IS NOT NULL;

CREATE VIEW run_pages AS
SELECT c.crawl AS run_id, c.page AS page_id, m.domain, m.class, c.depth, c.rank,
  CASE c.state
    WHEN 0 THEN CASE
      WHEN h.suspended = 1 THEN 'RateLimited'
      WHEN h.suspended > 1 THEN 'Unreachable'
      WHEN h.requests >= w.spec ->> '$.scope.max_requests_per_host' THEN 'RequestLimitHit'
      ELSE 'Queued' END
    WHEN 1 THEN CASE c.reason
      WHEN 17 THEN 'Blacklisted' WHEN 18 THEN 'Stubbed' WHEN 9 THEN 'DepthExceeded'
      WHEN 19 THEN 'RequestLimitHit' WHEN 21 THEN 'RateLimited' ELSE 'Failed' END
    ELSE CASE
      WHEN c.outcome IN (1, 2, 4) THEN 'Processed'
      WHEN c.outcome = 3 THEN 'ContentMismatch'
      WHEN c.outcome IN (10, 11) THEN 'DeadLink'
      WHEN c.outcome = 12 THEN 'RateLimited'
      WHEN c.outcome IN (30, 31, 33, 34, 40, 41) THEN 'Unreachable'
      ELSE 'Failed' END
  END COLLATE NOCASE AS state,
  c.reason, c.outcome, c.attempts, c.discovered_at AS found_at, c.seq,
  coalesce(r.error, c.reason_detail) AS detail,
  r.title, r.status AS status_code, r.content_type, r.last_modified, r.crawled_at
FROM crawls w
JOIN crawl_pages c ON c.crawl = w.id
JOIN map_hosts m ON m.crawl = c.crawl AND m.host = c.host
LEFT JOIN crawl_hosts h ON h.crawl = c.crawl AND h.host = c.host
LEFT JOIN results r ON r.crawl = c.crawl AND r.seq = c.seq
WHERE w.config_hash IS NOT NULL;

CREATE VIEW pages AS
SELECT p.page AS id, p.url, c.domain, c.state, c.title, c.status_code, c.content_type,
  c.last_modified,
  strftime('%Y-%m-%dT%H:%M:%fZ', c.crawled_at / 1000.0, 'unixepoch') AS visited_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', c.found_at / 1000.0, 'unixepoch') AS discovered_at,
  p.first_crawl AS discovered_run,
  CASE WHEN c.state NOT IN ('Processed', 'Queued', 'Blacklisted', 'Stubbed') THEN
    coalesce(t.name || ': ' || c.detail, t.name, c.detail) END AS error_message,
  max(c.attempts - 1, 0) AS retry_count,
  u.url AS address, c.depth AS min_depth, p.last_crawl AS last_run
FROM map_pages p
JOIN run_pages c ON c.run_id = p.last_crawl AND c.page_id = p.page
JOIN urls u ON u.id = p.page
LEFT JOIN tallies t ON t.crawl = c.run_id
  AND t.kind = CASE WHEN c.seq IS NULL THEN 'reason' ELSE 'outcome' END
  AND t.code = CASE WHEN c.seq IS NULL THEN c.reason ELSE c.outcome END;

CREATE VIEW page_depths AS
SELECT d.page * 65536 + d.origin AS id, d.page AS page_id, o.domain AS quality_origin, d.depth
FROM map_pages p
JOIN map_depths d ON d.crawl = p.last_crawl AND d.page = p.page
JOIN map_origins o ON o.crawl = d.crawl AND o.origin = d.origin;

CREATE VIEW links AS
SELECT src << 32 | dst AS id, src AS from_page_id, dst AS to_page_id, first_crawl AS discovered_run,
  last_crawl AS last_run, anchor, position,
  CASE place WHEN 1 THEN 'nav' WHEN 2 THEN 'header' WHEN 3 THEN 'main' WHEN 4 THEN 'footer'
    WHEN 5 THEN 'aside' ELSE 'body' END AS place,
  CASE kind WHEN 1 THEN 'canonical' WHEN 2 THEN 'redirect' WHEN 3 THEN 'meta_refresh'
    WHEN 4 THEN 'sitemap' WHEN 5 THEN 'area' WHEN 6 THEN 'frame' ELSE 'anchor' END AS kind,
  trim(iif(rel & 1, 'nofollow ', '') || iif(rel & 2, 'ugc ', '') || iif(rel & 4, 'sponsored', ''))
    AS rel
FROM map_links;

CREATE VIEW blacklisted_urls AS
SELECT p.page AS id, p.url, m.domain,
  (SELECT count(*) FROM map_links l WHERE l.dst = p.page) AS reference_count,
  p.first_crawl AS first_seen_run
FROM map_pages p
JOIN crawl_pages c ON c.crawl = p.last_crawl AND c.page = p.page
JOIN map_hosts m ON m.crawl = c.crawl AND m.host = c.host
WHERE m.class = 1;

CREATE VIEW blacklisted_referrers AS
SELECT l.src << 32 | l.dst AS id, l.dst AS blacklisted_url_id, l.src AS referrer_page_id,
  l.first_crawl AS discovered_run
FROM map_pages p
JOIN crawl_pages c ON c.crawl = p.last_crawl AND c.page = p.page
JOIN map_hosts m ON m.crawl = c.crawl AND m.host = c.host AND m.class = 1
JOIN map_links l ON l.dst = p.page;

CREATE VIEW stubbed_urls AS
SELECT p.page AS id, p.url, m.domain,
  (SELECT count(*) FROM map_links l WHERE l.dst = p.page) AS reference_count,
  p.first_crawl AS first_seen_run
FROM map_pages p
JOIN crawl_pages c ON c.crawl = p.last_crawl AND c.page = p.page
JOIN map_hosts m ON m.crawl = c.crawl AND m.host = c.host
WHERE m.class = 2;

CREATE VIEW stubbed_referrers AS
SELECT l.src << 32 | l.dst AS id, l.dst AS stubbed_url_id, l.src AS referrer_page_id, l.first_crawl AS discovered_run
FROM map_pages p
JOIN crawl_pages c ON c.crawl = p.last_crawl AND c.page = p.page
JOIN map_hosts m ON m.crawl = c.crawl AND m.host = c.host AND m.class = 2
JOIN map_links l ON l.dst = p.page;

CREATE VIEW domain_states AS
SELECT d.id, d.domain, d.request_count, d.rate_limited,
  (SELECT CAST(r.body AS TEXT) FROM robots r WHERE r.host = d.id AND r.status BETWEEN 200 AND 299
    ORDER BY r.fetched_at DESC LIMIT 1) AS robots_txt,
  (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', max(r.fetched_at) / 1000.0, 'unixepoch')
    FROM robots r WHERE r.host = d.id) AS robots_fetched_at,
  CASE d.class WHEN 0 THEN 'Quality' WHEN 1 THEN 'Blacklisted' WHEN 2 THEN 'Stubbed'
    ELSE 'Discovered' END AS class
FROM (
  SELECT min(m.host) AS id, m.domain, min(m.class) AS class,
    coalesce(sum(c.requests), 0) AS request_count,
    coalesce(max(c.suspended = 1), 0) AS rate_limited
  FROM map_hosts m
  LEFT JOIN crawl_hosts c ON c.crawl = m.crawl AND c.host = m.host
  WHERE m.crawl = (SELECT max(id) FROM crawls WHERE config_hash IS NOT NULL)
  GROUP BY m.domain) AS d;

CREATE VIEW frontier AS
SELECT c.page_id AS id, c.page_id, c.rank AS priority,
  strftime('%Y-%m-%dT%H:%M:%fZ', c.found_at / 1000.0, 'unixepoch') AS added_at
FROM run_pages c
WHERE c.state = 'Queued' AND c.run_id = (SELECT max(id) FROM runs);

CREATE TABLE originals (
  crawl INTEGER NOT NULL,
  hash  BLOB NOT NULL,                    -- 16 bytes
  page  INTEGER NOT NULL,
  PRIMARY KEY (crawl, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE contents (
  crawl             INTEGER NOT NULL,
  seq               INTEGER NOT NULL,
  text_hash         BLOB,                 -- SHA-256 of the normalised text
  near              INTEGER,              -- fingerprint that nearly equal texts nearly share
  near_duplicate_of INTEGER,              -- first page of the crawl with nearly the same text
  kept              INTEGER NOT NULL,     -- as `crawls.keeps`
  segment           INTEGER,              -- where Markdown, text and metadata lie, as bodies do
  offset            INTEGER,
  length            INTEGER,
  crc               INTEGER, within INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (crawl, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
  id          TEXT PRIMARY KEY,           -- UUID
  crawl       INTEGER NOT NULL UNIQUE,
  owner       TEXT NOT NULL,              -- id of the key that asked
  kind        TEXT NOT NULL,              -- spider, crawl, deep
  request     TEXT NOT NULL,              -- JSON, as it was asked for
  idempotency TEXT,                       -- the same text from the same owner is the same job
  created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_owner ON jobs (owner, created_at);

CREATE UNIQUE INDEX jobs_idempotency ON jobs (owner, idempotency) WHERE idempotency IS NOT NULL;

CREATE TABLE api_keys (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  hash       BLOB NOT NULL,               -- SHA-256 of the secret
  scope      TEXT NOT NULL,               -- read, write, admin: each includes those before it
  per_minute INTEGER,                     -- requests; the tier's own limit if left out
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  id                  TEXT PRIMARY KEY,   -- jobs belong to `user_<id>`: a name may be given again
  name                TEXT NOT NULL UNIQUE,  -- lower case
  password            TEXT NOT NULL,      -- argon2id, as a PHC string
  role                TEXT NOT NULL,      -- user, admin
  created_at          INTEGER NOT NULL,
  password_changed_at INTEGER NOT NULL,
  disabled_at         INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  hash         BLOB PRIMARY KEY,          -- SHA-256 of the token
  user         TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,          -- to the minute, about
  expires_at   INTEGER NOT NULL           -- whatever happens
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_user ON sessions (user);

CREATE TABLE login_failures (
  subject TEXT PRIMARY KEY,
  count   INTEGER NOT NULL,
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX login_failures_age ON login_failures (last_at);

CREATE INDEX crawl_hosts_host ON crawl_hosts (host);

CREATE TABLE activity (
  crawl   INTEGER NOT NULL,
  minute  INTEGER NOT NULL,               -- since 1970
  outcome INTEGER NOT NULL,
  visits  INTEGER NOT NULL,
  bytes   INTEGER NOT NULL,
  PRIMARY KEY (crawl, minute, outcome)
) STRICT, WITHOUT ROWID;

CREATE TABLE duties (
  name         TEXT PRIMARY KEY,          -- archive, backup, retention
  holder       TEXT,                      -- the server that is at it
  held_until   INTEGER NOT NULL,          -- then others may take it up
  begun_at     INTEGER NOT NULL,
  ended_at     INTEGER,
  succeeded_at INTEGER,
  result       TEXT,                      -- of the last run that succeeded, in words
  error        TEXT                       -- of the last run, if it failed
) STRICT, WITHOUT ROWID;
