//! The true link graph: a pure function from a page to its links, and the whole of it on request.
//! Knows nothing of HTML; how a link is spelled is decided in `hrefs`.

use std::collections::VecDeque;

use crate::paths::{Layout, path_of};
use crate::prng::Prng;
use crate::spec::WebSpec;

/// Links of any page, computed from the seed without any table.
#[derive(Debug, Clone)]
pub(crate) struct LinkRule {
    pub(crate) layout: Layout,
    seed: u64,
    links: u32,
    /// Children of a page in the tree that makes every page reachable.
    branching: u32,
    cross_host_share: f64,
}

impl LinkRule {
    pub(crate) fn new(spec: &WebSpec) -> Self {
        Self {
            layout: Layout {
                hosts: spec.hosts,
                pages: spec.pages,
            },
            seed: spec.seed,
            links: spec.links_per_page,
            branching: (spec.links_per_page / 2).clamp(2, 10),
            cross_host_share: spec.cross_host_share,
        }
    }

    /// The distinct pages that a page links to, never itself.
    pub(crate) fn links(&self, page: u32) -> Vec<u32> {
        let mut found = Vec::with_capacity(self.links as usize + 4);
        self.push_tree_links(page, &mut found);
        let (host, local) = (self.layout.host(page), self.layout.local(page));
        if local > 0 {
            // The way home that the navigation of every site has.
            push_new(&mut found, page, self.layout.page(host, 0));
        }
        let mut prng = Prng::new(self.seed, u64::from(page));
        // A small site has fewer pages than links wanted: the attempts are bounded.
        for _ in 0..self.links.saturating_mul(2) {
            if found.len() >= self.links as usize {
                break;
            }
            let target = self.random_target(host, &mut prng);
            push_new(&mut found, page, target);
        }
        found
    }

    /// Links of a heap-shaped tree: the pages of a host under its front page, and the front pages
    /// under that of host 0. A child is found by arithmetic, so no table is needed.
    fn push_tree_links(&self, page: u32, found: &mut Vec<u32>) {
        let (host, local) = (self.layout.host(page), self.layout.local(page));
        for child in self.children(local) {
            found.extend(child.and_then(|local| self.layout.page(host, local)));
        }
        if local == 0 {
            for child in self.children(host) {
                found.extend(child.and_then(|host| self.layout.page(host, 0)));
            }
        }
    }

    fn children(&self, node: u32) -> impl Iterator<Item = Option<u32>> {
        let branching = self.branching;
        (1..=branching).map(move |n| node.checked_mul(branching)?.checked_add(n))
    }

    fn random_target(&self, host: u32, prng: &mut Prng) -> Option<u32> {
        let abroad = self.layout.hosts > 1 && prng.chance(self.cross_host_share);
        let host = if abroad {
            prng.below(self.layout.hosts)
        } else {
            host
        };
        self.layout
            .page(host, prng.below(self.layout.pages_on(host)))
    }
}

fn push_new(found: &mut Vec<u32>, page: u32, target: Option<u32>) {
    if let Some(target) = target
        && target != page
        && !found.contains(&target)
    {
        found.push(target);
    }
}

/// The whole truth about a web: its pages, their links, and their distance from the root.
#[derive(Debug, Clone)]
pub struct TrueGraph {
    layout: Layout,
    offsets: Vec<u32>,
    targets: Vec<u32>,
    depths: Vec<u32>,
}

impl TrueGraph {
    /// Computes the graph of a description without starting anything.
    pub fn of(spec: &WebSpec) -> Self {
        Self::from_rule(&LinkRule::new(&spec.clone().clamped()))
    }

    pub(crate) fn from_rule(rule: &LinkRule) -> Self {
        let layout = rule.layout;
        let mut offsets = Vec::with_capacity(layout.pages as usize + 1);
        let mut targets = Vec::new();
        offsets.push(0);
        for page in 0..layout.pages {
            targets.extend(rule.links(page));
            offsets.push(targets.len() as u32);
        }
        let mut graph = Self {
            layout,
            offsets,
            targets,
            depths: Vec::new(),
        };
        graph.depths = graph.breadth_first(0, |_| true);
        graph
    }

    /// Number of pages over all hosts.
    pub fn page_count(&self) -> u32 {
        self.layout.pages
    }

    /// Number of distinct links, each counted once.
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    /// Number of hosts.
    pub fn host_count(&self) -> u32 {
        self.layout.hosts
    }

    /// Pages of one host; all of them are reachable from its front page without leaving it.
    pub fn pages_on(&self, host: u32) -> u32 {
        self.layout.pages_on(host)
    }

    /// Host of a page.
    pub fn host(&self, page: u32) -> u32 {
        self.layout.host(page)
    }

    /// Path of a page.
    pub fn path(&self, page: u32) -> String {
        path_of(self.layout.local(page))
    }

    /// Page with this path on this host, if it exists.
    pub fn find(&self, host: u32, path: &str) -> Option<u32> {
        self.layout.find(host, path)
    }

    /// All pages with host and path.
    pub fn pages(&self) -> impl Iterator<Item = (u32, String)> + '_ {
        (0..self.layout.pages).map(|page| (self.host(page), self.path(page)))
    }

    /// The pages that a page links to.
    pub fn links(&self, page: u32) -> &[u32] {
        let at = |n: u32| self.offsets.get(n as usize).map_or(0, |&o| o as usize);
        self.targets
            .get(at(page)..at(page.saturating_add(1)))
            .unwrap_or(&[])
    }

    /// All edges as pairs of page numbers.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.layout.pages).flat_map(|page| self.links(page).iter().map(move |&to| (page, to)))
    }

    /// Shortest number of links from host 0's front page; every page has one.
    pub fn depth(&self, page: u32) -> u32 {
        self.depths.get(page as usize).copied().unwrap_or(u32::MAX)
    }

    /// Largest depth of any page.
    pub fn max_depth(&self) -> u32 {
        self.depths.iter().copied().max().unwrap_or(0)
    }

    /// Depths from one page over the pages that `admit` lets through (for scoped crawls);
    /// `u32::MAX` where a page cannot be reached.
    pub fn depths_within(&self, from: u32, admit: impl Fn(u32) -> bool) -> Vec<u32> {
        self.breadth_first(from, admit)
    }

    fn breadth_first(&self, from: u32, admit: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut depths = vec![u32::MAX; self.layout.pages as usize];
        let mut queue = VecDeque::from([from]);
        if let Some(first) = depths.get_mut(from as usize) {
            *first = 0;
        }
        while let Some(page) = queue.pop_front() {
            let next = depths[page as usize] + 1;
            for &target in self.links(page) {
                if depths[target as usize] == u32::MAX && admit(target) {
                    depths[target as usize] = next;
                    queue.push_back(target);
                }
            }
        }
        depths
    }
}

#[cfg(test)]
mod tests {
    use super::TrueGraph;
    use crate::spec::WebSpec;

    fn specs() -> Vec<WebSpec> {
        vec![
            WebSpec::small_site(1),
            WebSpec::small_site(2),
            WebSpec::small_site(1000),
            WebSpec::small_site(500).with_links(1),
            WebSpec::many_hosts(50, 60),
            WebSpec::many_hosts(33, 5000).with_links(40),
            WebSpec {
                cross_host_share: 0.0,
                ..WebSpec::many_hosts(200, 2000)
            },
        ]
    }

    #[test]
    fn every_page_is_reachable_from_the_root() {
        for spec in specs() {
            let graph = TrueGraph::of(&spec);
            assert!(
                (0..graph.page_count()).all(|p| graph.depth(p) < u32::MAX),
                "{spec:?}"
            );
        }
    }

    #[test]
    fn every_page_of_a_host_is_reachable_from_its_front_page_alone() {
        for spec in specs() {
            let graph = TrueGraph::of(&spec);
            for host in 0..graph.host_count() {
                let depths = graph.depths_within(host, |page| graph.host(page) == host);
                let reached = depths.iter().filter(|&&d| d < u32::MAX).count();
                assert_eq!(reached as u32, graph.pages_on(host));
            }
        }
    }

    #[test]
    fn equal_seeds_give_equal_graphs_and_other_seeds_others() {
        let edges = |seed| {
            let spec = WebSpec::many_hosts(5, 300).with_seed(seed);
            TrueGraph::of(&spec).edges().collect::<Vec<_>>()
        };
        assert_eq!(edges(1), edges(1));
        assert_ne!(edges(1), edges(2));
    }

    #[test]
    fn no_page_links_to_itself_or_twice_to_another() {
        for spec in specs() {
            let graph = TrueGraph::of(&spec);
            for page in 0..graph.page_count() {
                let mut links = graph.links(page).to_vec();
                assert!(!links.contains(&page));
                let before = links.len();
                links.sort_unstable();
                links.dedup();
                assert_eq!(links.len(), before);
            }
        }
    }

    #[test]
    fn pages_have_about_the_links_that_were_asked_for() {
        let graph = TrueGraph::of(&WebSpec::small_site(5000).with_links(30));
        let average = graph.edge_count() / 5000;
        assert!((28..=31).contains(&average), "{average}");
    }
}
