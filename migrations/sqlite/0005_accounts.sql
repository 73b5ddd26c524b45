-- Format 5. People who may use the server, and how they log in.

CREATE TABLE users (
  id                  TEXT PRIMARY KEY,   -- jobs belong to `user_<id>`: a name may be given again
  name                TEXT NOT NULL UNIQUE,  -- lower case
  password            TEXT NOT NULL,      -- argon2id, as a PHC string
  role                TEXT NOT NULL,      -- user, admin
  created_at          INTEGER NOT NULL,
  password_changed_at INTEGER NOT NULL,
  disabled_at         INTEGER
) STRICT, WITHOUT ROWID;

-- Only a hash of the token is kept, as of keys.
CREATE TABLE sessions (
  hash         BLOB PRIMARY KEY,          -- SHA-256 of the token
  user         TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,          -- to the minute, about
  expires_at   INTEGER NOT NULL           -- whatever happens
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_user ON sessions (user);

-- Bad logins by user name and by address, so that a restart forgives none. Names are hashed: people
-- type passwords into the wrong field.
CREATE TABLE login_failures (
  subject TEXT PRIMARY KEY,
  count   INTEGER NOT NULL,
  last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_failures_age ON login_failures (last_at);
