//! Two atlases side by side. Edges are compared as pairs of page numbers, eight bytes each.

use rustc_hash::{FxHashMap, FxHashSet};
use trawl_types::{CrawlId, PageId};

use super::{ChangedDomain, ChangedPage, Diff, DomainRow, EdgeRow, Listed, PageRow};
use crate::{
    atlas::{Atlas, AtlasDomain, AtlasPage},
    source::{TerrainSource, ViewError, read_each},
};

type Edges = FxHashSet<(PageId, PageId)>;

pub(super) fn read<S: TerrainSource>(
    source: &S,
    old: CrawlId,
    new: CrawlId,
    limit: usize,
) -> Result<Diff, ViewError<S::Error>> {
    let was = Atlas::read(source, old, |_| {})?;
    let is = Atlas::read(source, new, |_| {})?;
    let (vanished, appeared) = edges(source, old, new)?;
    let (was_named, is_named) = (by_name(&was), by_name(&is));
    Ok(Diff {
        old,
        new,
        pages_appeared: listed(only_in(&is, &was).map(page_row).collect(), limit),
        pages_vanished: listed(only_in(&was, &is).map(page_row).collect(), limit),
        pages_changed: listed(changed_pages(&was, &is), limit),
        domains_appeared: listed(domains_only_in(&is_named, &was_named), limit),
        domains_vanished: listed(domains_only_in(&was_named, &is_named), limit),
        domains_changed: listed(changed_domains(&was_named, &is_named), limit),
        edges_appeared: listed_edges(appeared, &is, limit),
        edges_vanished: listed_edges(vanished, &was, limit),
    })
}

/// The edges of one run only: those of the old, those of the new.
fn edges<S: TerrainSource>(
    source: &S,
    old: CrawlId,
    new: CrawlId,
) -> Result<(Edges, Edges), ViewError<S::Error>> {
    let mut vanished = Edges::default();
    read_each(
        |row| source.edges(old, row),
        |edge| {
            vanished.insert((edge.from, edge.to));
        },
    )?;
    let mut appeared = Edges::default();
    read_each(
        |row| source.edges(new, row),
        |edge| {
            if !vanished.remove(&(edge.from, edge.to)) {
                appeared.insert((edge.from, edge.to));
            }
        },
    )?;
    Ok((vanished, appeared))
}

fn listed<Row: Ord>(mut rows: Vec<Row>, limit: usize) -> Listed<Row> {
    let total = rows.len();
    rows.sort();
    rows.truncate(limit);
    Listed { total, rows }
}

/// Names are looked up for the edges that are listed, not for all.
fn listed_edges(edges: Edges, atlas: &Atlas, limit: usize) -> Listed<EdgeRow> {
    let total = edges.len();
    let url = |page: PageId| atlas.number(page).map_or("?", |at| &*atlas.pages[at].url);
    let key = |edge: &(PageId, PageId)| (url(edge.0), url(edge.1));
    let mut edges: Vec<(PageId, PageId)> = edges.into_iter().collect();
    if edges.len() > limit && limit > 0 {
        edges.select_nth_unstable_by(limit - 1, |a, b| key(a).cmp(&key(b)));
    }
    edges.truncate(limit);
    let rows = edges.iter().map(|edge| EdgeRow {
        from: url(edge.0).to_owned(),
        to: url(edge.1).to_owned(),
    });
    Listed {
        total,
        rows: listed(rows.collect(), limit).rows,
    }
}

fn only_in<'a>(one: &'a Atlas, other: &'a Atlas) -> impl Iterator<Item = &'a AtlasPage> {
    one.pages
        .iter()
        .filter(|page| other.number(page.id).is_none())
}

fn page_row(page: &AtlasPage) -> PageRow {
    PageRow {
        url: page.url.to_string(),
        state: page.state,
    }
}

fn changed_pages(was: &Atlas, is: &Atlas) -> Vec<ChangedPage> {
    let both = was.pages.iter().filter_map(|page| {
        let number = is.number(page.id)?;
        Some((page, &is.pages[number]))
    });
    both.filter(|(was, is)| was.state != is.state)
        .map(|(was, is)| ChangedPage {
            url: is.url.to_string(),
            was: was.state,
            is: is.state,
        })
        .collect()
}

fn by_name(atlas: &Atlas) -> FxHashMap<&str, &AtlasDomain> {
    let with_pages = atlas.domains.iter().filter(|domain| domain.pages > 0);
    with_pages
        .map(|domain| (domain.name.as_str(), domain))
        .collect()
}

fn domains_only_in(
    one: &FxHashMap<&str, &AtlasDomain>,
    other: &FxHashMap<&str, &AtlasDomain>,
) -> Vec<DomainRow> {
    one.values()
        .filter(|domain| !other.contains_key(domain.name.as_str()))
        .map(|domain| DomainRow {
            domain: domain.name.clone(),
            class: domain.class,
            pages: domain.pages,
        })
        .collect()
}

fn changed_domains(
    was: &FxHashMap<&str, &AtlasDomain>,
    is: &FxHashMap<&str, &AtlasDomain>,
) -> Vec<ChangedDomain> {
    was.iter()
        .filter_map(|(name, was)| {
            let is = is.get(name).filter(|is| is.class != was.class)?;
            Some(ChangedDomain {
                domain: was.name.clone(),
                was: was.class,
                is: is.class,
            })
        })
        .collect()
}
