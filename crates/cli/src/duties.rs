//! What a server does by itself besides removing what is old: archives and backups, as the commands of
//! `trawl admin` do them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use trawl_api::duties::{Duty, Failed, Work};
use trawl_store::{
    backup::{BackupError, Manifest, Output, backup_postgres, backup_sqlite, verify},
    contract::server::ServerStore,
};
use trawl_types::UnixMillis;

use crate::{
    commands::admin::{Archives, blocking},
    database::Database,
    display::{is_stamp, number, stamp},
    exit::BadInput,
    settings::Settings,
};

/// In the order in which they are done: what is to be archived is in the backup as well.
pub(crate) fn of(
    settings: &Settings,
    database: &Database,
    index: Option<PathBuf>,
    store: &Arc<dyn ServerStore>,
) -> anyhow::Result<Vec<Duty>> {
    let mut duties = Vec::new();
    let every = settings.archive_every()?;
    if !every.is_zero() {
        let work = Archives::new(Arc::clone(store), settings.archive_plan())?;
        duties.push(Duty {
            name: "archive",
            every,
            work: Arc::new(work),
        });
    }
    if let Some((every, folder, keep)) = settings.backup()? {
        fs::create_dir_all(&folder).map_err(|error| {
            let folder = folder.display();
            BadInput(format!("backup.output: cannot make {folder}: {error}"))
        })?;
        let work = Backups {
            database: database.clone(),
            index,
            folder,
            keep,
        };
        duties.push(Duty {
            name: "backup",
            every,
            work: Arc::new(work),
        });
    }
    Ok(duties)
}

/// Backups of a database in a folder of their own, the newest few of them.
#[derive(Debug)]
pub(crate) struct Backups {
    database: Database,
    /// The search index of a database file.
    index: Option<PathBuf>,
    folder: PathBuf,
    keep: usize,
}

#[async_trait]
impl Work for Backups {
    async fn run(&self, now: UnixMillis) -> Result<String, Failed> {
        let done = self.make(now).await;
        done.map_err(|error| Failed(format!("{error:#}")))
    }
}

impl Backups {
    async fn make(&self, now: UnixMillis) -> anyhow::Result<String> {
        remove_leftovers(&self.folder)?;
        let place = self.folder.join(stamp(now));
        let manifest = self.write(&place).await?;
        let read = place.clone();
        if let Err(error) = blocking(move || verify(&read)).await? {
            set_aside(&self.folder, &place)?;
            return Err(error.into());
        }
        let gone = thin_out(&self.folder, self.keep)?;
        let rows = manifest.tables.get("results").map_or(0, |facts| facts.rows);
        let bytes: u64 = manifest.files.iter().map(|file| file.bytes).sum();
        Ok(format!(
            "{}: {} results, {} files, {} bytes; {gone} older removed",
            place.display(),
            number(rows),
            manifest.files.len(),
            number(bytes)
        ))
    }

    async fn write(&self, place: &Path) -> anyhow::Result<Manifest> {
        Ok(match &self.database {
            Database::File(path) => {
                let (path, index, folder) = (path.clone(), self.index.clone(), place.to_owned());
                blocking(move || {
                    let output = Output {
                        folder: &folder,
                        force: false,
                    };
                    backup_sqlite(&path, index.as_deref(), output)
                })
                .await??
            }
            Database::Url(url) => {
                let output = Output {
                    folder: place,
                    force: false,
                };
                backup_postgres(url, output).await?
            }
        })
    }
}

/// Whole backups that were made here, oldest first. What people put beside them is not ours.
fn backups(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let ours = entry.file_name().to_str().is_some_and(is_stamp);
        if ours && entry.path().join("manifest.json").exists() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Removes all but the newest few.
fn thin_out(folder: &Path, keep: usize) -> std::io::Result<usize> {
    let all = backups(folder)?;
    let old = all.len().saturating_sub(keep);
    for path in &all[..old] {
        fs::remove_dir_all(path)?;
    }
    Ok(old)
}

/// What a process left that died at it.
fn remove_leftovers(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let begun = name.to_str().and_then(|name| name.strip_suffix(".partial"));
        if begun.is_some_and(is_stamp) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// A backup that is not whole is kept to be looked at, the last such one; it counts as none.
fn set_aside(folder: &Path, place: &Path) -> Result<(), BackupError> {
    let aside = folder.join("damaged");
    let moved = match fs::remove_dir_all(&aside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => fs::rename(place, &aside),
    };
    moved.map_err(|source| BackupError::Io {
        path: aside.display().to_string(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use trawl_store::{OpenOptions, SqliteStore, Store};

    use super::*;

    const HOUR: i64 = 3_600_000;

    async fn database(folder: &Path) -> Database {
        let path = folder.join("trawl.db");
        let store = SqliteStore::open(&path, &OpenOptions::default()).unwrap();
        store.close().await.unwrap();
        Database::File(path)
    }

    #[tokio::test]
    async fn the_newest_few_backups_are_kept_and_nothing_else_is_touched() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("backups");
        let others = [
            "notes",
            "20200101",
            "20200101T000000000Z",
            "20200102T000000000Z.partial",
        ];
        for name in others {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let work = Backups {
            database: database(place.path()).await,
            index: None,
            folder: folder.clone(),
            keep: 2,
        };
        for hour in 1..=4 {
            let said = work.run(UnixMillis(hour * HOUR)).await.unwrap();
            assert!(said.contains("0 results"), "{said}");
        }
        let left: Vec<_> = backups(&folder).unwrap();
        let wanted = [3, 4].map(|hour| folder.join(stamp(UnixMillis(hour * HOUR))));
        assert_eq!(left, wanted);
        for path in &left {
            verify(path).unwrap();
        }
        for name in &others[..3] {
            assert!(folder.join(name).exists(), "{name} is not ours");
        }
        assert!(!folder.join(others[3]).exists(), "a process died at it");
    }

    #[tokio::test]
    async fn a_backup_that_cannot_be_made_leaves_those_before() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("backups");
        fs::create_dir_all(&folder).unwrap();
        let mut work = Backups {
            database: database(place.path()).await,
            index: None,
            folder: folder.clone(),
            keep: 1,
        };
        work.run(UnixMillis(HOUR)).await.unwrap();
        work.database = Database::File(place.path().join("none.db"));
        let Failed(why) = work.run(UnixMillis(2 * HOUR)).await.unwrap_err();
        assert!(why.contains("none.db"), "{why}");
        assert_eq!(backups(&folder).unwrap().len(), 1);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn one_damaged_backup_is_set_aside() {
        let place = tempfile::tempdir().unwrap();
        for name in ["one", "two"] {
            let made = place.path().join(name);
            fs::create_dir(&made).unwrap();
            fs::write(made.join(name), "").unwrap();
            set_aside(place.path(), &made).unwrap();
        }
        let aside = place.path().join("damaged");
        assert!(aside.join("two").exists() && !aside.join("one").exists());
    }
}
