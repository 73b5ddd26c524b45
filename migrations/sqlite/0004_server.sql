-- Format 4. What the server keeps besides crawls: jobs and keys.

-- A crawl that somebody asked for over HTTP. State, counts and results are those of the crawl.
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

-- Who may use the server. Only a hash of the secret is kept.
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
