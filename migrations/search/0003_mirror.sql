-- Format 3. Chunks of which a vector database elsewhere still has to be told. Filled by triggers that
-- are there only while such a database is in use, in the transaction of the change itself.
CREATE TABLE mirror_queue (
  chunk BLOB PRIMARY KEY,                 -- UUID, also of chunks that are gone
  turn  INTEGER NOT NULL                  -- moves when it changes again while it is being told
) STRICT, WITHOUT ROWID;
