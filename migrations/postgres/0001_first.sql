-- Format 1. Times are milliseconds since 1970 (UTC); codes are the numbers of trawl-types. Texts from
-- strangers may hold NUL, which this database does not take: it is written as U+10FFFE followed by 0
-- (and U+10FFFE itself as U+10FFFE followed by 1).

CREATE TABLE meta (
  key   text PRIMARY KEY,
  value bytea NOT NULL
);

-- One run of a crawl specification. Its row is the lock under which results are numbered.
CREATE TABLE crawls (
  id          int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text NOT NULL,
  spec        text NOT NULL,              -- JSON
  state       text NOT NULL,              -- running, paused, completed, cancelled, failed
  why         text NOT NULL DEFAULT '',
  started_at  int8 NOT NULL,
  finished_at int8,
  last_seq    int8 NOT NULL DEFAULT 0,    -- last number given out in the result log
  pages       int8 NOT NULL DEFAULT 0,    -- by the budget's measure
  keeps       int2 NOT NULL DEFAULT 0     -- 1 html, 2 markdown, 4 text, 8 fingerprints
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500);
CREATE INDEX crawls_running ON crawls (id) WHERE state = 'running';

-- The crawl in numbers: the sum over the slots. Those who record links write to a slot of their own
-- choice, so that they do not wait for each other; those who settle pages write to slot 0.
CREATE TABLE tallies (
  crawl int8 NOT NULL,
  kind  int2 NOT NULL,                    -- 0 discovered, 1 pending, 2 done, 3 refused, 4 hosts, 5 edges,
                                          -- 6 pages, 7 duplicates, 8 near duplicates, 9 outcome, 10 reason
  code  int2 NOT NULL,                    -- of the outcome or reason, otherwise 0
  slot  int2 NOT NULL,
  total int8 NOT NULL,
  PRIMARY KEY (crawl, kind, code, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);

-- The unit of politeness, shared by all crawls. The id is a keyed hash of the name. A host on loan
-- belongs to its holder until `ready_at`; the epoch moves with every loan, and fences the one before.
CREATE TABLE hosts (
  id           int8 NOT NULL,
  ready_at     timestamptz NOT NULL DEFAULT 'infinity', -- not lent before; while on loan its end; infinity: idle
  free_at      timestamptz NOT NULL DEFAULT '-infinity', -- politeness alone would let it be asked from here on
  epoch        int8 NOT NULL DEFAULT 0,
  next_allowed int8 NOT NULL DEFAULT 0,
  delay_ms     int8 NOT NULL DEFAULT 0,
  failures     int4 NOT NULL DEFAULT 0,
  empties      int2 NOT NULL DEFAULT 2,   -- how often nothing was found to ask it for, up to 2
  holder       text,                      -- the worker that has it on loan
  name         text NOT NULL,
  PRIMARY KEY (id)
) PARTITION BY HASH (id);

CREATE TABLE robots (
  host       int8 NOT NULL,
  scheme     text NOT NULL,               -- http, https
  status     int4 NOT NULL,               -- 0: no answer came
  body       bytea NOT NULL,
  fetched_at int8 NOT NULL,
  PRIMARY KEY (host, scheme)
);

-- Hosts from which a crawl has admitted URLs.
CREATE TABLE crawl_hosts (
  crawl      int8 NOT NULL,
  host       int8 NOT NULL,
  pages_done int8 NOT NULL DEFAULT 0,
  requests   int8 NOT NULL DEFAULT 0,     -- robots.txt not counted
  errors     int8 NOT NULL DEFAULT 0,     -- visits that ended badly
  suspended  int2 NOT NULL DEFAULT 0,
  closed     bool NOT NULL DEFAULT false, -- the crawl asks nothing more of it, whatever is pending
  PRIMARY KEY (crawl, host)
) WITH (fillfactor = 70);

-- Identities, shared by all crawls. The number of a page is made of its key: 16 bits of the host, 37 of
-- the URL, and the next free one where that is taken. So it clusters by host, is known without asking,
-- and its first four bits name the partition: ranges of a hash.
CREATE TABLE urls (
  page     int8 NOT NULL,
  key_host int8 NOT NULL,
  key_url  int8 NOT NULL,
  url      text NOT NULL,                 -- the first address seen
  PRIMARY KEY (page)
) PARTITION BY RANGE (page);

-- Where a page stands in a crawl: the frontier and the record of decisions.
CREATE TABLE crawl_pages (
  crawl         int8 NOT NULL,
  page          int8 NOT NULL,
  host          int8 NOT NULL,
  rank          int8 NOT NULL,            -- lower is earlier
  born          int8 NOT NULL,            -- ascends with time: number of the commit and place in it
  discovered_at int8 NOT NULL,
  parent        int8,                     -- page before this one on the shortest path
  seq           int8,                     -- its result
  not_before    int8 NOT NULL DEFAULT 0,
  depth         int4 NOT NULL,            -- shortest distance from the seeds over recorded edges
  attempts      int4 NOT NULL DEFAULT 0,
  state         int2 NOT NULL,            -- 0 pending, 1 refused, 2 done
  score         int2 NOT NULL,
  reason        int2,                     -- why refused
  outcome       int2,                     -- of the last attempt
  reason_detail text,
  chain         bytea,                    -- redirects before it: 8 bytes each, little endian
  PRIMARY KEY (crawl, page)
) PARTITION BY RANGE (page);

DO $$
BEGIN
  FOR i IN 0..15 LOOP
    EXECUTE format(
      'CREATE TABLE hosts_%s PARTITION OF hosts FOR VALUES WITH (MODULUS 16, REMAINDER %s)
       WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)',
      i, i);
    EXECUTE format(
      'CREATE TABLE urls_%s PARTITION OF urls FOR VALUES FROM (%s) TO (%s)
       WITH (autovacuum_vacuum_insert_scale_factor = 0.4)',
      i,
      CASE i WHEN 0 THEN 'MINVALUE' ELSE (i * 562949953421312)::text END,
      CASE i WHEN 15 THEN 'MAXVALUE' ELSE ((i + 1) * 562949953421312)::text END);
    EXECUTE format(
      'CREATE TABLE crawl_pages_%s PARTITION OF crawl_pages FOR VALUES FROM (%s) TO (%s)
       WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.4)',
      i,
      CASE i WHEN 0 THEN 'MINVALUE' ELSE (i * 562949953421312)::text END,
      CASE i WHEN 15 THEN 'MAXVALUE' ELSE ((i + 1) * 562949953421312)::text END);
  END LOOP;
END $$;
CREATE INDEX hosts_ready ON hosts (ready_at) WHERE ready_at < 'infinity';
CREATE INDEX crawl_pages_pending ON crawl_pages (crawl, host, rank, born) WHERE state = 0;

-- Numbers of commits: what is older has a smaller one.
CREATE SEQUENCE commits CACHE 1;

-- What a page links to: one row for each list of links that differs from the one before it. A page
-- seen again with the same links only moves `last_crawl`.
CREATE TABLE page_links (
  id          int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  page        int8 NOT NULL,
  first_crawl int8 NOT NULL,
  last_crawl  int8 NOT NULL,
  links       text NOT NULL               -- JSON: [[dst, kind, rel, place, "anchor"], ...]
);
CREATE INDEX page_links_page ON page_links (page);
DO $$
BEGIN
  ALTER TABLE page_links ALTER COLUMN links SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
  NULL;                                   -- this server was built without it
END $$;

-- The result log: one entry for each visit that ended, numbered without gaps in each crawl.
CREATE TABLE results (
  crawl          int8 NOT NULL,
  seq            int8 NOT NULL,
  page           int8 NOT NULL,
  crawled_at     int8 NOT NULL,
  fetch_time_ms  int8 NOT NULL,
  content_length int8,
  duplicate_of   int8,                    -- the first page of the crawl with the same content
  body_crawl     int8,                    -- where its body lies in `records`
  body_seq       int8,
  attempts       int4 NOT NULL,
  links_total    int4 NOT NULL,
  status         int4,
  outcome        int2 NOT NULL,
  truncated      bool NOT NULL,
  content_hash   bytea,
  error          text,
  content_type   text,
  charset        text,
  language       text,
  etag           text,
  last_modified  text,
  robots         text,
  final_url      text,
  redirect_to    text,
  canonical_url  text,
  title          text,
  description    text,
  PRIMARY KEY (crawl, seq)
);
CREATE INDEX results_page ON results (page, crawl);

-- Bodies and what was made of them, compressed already: WARC records in zstd frames.
CREATE TABLE records (
  crawl  int8 NOT NULL,
  seq    int8 NOT NULL,
  kind   int2 NOT NULL,                   -- 0 body, 1 content
  record bytea NOT NULL,
  PRIMARY KEY (crawl, seq, kind)
);
ALTER TABLE records ALTER COLUMN record SET STORAGE EXTERNAL;

-- The first page of a crawl with some content. Half of a cryptographic hash: nobody can make a page
-- that looks like a copy of another's.
CREATE TABLE originals (
  crawl int8 NOT NULL,
  page  int8 NOT NULL,
  hash  bytea NOT NULL,                   -- 16 bytes
  PRIMARY KEY (crawl, hash)
);

-- What was made of the body of a result, where that was asked for.
CREATE TABLE contents (
  crawl             int8 NOT NULL,
  seq               int8 NOT NULL,
  near              int8,                 -- fingerprint that nearly equal texts nearly share
  near_duplicate_of int8,                 -- first page of the crawl with nearly the same text
  record_crawl      int8,                 -- where Markdown, text and metadata lie in `records`
  record_seq        int8,
  kept              int2 NOT NULL,        -- as `crawls.keeps`
  text_hash         bytea,                -- SHA-256 of the normalised text
  PRIMARY KEY (crawl, seq)
);

-- A crawl that somebody asked for over HTTP. State, counts and results are those of the crawl.
CREATE TABLE jobs (
  id          text PRIMARY KEY,           -- UUID
  crawl       int8 NOT NULL UNIQUE,
  owner       text NOT NULL,              -- id of the key that asked
  kind        text NOT NULL,              -- spider, crawl, deep
  request     text NOT NULL,              -- JSON, as it was asked for
  idempotency text,                       -- the same text from the same owner is the same job
  created_at  int8 NOT NULL
);
CREATE INDEX jobs_owner ON jobs (owner, created_at);
CREATE UNIQUE INDEX jobs_idempotency ON jobs (owner, idempotency) WHERE idempotency IS NOT NULL;

-- Who may use the server. Only a hash of the secret is kept.
CREATE TABLE api_keys (
  id         text PRIMARY KEY,
  name       text NOT NULL,
  hash       bytea NOT NULL,              -- SHA-256 of the secret
  scope      text NOT NULL,               -- read, write, admin: each includes those before it
  per_minute int8,                        -- requests; the tier's own limit if left out
  created_at int8 NOT NULL,
  expires_at int8,
  revoked_at int8
);

-- Processes that crawl from this store, as they last said.
CREATE TABLE workers (
  id           text PRIMARY KEY,
  host         text NOT NULL,             -- the machine
  version      text NOT NULL,
  started_at   int8 NOT NULL,
  heartbeat_at int8 NOT NULL,
  doing        text NOT NULL              -- JSON
);
