//! What the server does by itself, how often and where to.

use std::{path::PathBuf, time::Duration};

use trawl_store::contract::upkeep::{Ageing, Keeping};

use super::Settings;
use crate::{
    args::{ArchiveCompression, ArchiveFormat},
    commands::admin::ArchivePlan,
};

impl Settings {
    /// How often pages that have grown old are archived; zero for never.
    pub(crate) fn archive_every(&self) -> anyhow::Result<Duration> {
        let every = self.time("archive.every");
        if !every.is_zero() && self.text("archive.output").is_none() {
            return Err(self.clash("archive.every", "together with archive.output"));
        }
        Ok(every)
    }

    pub(crate) fn archive_plan(&self) -> ArchivePlan {
        ArchivePlan {
            output: self.text("archive.output").map(str::to_owned),
            after_days: self.number("archive.after") as u32,
            format: match self.text("archive.format") {
                Some("csv") => ArchiveFormat::Csv,
                _ => ArchiveFormat::Ndjson,
            },
            compress: match self.text("archive.compress") {
                Some("gzip") => ArchiveCompression::Gzip,
                _ => ArchiveCompression::Zstd,
            },
        }
    }

    /// How often backups are made, in which folder, and how many are kept. Nothing for never.
    pub(crate) fn backup(&self) -> anyhow::Result<Option<(Duration, PathBuf, usize)>> {
        let every = self.time("backup.every");
        if every.is_zero() {
            return Ok(None);
        }
        let Some(folder) = self.text("backup.output") else {
            return Err(self.clash("backup.every", "together with backup.output"));
        };
        let keep = self.number("backup.keep") as usize;
        Ok(Some((every, PathBuf::from(folder), keep)))
    }

    /// What is kept, and for how long.
    pub(crate) fn keeping(&self) -> Keeping {
        let age = |what: Ageing| self.number(&format!("retention.{}", what.as_str())) as u32;
        Keeping {
            ages: Ageing::ALL.map(|what| (what, age(what))).to_vec(),
            archived_first: !self.time("archive.every").is_zero(),
        }
    }
}
