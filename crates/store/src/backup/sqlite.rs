//! A database file with its bodies, and back. The rows are one consistent snapshot; bodies are appended
//! before the rows that refer to them, so that files which are copied afterwards hold all of them.

use std::{collections::BTreeMap, fs, io, path::Path};

use rusqlite::{Connection, OpenFlags};

use super::{
    Output,
    error::BackupError,
    files::{self, Draft},
    manifest::{FORMAT, FileFacts, Kind, Manifest, TableFacts},
    verify,
};
use crate::{
    contract::StoreError,
    segment,
    sqlite::{self, Fault, SqliteStore},
};

pub(super) const DATABASE: &str = "database.db.zst";
pub(super) const SEARCH: &str = "search.db.zst";
pub(super) const BODIES: &str = "bodies";
/// A file of bodies may be swept away between the snapshot and its copy: then both are made anew.
const ATTEMPTS: u32 = 3;

/// Makes a backup of a database file, also while another process writes it. `search` is the file of its
/// search index, if there is one. Blocks.
pub fn backup_sqlite(
    database: &Path,
    search: Option<&Path>,
    output: Output<'_>,
) -> Result<Manifest, BackupError> {
    // Says what is wrong with the file in its own words, and brings an older one up.
    drop(SqliteStore::open_read_only(database)?);
    let draft = Draft::begin(output)?;
    for attempt in 1.. {
        match attempt_at(database, search, &draft.folder, attempt == ATTEMPTS) {
            Ok(manifest) => {
                manifest.write(&draft.folder)?;
                draft.keep()?;
                return Ok(manifest);
            }
            Err(BackupError::Io { path, source })
                if source.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS =>
            {
                tracing::debug!(path, "a file went away while it was backed up: once more");
            }
            Err(error) => return Err(error),
        }
    }
    Err(StoreError::Stopped.into())
}

fn attempt_at(
    database: &Path,
    search: Option<&Path>,
    folder: &Path,
    is_last: bool,
) -> Result<Manifest, BackupError> {
    let mut all = Vec::new();
    // The index follows the database: an older index catches up, a newer one would miss pages.
    if let Some(search) = search.filter(|path| path.exists()) {
        let plain = folder.join("search.db");
        snapshot(search, &plain)?;
        all.push(pack(&plain, folder, SEARCH)?);
    }
    let plain = folder.join("database.db");
    snapshot(database, &plain)?;
    let conn = open(&plain)?;
    let tables = counts(&conn, &plain)?;
    let store_format = number(&conn, "PRAGMA user_version", &plain)?;
    let bodies = folder.join(BODIES);
    fs::create_dir_all(&bodies).map_err(BackupError::io(&bodies))?;
    for (segment, bytes) in segments(&conn, &plain)? {
        let name = segment::file_name(segment);
        let from = segment::folder(database).join(&name);
        // One that is still not there was lost long ago, with the power: its rows are worth keeping.
        if is_last && !from.exists() {
            tracing::warn!(
                file = name,
                "bodies are missing, and so they are in the backup"
            );
            continue;
        }
        let facts = files::copy_in(&from, bytes, &bodies, &name, false)?;
        all.push(FileFacts {
            name: format!("{BODIES}/{name}"),
            ..facts
        });
    }
    files::sync(&bodies)?;
    drop(conn);
    all.push(pack(&plain, folder, DATABASE)?);
    Ok(Manifest {
        format: FORMAT,
        kind: Kind::Sqlite,
        trawl: env!("CARGO_PKG_VERSION").to_owned(),
        store_format,
        server: None,
        created_at: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        tables,
        files: all,
    })
}

/// The database as it is at one moment, whoever writes it. Writers do not wait.
fn snapshot(database: &Path, to: &Path) -> Result<(), BackupError> {
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(BackupError::io(to)(error));
        }
        _ => {}
    }
    let copy = || -> Result<(), Fault> {
        let conn = sqlite::open_to_read(database)?;
        conn.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
        Ok(())
    };
    copy().map_err(|fault| fault.at(database))?;
    Ok(())
}

fn pack(plain: &Path, folder: &Path, name: &str) -> Result<FileFacts, BackupError> {
    let facts = files::copy_in(plain, u64::MAX, folder, name, true)?;
    fs::remove_file(plain).map_err(BackupError::io(plain))?;
    Ok(facts)
}

/// A file that nobody else has open.
pub(super) fn open(path: &Path) -> Result<Connection, BackupError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags);
    Ok(conn.map_err(|error| Fault::from(error).at(path))?)
}

pub(super) fn number(conn: &Connection, sql: &str, path: &Path) -> Result<i64, BackupError> {
    let number = conn.query_row(sql, [], |row| row.get(0));
    Ok(number.map_err(|error| Fault::from(error).at(path))?)
}

/// Rows of every table.
pub(super) fn counts(
    conn: &Connection,
    path: &Path,
) -> Result<BTreeMap<String, TableFacts>, BackupError> {
    let names = || -> rusqlite::Result<Vec<String>> {
        let mut tables = conn.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        )?;
        tables.query_map([], |row| row.get(0))?.collect()
    };
    let names = names().map_err(|error| Fault::from(error).at(path))?;
    let mut tables = BTreeMap::new();
    for name in names {
        let sql = format!("SELECT count(*) FROM \"{}\"", name.replace('"', "\"\""));
        let rows = number(conn, &sql, path)? as u64;
        let checksum = None;
        tables.insert(name, TableFacts { rows, checksum });
    }
    Ok(tables)
}

/// Files of bodies that rows refer to, and how much of each.
fn segments(conn: &Connection, path: &Path) -> Result<Vec<(u32, u64)>, BackupError> {
    let ask = || -> Result<Vec<(u32, u64)>, Fault> {
        let used = sqlite::used_segments(conn)?;
        let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
        let mut statement = conn.prepare("SELECT number, bytes FROM segments")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            ends.insert(row.get(0)?, row.get::<_, i64>(1)? as u64);
        }
        let end = |number| ends.get(&number).copied().unwrap_or(u64::MAX);
        Ok(used
            .into_iter()
            .map(|number| (number, end(number)))
            .collect())
    };
    Ok(ask().map_err(|fault| fault.at(path))?)
}

/// Makes a database file of a backup, where there is none or `force` says to replace it. Blocks.
pub fn restore_sqlite(
    folder: &Path,
    database: &Path,
    search: &Path,
    force: bool,
) -> Result<Manifest, BackupError> {
    let manifest = Manifest::read(folder)?;
    manifest.must_be(Kind::Sqlite, folder)?;
    verify::must_be_whole(folder, &manifest)?;
    let bodies = segment::folder(database);
    for place in [database, &bodies] {
        if place.exists() && !force {
            return Err(BackupError::Exists(place.display().to_string()));
        }
    }
    let lock = sqlite::take_lock(database, "trawl admin restore")?;
    let fresh = |place: &Path| sqlite::beside(place, ".restoring");
    remove(&fresh(search))?;
    unpack_all(folder, &manifest, &fresh(database), &fresh(&bodies))?;
    let conn = open(&fresh(database))?;
    let problems = verify::differences(&manifest, &counts(&conn, database)?);
    drop(conn);
    if !problems.is_empty() {
        let path = folder.display().to_string();
        return Err(BackupError::Damaged { path, problems });
    }
    if manifest.has(SEARCH) {
        files::unpack(&folder.join(SEARCH), &fresh(search))?;
    }
    let old = [
        database.to_owned(),
        sqlite::beside(database, "-wal"),
        sqlite::beside(database, "-shm"),
        bodies.clone(),
        search.to_owned(),
        sqlite::beside(search, "-wal"),
        sqlite::beside(search, "-shm"),
    ];
    for path in &old {
        remove(path)?;
    }
    // The database comes last: bodies without rows do no harm.
    for path in [bodies.as_path(), search, database] {
        if fresh(path).exists() {
            fs::rename(fresh(path), path).map_err(BackupError::io(path))?;
        }
    }
    let parent = database.parent().filter(|p| !p.as_os_str().is_empty());
    files::sync(parent.unwrap_or(Path::new(".")))?;
    drop(lock);
    drop(SqliteStore::open_read_only(database)?);
    Ok(manifest)
}

fn unpack_all(
    folder: &Path,
    manifest: &Manifest,
    database: &Path,
    bodies: &Path,
) -> Result<(), BackupError> {
    remove(database)?;
    remove(bodies)?;
    files::unpack(&folder.join(DATABASE), database)?;
    if manifest.below(BODIES).next().is_some() {
        fs::create_dir_all(bodies).map_err(BackupError::io(bodies))?;
    }
    for file in manifest.below(BODIES) {
        let from = folder.join(&file.name);
        let name = file.name.rsplit('/').next().unwrap_or(&file.name);
        files::copy_in(&from, u64::MAX, bodies, name, false)?;
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), BackupError> {
    let removed = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(BackupError::io(path)(error)),
        _ => Ok(()),
    }
}
