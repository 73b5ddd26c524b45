-- Format 2. The terrain map: what `trawl map` writes besides, and the tables of a map by the names
-- people know them by, as views. `pages` is one of those names.

ALTER TABLE pages RENAME TO urls;

-- Requests made of a host in a crawl, robots.txt not counted.
ALTER TABLE crawl_hosts ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;

-- Visits of its pages that ended badly.
ALTER TABLE crawl_hosts ADD COLUMN errors INTEGER NOT NULL DEFAULT 0;

-- SHA-256 of the configuration of a map, hex; nothing for other crawls.
ALTER TABLE crawls ADD COLUMN config_hash TEXT;

-- The quality domains of a run, in the order of its configuration.
CREATE TABLE map_origins (
  crawl  INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  domain TEXT NOT NULL,
  PRIMARY KEY (crawl, origin)
) STRICT, WITHOUT ROWID;

-- What the configuration of a run makes of a host.
CREATE TABLE map_hosts (
  crawl  INTEGER NOT NULL,
  host   INTEGER NOT NULL,
  domain TEXT NOT NULL,                   -- without `www.` and port
  class  INTEGER NOT NULL,                -- 0 quality, 1 blacklisted, 2 stubbed, 3 discovered
  origin INTEGER,                         -- which quality domain it belongs to
  PRIMARY KEY (crawl, host)
) STRICT, WITHOUT ROWID;

-- Pages of maps, under their normalised URLs.
CREATE TABLE map_pages (
  page        INTEGER PRIMARY KEY,
  url         TEXT NOT NULL,
  first_crawl INTEGER NOT NULL,
  last_crawl  INTEGER NOT NULL
) STRICT;
CREATE INDEX map_pages_url ON map_pages (url);

-- How far a page is from a quality domain.
CREATE TABLE map_depths (
  crawl  INTEGER NOT NULL,
  page   INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  depth  INTEGER NOT NULL,
  PRIMARY KEY (crawl, page, origin)
) STRICT, WITHOUT ROWID;

-- Edges of maps with their newest evidence, one row each, to be found from both ends.
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

-- A page of any run as that run left it: what `pages` and the summaries are made of.
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

-- Domains of the newest run.
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

-- What still waits, lowest priority number first.
CREATE VIEW frontier AS
SELECT c.page_id AS id, c.page_id, c.rank AS priority,
  strftime('%Y-%m-%dT%H:%M:%fZ', c.found_at / 1000.0, 'unixepoch') AS added_at
FROM run_pages c
WHERE c.state = 'Queued' AND c.run_id = (SELECT max(id) FROM runs);
