//! Files that must not be written over: a database and what lies beside it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::exit::BadInput;

/// What SQLite, the store and the index keep beside a database.
const BESIDE: [&str; 8] = [
    "-wal",
    "-shm",
    "-journal",
    ".lock",
    ".search",
    ".search-wal",
    ".search-shm",
    ".search-journal",
];

/// Refuses a path that belongs to the database. Nothing has been written by then.
pub(super) fn must_be_spare(path: &Path, database: &Path) -> anyhow::Result<()> {
    let place = resolved(path);
    let bodies = resolved(&beside(database, "-bodies"));
    let taken = BESIDE.map(|ending| beside(database, ending));
    let is_taken = place == resolved(database)
        || taken.iter().any(|file| place == resolved(file))
        || place.starts_with(bodies);
    if !is_taken {
        return Ok(());
    }
    Err(BadInput(format!(
        "--output: {} belongs to the database {}; name another, nothing was written",
        path.display(),
        database.display()
    ))
    .into())
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(ending);
    PathBuf::from(name)
}

/// The one name of a file that may not be there yet, however it is spelt.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let in_folder = || {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    let whole = path.canonicalize().ok().or_else(in_folder);
    whole.unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_name_however_it_is_spelt() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("map.db");
        let not_there = folder.path().join("new.db");
        std::fs::write(&there, "").unwrap();
        for path in [&there, &not_there] {
            let name = path.file_name().unwrap();
            let round_about = folder.path().join(".").join(".").join(name);
            assert_eq!(resolved(path), resolved(&round_about));
        }
        assert_ne!(resolved(&there), resolved(&not_there));
        assert_eq!(resolved(Path::new("x")), resolved(Path::new("./x")));
    }

    #[test]
    fn nothing_of_a_database_is_spare_and_everything_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let bodies = folder.path().join("a.db-bodies");
        std::fs::create_dir(&bodies).unwrap();
        for name in [
            "a.db",
            "./a.db",
            "a.db-wal",
            "a.db-shm",
            "a.db.lock",
            "a.db.search",
            "a.db-bodies",
            "a.db-bodies/pages.ndjson",
        ] {
            let error = must_be_spare(&folder.path().join(name), &database).unwrap_err();
            assert!(error.is::<BadInput>(), "{name}: {error}");
        }
        for name in ["b.db", "a.db.ndjson", "a.db-bodies.csv", "a"] {
            must_be_spare(&folder.path().join(name), &database).unwrap();
        }
    }
}
