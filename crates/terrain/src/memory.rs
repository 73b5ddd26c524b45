//! A map in memory: what tests read from, and small maps that never were in a store.

use std::{convert::Infallible, ops::ControlFlow};

use trawl_types::{
    CrawlId,
    terrain::{Run, TerrainDomain, TerrainEdge, TerrainPage},
};

use crate::source::{Each, PageDepth, TerrainSource};

/// One run with all its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRun {
    pub run: Run,
    pub origins: Vec<String>,
    pub domains: Vec<TerrainDomain>,
    pub pages: Vec<TerrainPage>,
    pub edges: Vec<TerrainEdge>,
    pub depths: Vec<PageDepth>,
}

/// Runs, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemorySource {
    pub runs: Vec<MemoryRun>,
}

impl MemorySource {
    fn run(&self, id: CrawlId) -> Option<&MemoryRun> {
        self.runs.iter().find(|run| run.run.id == id)
    }

    fn rows<Row: Clone>(
        &self,
        id: CrawlId,
        of: impl Fn(&MemoryRun) -> &[Row],
        each: Each<'_, Row>,
    ) {
        let rows = self.run(id).map(of).unwrap_or_default();
        for row in rows {
            if let ControlFlow::Break(()) = each(row.clone()) {
                break;
            }
        }
    }
}

impl TerrainSource for MemorySource {
    type Error = Infallible;

    fn runs(&self) -> Result<Vec<Run>, Infallible> {
        Ok(self.runs.iter().map(|run| run.run.clone()).collect())
    }

    fn origins(&self, run: CrawlId) -> Result<Vec<String>, Infallible> {
        Ok(self
            .run(run)
            .map(|run| run.origins.clone())
            .unwrap_or_default())
    }

    fn domains(&self, run: CrawlId) -> Result<Vec<TerrainDomain>, Infallible> {
        Ok(self
            .run(run)
            .map(|run| run.domains.clone())
            .unwrap_or_default())
    }

    fn pages(&self, run: CrawlId, each: Each<'_, TerrainPage>) -> Result<(), Infallible> {
        self.rows(run, |run| &run.pages, each);
        Ok(())
    }

    fn edges(&self, run: CrawlId, each: Each<'_, TerrainEdge>) -> Result<(), Infallible> {
        self.rows(run, |run| &run.edges, each);
        Ok(())
    }

    fn depths(&self, run: CrawlId, each: Each<'_, PageDepth>) -> Result<(), Infallible> {
        self.rows(run, |run| &run.depths, each);
        Ok(())
    }
}
