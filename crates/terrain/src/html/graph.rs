//! Which domains and links are drawn: all of a small map, of a large one what weighs most, with one
//! real link as an example for each line.

use std::{cmp::Reverse, collections::BTreeMap, ops::ControlFlow};

use rustc_hash::FxHashMap;
use serde::Serialize;
use trawl_types::terrain::{DomainClass, TerrainEdge, TerrainState};

use crate::{
    atlas::Atlas,
    source::{TerrainSource, ViewError},
    text::short,
};

/// Domains that are drawn at most; a browser lays out this many in a few seconds.
pub const MAX_DOMAINS: usize = 2_000;
/// Lines that are drawn at most.
pub const MAX_LINKS: usize = 12_000;
/// Longer URLs and anchors are cut: the file carries thousands.
const URL_SHOWN: usize = 240;
const ANCHOR_SHOWN: usize = 80;

/// The links from domain to domain, counted.
#[derive(Debug, Default)]
pub(super) struct DomainLinks {
    between: FxHashMap<(u32, u32), u32>,
    inside: FxHashMap<u32, u32>,
}

/// What the script is given.
#[derive(Debug, Serialize)]
pub(super) struct Graph {
    classes: Vec<&'static str>,
    states: Vec<&'static str>,
    domains: Vec<Node>,
    links: Vec<Line>,
    /// What a large map has besides.
    domains_left_out: usize,
    links_left_out: usize,
}

#[derive(Debug, Serialize)]
struct Node {
    name: String,
    /// A place in `classes`.
    class: usize,
    depth: u32,
    pages: u64,
    crawled: u64,
    requests: u64,
    rate_limited: bool,
    /// Links from and to other domains, and within.
    links_in: u64,
    links_out: u64,
    links_inside: u32,
    domains_in: u32,
    domains_out: u32,
    /// Places in `states`, with how many pages are in each.
    states: Vec<(usize, u64)>,
}

#[derive(Debug, Serialize)]
struct Line {
    from: u32,
    to: u32,
    weight: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<Example>,
}

#[derive(Debug, Serialize)]
struct Example {
    from: String,
    to: String,
    anchor: String,
}

#[derive(Debug, Default, Clone)]
struct Degrees {
    links_in: u64,
    links_out: u64,
    domains_in: u32,
    domains_out: u32,
}

impl DomainLinks {
    pub(super) fn add(&mut self, atlas: &Atlas, edge: &TerrainEdge) {
        let Some((from, to)) = atlas.ends(edge) else {
            return;
        };
        if from.domain == to.domain {
            *self.inside.entry(from.domain).or_default() += 1;
        } else {
            *self.between.entry((from.domain, to.domain)).or_default() += 1;
        }
    }

    fn degrees(&self, domains: usize) -> Vec<Degrees> {
        let mut degrees = vec![Degrees::default(); domains];
        for ((from, to), weight) in &self.between {
            let source = &mut degrees[*from as usize];
            source.links_out += u64::from(*weight);
            source.domains_out += 1;
            let target = &mut degrees[*to as usize];
            target.links_in += u64::from(*weight);
            target.domains_in += 1;
        }
        degrees
    }
}

/// What is drawn of a map.
pub(super) fn select<S: TerrainSource>(
    source: &S,
    atlas: &Atlas,
    links: &DomainLinks,
) -> Result<Graph, ViewError<S::Error>> {
    let degrees = links.degrees(atlas.domains.len());
    let shown = shown_domains(atlas, &degrees);
    let place: FxHashMap<u32, u32> = shown.iter().copied().zip(0..).collect();
    let (mut drawn, links_left_out) = shown_links(links, &place);
    add_examples(source, atlas, &place, &mut drawn)?;
    Ok(Graph {
        classes: DomainClass::ALL.map(DomainClass::as_str).to_vec(),
        states: TerrainState::ALL.iter().map(|s| s.as_str()).collect(),
        domains: nodes(atlas, links, &degrees, &place, &shown),
        links: drawn,
        domains_left_out: atlas.domains.len() - shown.len(),
        links_left_out,
    })
}

/// Quality domains first, then those that most domains refer to.
fn shown_domains(atlas: &Atlas, degrees: &[Degrees]) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..atlas.domains.len() as u32).collect();
    numbers.sort_by_cached_key(|number| {
        let domain = &atlas.domains[*number as usize];
        let degrees = &degrees[*number as usize];
        (
            domain.class != DomainClass::Quality,
            Reverse((degrees.domains_in, degrees.links_in, domain.pages)),
            domain.name.clone(),
        )
    });
    numbers.truncate(MAX_DOMAINS);
    numbers
}

/// The heaviest links between the domains shown, and how many others there are.
fn shown_links(links: &DomainLinks, place: &FxHashMap<u32, u32>) -> (Vec<Line>, usize) {
    let mut drawn: Vec<Line> = links
        .between
        .iter()
        .filter_map(|((from, to), weight)| {
            Some(Line {
                from: *place.get(from)?,
                to: *place.get(to)?,
                weight: *weight,
                example: None,
            })
        })
        .collect();
    drawn.sort_by_key(|line| (Reverse(line.weight), line.from, line.to));
    drawn.truncate(MAX_LINKS);
    let left_out = links.between.len() - drawn.len();
    (drawn, left_out)
}

/// Finds, for each line, the first link of the map that it stands for.
fn add_examples<S: TerrainSource>(
    source: &S,
    atlas: &Atlas,
    place: &FxHashMap<u32, u32>,
    lines: &mut [Line],
) -> Result<(), ViewError<S::Error>> {
    let mut wanted: FxHashMap<(u32, u32), usize> = lines
        .iter()
        .enumerate()
        .map(|(at, line)| ((line.from, line.to), at))
        .collect();
    let mut take = |edge: TerrainEdge| {
        if wanted.is_empty() {
            return ControlFlow::Break(());
        }
        if let Some((from, to)) = atlas.ends(&edge)
            && let (Some(a), Some(b)) = (place.get(&from.domain), place.get(&to.domain))
            && let Some(at) = wanted.remove(&(*a, *b))
        {
            lines[at].example = Some(Example {
                from: short(&from.url, URL_SHOWN),
                to: short(&to.url, URL_SHOWN),
                anchor: short(&edge.anchor, ANCHOR_SHOWN),
            });
        }
        ControlFlow::Continue(())
    };
    source
        .edges(atlas.run.id, &mut take)
        .map_err(ViewError::Source)
}

fn nodes(
    atlas: &Atlas,
    links: &DomainLinks,
    degrees: &[Degrees],
    place: &FxHashMap<u32, u32>,
    shown: &[u32],
) -> Vec<Node> {
    let mut states = vec![BTreeMap::<usize, u64>::new(); shown.len()];
    for page in &atlas.pages {
        if let Some(at) = place.get(&page.domain) {
            *states[*at as usize].entry(page.state as usize).or_default() += 1;
        }
    }
    shown
        .iter()
        .zip(states)
        .map(|(number, states)| {
            let domain = &atlas.domains[*number as usize];
            let degrees = &degrees[*number as usize];
            Node {
                name: short(&domain.name, URL_SHOWN),
                class: domain.class as usize,
                depth: if domain.pages == 0 {
                    0
                } else {
                    domain.depth.least
                },
                pages: domain.pages,
                crawled: domain.processed,
                requests: domain.requests,
                rate_limited: domain.rate_limited,
                links_in: degrees.links_in,
                links_out: degrees.links_out,
                links_inside: links.inside.get(number).copied().unwrap_or(0),
                domains_in: degrees.domains_in,
                domains_out: degrees.domains_out,
                states: states.into_iter().collect(),
            }
        })
        .collect()
}
