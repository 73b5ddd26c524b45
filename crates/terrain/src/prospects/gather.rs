//! Edges become rankings.

use std::{cmp::Reverse, ops::ControlFlow};

use rustc_hash::{FxHashMap, FxHashSet};
use trawl_types::{
    CrawlId,
    terrain::{DomainClass, TerrainEdge},
};

use super::{Citation, ExampleLink, Matrix, Prospect, Prospects};
use crate::{
    atlas::Atlas,
    source::{TerrainSource, ViewError, read_each},
    text::short,
};

const EXAMPLES: usize = 3;
const URL_SHOWN: usize = 500;
const ANCHOR_SHOWN: usize = 120;

/// What is counted for one discovered domain.
#[derive(Debug, Default)]
struct Count {
    /// Links by quality entry.
    actors: FxHashMap<u16, u64>,
    near: FxHashSet<u32>,
    links: u64,
}

pub(super) fn read<S: TerrainSource>(
    source: &S,
    run: CrawlId,
    limit: usize,
) -> Result<Prospects, ViewError<S::Error>> {
    let actors = source.origins(run).map_err(ViewError::Source)?;
    let atlas = Atlas::read(source, run, |_| {})?;
    let mut counts: FxHashMap<u32, Count> = FxHashMap::default();
    let mut links = vec![vec![0_u64; actors.len()]; actors.len()];
    read_each(
        |row| source.edges(run, row),
        |edge| {
            count(&atlas, &edge, &mut counts);
            if let Some((from, to)) = actors_of(&atlas, &edge)
                && let Some(cell) = links.get_mut(from).and_then(|row| row.get_mut(to))
            {
                *cell += 1;
            }
        },
    )?;
    let co_link = ranked(&atlas, &counts, limit, |count| {
        (count.actors.len(), count.near.len())
    });
    let snowball = ranked(&atlas, &counts, limit, |count| {
        (count.near.len(), count.actors.len())
    });
    let mut details = Details::read(source, &atlas, co_link.iter().chain(&snowball))?;
    let mut describe = |numbers: Vec<u32>| -> Vec<Prospect> {
        numbers
            .into_iter()
            .map(|number| details.prospect(number, &atlas, &counts[&number], &actors))
            .collect()
    };
    Ok(Prospects {
        run,
        co_link: describe(co_link),
        snowball: describe(snowball),
        total: counts.len(),
        inter_actor: Matrix { links },
        actors,
    })
}

fn count(atlas: &Atlas, edge: &TerrainEdge, counts: &mut FxHashMap<u32, Count>) {
    let Some((from, to)) = atlas.ends(edge) else {
        return;
    };
    let (source, target) = (from.domain, to.domain);
    if source == target || atlas.domains[target as usize].class != DomainClass::Discovered {
        return;
    }
    let entry = counts.entry(target).or_default();
    entry.links += 1;
    let citing = &atlas.domains[source as usize];
    if citing.depth.least <= 1 {
        entry.near.insert(source);
    }
    if let Some(actor) = citing.origin {
        *entry.actors.entry(actor).or_default() += 1;
    }
}

/// The quality entries at both ends of an edge.
fn actors_of(atlas: &Atlas, edge: &TerrainEdge) -> Option<(usize, usize)> {
    let (from, to) = atlas.ends(edge)?;
    let actor = |domain: u32| atlas.domains[domain as usize].origin.map(usize::from);
    Some((actor(from.domain)?, actor(to.domain)?))
}

/// The domains with the highest scores; those whose first score is nothing are none.
fn ranked(
    atlas: &Atlas,
    counts: &FxHashMap<u32, Count>,
    limit: usize,
    score: impl Fn(&Count) -> (usize, usize),
) -> Vec<u32> {
    let mut numbers: Vec<u32> = counts
        .iter()
        .filter(|(_, count)| score(count).0 > 0)
        .map(|(number, _)| *number)
        .collect();
    numbers.sort_by_cached_key(|number| {
        let count = &counts[number];
        let name = atlas.domains[*number as usize].name.clone();
        (Reverse((score(count), count.links)), name)
    });
    numbers.truncate(limit);
    numbers
}

/// What only domains in a ranking need: examples, and where they can be reached from.
#[derive(Debug, Default)]
struct Details {
    examples: FxHashMap<u32, Vec<(u32, ExampleLink)>>,
    reached_from: FxHashMap<u32, FxHashSet<u16>>,
}

impl Details {
    fn read<'a, S: TerrainSource>(
        source: &S,
        atlas: &Atlas,
        wanted: impl Iterator<Item = &'a u32>,
    ) -> Result<Self, ViewError<S::Error>> {
        let mut details = Self::default();
        for number in wanted {
            details.examples.entry(*number).or_default();
            details.reached_from.entry(*number).or_default();
        }
        source
            .edges(atlas.run.id, &mut |edge| {
                details.take_example(atlas, &edge);
                ControlFlow::Continue(())
            })
            .map_err(ViewError::Source)?;
        read_each(
            |row| source.depths(atlas.run.id, row),
            |depth| {
                if let Some(page) = atlas.number(depth.page)
                    && let Some(found) = details.reached_from.get_mut(&atlas.pages[page].domain)
                {
                    found.insert(depth.origin);
                }
            },
        )?;
        Ok(details)
    }

    /// Keeps links from different domains; one from a quality domain drives out another.
    fn take_example(&mut self, atlas: &Atlas, edge: &TerrainEdge) {
        let Some((from, to)) = atlas.ends(edge) else {
            return;
        };
        let Some(kept) = self.examples.get_mut(&to.domain) else {
            return;
        };
        if from.domain == to.domain || kept.iter().any(|(citing, _)| *citing == from.domain) {
            return;
        }
        let is_actor = |domain: u32| atlas.domains[domain as usize].origin.is_some();
        if kept.len() >= EXAMPLES {
            let weaker = kept.iter().position(|(citing, _)| !is_actor(*citing));
            match weaker {
                Some(place) if is_actor(from.domain) => {
                    kept.remove(place);
                }
                _ => return,
            }
        }
        let example = ExampleLink {
            from: short(&from.url, URL_SHOWN),
            to: short(&to.url, URL_SHOWN),
            anchor: short(&edge.anchor, ANCHOR_SHOWN),
        };
        kept.push((from.domain, example));
    }

    fn prospect(
        &mut self,
        number: u32,
        atlas: &Atlas,
        count: &Count,
        actors: &[String],
    ) -> Prospect {
        let domain = &atlas.domains[number as usize];
        let mut cited_by: Vec<Citation> = count
            .actors
            .iter()
            .filter_map(|(actor, links)| {
                Some(Citation {
                    actor: actors.get(usize::from(*actor))?.clone(),
                    links: *links,
                })
            })
            .collect();
        cited_by.sort_by(|a, b| b.links.cmp(&a.links).then_with(|| a.actor.cmp(&b.actor)));
        let examples = self.examples.get(&number).into_iter().flatten();
        let reached = self.reached_from.get(&number);
        Prospect {
            domain: domain.name.clone(),
            cited_by,
            near_domains: count.near.len() as u64,
            links: count.links,
            depth: domain.depth.least,
            pages_known: domain.pages,
            reached_from: reached.map_or(0, |origins| origins.len() as u64),
            examples: examples.map(|(_, example)| example.clone()).collect(),
        }
    }
}
