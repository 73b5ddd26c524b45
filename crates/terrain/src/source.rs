//! What the views read from: a store in the program, memory in tests. Rows come one at a time, so
//! that a view decides how much of them it keeps.

use std::{io, ops::ControlFlow};

use trawl_types::{
    CrawlId, PageId,
    terrain::{Run, TerrainDomain, TerrainEdge, TerrainPage},
};

/// Takes one row and says whether to go on; a view whose writer failed wants no more.
pub type Each<'a, Row> = &'a mut dyn FnMut(Row) -> ControlFlow<()>;

/// How far a page is from one quality domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageDepth {
    pub page: PageId,
    /// The place of the quality entry in the configuration.
    pub origin: u16,
    pub depth: u32,
}

/// The runs of a map. Reading the same rows twice gives the same rows; a running crawl is the
/// source's own affair.
pub trait TerrainSource {
    type Error: std::error::Error + Send + Sync + 'static;

    /// Oldest first.
    fn runs(&self) -> Result<Vec<Run>, Self::Error>;

    /// The quality entries of a run, in the order of its configuration.
    fn origins(&self, run: CrawlId) -> Result<Vec<String>, Self::Error>;

    /// Every domain that a page of the run belongs to, once.
    fn domains(&self, run: CrawlId) -> Result<Vec<TerrainDomain>, Self::Error>;

    /// The pages as the run left them, in an order of the source that stays the same.
    fn pages(&self, run: CrawlId, each: Each<'_, TerrainPage>) -> Result<(), Self::Error>;

    /// The edges seen in the run, those of one source page together. Both ends are among the pages.
    fn edges(&self, run: CrawlId, each: Each<'_, TerrainEdge>) -> Result<(), Self::Error>;

    fn depths(&self, run: CrawlId, each: Each<'_, PageDepth>) -> Result<(), Self::Error>;
}

/// Why a view could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ViewError<E: std::error::Error + 'static> {
    #[error("the map cannot be read")]
    Source(#[source] E),
    #[error("the result cannot be written")]
    Write(#[source] io::Error),
    #[error("there is no run {run}; {}", known(.runs))]
    NoSuchRun { run: CrawlId, runs: Vec<CrawlId> },
}

fn known(runs: &[CrawlId]) -> String {
    match runs {
        [] => "the file holds no run of a map".to_owned(),
        [only] => format!("the only one is {only}"),
        [first, .., last] => format!("there are {} from {first} to {last}", runs.len()),
    }
}

/// The run of that number.
pub(crate) fn run_of<S: TerrainSource>(
    source: &S,
    run: CrawlId,
) -> Result<Run, ViewError<S::Error>> {
    let runs = source.runs().map_err(ViewError::Source)?;
    let numbers = runs.iter().map(|run| run.id).collect();
    runs.into_iter()
        .find(|candidate| candidate.id == run)
        .ok_or(ViewError::NoSuchRun { run, runs: numbers })
}

/// Reads rows for as long as `step` can write what it makes of them.
pub(crate) fn write_each<Row, E, F>(
    read: impl FnOnce(Each<'_, Row>) -> Result<(), E>,
    mut step: F,
) -> Result<(), ViewError<E>>
where
    E: std::error::Error + 'static,
    F: FnMut(Row) -> io::Result<()>,
{
    let mut failed = None;
    let outcome = read(&mut |row| match step(row) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    });
    if let Some(error) = failed {
        return Err(ViewError::Write(error));
    }
    outcome.map_err(ViewError::Source)
}

/// Reads every row.
pub(crate) fn read_each<Row, E: std::error::Error + 'static>(
    read: impl FnOnce(Each<'_, Row>) -> Result<(), E>,
    mut step: impl FnMut(Row),
) -> Result<(), ViewError<E>> {
    read(&mut |row| {
        step(row);
        ControlFlow::Continue(())
    })
    .map_err(ViewError::Source)
}
