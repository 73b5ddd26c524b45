//! What can go wrong with a backup, and what to do about it.

use std::{io, path::Path};

use crate::contract::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{0} is there already: name another place, or say --force to replace it")]
    Exists(String),
    #[error("{0} is no backup of trawl, and is not replaced")]
    Foreign(String),
    #[error("{path} is no backup of trawl: {why}")]
    NotABackup { path: String, why: String },
    #[error(
        "{path} was made by a newer trawl (format {found}, this one knows {known}): update trawl"
    )]
    Newer {
        path: String,
        found: u32,
        known: u32,
    },
    /// What was found, one thing on a line.
    #[error("{path} is damaged: {}", problems.join("; "))]
    Damaged { path: String, problems: Vec<String> },
    #[error("{path} is a backup of {found}: name {wanted} with --database")]
    OtherKind {
        path: String,
        found: &'static str,
        wanted: &'static str,
    },
    #[error("{0}")]
    Tool(String),
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl BackupError {
    /// Whether the caller can do something about it.
    pub fn is_bad_input(&self) -> bool {
        matches!(
            self,
            Self::Exists(_)
                | Self::Foreign(_)
                | Self::NotABackup { .. }
                | Self::Newer { .. }
                | Self::OtherKind { .. }
                | Self::Tool(_)
        )
    }

    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::Io { path, source }
    }
}
