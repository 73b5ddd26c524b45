//! Where an archive goes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use trawl_types::UnixMillis;

use super::{
    bucket::Bucket,
    packed::{self, Facts},
    writing::Written,
};
use crate::{display::stamp, exit::BadInput};

pub(super) enum Target {
    Folder(PathBuf),
    /// By way of a folder on this machine, which goes when it has been sent.
    Bucket(Box<Bucket>, tempfile::TempDir),
}

impl Target {
    pub(super) fn parse(output: &str) -> anyhow::Result<Self> {
        let Some((bucket, prefix)) = Bucket::parse(output) else {
            return Ok(Self::Folder(PathBuf::from(output)));
        };
        let bucket = Bucket::open(bucket, prefix)?;
        Ok(Self::Bucket(Box::new(bucket), tempfile::tempdir()?))
    }

    /// A folder of its own for each archive, so that none is ever overwritten.
    pub(super) fn new_folder(&self, now: UnixMillis) -> anyhow::Result<(PathBuf, String)> {
        let name = stamp(now);
        let folder = match self {
            Self::Folder(folder) => folder.join(&name),
            Self::Bucket(_, folder) => folder.path().join(&name),
        };
        fs::create_dir_all(&folder).map_err(|error| {
            let folder = folder.display();
            BadInput(format!("--output: cannot make {folder}: {error}"))
        })?;
        Ok((folder, name))
    }

    /// Every file, and at last what stands beside them.
    pub(super) async fn send(
        &self,
        folder: &Path,
        name: &str,
        all: &[Written],
    ) -> anyhow::Result<()> {
        let Self::Bucket(bucket, _) = self else {
            return Ok(());
        };
        let mut files: Vec<Facts> = all.iter().map(|written| written.file.clone()).collect();
        for beside in ["SHA256SUMS", "archive.json"] {
            files.push(packed::facts_of(&folder.join(beside), beside)?);
        }
        for file in &files {
            bucket.put(folder, name, file).await?;
        }
        Ok(())
    }

    pub(super) fn shown(&self, folder: &str, file: &str) -> String {
        match self {
            Self::Folder(output) => output.join(folder).join(file).display().to_string(),
            Self::Bucket(bucket, _) => format!("{}/{folder}/{file}", bucket.name()),
        }
    }
}
