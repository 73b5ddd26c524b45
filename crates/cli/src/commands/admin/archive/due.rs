//! What has grown old and is not archived yet: written once, in the order of the log, and then noted in
//! the database, so that it may be removed. A crash in between writes it once more, never less.

use std::{fs, sync::Arc};

use async_trait::async_trait;
use trawl_api::duties::{Failed, Work};
use trawl_store::contract::{read::CrawlRow, server::ServerStore};
use trawl_types::{Sequence, UnixMillis};

use super::{
    is_free,
    target::Target,
    writing::{Part, Style, Written, finish, write},
};
use crate::{
    args::{ArchiveCompression, ArchiveFormat},
    display::number,
    exit::BadInput,
    output::Fields,
};

const PAGE: u32 = 500;
const A_DAY_MS: i64 = 86_400_000;

/// What is archived when, where and how.
#[derive(Debug, Clone)]
pub(crate) struct ArchivePlan {
    /// A folder, or `s3://bucket/prefix`.
    pub(crate) output: Option<String>,
    /// Days after a visit.
    pub(crate) after_days: u32,
    pub(crate) format: ArchiveFormat,
    pub(crate) compress: ArchiveCompression,
}

impl ArchivePlan {
    fn target(&self) -> anyhow::Result<Target> {
        let output = self.output.as_deref().ok_or_else(|| {
            BadInput("name a place with --output, or in the settings (archive.output)".into())
        })?;
        Target::parse(output)
    }

    fn before(&self, now: UnixMillis) -> UnixMillis {
        UnixMillis(now.0 - i64::from(self.after_days) * A_DAY_MS)
    }
}

/// An archive that was written.
pub(super) struct Done {
    pub(super) target: Target,
    pub(super) name: String,
    pub(super) written: Vec<Written>,
}

/// Crawls of which something may be left, and how far each was archived.
async fn unarchived(store: &dyn ServerStore) -> anyhow::Result<Vec<(CrawlRow, Sequence)>> {
    let mut all = Vec::new();
    for crawl in store.crawls().await? {
        // Nothing of a map is ever removed by its age.
        if !is_free(&crawl, true) || crawl.spec.terrain.is_some() {
            continue;
        }
        let archived = store.archived(crawl.id).await?;
        if archived < crawl.last_seq {
            all.push((crawl, archived));
        }
    }
    Ok(all)
}

/// Nothing where nothing is due.
pub(super) async fn write_due(
    store: &dyn ServerStore,
    plan: &ArchivePlan,
    now: UnixMillis,
) -> anyhow::Result<Option<Done>> {
    let target = plan.target()?;
    let before = plan.before(now);
    let style = Style {
        format: plan.format,
        compress: plan.compress,
        fields: Fields::all(),
    };
    let (folder, name) = target.new_folder(now)?;
    let mut looked = Vec::new();
    for (crawl, after) in unarchived(store).await? {
        let part = Part::Next { after, before };
        looked.push(write(store, crawl, part, &style, &folder).await?);
    }
    let (written, empty): (Vec<_>, Vec<_>) = looked.into_iter().partition(|part| part.rows > 0);
    if written.is_empty() {
        fs::remove_dir(&folder)?;
    } else {
        finish(&folder, Some(before), &written)?;
        target.send(&folder, &name, &written).await?;
    }
    for part in written.iter().chain(&empty) {
        store.note_archived(part.crawl.id, part.through).await?;
    }
    Ok((!written.is_empty()).then_some(Done {
        target,
        name,
        written,
    }))
}

/// How many pages of which crawls are due.
pub(super) async fn count(
    store: &dyn ServerStore,
    plan: &ArchivePlan,
    now: UnixMillis,
) -> anyhow::Result<Vec<(CrawlRow, u64)>> {
    let before = plan.before(now);
    let mut all = Vec::new();
    for (crawl, archived) in unarchived(store).await? {
        let (mut rows, mut after) = (0, archived);
        let part = Part::Next { after, before };
        loop {
            let records = store.results(crawl.id, after, PAGE).await?;
            let due = records.iter().take_while(|page| part.takes(page).is_some());
            let due = due.count();
            rows += due as u64;
            match records.last() {
                Some(last) if due == records.len() => after = last.seq,
                _ => break,
            }
        }
        all.push((crawl, rows));
    }
    Ok(all)
}

/// The same as a duty of a server.
#[derive(Debug)]
pub(crate) struct Archives {
    store: Arc<dyn ServerStore>,
    plan: ArchivePlan,
}

impl Archives {
    /// A place that cannot be used is found at once.
    pub(crate) fn new(store: Arc<dyn ServerStore>, plan: ArchivePlan) -> anyhow::Result<Self> {
        if let Target::Folder(folder) = plan.target()? {
            fs::create_dir_all(&folder).map_err(|error| {
                let folder = folder.display();
                BadInput(format!("archive.output: cannot make {folder}: {error}"))
            })?;
        }
        Ok(Self { store, plan })
    }
}

#[async_trait]
impl Work for Archives {
    async fn run(&self, now: UnixMillis) -> Result<String, Failed> {
        let done = write_due(&*self.store, &self.plan, now).await;
        let done = done.map_err(|error| Failed(format!("{error:#}")))?;
        let Some(done) = done else {
            return Ok("nothing was due".into());
        };
        let pages: u64 = done.written.iter().map(|part| part.rows).sum();
        let place = done.target.shown(&done.name, "");
        Ok(format!(
            "{} pages of {} crawls in {}",
            number(pages),
            done.written.len(),
            place.trim_end_matches('/')
        ))
    }
}
