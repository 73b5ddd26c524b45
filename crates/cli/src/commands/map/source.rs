//! The rows of the database, as the views want them.

use trawl_store::{StoreError, TerrainRows};
use trawl_terrain::source::{Each, PageDepth, TerrainSource};
use trawl_types::{
    CrawlId,
    terrain::{Run, TerrainDomain, TerrainEdge, TerrainPage},
};

/// One moment of a map's database.
#[derive(Debug)]
pub(super) struct Database(pub(super) TerrainRows);

impl TerrainSource for Database {
    type Error = StoreError;

    fn runs(&self) -> Result<Vec<Run>, StoreError> {
        self.0.runs()
    }

    fn origins(&self, run: CrawlId) -> Result<Vec<String>, StoreError> {
        self.0.origins(run)
    }

    fn domains(&self, run: CrawlId) -> Result<Vec<TerrainDomain>, StoreError> {
        self.0.domains(run)
    }

    fn pages(&self, run: CrawlId, each: Each<'_, TerrainPage>) -> Result<(), StoreError> {
        self.0.pages(run, each)
    }

    fn edges(&self, run: CrawlId, each: Each<'_, TerrainEdge>) -> Result<(), StoreError> {
        self.0.edges(run, each)
    }

    fn depths(&self, run: CrawlId, each: Each<'_, PageDepth>) -> Result<(), StoreError> {
        self.0.depths(run, &mut |(page, origin, depth)| {
            each(PageDepth {
                page,
                origin,
                depth,
            })
        })
    }
}
