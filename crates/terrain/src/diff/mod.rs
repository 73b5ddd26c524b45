//! Two runs compared: pages, domains and edges that appeared, vanished or changed.

mod gather;
mod markdown;
#[cfg(test)]
mod tests;

use serde::Serialize;
use trawl_types::{
    CrawlId,
    terrain::{DomainClass, TerrainState},
};

use crate::source::{TerrainSource, ViewError};

/// What differs between an older run and a newer one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diff {
    pub old: CrawlId,
    pub new: CrawlId,
    pub pages_appeared: Listed<PageRow>,
    pub pages_vanished: Listed<PageRow>,
    /// Pages of both runs that stand otherwise.
    pub pages_changed: Listed<ChangedPage>,
    pub domains_appeared: Listed<DomainRow>,
    pub domains_vanished: Listed<DomainRow>,
    pub domains_changed: Listed<ChangedDomain>,
    pub edges_appeared: Listed<EdgeRow>,
    pub edges_vanished: Listed<EdgeRow>,
}

/// The first rows of a list and how long it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed<Row> {
    pub total: usize,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PageRow {
    pub url: String,
    pub state: TerrainState,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ChangedPage {
    pub url: String,
    pub was: TerrainState,
    pub is: TerrainState,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DomainRow {
    pub domain: String,
    pub class: DomainClass,
    pub pages: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ChangedDomain {
    pub domain: String,
    pub was: DomainClass,
    pub is: DomainClass,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct EdgeRow {
    pub from: String,
    pub to: String,
}

impl Diff {
    /// Compares two runs; every list has at most `limit` rows, in the order of their names.
    pub fn read<S: TerrainSource>(
        source: &S,
        old: CrawlId,
        new: CrawlId,
        limit: usize,
    ) -> Result<Self, ViewError<S::Error>> {
        gather::read(source, old, new, limit)
    }

    /// Whether the two runs saw the same map.
    pub fn is_empty(&self) -> bool {
        let pages = self.pages_appeared.total + self.pages_vanished.total;
        let domains = self.domains_appeared.total + self.domains_vanished.total;
        let edges = self.edges_appeared.total + self.edges_vanished.total;
        let changed = self.pages_changed.total + self.domains_changed.total;
        pages + domains + edges + changed == 0
    }

    pub fn to_markdown(&self) -> String {
        markdown::render(self)
    }

    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }
}
