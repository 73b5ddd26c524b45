-- Format 3. What pages mean: copies of each other, and content made of them.

-- What a crawl keeps: 1 html, 2 markdown, 4 text, 8 fingerprints. Pages of earlier crawls that
-- lack it are asked for anew.
ALTER TABLE crawls ADD COLUMN keeps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE crawls ADD COLUMN duplicates INTEGER NOT NULL DEFAULT 0;
ALTER TABLE crawls ADD COLUMN near_duplicates INTEGER NOT NULL DEFAULT 0;

-- `originals` holds all results up to here; later ones are looked for in the log.
ALTER TABLE crawls ADD COLUMN originals_seq INTEGER NOT NULL DEFAULT 0;

-- The first page of the crawl with the same content.
ALTER TABLE results ADD COLUMN duplicate_of INTEGER;

-- The first page of a crawl with some content. Half of a cryptographic hash: nobody can make a
-- page that looks like a copy of another's.
CREATE TABLE originals (
  crawl INTEGER NOT NULL,
  hash  BLOB NOT NULL,                    -- 16 bytes
  page  INTEGER NOT NULL,
  PRIMARY KEY (crawl, hash)
) STRICT, WITHOUT ROWID;

-- What was made of the body of a result, where that was asked for.
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
  crc               INTEGER,
  PRIMARY KEY (crawl, seq)
) STRICT, WITHOUT ROWID;
