//! Why a URL was or was not crawled, or what would happen to one that was never seen.

use trawl_rules::{RobotsRules, RobotsVerdict};
use trawl_store::{
    Store, StoreError,
    contract::{read::StoredHost, write::Suspended},
};
use trawl_types::{
    CrawlId, CrawlUrl, LinkRel, Reason, ReasonCode, Scheme, record::PageStanding,
    spec::RobotsPolicy,
};

use crate::plan::CrawlPlan;

/// The answer to "what about this URL?".
#[derive(Debug)]
pub struct Explanation {
    /// The address as it would be requested; absent if the text is no crawlable URL.
    pub address: Option<String>,
    /// What it is compared by.
    pub identity: Option<String>,
    /// What the crawl knows of it.
    pub standing: Option<PageStanding>,
    /// What the rules say of it, apart from depth, budgets and robots.txt.
    pub verdict: Result<(), Reason>,
    pub robots: RobotsSays,
    /// Why the host was given up in this crawl, if it was.
    pub host_given_up: Option<Suspended>,
    /// The host's budget of pages or requests is used up.
    pub host_budget_used: bool,
}

impl Explanation {
    /// What would become of the URL if it were found now: the rules, robots.txt, and, where the
    /// crawl does not know it, the state of its host. Depth and the budget of the crawl are left.
    pub fn foreseen(&self) -> Result<(), Reason> {
        self.verdict.clone()?;
        match &self.robots {
            RobotsSays::Disallowed { line, rule } => {
                let detail = format!("line {line}: {rule}");
                return Err(Reason::new(ReasonCode::RobotsDisallowed, detail));
            }
            RobotsSays::Unreachable { .. } => return Err(ReasonCode::RobotsUnreachable.into()),
            RobotsSays::Ignored | RobotsSays::NotRead | RobotsSays::Allowed { .. } => {}
        }
        match self.standing {
            None if self.host_budget_used => Err(ReasonCode::HostBudget.into()),
            None => self.host_given_up.map_or(Ok(()), |why| Err(given_up(why))),
            Some(_) => Ok(()),
        }
    }
}

/// Why a URL of a host that was given up is not crawled.
pub fn given_up(why: Suspended) -> Reason {
    Reason::new(ReasonCode::HostSuspended, why.explanation())
}

/// What is known of robots.txt for a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RobotsSays {
    Ignored,
    /// The host has not been asked; its robots.txt would be read first.
    NotRead,
    Unreachable {
        status: u16,
    },
    Allowed {
        line: Option<u32>,
    },
    Disallowed {
        line: u32,
        rule: String,
    },
}

/// Explains one URL from the view of one crawl. Asks no server.
pub async fn explain(
    store: &dyn Store,
    plan: &CrawlPlan,
    crawl: CrawlId,
    text: &str,
) -> Result<Explanation, StoreError> {
    let url = match plan.normaliser().seed(text) {
        Ok(url) => url,
        Err(reason) => {
            return Ok(Explanation {
                address: None,
                identity: None,
                standing: None,
                verdict: Err(reason),
                robots: RobotsSays::NotRead,
                host_given_up: None,
                host_budget_used: false,
            });
        }
    };
    let host = store.host_by_name(crawl, url.host().as_str()).await?;
    let scope = &plan.spec.scope;
    let used = |host: &StoredHost| {
        (scope.max_pages_per_host).is_some_and(|most| host.pages_done >= most)
            || (scope.max_requests_per_host).is_some_and(|most| host.requests >= most)
    };
    Ok(Explanation {
        address: Some(url.as_str().to_owned()),
        identity: Some(plan.normaliser().identity(url.address())),
        standing: store.standing(crawl, url.key()).await?,
        verdict: plan.judge(&url, LinkRel::default()),
        robots: robots(plan, &url, host.as_ref()),
        host_given_up: host.as_ref().and_then(|host| host.suspended),
        host_budget_used: host.as_ref().is_some_and(used),
    })
}

fn robots(plan: &CrawlPlan, url: &CrawlUrl, host: Option<&StoredHost>) -> RobotsSays {
    let policy = plan.spec.politeness.robots;
    if policy == RobotsPolicy::Ignore {
        return RobotsSays::Ignored;
    }
    let Some(host) = host else {
        return RobotsSays::NotRead;
    };
    let scheme: Scheme = url.scheme();
    let Some(stored) = host.robots.iter().find(|robots| robots.scheme == scheme) else {
        return RobotsSays::NotRead;
    };
    match stored.status {
        200..=299 => {
            let rules = RobotsRules::parse(&stored.body, plan.spec.fetch.user_agent.robots_name());
            match rules.check(url.address()) {
                RobotsVerdict::Allowed { line } => RobotsSays::Allowed { line },
                RobotsVerdict::Disallowed { line, rule } => RobotsSays::Disallowed { line, rule },
            }
        }
        _ if stored.is_failure() && policy == RobotsPolicy::Strict => {
            RobotsSays::Unreachable { status: 0 }
        }
        429 | 500..=599 if policy == RobotsPolicy::Strict => RobotsSays::Unreachable {
            status: stored.status,
        },
        _ => RobotsSays::Allowed { line: None },
    }
}
