//! The file's format: what makes it ours, which version it has, and how older ones are brought up.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};
use trawl_types::KeySecret;

use super::fault::Fault;
use crate::contract::StoreError;

/// `Trwl`, in the file's header, where `file` and SQLite itself look for it.
const APPLICATION_ID: i64 = 0x5472_776c;

/// Migrations in order; the first takes an empty file to format 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../../../../migrations/sqlite/0001_first.sql"),
    include_str!("../../../../migrations/sqlite/0002_terrain.sql"),
    include_str!("../../../../migrations/sqlite/0003_content.sql"),
    include_str!("../../../../migrations/sqlite/0004_server.sql"),
    include_str!("../../../../migrations/sqlite/0005_accounts.sql"),
    include_str!("../../../../migrations/sqlite/0006_overview.sql"),
    include_str!("../../../../migrations/sqlite/0007_duties.sql"),
    include_str!("../../../../migrations/sqlite/0008_frames.sql"),
];

/// What the migrations make of an empty file, in one step.
const NEW: &str = include_str!("../../../../migrations/sqlite/schema.sql");

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Empty,
    Version(i64),
}

/// Brings a file to the newest format; it may be empty.
pub(crate) fn prepare(conn: &mut Connection, path: &Path) -> Result<(), Fault> {
    migrate(conn, path, NEW, MIGRATIONS)
}

/// Whether a file is ours and has an older format, which `prepare` would bring up.
pub(crate) fn is_older(conn: &Connection, path: &Path) -> Result<bool, Fault> {
    let known = MIGRATIONS.len() as i64;
    let format = recognise(conn, path, known)?;
    Ok(matches!(format, Format::Version(found) if found < known))
}

/// Makes sure that a file can be read as it is.
pub(crate) fn check(conn: &Connection, path: &Path) -> Result<(), Fault> {
    let known = MIGRATIONS.len() as i64;
    match recognise(conn, path, known)? {
        Format::Version(found) if found == known => Ok(()),
        Format::Version(found) => Err(StoreError::Database(format!(
            "{} has the older format {found} (this trawl has {known}) and could not be brought up",
            path.display()
        ))
        .into()),
        Format::Empty => Err(StoreError::Foreign {
            path: path.display().to_string(),
            why: "the file is empty".into(),
        }
        .into()),
    }
}

fn recognise(conn: &Connection, path: &Path, known: i64) -> Result<Format, Fault> {
    let path = || path.display().to_string();
    let application: i64 = conn.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let version: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let objects: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
    if application == APPLICATION_ID && version > known {
        return Err(StoreError::Newer {
            path: path(),
            found: version,
            known,
        }
        .into());
    }
    if application == APPLICATION_ID && version >= 1 {
        return Ok(Format::Version(version));
    }
    if application == 0 && version == 0 && objects == 0 {
        return Ok(Format::Empty);
    }
    Err(StoreError::Foreign {
        path: path(),
        why: format!("it is an SQLite file of another program (application id {application})"),
    }
    .into())
}

/// `new` is all of the migrations at once.
fn migrate(
    conn: &mut Connection,
    path: &Path,
    new: &str,
    migrations: &[&str],
) -> Result<(), Fault> {
    let known = migrations.len() as i64;
    let done = match recognise(conn, path, known)? {
        Format::Version(version) => version,
        Format::Empty => 0,
    };
    // Only a file that is ours, or empty, is touched.
    conn.pragma_update(None, "journal_mode", "WAL")?;
    if done == known {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    if done > 0 {
        for sql in migrations.iter().skip(done as usize) {
            tx.execute_batch(sql)?;
        }
    } else {
        tx.execute_batch(new)?;
        tx.execute(
            "INSERT INTO meta (key, value) VALUES ('key_secret', randomblob(16))",
            [],
        )?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", known)?;
    tx.commit()?;
    Ok(())
}

/// The secret of this file's URL keys.
pub(crate) fn key_secret(conn: &Connection, path: &Path) -> Result<KeySecret, Fault> {
    let secret: Option<Vec<u8>> = conn
        .query_row("SELECT value FROM meta WHERE key = 'key_secret'", [], |r| {
            r.get(0)
        })
        .optional()?;
    let bytes = secret.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
    bytes.map(KeySecret).ok_or_else(|| {
        StoreError::Damaged {
            path: path.display().to_string(),
            why: "its key secret is missing".into(),
        }
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Connection {
        Connection::open_in_memory().unwrap()
    }

    #[test]
    fn an_empty_file_gets_the_newest_format_and_a_secret_of_its_own() {
        let (mut a, mut b) = (memory(), memory());
        prepare(&mut a, Path::new("a")).unwrap();
        prepare(&mut b, Path::new("b")).unwrap();
        check(&a, Path::new("a")).unwrap();
        let secret = key_secret(&a, Path::new("a")).unwrap();
        assert_ne!(secret.0, key_secret(&b, Path::new("b")).unwrap().0);
        prepare(&mut a, Path::new("a")).unwrap();
        assert_eq!(secret.0, key_secret(&a, Path::new("a")).unwrap().0);
    }

    /// Everything that a schema is made of.
    fn objects(conn: &Connection) -> Vec<String> {
        let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid";
        let mut statement = conn.prepare(sql).unwrap();
        let objects = statement.query_map([], |row| row.get(0)).unwrap();
        objects.map(Result::unwrap).collect()
    }

    #[test]
    fn a_new_file_is_what_the_migrations_make_of_an_empty_one() {
        let (new, migrated) = (memory(), memory());
        new.execute_batch(NEW).unwrap();
        for sql in MIGRATIONS {
            migrated.execute_batch(sql).unwrap();
        }
        let wanted = objects(&migrated);
        assert_eq!(
            objects(&new),
            wanted,
            "migrations/sqlite/schema.sql has to be:\n\n{};",
            wanted.join(";\n\n")
        );
    }

    #[test]
    fn an_older_file_is_migrated_and_keeps_what_it_holds() {
        let mut conn = memory();
        prepare(&mut conn, Path::new("a")).unwrap();
        conn.execute("INSERT INTO hosts (name) VALUES ('a.test')", [])
            .unwrap();
        let next = [
            MIGRATIONS,
            &["ALTER TABLE hosts ADD COLUMN note TEXT NOT NULL DEFAULT 'new'"],
        ]
        .concat();
        migrate(&mut conn, Path::new("a"), NEW, &next).unwrap();
        let note: String = conn
            .query_row("SELECT note FROM hosts WHERE name = 'a.test'", [], |r| {
                r.get(0)
            })
            .unwrap();
        assert_eq!(note, "new");
        let refused = check(&conn, Path::new("a")).unwrap_err();
        assert!(
            matches!(
                refused,
                Fault::Store(StoreError::Newer {
                    found,
                    known,
                    ..
                }) if found == known + 1
            ),
            "{refused:?}"
        );
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let mut conn = memory();
        prepare(&mut conn, Path::new("a")).unwrap();
        let broken = [MIGRATIONS, &["CREATE TABLE t (x); SELECT nonsense"]].concat();
        migrate(&mut conn, Path::new("a"), NEW, &broken).unwrap_err();
        check(&conn, Path::new("a")).unwrap();
        conn.query_row("SELECT * FROM t", [], |_| Ok(()))
            .unwrap_err();
    }

    #[test]
    fn the_file_of_another_program_is_left_alone() {
        let mut conn = memory();
        conn.execute_batch("CREATE TABLE theirs (x)").unwrap();
        let refused = prepare(&mut conn, Path::new("a")).unwrap_err();
        assert!(matches!(refused, Fault::Store(StoreError::Foreign { .. })));
    }
}
