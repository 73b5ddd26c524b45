-- Format 2. What servers keep besides crawls: people who may use them, and figures across crawls, kept by
-- the commits that cause them, so that nobody has to read results to count them.

CREATE TABLE users (
  id                  text PRIMARY KEY,   -- jobs belong to `user_<id>`: a name may be given again
  name                text NOT NULL UNIQUE, -- lower case
  password            text NOT NULL,      -- argon2id, as a PHC string
  role                text NOT NULL,      -- user, admin
  created_at          int8 NOT NULL,
  password_changed_at int8 NOT NULL,
  disabled_at         int8
);

-- Only a hash of the token is kept, as of keys.
CREATE TABLE sessions (
  hash         bytea PRIMARY KEY,         -- SHA-256 of the token
  user_id      text NOT NULL,
  created_at   int8 NOT NULL,
  last_seen_at int8 NOT NULL,             -- to the minute, about
  expires_at   int8 NOT NULL              -- whatever happens
);
CREATE INDEX sessions_user ON sessions (user_id);

-- Bad logins by user name and by address, so that a restart forgives none. Names are hashed: people
-- type passwords into the wrong field.
CREATE TABLE login_failures (
  subject text PRIMARY KEY,
  count   int8 NOT NULL,
  last_at int8 NOT NULL
);
CREATE INDEX login_failures_age ON login_failures (last_at);

-- Moves when rows of `crawl_pages` are removed: what processes remember of them is then forgotten.
ALTER TABLE crawls ADD COLUMN cleared int8 NOT NULL DEFAULT 0;

ALTER TABLE crawl_hosts
  ADD COLUMN bytes int8 NOT NULL DEFAULT 0,
  ADD COLUMN last_crawled int8 NOT NULL DEFAULT 0;
CREATE INDEX crawl_hosts_host ON crawl_hosts (host);
CREATE INDEX hosts_name ON hosts (name COLLATE "C");

-- Visits that ended, by minute and outcome. (Bytes of a whole crawl are kind 11 of `tallies`.)
CREATE TABLE activity (
  crawl   int8 NOT NULL,
  minute  int8 NOT NULL,                  -- since 1970
  outcome int2 NOT NULL,
  visits  int8 NOT NULL,
  bytes   int8 NOT NULL,
  PRIMARY KEY (crawl, minute, outcome)
) WITH (fillfactor = 70);

-- Results whose body or content lies with an earlier crawl: few, and asked for when that one goes.
CREATE INDEX results_heirs ON results (body_crawl, body_seq) WHERE body_crawl <> crawl;
CREATE INDEX contents_heirs ON contents (record_crawl, record_seq) WHERE record_crawl <> crawl;
