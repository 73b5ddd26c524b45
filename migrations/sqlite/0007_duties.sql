-- Format 7. What servers do by themselves every so often: who is at it, and how it went last.

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

-- The number of its log up to which all of a crawl has been archived.
ALTER TABLE crawls ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
