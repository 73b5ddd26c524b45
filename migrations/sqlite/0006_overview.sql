-- Format 6. What is asked across crawls: how much was read when, and of whom. Kept by the commits
-- that cause it, so that nobody has to read results to count them.

ALTER TABLE crawls ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

ALTER TABLE crawl_hosts ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE crawl_hosts ADD COLUMN last_crawled INTEGER NOT NULL DEFAULT 0;
CREATE INDEX crawl_hosts_host ON crawl_hosts (host);

-- Visits that ended, by minute and outcome.
CREATE TABLE activity (
  crawl   INTEGER NOT NULL,
  minute  INTEGER NOT NULL,               -- since 1970
  outcome INTEGER NOT NULL,
  visits  INTEGER NOT NULL,
  bytes   INTEGER NOT NULL,
  PRIMARY KEY (crawl, minute, outcome)
) STRICT, WITHOUT ROWID;
