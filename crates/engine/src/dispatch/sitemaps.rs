//! Sitemaps that robots.txt names become start URLs of the crawl. They are asked for like any page:
//! by a lease, within robots.txt, once.

use std::sync::Arc;

use trawl_types::{CrawlId, HostId, Scheme, spec::SitemapPolicy};

use super::{Dispatcher, hosts::KnownRobots};
use crate::commit::What;

impl Dispatcher {
    /// Hands the sitemaps of an origin to the store. Those that are known stay as they are, so
    /// this may be done again after a restart.
    pub(crate) fn plant_sitemaps(&mut self, crawl: CrawlId, host: HostId, scheme: Scheme) {
        let Some(running) = self.crawls.get(&crawl) else {
            return;
        };
        let plan = Arc::clone(&running.plan);
        let policy = plan.spec.content.sitemaps;
        if policy == SitemapPolicy::None {
            return;
        }
        let agent = plan.spec.fetch.user_agent.robots_name();
        let Some(facts) = self.hosts.get(&host) else {
            return;
        };
        let Some(KnownRobots::Rules(rules)) = facts.known(scheme, agent) else {
            return;
        };
        let Some(base) = facts.robots_url(scheme) else {
            return;
        };
        let seeds = sitemaps_of(rules.sitemaps(), policy)
            .filter_map(|address| plan.sitemap_seed(&base, address))
            .collect::<Vec<_>>();
        if !seeds.is_empty() {
            let weight = 256 * seeds.len();
            self.commit(crawl, What::Seeds(seeds), weight);
        }
    }
}

/// What robots.txt names, or where a sitemap usually lies.
fn sitemaps_of(named: &[String], policy: SitemapPolicy) -> impl Iterator<Item = &str> {
    let guess = named.is_empty() && policy == SitemapPolicy::Guess;
    let guess = guess.then_some("/sitemap.xml");
    named.iter().map(String::as_str).chain(guess)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sitemap_is_guessed_only_where_none_is_named() {
        let named = [String::from("/map.xml")];
        let of = |named, policy| sitemaps_of(named, policy).collect::<Vec<_>>();
        assert_eq!(of(&named, SitemapPolicy::Guess), ["/map.xml"]);
        assert_eq!(of(&[], SitemapPolicy::Guess), ["/sitemap.xml"]);
        assert!(of(&[], SitemapPolicy::Robots).is_empty());
    }
}
