//! Rows become figures: one reading of the pages, one of the edges.

use trawl_types::{
    CrawlId, OutcomeKind, ReasonCode,
    terrain::{DomainClass, TerrainEdge, TerrainPage, TerrainState},
};

use super::{
    DepthRow, DomainRow, ErrorKind, ErrorRow, Overall, RateLimitedRow, RunFacts, StateRow, Summary,
    TOP_URLS, TopUrls, UrlRow,
};
use crate::{
    atlas::{Atlas, AtlasDomain},
    source::{TerrainSource, ViewError, read_each},
};

/// The summary, and what it was made of; `each` sees every edge on the way.
pub(crate) fn read<S: TerrainSource>(
    source: &S,
    run: CrawlId,
    mut each: impl FnMut(&Atlas, &TerrainEdge),
) -> Result<(Summary, Atlas), ViewError<S::Error>> {
    let mut errors = [0_u64; ErrorKind::ALL.len()];
    let atlas = Atlas::read(source, run, |page| {
        if let Some(kind) = error_of(page) {
            errors[kind as usize] += 1;
        }
    })?;
    let mut links = 0_u64;
    let mut references = vec![0_u32; atlas.pages.len()];
    read_each(
        |row| source.edges(run, row),
        |edge| {
            links += 1;
            each(&atlas, &edge);
            if let Some(to) = atlas.number(edge.to) {
                references[to] += 1;
            }
        },
    )?;
    let summary = sum_up(&atlas, links, &references, errors);
    Ok((summary, atlas))
}

fn sum_up(
    atlas: &Atlas,
    links: u64,
    references: &[u32],
    errors: [u64; ErrorKind::ALL.len()],
) -> Summary {
    let blacklisted = top_urls(atlas, references, DomainClass::Blacklisted);
    let stubbed = top_urls(atlas, references, DomainClass::Stubbed);
    let depths = depths(atlas);
    Summary {
        run: run_facts(atlas),
        overall: Overall {
            pages_crawled: depths.iter().map(|row| row.pages).sum(),
            domains: depths.iter().map(|row| row.new_domains).sum(),
            links,
            blacklisted_urls: blacklisted.total,
            stubbed_urls: stubbed.total,
            errors: errors.iter().sum(),
            pages_known: atlas.pages.len() as u64,
        },
        depths,
        states: states(atlas),
        quality_domains: domains(atlas, DomainClass::Quality),
        other_domains: domains(atlas, DomainClass::Discovered),
        blacklisted,
        stubbed,
        errors: ErrorKind::ALL
            .into_iter()
            .map(|error| ErrorRow {
                error,
                count: errors[error as usize],
            })
            .collect(),
        rate_limited: rate_limited(atlas),
    }
}

fn run_facts(atlas: &Atlas) -> RunFacts {
    let run = &atlas.run;
    let end = run.finished_at.or(atlas.last_visit);
    RunFacts {
        id: run.id,
        started_at: run.started_at,
        finished_at: run.finished_at,
        duration_ms: end.map_or(0, |end| (end.0 - run.started_at.0).max(0)),
        status: run.status,
        config_hash: run.config_hash.clone(),
    }
}

/// The row of the error table that a page counts for. Limits of our own and content of another
/// kind are no errors.
fn error_of(page: &TerrainPage) -> Option<ErrorKind> {
    match page.state {
        TerrainState::DeadLink => Some(ErrorKind::DeadLink),
        TerrainState::RateLimited => Some(ErrorKind::RateLimited),
        TerrainState::Unreachable | TerrainState::Failed => Some(failure_of(page)),
        _ => None,
    }
}

fn failure_of(page: &TerrainPage) -> ErrorKind {
    use OutcomeKind as O;
    use ReasonCode as R;
    match (page.outcome, page.reason) {
        (Some(O::RobotsDenied), _) | (None, Some(R::RobotsDisallowed | R::RobotsUnreachable)) => {
            ErrorKind::RobotsDenied
        }
        (Some(O::ConnectRefused), _) => ErrorKind::ConnectionRefused,
        (Some(O::ConnectTimeout | O::HeadersTimeout | O::IdleTimeout | O::TotalTimeout), _) => {
            ErrorKind::Timeout
        }
        _ => ErrorKind::Other,
    }
}

/// Whether a domain is of those that a map is about.
fn is_terrain(class: DomainClass) -> bool {
    matches!(class, DomainClass::Quality | DomainClass::Discovered)
}

fn depths(atlas: &Atlas) -> Vec<DepthRow> {
    let terrain = || {
        atlas
            .domains
            .iter()
            .filter(|d| is_terrain(d.class) && d.pages > 0)
    };
    let crawled = || {
        atlas
            .pages
            .iter()
            .filter(|page| page.state == TerrainState::Processed)
    };
    let deepest = terrain()
        .map(|domain| domain.depth.least)
        .chain(crawled().map(|page| page.depth))
        .max()
        .unwrap_or(0);
    // A depth is a number of links; nobody follows more than this, but a file may say anything.
    let deepest = deepest.min(100_000);
    let mut rows: Vec<DepthRow> = (0..=deepest)
        .map(|depth| DepthRow {
            depth,
            ..DepthRow::default()
        })
        .collect();
    for page in crawled() {
        rows[page.depth.min(deepest) as usize].pages += 1;
    }
    for domain in terrain() {
        rows[domain.depth.least.min(deepest) as usize].new_domains += 1;
    }
    rows
}

fn states(atlas: &Atlas) -> Vec<StateRow> {
    let count = |state| {
        let pages = atlas.pages.iter().filter(|page| page.state == state);
        pages.count() as u64
    };
    TerrainState::ALL
        .iter()
        .map(|state| StateRow {
            state: *state,
            pages: count(*state),
        })
        .filter(|row| row.pages > 0)
        .collect()
}

fn domains(atlas: &Atlas, class: DomainClass) -> Vec<DomainRow> {
    let with_pages = |domain: &&AtlasDomain| domain.class == class && domain.pages > 0;
    let mut rows: Vec<DomainRow> = atlas
        .domains
        .iter()
        .filter(with_pages)
        .map(|domain| DomainRow {
            domain: domain.name.clone(),
            pages: domain.processed,
            pages_known: domain.pages,
            least_depth: domain.depth.least,
            greatest_depth: domain.depth.most,
            requests: domain.requests,
        })
        .collect();
    rows.sort_by(|a, b| {
        let most = (b.pages, b.pages_known).cmp(&(a.pages, a.pages_known));
        most.then_with(|| a.domain.cmp(&b.domain))
    });
    rows
}

fn top_urls(atlas: &Atlas, references: &[u32], class: DomainClass) -> TopUrls {
    let mut numbers: Vec<usize> = (0..atlas.pages.len())
        .filter(|number| atlas.pages[*number].class == class)
        .collect();
    let total = numbers.len() as u64;
    let order = |a: &usize, b: &usize| {
        let most = references[*b].cmp(&references[*a]);
        most.then_with(|| atlas.pages[*a].url.cmp(&atlas.pages[*b].url))
    };
    if numbers.len() > TOP_URLS {
        numbers.select_nth_unstable_by(TOP_URLS, order);
        numbers.truncate(TOP_URLS);
    }
    numbers.sort_by(order);
    let row = |number: usize| UrlRow {
        url: atlas.pages[number].url.to_string(),
        references: u64::from(references[number]),
    };
    TopUrls {
        total,
        top: numbers.into_iter().map(row).collect(),
    }
}

fn rate_limited(atlas: &Atlas) -> Vec<RateLimitedRow> {
    let limited = atlas.domains.iter().filter(|domain| domain.rate_limited);
    let mut rows: Vec<RateLimitedRow> = limited
        .map(|domain| RateLimitedRow {
            domain: domain.name.clone(),
            request: domain.requests,
        })
        .collect();
    rows.sort_by(|a, b| a.domain.cmp(&b.domain));
    rows
}
