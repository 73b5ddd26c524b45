//! What is known of a host while it is in the frontier: its name and what its robots.txt says.

use std::sync::Arc;

use trawl_frontier::{HostEntry, Moment, Used};
use trawl_rules::{RobotsFromStatus, RobotsRules, RobotsVerdict, robots_for_status};
use trawl_store::contract::{
    read::StoredHost,
    write::{HostUpdate, StoredRobots, Suspended},
};
use trawl_types::{
    CrawlId, HostId, Outcome, OutcomeKind, Reason, ReasonCode, Scheme, UnixMillis,
    spec::{Politeness, RobotsPolicy},
};
use url::Url;

use super::Dispatcher;
use crate::{clock::Clock, commit::What};

/// RFC 9309 §2.4: not used for longer than a day.
const ROBOTS_TTL_MS: i64 = 24 * 3_600_000;

/// A host that did not answer may be up again: who comes later asks anew.
pub(crate) const FAILURE_TTL_MS: u64 = 30_000;

/// Waits are rounded up on their way into the store and back, and may follow a delay.
const SLACK_MS: u64 = 60_000;

/// How long a copy of more than a day goes on being used before a file that cannot be read is asked
/// for again. Longer than for a host without any: nothing waits for it.
pub(crate) const STALE_TTL_MS: u64 = 600_000;

#[derive(Debug)]
pub(crate) struct HostFacts {
    pub(crate) name: String,
    pub(crate) robots_attempts: [u32; 2],
    /// By scheme; for what was read while the host is in the frontier.
    pub(crate) robots_fetched: [UnixMillis; 2],
    /// By scheme and by the name the rules were read for.
    robots: Vec<(Scheme, String, Arc<KnownRobots>)>,
    /// The same, of answers that are more than a day old: used if there is no newer one to be had
    /// (RFC 9309 §2.4).
    stale: Vec<(Scheme, String, Arc<KnownRobots>)>,
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
        if stored.status == StoredRobots::NO_ANSWER {
            return Self::Dead(failure_of(stored));
        }
        match robots_for_status(stored.status, policy) {
            RobotsFromStatus::Parse => Self::Rules(RobotsRules::parse(&stored.body, agent)),
            RobotsFromStatus::DisallowAll if stored.is_failure() => {
                let failure = failure_of(stored);
                Self::Unreachable(format!("{}: {}", failure.kind.as_str(), failure.detail))
            }
            RobotsFromStatus::DisallowAll => Self::Unreachable(format!("status {}", stored.status)),
            RobotsFromStatus::AllowAll | RobotsFromStatus::Redirect => {
                Self::Rules(RobotsRules::allow_all())
            }
        }
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
            stale: Vec::new(),
        }
    }

    pub(crate) fn learn(&mut self, scheme: Scheme, agent: &str, known: KnownRobots) {
        note(&mut self.robots, scheme, agent, Arc::new(known));
    }

    /// Goes on with the rules of an answer that has grown old, if there are any.
    pub(crate) fn fall_back(&mut self, scheme: Scheme, agent: &str) -> Option<&KnownRobots> {
        let old = self.stale.iter();
        let mut old = old.filter(|(s, name, _)| *s == scheme && name == agent);
        if !matches!(self.known(scheme, agent), Some(KnownRobots::Rules(_))) {
            let known = old.next().map(|(_, _, known)| Arc::clone(known))?;
            note(&mut self.robots, scheme, agent, known);
        }
        self.known(scheme, agent)
    }

    /// True if an answer was read for anybody.
    pub(crate) fn has_rules(&self, scheme: Scheme) -> bool {
        let mut all = self.robots.iter().chain(&self.stale);
        all.any(|(s, _, known)| *s == scheme && matches!(**known, KnownRobots::Rules(_)))
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
            if !stored.is_answer() {
                continue;
            }
            let agent = plan.spec.fetch.user_agent.robots_name();
            let known = KnownRobots::of(stored, agent, plan.spec.politeness.robots);
            if until > now {
                let delay = known.crawl_delay_ms(&plan.spec.politeness);
                entry.crawl_delay_ms = entry.crawl_delay_ms.max(delay);
                entry.robots_until[stored.scheme as usize] = Some(until);
                facts.learn(stored.scheme, agent, known);
            } else {
                note(&mut facts.stale, stored.scheme, agent, Arc::new(known));
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
        if host.suspended.is_some() {
            self.frontier
                .suspend(crawl, host.id, ReasonCode::HostSuspended, now);
        } else if self.must_wait_ms(host.id) > plan.spec.politeness.max_wait_ms + SLACK_MS {
            self.give_up_over_wait(crawl, host.id);
        }
        for stored in &host.robots {
            self.plant_sitemaps(crawl, host.id, stored.scheme);
        }
    }

    /// How long a host asked to be left alone, as far as anybody here knows: what is stored may be
    /// older.
    fn must_wait_ms(&self, host: HostId) -> u64 {
        let state = self.frontier.host_state(host);
        state.map_or(0, |state| state.next_allowed.millis_from(self.clock.now()))
    }

    /// A host that asks for a longer wait than a crawl is willing to keep is not asked early: the
    /// crawl gives it up.
    pub(crate) fn give_up_over_wait(&mut self, crawl: CrawlId, host: HostId) {
        let now = self.clock.now();
        self.frontier
            .suspend(crawl, host, ReasonCode::HostSuspended, now);
        let update = HostUpdate {
            host: Some(host),
            suspended: Some(Suspended::LongWait),
            ..HostUpdate::default()
        };
        self.commit(crawl, What::Host(Box::new(update)), 64);
    }
}

/// Until when an answer may be used.
pub(crate) fn robots_until(clock: Clock, fetched_at: UnixMillis) -> Moment {
    clock.moment_of(UnixMillis(fetched_at.0 + ROBOTS_TTL_MS))
}

/// What went wrong, where nothing was read.
fn failure_of(stored: &StoredRobots) -> Outcome {
    let code = stored.body.first().copied().unwrap_or_default();
    let kind = OutcomeKind::from_stored(code).unwrap_or(OutcomeKind::ConnectFailed);
    let detail = String::from_utf8_lossy(stored.body.get(1..).unwrap_or_default());
    Outcome::new(kind, None, detail)
}

fn note(
    list: &mut Vec<(Scheme, String, Arc<KnownRobots>)>,
    scheme: Scheme,
    agent: &str,
    known: Arc<KnownRobots>,
) {
    list.retain(|(s, name, _)| *s != scheme || name != agent);
    list.push((scheme, agent.to_owned(), known));
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: &str = "trawl";

    fn answer(status: u16, body: &[u8]) -> KnownRobots {
        let stored = StoredRobots {
            scheme: Scheme::Http,
            status,
            body: body.to_vec(),
            fetched_at: UnixMillis(0),
        };
        KnownRobots::of(&stored, AGENT, RobotsPolicy::Strict)
    }

    fn says(facts: &HostFacts, path: &str) -> Says {
        let url = Url::parse(&format!("http://a.test{path}")).unwrap();
        facts.says(Scheme::Http, AGENT, &url)
    }

    #[test]
    fn rules_that_are_known_or_have_grown_old_are_fallen_back_upon_and_failures_are_not() {
        let mut facts = HostFacts::new("a.test".into());
        assert!(facts.fall_back(Scheme::Http, AGENT).is_none());
        facts.learn(Scheme::Http, AGENT, answer(503, b""));
        assert!(facts.fall_back(Scheme::Http, AGENT).is_none());
        let old = Arc::new(answer(200, b"User-agent: *\nDisallow: /x"));
        note(&mut facts.stale, Scheme::Http, AGENT, old);
        assert!(facts.fall_back(Scheme::Https, AGENT).is_none());
        assert!(facts.fall_back(Scheme::Http, "other").is_none());
        assert!(facts.fall_back(Scheme::Http, AGENT).is_some());
        assert_eq!(says(&facts, "/"), Says::Allowed);
        assert!(matches!(says(&facts, "/x"), Says::Refused(_)));
        facts.learn(Scheme::Http, AGENT, answer(404, b""));
        assert!(facts.fall_back(Scheme::Http, AGENT).is_some());
        assert_eq!(says(&facts, "/x"), Says::Allowed, "what is newer counts");
    }

    #[test]
    fn what_could_not_be_read_refuses_pages_and_a_host_that_is_gone_ends_them() {
        let mut body = vec![OutcomeKind::IdleTimeout as u8];
        body.extend(b"nothing came");
        let mut facts = HostFacts::new("a.test".into());
        facts.learn(Scheme::Http, AGENT, answer(StoredRobots::UNREADABLE, &body));
        let Says::Refused(reason) = says(&facts, "/") else {
            panic!("{:?}", says(&facts, "/"));
        };
        assert_eq!(reason.code, ReasonCode::RobotsUnreachable);
        assert_eq!(reason.detail, "idle_timeout: nothing came");
        facts.learn(Scheme::Http, AGENT, answer(StoredRobots::NO_ANSWER, &body));
        assert!(matches!(says(&facts, "/"), Says::Dead(_)));
    }
}
