//! The graph of hosts or sites: pages are grouped by name, links between groups are summed up.
//! Links within a group are a figure of its node, not an edge.

use rustc_hash::FxHashMap;
use trawl_types::{
    CrawlId,
    terrain::{DomainClass, Run, TerrainEdge},
};

use super::{
    Filter,
    schema::{About, Edge, GraphWriter, Node, Schema, Value, text, whole},
};
use crate::{
    atlas::Atlas,
    runs::{RunTimes, Seen},
    source::{TerrainSource, ViewError, read_each},
};

const SCHEMA: Schema = Schema {
    nodes: &[
        text("class"),
        whole("depth"),
        whole("pages"),
        whole("crawled"),
        whole("requests"),
        whole("links_in"),
        whole("links_out"),
        whole("links_inside"),
    ],
    edges: &[],
};

/// A host, or a site with all its hosts.
struct Group {
    name: String,
    class: DomainClass,
    depth: u32,
    pages: u64,
    crawled: u64,
    requests: u64,
    links_in: u64,
    links_out: u64,
    links_inside: u64,
    seen: Option<Seen>,
}

/// The links from one group to another.
struct Sum {
    weight: u32,
    seen: Seen,
}

struct Groups {
    list: Vec<Group>,
    /// The group of each domain of the atlas.
    of_domain: Vec<u32>,
    sums: FxHashMap<(u32, u32), Sum>,
}

pub(super) fn write<S: TerrainSource>(
    source: &S,
    run: CrawlId,
    filter: &Filter,
    name_of: impl Fn(&str) -> String,
    writer: &mut dyn GraphWriter,
) -> Result<(), ViewError<S::Error>> {
    let times = RunTimes::new(source.runs().map_err(ViewError::Source)?);
    let mut lives: FxHashMap<String, Seen> = FxHashMap::default();
    let atlas = Atlas::read(source, run, |page| {
        let seen = times.seen(page.first_run, page.last_run);
        match lives.get_mut(&page.domain) {
            Some(life) => *life = life.and(seen),
            None => {
                lives.insert(page.domain.clone(), seen);
            }
        }
    })?;
    let mut groups = Groups::new(&atlas, &lives, name_of);
    read_each(
        |row| source.edges(run, row),
        |edge| groups.add(&atlas, &edge, &times),
    )?;
    groups
        .write(filter, &times, &about(&atlas.run, "domain"), writer)
        .map_err(ViewError::Write)
}

/// How a graph introduces itself.
pub(super) fn about(run: &Run, nodes: &str) -> About {
    About {
        title: format!("Terrain of run {}, by {nodes}", run.id),
        date: run.finished_at.unwrap_or(run.started_at).iso(),
    }
}

impl Groups {
    fn new(
        atlas: &Atlas,
        lives: &FxHashMap<String, Seen>,
        name_of: impl Fn(&str) -> String,
    ) -> Self {
        let mut places: FxHashMap<String, u32> = FxHashMap::default();
        let mut list: Vec<Group> = Vec::new();
        let mut of_domain = Vec::with_capacity(atlas.domains.len());
        for domain in &atlas.domains {
            let name = name_of(&domain.name);
            let place = *places.entry(name.clone()).or_insert(list.len() as u32);
            if place as usize == list.len() {
                list.push(Group::new(name));
            }
            let group = &mut list[place as usize];
            group.class = stronger(group.class, domain.class);
            group.depth = group.depth.min(domain.depth.least);
            group.pages += domain.pages;
            group.crawled += domain.processed;
            group.requests += domain.requests;
            group.seen = match (group.seen, lives.get(&domain.name)) {
                (Some(seen), Some(more)) => Some(seen.and(*more)),
                (seen, more) => seen.or(more.copied()),
            };
            of_domain.push(place);
        }
        Self {
            list,
            of_domain,
            sums: FxHashMap::default(),
        }
    }

    fn add(&mut self, atlas: &Atlas, edge: &TerrainEdge, times: &RunTimes) {
        let Some((from, to)) = atlas.ends(edge) else {
            return;
        };
        let from = self.of_domain[from.domain as usize];
        let to = self.of_domain[to.domain as usize];
        if from == to {
            self.list[from as usize].links_inside += 1;
            return;
        }
        self.list[from as usize].links_out += 1;
        self.list[to as usize].links_in += 1;
        let seen = times.seen(edge.first_run, edge.last_run);
        self.sums
            .entry((from, to))
            .and_modify(|sum| {
                sum.weight = sum.weight.saturating_add(1);
                sum.seen = sum.seen.and(seen);
            })
            .or_insert(Sum { weight: 1, seen });
    }

    fn write(
        &self,
        filter: &Filter,
        times: &RunTimes,
        about: &About,
        writer: &mut dyn GraphWriter,
    ) -> std::io::Result<()> {
        writer.begin(SCHEMA, about)?;
        let kept: Vec<bool> = self
            .list
            .iter()
            .map(|group| group.pages > 0 && filter.has_node(group.class, group.depth))
            .collect();
        for (place, group) in self.list.iter().enumerate().filter(|(at, _)| kept[*at]) {
            group.write(place, times, writer)?;
        }
        if writer.wants_edges() {
            self.write_edges(filter, times, &kept, writer)?;
        }
        writer.end()
    }

    fn write_edges(
        &self,
        filter: &Filter,
        times: &RunTimes,
        kept: &[bool],
        writer: &mut dyn GraphWriter,
    ) -> std::io::Result<()> {
        let mut pairs: Vec<(u32, u32)> = self.sums.keys().copied().collect();
        pairs.sort_unstable();
        for (from, to) in pairs {
            let sum = &self.sums[&(from, to)];
            let weight = u64::from(sum.weight);
            if kept[from as usize] && kept[to as usize] && filter.has_weight(weight) {
                writer.edge(&Edge {
                    from: i64::from(from) + 1,
                    to: i64::from(to) + 1,
                    weight,
                    life: times.life(sum.seen),
                    values: &[],
                })?;
            }
        }
        Ok(())
    }
}

impl Group {
    fn new(name: String) -> Self {
        Self {
            name,
            class: DomainClass::Blacklisted,
            depth: u32::MAX,
            pages: 0,
            crawled: 0,
            requests: 0,
            links_in: 0,
            links_out: 0,
            links_inside: 0,
            seen: None,
        }
    }

    fn write(
        &self,
        place: usize,
        times: &RunTimes,
        writer: &mut dyn GraphWriter,
    ) -> std::io::Result<()> {
        let count = |number: u64| Value::Whole(i64::try_from(number).unwrap_or(i64::MAX));
        let values = [
            Value::Text(self.class.as_str()),
            Value::Whole(i64::from(self.depth)),
            count(self.pages),
            count(self.crawled),
            count(self.requests),
            count(self.links_in),
            count(self.links_out),
            count(self.links_inside),
        ];
        let none = crate::runs::Life {
            start: None,
            end: None,
        };
        writer.node(&Node {
            id: place as i64 + 1,
            label: &self.name,
            life: self.seen.map_or(none, |seen| times.life(seen)),
            values: &values,
        })
    }
}

/// A site is what the best of its hosts is: quality, then discovered, stubbed, blacklisted.
fn stronger(a: DomainClass, b: DomainClass) -> DomainClass {
    let rank = |class| match class {
        DomainClass::Quality => 0,
        DomainClass::Discovered => 1,
        DomainClass::Stubbed => 2,
        DomainClass::Blacklisted => 3,
    };
    if rank(b) < rank(a) { b } else { a }
}
