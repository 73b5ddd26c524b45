-- Format 3. What servers do by themselves every so often: who is at it, and how it went last.

CREATE TABLE duties (
  name         text PRIMARY KEY,          -- archive, backup, retention
  holder       text,                      -- the server that is at it
  held_until   int8 NOT NULL,             -- then others may take it up
  begun_at     int8 NOT NULL,
  ended_at     int8,
  succeeded_at int8,
  result       text,                      -- of the last run that succeeded, in words
  error        text                       -- of the last run, if it failed
);

-- The number of its log up to which all of a crawl has been archived.
ALTER TABLE crawls ADD COLUMN archived int8 NOT NULL DEFAULT 0;
