//! What is known of a host while it is in the frontier: its name and what its robots.txt says.

use std::sync::Arc;

use trawl_frontier::{HostEntry, Moment, Used};
use trawl_rules::{RobotsFromStatus, RobotsRules, RobotsVerdict, robots_for_status};
use trawl_store::contract::{read::StoredHost, write::StoredRobots};
use trawl_types::{
    CrawlId, Outcome, OutcomeKind, Reason, ReasonCode, Scheme, UnixMillis,
    spec::{Politeness, RobotsPolicy},
};
use url::Url;

use super::Dispatcher;
use crate::{clock::Clock, plan::CrawlPlan};

/// RFC 9309 §2.4: not used for longer than a day.
const ROBOTS_TTL_MS: i64 = 24 * 3_600_000;

/// A host that did not answer may be up again: who comes later asks anew.
pub(crate) const FAILURE_TTL_MS: u64 = 30_000;

#[derive(Debug)]
pub(crate) struct HostFacts {
    pub(crate) name: String,
    pub(crate) robots_attempts: [u32; 2],
    /// By scheme; for what was read while the host is in the frontier.
    pub(crate) robots_fetched: [UnixMillis; 2],
    /// By scheme and by the name the rules were read for.
    robots: Vec<(Scheme, String, Arc<KnownRobots>)>,
}

/// What robots.txt of an origin means for us.
#[derive(Debug)]
pub(crate) enum KnownRobots {
    Rules(RobotsRules),
    /// The server answers, but not for robots.txt.
    Unreachable(String),
    /// The server cannot be reached at all: every page would end the same way.
    Dead(Outcome),
}

/// What robots.txt says of one page.
#[derive(Debug, PartialEq)]
pub(crate) enum Says {
    Allowed,
    Refused(Reason),
    Dead(Outcome),
    /// It was read for another crawler's name, or not at all.
    NotRead,
}

impl KnownRobots {
    pub(crate) fn of(stored: &StoredRobots, agent: &str, policy: RobotsPolicy) -> Self {
        if stored.status == 0 {
            return Self::dead(stored);
        }
        match robots_for_status(stored.status, policy) {
            RobotsFromStatus::Parse => Self::Rules(RobotsRules::parse(&stored.body, agent)),
            RobotsFromStatus::DisallowAll => Self::Unreachable(format!("status {}", stored.status)),
            RobotsFromStatus::AllowAll | RobotsFromStatus::Redirect => {
                Self::Rules(RobotsRules::allow_all())
            }
        }
    }

    fn dead(stored: &StoredRobots) -> Self {
        let code = stored.body.first().copied().unwrap_or_default();
        let kind = OutcomeKind::from_stored(code).unwrap_or(OutcomeKind::ConnectFailed);
        let detail = String::from_utf8_lossy(stored.body.get(1..).unwrap_or_default());
        Self::Dead(Outcome::new(kind, None, detail))
    }

    pub(crate) fn crawl_delay_ms(&self, politeness: &Politeness) -> u64 {
        let Self::Rules(rules) = self else { return 0 };
        let asked = rules
            .crawl_delay()
            .map_or(0, |delay| delay.as_millis() as u64);
        asked.min(politeness.max_wait_ms)
    }
}

impl HostFacts {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            robots_attempts: [0; 2],
            robots_fetched: [UnixMillis(0); 2],
            robots: Vec::new(),
        }
    }

    pub(crate) fn learn(&mut self, scheme: Scheme, agent: &str, known: KnownRobots) {
        self.robots
            .retain(|(s, name, _)| *s != scheme || name != agent);
        self.robots
            .push((scheme, agent.to_owned(), Arc::new(known)));
    }

    pub(crate) fn known(&self, scheme: Scheme, agent: &str) -> Option<&KnownRobots> {
        let mut entries = self.robots.iter();
        entries
            .find(|(s, name, _)| *s == scheme && name == agent)
            .map(|(_, _, known)| &**known)
    }

    pub(crate) fn says(&self, scheme: Scheme, agent: &str, url: &Url) -> Says {
        match self.known(scheme, agent) {
            None => Says::NotRead,
            Some(KnownRobots::Dead(outcome)) => Says::Dead(outcome.clone()),
            Some(KnownRobots::Unreachable(why)) => {
                Says::Refused(Reason::new(ReasonCode::RobotsUnreachable, why.clone()))
            }
            Some(KnownRobots::Rules(rules)) => match rules.check(url) {
                RobotsVerdict::Allowed { .. } => Says::Allowed,
                RobotsVerdict::Disallowed { line, rule } => Says::Refused(Reason::new(
                    ReasonCode::RobotsDisallowed,
                    format!("line {line}: {rule}"),
                )),
            },
        }
    }

    /// The address of robots.txt under a scheme.
    pub(crate) fn robots_url(&self, scheme: Scheme) -> Option<Url> {
        Url::parse(&format!("{}://{}/robots.txt", scheme.as_str(), self.name)).ok()
    }
}

impl Dispatcher {
    /// Makes a stored host known to the frontier and opens the crawl's lane on it.
    pub(crate) fn add_host(&mut self, crawl: CrawlId, host: &StoredHost, more_in_store: bool) {
        let Some(plan) = self
            .crawls
            .get(&crawl)
            .map(|running| Arc::clone(&running.plan))
        else {
            return;
        };
        let facts = self
            .hosts
            .entry(host.id)
            .or_insert_with(|| HostFacts::new(host.name.clone()));
        let now = self.clock.now();
        let mut entry = HostEntry {
            id: host.id,
            next_allowed: self.clock.moment_of(host.next_allowed),
            crawl_delay_ms: 0,
            failures: host.failures,
            robots_until: [None, None],
        };
        for stored in &host.robots {
            let until = robots_until(self.clock, stored.fetched_at);
            // A failure may be over by now: a new process asks again.
            if until > now && is_an_answer(stored.status) {
                let known = read_robots(facts, stored, &plan);
                entry.crawl_delay_ms = entry.crawl_delay_ms.max(known);
                entry.robots_until[stored.scheme as usize] = Some(until);
            }
        }
        if self.hold_off {
            let delay = entry
                .crawl_delay_ms
                .max(plan.spec.politeness.delay_ms)
                .max(host.delay_ms);
            let earliest = Moment::START.after(delay + 1);
            entry.next_allowed = entry.next_allowed.max(earliest);
        }
        let used = Used {
            pages: host.pages_done,
            requests: host.requests,
        };
        self.frontier
            .add_host(&entry, crawl, used, more_in_store, now);
        if host.suspended {
            self.frontier
                .suspend(crawl, host.id, ReasonCode::HostSuspended, now);
        }
        for stored in &host.robots {
            self.plant_sitemaps(crawl, host.id, stored.scheme);
        }
    }
}

/// Until when an answer may be used.
pub(crate) fn robots_until(clock: Clock, fetched_at: UnixMillis) -> Moment {
    clock.moment_of(UnixMillis(fetched_at.0 + ROBOTS_TTL_MS))
}

fn is_an_answer(status: u16) -> bool {
    matches!(status, 200..=499) && status != 429
}

fn read_robots(facts: &mut HostFacts, stored: &StoredRobots, plan: &CrawlPlan) -> u64 {
    let agent = plan.spec.fetch.user_agent.robots_name();
    let known = KnownRobots::of(stored, agent, plan.spec.politeness.robots);
    let delay = known.crawl_delay_ms(&plan.spec.politeness);
    facts.learn(stored.scheme, agent, known);
    delay
}
