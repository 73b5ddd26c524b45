//! What follows from a visit: the report to the frontier, and a settlement or a further request.

use trawl_extract::PageFacts;
use trawl_fetch::Head;
use trawl_frontier::{Health, Report, Suspend, backoff_ms};
use trawl_store::contract::{
    known::KnownLinks,
    write::{Settlement, Visit, VisitEnd},
};
use trawl_types::{
    Outcome, OutcomeKind,
    spec::{Politeness, RateLimitPolicy},
};
use url::Url;

use super::{
    Step,
    answer::asked_to_wait,
    links::Links,
    page::{Seen, Visitor},
    redirect::Target,
};
use crate::task::{PageTask, Phase};

impl Visitor<'_> {
    /// What follows from all that was seen.
    pub(super) fn conclude(
        &self,
        mut task: Box<PageTask>,
        url: &Url,
        mut seen: Seen,
    ) -> (Report, Step) {
        let mut report = self.report(&task, &seen);
        if seen.withdrawn {
            report = Report::untouched();
        }
        if seen.get_next || seen.withdrawn {
            report.counts_as_page = false;
            if seen.get_next {
                task.phase = Phase::Get;
            }
            if let Ok(same) = self.plan.normaliser().url(url.clone()) {
                return (
                    report,
                    Step::CarryOn {
                        task,
                        url: Box::new(same),
                    },
                );
            }
        }
        let redirect = seen.redirect.take();
        if let Some(Target::SamePage(target)) = redirect {
            report.counts_as_page = false;
            task.hops.push(url.as_str().to_owned());
            return (report, Step::CarryOn { task, url: target });
        }
        let settlement = self.settle(&task, url, &mut seen, redirect);
        let raw = seen.raw;
        (
            report,
            Step::Settled {
                task,
                settlement: Box::new(settlement),
                raw,
            },
        )
    }

    fn settle(
        &self,
        task: &PageTask,
        url: &Url,
        seen: &mut Seen,
        redirect: Option<Target>,
    ) -> Settlement {
        let attempts = task.attempts + 1;
        if self.is_worth_another_try(&seen.outcome, attempts) {
            let pause = self.pause_before_retry(task, attempts, seen);
            let not_before = trawl_types::UnixMillis(self.clock.wall().0 + pause as i64);
            let end = VisitEnd::Retry {
                attempts,
                not_before,
                outcome: seen.outcome.clone(),
            };
            return Settlement {
                page: task.page,
                end,
                links: Vec::new(),
                known: KnownLinks::default(),
            };
        }
        let mut visit = self.visit_of(task, url, attempts, seen);
        let mut links = Links::default();
        if let Some(Target::Other { to, link, .. }) = redirect {
            visit.redirect_to = Some(to).filter(|to| !to.is_empty());
            links.new.extend(link.map(|link| *link));
        }
        if let Some(body) = seen.body.take() {
            visit.body = body.record;
            links = body.facts.links;
        }
        Settlement {
            page: task.page,
            end: VisitEnd::Final(Box::new(visit)),
            links: links.new,
            known: links.known,
        }
    }

    fn is_worth_another_try(&self, outcome: &Outcome, attempts: u32) -> bool {
        let politeness = &self.plan.spec.politeness;
        let gives_up = outcome.kind == OutcomeKind::RateLimited
            && politeness.on_rate_limit == RateLimitPolicy::SuspendHost;
        outcome.kind.is_retryable() && !gives_up && attempts < politeness.retry.attempts
    }

    fn pause_before_retry(&self, task: &PageTask, attempts: u32, seen: &Seen) -> u64 {
        let backoff = backoff_ms(
            &self.plan.spec.politeness.retry,
            attempts,
            task.page.0 as u64,
        );
        backoff.max(self.asked_to_wait(seen).unwrap_or(0))
    }

    fn asked_to_wait(&self, seen: &Seen) -> Option<u64> {
        asked_to_wait(seen.head.as_ref()?, self.clock.wall())
    }

    fn report(&self, task: &PageTask, seen: &Seen) -> Report {
        let kind = seen.outcome.kind;
        let health = match kind {
            _ if kind.is_host_failure() => Health::Failing,
            OutcomeKind::AddressRefused => Health::Unknown,
            _ => Health::Well,
        };
        let politeness = &self.plan.spec.politeness;
        let limited = kind == OutcomeKind::RateLimited;
        let asked = self
            .asked_to_wait(seen)
            .filter(|_| limited || kind == OutcomeKind::ServerError);
        let backoff = || backoff_ms(&politeness.retry, task.attempts + 1, task.page.0 as u64);
        let wait_ms = asked.or_else(|| limited.then(backoff));
        let gives_up = limited && politeness.on_rate_limit == RateLimitPolicy::SuspendHost;
        Report {
            contacted: !kind.never_left(),
            health,
            wait_ms,
            counts_as_page: kind.is_page(),
            suspend: gives_up
                .then_some(Suspend::RateLimited)
                .or_else(|| too_long(asked, politeness, limited)),
        }
    }

    fn visit_of(&self, task: &PageTask, url: &Url, attempts: u32, seen: &Seen) -> Visit {
        let head = seen.head.as_ref();
        let body = seen.body.as_ref();
        let page = body.map(|body| &body.facts.page);
        let text = |value: Option<&Box<str>>| value.map(ToString::to_string);
        let moved = url.as_str() != task.found_as;
        Visit {
            outcome: seen.outcome.clone(),
            attempts,
            final_url: moved.then(|| url.as_str().to_owned()),
            redirect_to: None,
            canonical_url: page
                .and_then(|p| p.canonical.as_ref())
                .map(|url| url.as_str().to_owned()),
            title: text(page.and_then(|p| p.title.as_ref())),
            description: text(page.and_then(|p| p.description.as_ref())),
            content_type: head.and_then(|h| h.content_type.clone()),
            charset: body.map(|b| b.facts.charset.to_owned()),
            language: text(page.and_then(|p| p.lang.as_ref())),
            content_length: body
                .map(|b| b.length)
                .or(seen.raw.as_ref().map(|raw| raw.body.bytes.len() as u64))
                .or(head.and_then(|h| h.content_length)),
            content_hash: body.map(|b| b.facts.hash),
            truncated: body.is_some_and(|b| b.truncated)
                || seen.raw.as_ref().is_some_and(|raw| raw.body.truncated),
            etag: head.and_then(|h| h.etag.clone()),
            last_modified: head.and_then(|h| h.last_modified.clone()),
            robots: robots_text(head, page),
            links_total: page.map_or(0, |p| p.links_total),
            fetch_time_ms: self.clock.now().as_millis().saturating_sub(self.began),
            crawled_at: self.clock.wall(),
            body: None,
            digest: None,
        }
    }
}

/// A host that asks for a longer wait than the crawl is willing to keep is not asked early: it is
/// given up.
pub(super) fn too_long(
    asked_ms: Option<u64>,
    politeness: &Politeness,
    limited: bool,
) -> Option<Suspend> {
    let why = if limited {
        Suspend::RateLimited
    } else {
        Suspend::LongWait
    };
    asked_ms
        .is_some_and(|wait| wait > politeness.max_wait_ms)
        .then_some(why)
}

/// Directives of header and meta element, as they were found.
fn robots_text(head: Option<&Head>, page: Option<&PageFacts<'_>>) -> Option<String> {
    let mut parts: Vec<String> = head.map(|h| h.robots_tags.clone()).unwrap_or_default();
    parts.extend(
        page.map(|p| p.robots.to_string())
            .filter(|text| !text.is_empty()),
    );
    (!parts.is_empty()).then(|| parts.join(", "))
}
