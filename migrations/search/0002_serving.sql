-- Format 2. What a server needs to know: whose documents are, who removed them, and which crawl a
-- cursor belongs to.

-- Those whose crawls saw a document as it is; `*` for everybody.
CREATE TABLE owners (
  document INTEGER NOT NULL,
  owner    TEXT NOT NULL,
  PRIMARY KEY (document, owner)
) STRICT, WITHOUT ROWID;

-- Removed by somebody: crawls do not bring it back.
ALTER TABLE documents ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;
CREATE INDEX documents_collection ON documents (collection);

-- Numbers of crawls come back once the newest crawl is deleted: its beginning tells it from the one
-- before. 0 where it was not noted.
ALTER TABLE cursors ADD COLUMN started_at INTEGER NOT NULL DEFAULT 0;
-- Whether pages that the crawl has not met were counted as gone.
ALTER TABLE cursors ADD COLUMN judged INTEGER NOT NULL DEFAULT 0;
