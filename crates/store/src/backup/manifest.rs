//! What a backup says of itself: what it is of, how much it holds, and the checksums of its files.

use std::{collections::BTreeMap, fs, path::Path};

use serde::{Deserialize, Serialize};

use super::error::BackupError;

pub(super) const MANIFEST: &str = "manifest.json";
/// Of the folder, not of the store in it.
pub(super) const FORMAT: u32 = 1;
/// Far above what any manifest has.
const LONGEST: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Sqlite => "a database file",
            Self::Postgres => "a PostgreSQL database (postgres://…)",
        }
    }
}

/// The contents of `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    pub kind: Kind,
    /// The version of trawl that made it.
    pub trawl: String,
    /// The format of the store, as its migrations number it.
    pub store_format: i64,
    /// The version of the database server, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub created_at: String,
    pub tables: BTreeMap<String, TableFacts>,
    pub files: Vec<FileFacts>,
}

/// How much of a table there was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFacts {
    pub rows: u64,
    /// Of the rows in any order, where it costs little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Below the folder of the backup, with `/` between parts.
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

impl Manifest {
    pub(super) fn read(folder: &Path) -> Result<Self, BackupError> {
        use std::io::Read;
        let path = folder.display().to_string();
        let no_backup = |why: String| BackupError::NotABackup {
            path: path.clone(),
            why,
        };
        let file = fs::File::open(folder.join(MANIFEST))
            .map_err(|error| no_backup(format!("{MANIFEST}: {error}")))?;
        let mut text = String::new();
        file.take(LONGEST)
            .read_to_string(&mut text)
            .map_err(|error| no_backup(format!("{MANIFEST}: {error}")))?;
        let number = serde_json::from_str::<serde_json::Value>(&text)
            .map_err(|error| no_backup(format!("{MANIFEST}: {error}")))?;
        let found = number["format"].as_u64().unwrap_or_default() as u32;
        if found > FORMAT {
            let known = FORMAT;
            return Err(BackupError::Newer { path, found, known });
        }
        let manifest: Self = serde_json::from_value(number)
            .map_err(|error| no_backup(format!("{MANIFEST}: {error}")))?;
        // Names are joined to paths: nothing may lead out of the folder.
        match manifest.files.iter().find(|file| !is_safe(&file.name)) {
            Some(file) => Err(no_backup(format!(
                "{MANIFEST} names the file {:?}",
                file.name
            ))),
            None => Ok(manifest),
        }
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), BackupError> {
        let path = folder.join(MANIFEST);
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| BackupError::io(&path)(error.into()))?;
        fs::write(&path, text).map_err(BackupError::io(&path))?;
        super::files::sync(&path)
    }

    /// That it is of the wanted kind of store.
    pub(super) fn must_be(&self, wanted: Kind, folder: &Path) -> Result<(), BackupError> {
        if self.kind == wanted {
            return Ok(());
        }
        Err(BackupError::OtherKind {
            path: folder.display().to_string(),
            found: self.kind.words(),
            wanted: self.kind.words(),
        })
    }

    /// Files below a folder of the backup.
    pub(super) fn below<'m>(&'m self, prefix: &'m str) -> impl Iterator<Item = &'m FileFacts> {
        let files = self.files.iter();
        files.filter(move |file| file.name.starts_with(prefix))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| file.name == name)
    }
}

fn is_safe(name: &str) -> bool {
    let letters = |part: &str| {
        let ok = |c: char| c.is_ascii_alphanumeric() || ['.', '-', '_'].contains(&c);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(ok)
    };
    name.split('/').all(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_stay_below_the_folder() {
        for name in ["database.db.zst", "bodies/000001.warc.zst"] {
            assert!(is_safe(name), "{name}");
        }
        for name in [
            "",
            "/etc/passwd",
            "../x",
            "bodies/../../x",
            "a//b",
            "a\\b",
            ".x",
        ] {
            assert!(!is_safe(name), "{name}");
        }
    }
}
