//! The visit of robots.txt. Redirects come back as a further errand, so that every hop has a lease.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;
use trawl_fetch::{Accept, Answer, Body, Ended, Method, Request};
use trawl_frontier::{Health, LeaseId, Report};
use trawl_quick::Quick;
use trawl_rules::MAX_ROBOTS_BYTES;
use trawl_store::contract::write::StoredRobots;
use trawl_types::{Outcome, OutcomeKind, UnixMillis, spec::Politeness};
use url::Url;

use super::{Finished, Permit, Said, Step, answer::asked_to_wait, conclude::too_long, heard};
use crate::{clock::Clock, dispatch::KnownRobots, plan::CrawlPlan, task::RobotsTask};

/// A little more than is understood, so that a line across the limit is known to be cut.
const MOST_BYTES: u64 = MAX_ROBOTS_BYTES as u64 + 16;
/// RFC 9309 §2.3.1.2.
const MOST_HOPS: u8 = 5;

#[derive(Debug)]
pub(crate) struct RobotsEnd {
    pub(crate) task: RobotsTask,
    pub(crate) result: RobotsResult,
}

#[derive(Debug)]
pub(crate) enum RobotsResult {
    /// An answer that settles the matter: a file, or a status that stands for one.
    Answer {
        status: u16,
        body: Vec<u8>,
    },
    /// Another process was told a short while ago; nobody was asked.
    Heard(Box<StoredRobots>),
    Hop(Url),
    Failed {
        outcome: Outcome,
        /// What the server asks for: robots.txt is a request like any other.
        wait_ms: Option<u64>,
    },
    /// Nothing was sent, because the host may not be asked any more.
    Withdrawn,
}

pub(crate) async fn visit_robots(
    plan: Arc<CrawlPlan>,
    quick: Quick,
    clock: Clock,
    lease: LeaseId,
    task: RobotsTask,
    permit: Permit,
    tell: UnboundedSender<Said>,
) {
    let result = match heard::find(&quick, &task, clock.wall()).await {
        Some(robots) => RobotsResult::Heard(Box::new(robots)),
        None => ask(&plan, clock, &task, &permit).await,
    };
    let report = match &result {
        RobotsResult::Heard(robots) => untouched_since(&plan, robots, clock.wall()),
        result => report(result, &plan.spec.politeness),
    };
    let step = Step::Robots(RobotsEnd { task, result });
    let _ = tell.send(Said::Finished(Box::new(Finished {
        lease,
        report,
        step,
    })));
}

async fn ask(plan: &CrawlPlan, clock: Clock, task: &RobotsTask, permit: &Permit) -> RobotsResult {
    let request = Request {
        url: task.url.clone(),
        method: Method::Get,
        accept: Accept::Robots,
        etag: None,
        last_modified: None,
        secret_headers: plan.may_see_secrets(&task.url),
        max_body: Some(MOST_BYTES),
    };
    let may_still = || permit.holds();
    match plan.fetcher.start_while(request, &may_still).await {
        Some(Ok(answer)) => {
            let wait_ms = asked_to_wait(answer.head(), clock.wall());
            read(task, answer, wait_ms).await
        }
        Some(Err(ended)) => failed(ended),
        None => RobotsResult::Withdrawn,
    }
}

async fn read(task: &RobotsTask, answer: Answer, wait_ms: Option<u64>) -> RobotsResult {
    let head = answer.head();
    let status = head.status;
    match status {
        200..=299 => match answer.body().await {
            Ok(body) if breaks_off(&body) => {
                let detail = "the compressed file breaks off";
                let outcome = Outcome::new(OutcomeKind::LengthMismatch, Some(status), detail);
                RobotsResult::Failed { outcome, wait_ms }
            }
            Ok(body) => RobotsResult::Answer {
                status,
                body: body.bytes.into(),
            },
            Err(ended) => failed(ended),
        },
        300..=399 => {
            let target = head
                .location
                .as_deref()
                .and_then(|to| task.url.join(to.trim()).ok());
            let target = target.filter(|url| matches!(url.scheme(), "http" | "https"));
            answer.discard();
            match target {
                Some(mut url) if task.hops < MOST_HOPS => {
                    url.set_fragment(None);
                    RobotsResult::Hop(url)
                }
                // A chain that leads nowhere is a file that is not there.
                _ => RobotsResult::Answer {
                    status: 404,
                    body: Vec::new(),
                },
            }
        }
        429 | 500..=599 => {
            answer.discard();
            let kind = OutcomeKind::ServerError;
            let outcome = Outcome::new(kind, Some(status), format!("status {status}"));
            RobotsResult::Failed { outcome, wait_ms }
        }
        _ => {
            answer.discard();
            RobotsResult::Answer {
                status,
                body: Vec::new(),
            }
        }
    }
}

/// True if an end is missing that did not fall to our own limit: the rules may have been there.
fn breaks_off(body: &Body) -> bool {
    body.truncated && (body.bytes.len() as u64) < MOST_BYTES
}

fn failed(ended: Ended) -> RobotsResult {
    RobotsResult::Failed {
        outcome: ended.outcome,
        wait_ms: None,
    }
}

/// Nobody was asked now, but somebody asked when the answer came: the delay counts from then.
fn untouched_since(plan: &CrawlPlan, robots: &StoredRobots, now: UnixMillis) -> Report {
    let (politeness, agent) = (&plan.spec.politeness, &plan.spec.fetch.user_agent);
    let known = KnownRobots::of(robots, agent.robots_name(), politeness.robots);
    let delay = known.crawl_delay_ms(politeness).max(politeness.delay_ms);
    let age = (now.0 - robots.fetched_at.0).max(0) as u64;
    let wait = delay.saturating_sub(age);
    Report {
        wait_ms: (wait > 0).then_some(wait),
        ..Report::untouched()
    }
}

fn report(result: &RobotsResult, politeness: &Politeness) -> Report {
    match result {
        RobotsResult::Failed { outcome, wait_ms } => Report {
            contacted: !outcome.kind.never_left(),
            suspend: too_long(*wait_ms, politeness, outcome.status == Some(429)),
            // Whether a host is given up over robots.txt is decided by the number of attempts.
            health: Health::Unknown,
            wait_ms: *wait_ms,
            ..Report::well(false)
        },
        RobotsResult::Withdrawn | RobotsResult::Heard(_) => Report::untouched(),
        RobotsResult::Answer { .. } | RobotsResult::Hop(_) => Report::well(false),
    }
}
