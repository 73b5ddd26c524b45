//! A whole store moved from a file to PostgreSQL, some thousands of rows at a time. Each batch is one
//! transaction that also says how far the copy is, so that it goes on after whatever stopped it. At the end
//! every table is read back and compared with what was sent.
//!
//! * [`cells`]: rows on their way, and sums over them
//! * [`plan`], [`tables`]: what becomes of which table
//! * [`source`]: the file, row by row, with numbers as the other store has them
//! * `postgres::intake`: the database that takes them in

pub(crate) mod cells;
mod numbers;
pub(crate) mod plan;
pub(crate) mod source;
pub(crate) mod tables;

use std::{path::Path, sync::Arc};

use self::{
    plan::Plan,
    source::{Batch, Source},
    tables::plans,
};
use crate::{
    contract::StoreError,
    postgres::{Intake, Standing},
};

#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("{0} holds other data: name a database with nothing in it")]
    Occupied(String),
    #[error(
        "{0} has changed since its copy was begun: begin anew with an empty database, or put the \
         source back"
    )]
    Changed(String),
    #[error(
        "{path} holds terrain maps (crawls {crawls}), which PostgreSQL does not keep: remove them \
         from a copy of the file, or stay with it"
    )]
    Maps { path: String, crawls: String },
    #[error("the copy differs from its source, and is not used: {}", .0.join("; "))]
    Differs(Vec<String>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CopyError {
    /// Whether the caller can do something about it.
    pub fn is_bad_input(&self) -> bool {
        matches!(
            self,
            Self::Occupied(_) | Self::Changed(_) | Self::Maps { .. }
        )
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct CopyOptions {
    /// Only look whether it could be done, and how much it is.
    pub dry_run: bool,
    /// Crawls that were paused go on as soon as a worker is there.
    pub resume_paused: bool,
}

/// One table, as far as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedTable {
    pub name: &'static str,
    pub rows: u64,
}

/// What was copied, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Copied {
    pub tables: Vec<CopiedTable>,
    /// Bodies and content that the source had lost.
    pub lost: u64,
    /// Rows that an earlier attempt had brought over.
    pub found: u64,
    /// An earlier attempt had come to its end.
    pub already: bool,
}

/// Copies a database file, which nobody else may be writing, to an empty database, or goes on with that.
pub async fn copy_to_postgres(
    from: &Path,
    to: &str,
    options: CopyOptions,
    progress: &(dyn Fn(&CopiedTable) + Sync),
) -> Result<Copied, CopyError> {
    let path = from.to_owned();
    let source = blocking(move || Source::open(&path)).await?;
    let maps = source.maps()?;
    if !maps.is_empty() {
        return Err(CopyError::Maps {
            path: from.display().to_string(),
            crawls: maps.join(", "),
        });
    }
    if options.dry_run {
        return dry_run(source, to).await;
    }
    let secret = source.secret();
    let fingerprint = source.fingerprint()?;
    let intake = Intake::begin(to, secret, &fingerprint).await?;
    match intake.standing() {
        Standing::Occupied => return Err(CopyError::Occupied(intake.place().to_owned())),
        Standing::OfAnother => return Err(CopyError::Changed(from.display().to_string())),
        Standing::Done => {
            return Ok(Copied {
                already: true,
                ..Copied::default()
            });
        }
        Standing::Ours => {}
    }
    let source = Arc::new(source);
    source.know_moved(intake.moved().await?);
    let mut copied = Copied::default();
    for plan in plans() {
        let table = copy_table(&source, &intake, plan, &mut copied, progress).await?;
        copied.tables.push(table);
    }
    copied.lost = source.lost();
    let differences = intake.differences().await?;
    if !differences.is_empty() {
        return Err(CopyError::Differs(differences));
    }
    let last_page = source.last_page()?;
    intake.finish(last_page, options.resume_paused).await?;
    Ok(copied)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or(Err(StoreError::Stopped))
}

async fn dry_run(source: Source, to: &str) -> Result<Copied, CopyError> {
    let free = Intake::is_free(to, &source.fingerprint()?).await?;
    if let Some(place) = free {
        return Err(CopyError::Occupied(place));
    }
    let counts = blocking(move || source.counts()).await?;
    Ok(Copied {
        tables: counts,
        ..Copied::default()
    })
}

async fn copy_table(
    source: &Arc<Source>,
    intake: &Intake,
    plan: &'static Plan,
    copied: &mut Copied,
    progress: &(dyn Fn(&CopiedTable) + Sync),
) -> Result<CopiedTable, CopyError> {
    let mut reached = intake.reached(plan).await?;
    copied.found += reached.rows;
    while !reached.done {
        let (reader, cursor) = (Arc::clone(source), reached.cursor.clone());
        let batch: Batch = blocking(move || reader.read(plan, cursor.as_deref())).await?;
        source.know_moved(intake.take_in(plan, batch, &mut reached).await?);
        progress(&CopiedTable {
            name: plan.name,
            rows: reached.rows,
        });
    }
    Ok(CopiedTable {
        name: plan.name,
        rows: reached.rows,
    })
}
