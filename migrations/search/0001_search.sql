-- Format 1. What is searched: documents cut into chunks, the keyword index, embeddings. A file of
-- its own beside the crawl database, so that an index can be written while a crawl is. Times are
-- milliseconds since 1970 in UTC.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- How far the result log of each crawl has been read; moves in the transaction that writes what
-- was read.
CREATE TABLE cursors (
  crawl INTEGER PRIMARY KEY,
  seq   INTEGER NOT NULL
) STRICT;

-- Documents whose pages are gone, until it is certain that they are to be removed.
CREATE TABLE removals (
  url   TEXT PRIMARY KEY,
  crawl INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE collections (
  id          INTEGER PRIMARY KEY,
  uuid        BLOB NOT NULL UNIQUE,
  name        TEXT NOT NULL UNIQUE,
  description TEXT,
  created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE tags (
  id         INTEGER PRIMARY KEY,
  uuid       BLOB NOT NULL UNIQUE,
  name       TEXT NOT NULL UNIQUE,       -- lower case
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE documents (
  id           INTEGER PRIMARY KEY,
  uuid         BLOB NOT NULL UNIQUE,
  url          TEXT NOT NULL UNIQUE,
  domain       TEXT NOT NULL,
  parent_url   TEXT,
  title        TEXT,
  content      TEXT NOT NULL,             -- Markdown
  content_hash BLOB NOT NULL,             -- SHA-256 of title and content
  language     TEXT,
  source       INTEGER NOT NULL,          -- 0 crawl, 1 upload, 2 api
  collection   INTEGER REFERENCES collections (id),
  metadata     TEXT NOT NULL,             -- JSON
  version      INTEGER NOT NULL,
  crawled_at   INTEGER NOT NULL,
  changed_at   INTEGER NOT NULL,
  last_crawl   INTEGER,                   -- the newest crawl that saw it
  deleted_at   INTEGER
) STRICT;
CREATE INDEX documents_domain ON documents (domain);

CREATE TABLE document_tags (
  document INTEGER NOT NULL,
  tag      INTEGER NOT NULL,
  PRIMARY KEY (document, tag)
) STRICT, WITHOUT ROWID;

-- What a document was before it changed.
CREATE TABLE versions (
  document     INTEGER NOT NULL,
  version      INTEGER NOT NULL,
  title        TEXT,
  content      TEXT NOT NULL,
  content_hash BLOB NOT NULL,
  crawled_at   INTEGER NOT NULL,
  PRIMARY KEY (document, version)
) STRICT, WITHOUT ROWID;

-- A piece of a document. Numbers are never used again: posting lists name them.
CREATE TABLE chunks (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid         BLOB NOT NULL,
  document     INTEGER NOT NULL,
  position     INTEGER NOT NULL,
  start        INTEGER NOT NULL,          -- bytes of the content
  stop         INTEGER NOT NULL,
  tokens       INTEGER NOT NULL,
  header       TEXT,                      -- the nearest heading above
  headings     TEXT NOT NULL,             -- all of them, as they are indexed
  kind         INTEGER NOT NULL,          -- 0 prose, 1 code, 2 table, 3 list
  embed_hash   BLOB NOT NULL,             -- of what is embedded
  body_length  INTEGER NOT NULL,          -- words, as BM25 counts them
  title_length INTEGER NOT NULL
) STRICT;
CREATE INDEX chunks_document ON chunks (document, position);
CREATE INDEX chunks_embed ON chunks (embed_hash);
CREATE UNIQUE INDEX chunks_uuid ON chunks (uuid);

-- The keyword index: lists of the chunks that have a term, in segments of ascending chunks.
CREATE TABLE segments (
  id          INTEGER PRIMARY KEY,
  first_chunk INTEGER NOT NULL,
  last_chunk  INTEGER NOT NULL,
  chunks      INTEGER NOT NULL
) STRICT;

CREATE TABLE postings (
  id      INTEGER PRIMARY KEY,
  field   INTEGER NOT NULL,               -- 0 body, 1 title
  term    TEXT NOT NULL,
  segment INTEGER NOT NULL,
  chunks  BLOB NOT NULL,
  places  BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX postings_term ON postings (field, term, segment);
CREATE INDEX postings_segment ON postings (segment);

CREATE TABLE models (
  id        INTEGER PRIMARY KEY,
  name      TEXT NOT NULL UNIQUE,
  dimension INTEGER NOT NULL
) STRICT;

CREATE TABLE vectors (
  id     INTEGER PRIMARY KEY,             -- model << 32 | chunk
  vector BLOB NOT NULL                    -- 16-bit floats, little endian
) STRICT;
