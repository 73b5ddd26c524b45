//! The pages and domains of a run under small numbers: what every view needs before it reads the
//! edges. Memory grows with pages, not with edges.

use rustc_hash::FxHashMap;
use trawl_types::{
    CrawlId, PageId, UnixMillis,
    terrain::{DomainClass, Run, TerrainDomain, TerrainEdge, TerrainPage, TerrainState},
};

use crate::source::{TerrainSource, ViewError, read_each, run_of};

/// A page as far as most views care.
#[derive(Debug)]
pub(crate) struct AtlasPage {
    pub(crate) id: PageId,
    pub(crate) url: Box<str>,
    pub(crate) domain: u32,
    pub(crate) depth: u32,
    pub(crate) class: DomainClass,
    pub(crate) state: TerrainState,
}

#[derive(Debug)]
pub(crate) struct AtlasDomain {
    pub(crate) name: String,
    pub(crate) class: DomainClass,
    pub(crate) origin: Option<u16>,
    pub(crate) requests: u64,
    pub(crate) rate_limited: bool,
    /// All pages that are known of.
    pub(crate) pages: u64,
    /// Those in state `Processed`.
    pub(crate) processed: u64,
    pub(crate) depth: Span,
}

/// The least and the greatest depth of a domain's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) least: u32,
    pub(crate) most: u32,
}

#[derive(Debug)]
pub(crate) struct Atlas {
    pub(crate) run: Run,
    pub(crate) domains: Vec<AtlasDomain>,
    pub(crate) pages: Vec<AtlasPage>,
    /// When the last page of the run was visited.
    pub(crate) last_visit: Option<UnixMillis>,
    number_of_page: FxHashMap<PageId, u32>,
    number_of_domain: FxHashMap<String, u32>,
}

impl Atlas {
    /// Reads domains and pages; `each` sees every page with all its fields.
    pub(crate) fn read<S: TerrainSource>(
        source: &S,
        run: CrawlId,
        mut each: impl FnMut(&TerrainPage),
    ) -> Result<Self, ViewError<S::Error>> {
        let mut atlas = Self {
            run: run_of(source, run)?,
            domains: Vec::new(),
            pages: Vec::new(),
            last_visit: None,
            number_of_page: FxHashMap::default(),
            number_of_domain: FxHashMap::default(),
        };
        for domain in source.domains(run).map_err(ViewError::Source)? {
            atlas.add_domain(domain);
        }
        read_each(
            |row| source.pages(run, row),
            |page| {
                each(&page);
                atlas.add_page(page);
            },
        )?;
        Ok(atlas)
    }

    fn add_domain(&mut self, domain: TerrainDomain) -> u32 {
        let number = self.domains.len() as u32;
        let known = *self
            .number_of_domain
            .entry(domain.name.clone())
            .or_insert(number);
        if let Some(twin) = self.domains.get_mut(known as usize) {
            twin.requests += domain.requests;
            twin.rate_limited |= domain.rate_limited;
            return known;
        }
        self.domains.push(AtlasDomain {
            name: domain.name,
            class: domain.class,
            origin: domain.origin,
            requests: domain.requests,
            rate_limited: domain.rate_limited,
            pages: 0,
            processed: 0,
            depth: Span {
                least: u32::MAX,
                most: 0,
            },
        });
        number
    }

    fn add_page(&mut self, page: TerrainPage) {
        let domain = match self.number_of_domain.get(&page.domain) {
            Some(number) => *number,
            None => self.add_domain(unlisted(&page)),
        };
        let entry = &mut self.domains[domain as usize];
        entry.pages += 1;
        entry.processed += u64::from(page.state == TerrainState::Processed);
        entry.depth.least = entry.depth.least.min(page.depth);
        entry.depth.most = entry.depth.most.max(page.depth);
        self.last_visit = self.last_visit.max(page.visited_at);
        self.number_of_page.insert(page.id, self.pages.len() as u32);
        self.pages.push(AtlasPage {
            id: page.id,
            url: page.url.into(),
            domain,
            depth: page.depth,
            class: page.class,
            state: page.state,
        });
    }

    /// The number of a page in `pages`.
    pub(crate) fn number(&self, page: PageId) -> Option<usize> {
        self.number_of_page
            .get(&page)
            .map(|number| *number as usize)
    }

    /// Both ends of an edge, unless one is no page of the run.
    pub(crate) fn ends(&self, edge: &TerrainEdge) -> Option<(&AtlasPage, &AtlasPage)> {
        let from = self.number(edge.from)?;
        let to = self.number(edge.to)?;
        Some((&self.pages[from], &self.pages[to]))
    }
}

/// A source may forget to list a domain; its pages still say what it is.
fn unlisted(page: &TerrainPage) -> TerrainDomain {
    TerrainDomain {
        name: page.domain.clone(),
        class: page.class,
        origin: None,
        requests: 0,
        rate_limited: false,
    }
}
