//! The graph of a run for other programs: GraphML, GEXF, CSV and JSON, by page, host or site,
//! written as it is read. At page level memory grows with pages; at the other two also with the
//! pairs of hosts that are linked.
//!
//! * [`schema`]: columns and values, and what a format has to do
//! * [`pages`]: every page and every link
//! * [`groups`]: hosts or sites, links between them summed up
//! * [`graphml`], [`gexf`], [`csv`], [`json`]: the formats

mod csv;
mod gexf;
mod graphml;
mod groups;
mod json;
mod pages;
mod schema;
#[cfg(test)]
mod tests;

use std::io::Write;

use trawl_types::{CrawlId, terrain::DomainClass};

use self::schema::GraphWriter;
use crate::source::{TerrainSource, ViewError};

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Page,
    /// A domain of the map: a host without `www.` and port.
    Host,
    /// A registrable domain, by the public suffix list.
    Site,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    GraphMl,
    /// GEXF 1.3, with the times of runs as the life of nodes and edges.
    Gexf,
    CsvNodes,
    CsvEdges,
    /// Nodes and links as networkx's `node_link_graph` reads them.
    Json,
}

/// What of the graph is written. The default is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only nodes of these classes; empty for all.
    pub classes: Vec<DomainClass>,
    /// Only nodes this near to a quality domain.
    pub max_depth: Option<u32>,
    /// Only edges of this weight. A link between two pages weighs 1.
    pub min_weight: u64,
}

impl Filter {
    fn has_node(&self, class: DomainClass, depth: u32) -> bool {
        (self.classes.is_empty() || self.classes.contains(&class))
            && self.max_depth.is_none_or(|most| depth <= most)
    }

    fn has_weight(&self, weight: u64) -> bool {
        weight >= self.min_weight
    }
}

/// Writes the graph of a run. Give a buffered writer: it is written to in small pieces.
pub fn write_graph<S: TerrainSource>(
    source: &S,
    run: CrawlId,
    level: Level,
    format: Format,
    filter: &Filter,
    out: &mut dyn Write,
) -> Result<(), ViewError<S::Error>> {
    let mut writer: Box<dyn GraphWriter + '_> = match format {
        Format::GraphMl => Box::new(graphml::GraphMl::new(out)),
        Format::Gexf => Box::new(gexf::Gexf::new(out)),
        Format::CsvNodes => Box::new(csv::Nodes::new(out)),
        Format::CsvEdges => Box::new(csv::Edges::new(out)),
        Format::Json => Box::new(json::Json::new(out)),
    };
    match level {
        Level::Page => pages::write(source, run, filter, writer.as_mut()),
        Level::Host => groups::write(source, run, filter, str::to_owned, writer.as_mut()),
        Level::Site => groups::write(source, run, filter, site, writer.as_mut()),
    }
}

/// The registrable domain of a host; a host that has none (an address, a bare name) is its own.
fn site(host: &str) -> String {
    psl::domain_str(host).unwrap_or(host).to_owned()
}
