//! The visit of a page: request, judge the answer, read it, find its links.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use tokio::sync::mpsc::UnboundedSender;
use trawl_extract::PageFacts;
use trawl_fetch::{Accept, Answer, Body, Ended, Head, Method, Request};
use trawl_frontier::{Health, LeaseId, Report, backoff_ms};
use trawl_store::contract::write::{Settlement, Visit, VisitEnd};
use trawl_types::{
    Outcome, OutcomeKind,
    spec::{HeadPolicy, RateLimitPolicy},
};
use url::Url;

use super::{
    Finished, Said, Step,
    answer::{Meaning, asked_to_wait, looks_like_html, meaning, path_suggests_other_than_html},
    read::{ReadBody, read_through},
    redirect::{Target, follow},
};
use crate::{
    clock::Clock,
    plan::CrawlPlan,
    task::{PageTask, Phase},
};

/// Bodies above this are read through off the async threads.
const LARGE_BODY: usize = 256 * 1024;

/// Visits a page and tells the dispatcher how it went. Also when something in here breaks: a
/// lease that never comes back would stop the crawl.
pub(crate) async fn visit_page(
    plan: Arc<CrawlPlan>,
    clock: Clock,
    lease: LeaseId,
    task: Box<PageTask>,
    url: Url,
    tell: UnboundedSender<Said>,
) {
    let visitor = Visitor {
        plan: &plan,
        clock,
        lease,
        tell: &tell,
        began: clock.now().as_millis(),
    };
    let seen = AssertUnwindSafe(visitor.run(&task, &url))
        .catch_unwind()
        .await;
    let seen = seen.unwrap_or_else(|_| {
        tracing::error!(url = %url, "a page broke the program: please report it");
        Seen::ended(Outcome::new(
            OutcomeKind::ProtocolError,
            None,
            "internal error",
        ))
    });
    let (report, step) = visitor.conclude(task, &url, seen);
    let _ = tell.send(Said::Finished(Box::new(Finished {
        lease,
        report,
        step,
    })));
}

/// Everything one lease brought to light.
struct Seen {
    outcome: Outcome,
    head: Option<Head>,
    body: Option<ReadBody>,
    redirect: Option<Target>,
    /// HEAD was answered: GET comes next.
    get_next: bool,
}

impl Seen {
    fn ended(outcome: Outcome) -> Self {
        Self {
            outcome,
            head: None,
            body: None,
            redirect: None,
            get_next: false,
        }
    }

    fn with_head(outcome: Outcome, head: Head) -> Self {
        Self {
            head: Some(head),
            ..Self::ended(outcome)
        }
    }
}

struct Visitor<'a> {
    plan: &'a Arc<CrawlPlan>,
    clock: Clock,
    lease: LeaseId,
    tell: &'a UnboundedSender<Said>,
    began: u64,
}

impl Visitor<'_> {
    async fn run(&self, task: &PageTask, url: &Url) -> Seen {
        let method = self.method(task, url);
        let request = Request {
            url: url.clone(),
            method,
            accept: Accept::Page,
            etag: task.etag.clone(),
            last_modified: task.last_modified.clone(),
            secret_headers: self.plan.may_see_secrets(url),
            max_body: None,
        };
        let answer = match self.plan.fetcher.start(request).await {
            Ok(answer) => answer,
            Err(ended) => return Self::ended(ended),
        };
        if self.plan.spec.politeness.per_host > 1 {
            let _ = self.tell.send(Said::Answered(self.lease));
        }
        let status = answer.head().status;
        match meaning(answer.head()) {
            Meaning::Redirect => self.redirected(task, url, answer),
            Meaning::End(kind) if method == Method::Head && unusable_for_head(kind) => Seen {
                get_next: true,
                ..Seen::ended(Outcome::new(kind, Some(status), ""))
            },
            Meaning::Html | Meaning::PerhapsHtml if method == Method::Head => {
                let outcome = Outcome::new(OutcomeKind::Fetched, Some(status), "");
                Seen {
                    get_next: true,
                    ..Seen::ended(outcome)
                }
            }
            Meaning::End(kind) => {
                let head = answer.head().clone();
                answer.discard();
                Seen::with_head(
                    Outcome::new(kind, Some(status), detail_of(kind, &head)),
                    head,
                )
            }
            Meaning::Html => self.read(task, url, answer, false).await,
            Meaning::PerhapsHtml => self.read(task, url, answer, true).await,
        }
    }

    fn method(&self, task: &PageTask, url: &Url) -> Method {
        let head = match (task.phase, self.plan.spec.fetch.head) {
            (Phase::Get, _) | (Phase::First, HeadPolicy::Never) => false,
            (Phase::First, HeadPolicy::Always) => true,
            (Phase::First, HeadPolicy::Auto) => path_suggests_other_than_html(url.path()),
        };
        if head { Method::Head } else { Method::Get }
    }

    fn ended(ended: Ended) -> Seen {
        Seen {
            head: ended.head.map(|head| *head),
            ..Seen::ended(ended.outcome)
        }
    }

    fn redirected(&self, task: &PageTask, url: &Url, answer: Answer) -> Seen {
        let head = answer.head().clone();
        answer.discard();
        let target = follow(self.plan, task, url, head.status, head.location.as_deref());
        let outcome = match &target {
            Target::SamePage(_) => Outcome::new(OutcomeKind::Redirected, Some(head.status), ""),
            Target::Other { outcome, .. } => outcome.clone(),
        };
        Seen {
            redirect: Some(target),
            ..Seen::with_head(outcome, head)
        }
    }

    async fn read(&self, task: &PageTask, url: &Url, answer: Answer, sniff: bool) -> Seen {
        let head = answer.head().clone();
        let body = match answer.body().await {
            Ok(body) => body,
            Err(ended) => {
                return Seen {
                    head: Some(head),
                    ..Self::ended(ended)
                };
            }
        };
        if sniff && !looks_like_html(&body.bytes) {
            let outcome = Outcome::new(OutcomeKind::NotHtml, Some(head.status), "");
            return Seen::with_head(outcome, head);
        }
        let outcome = Outcome::new(OutcomeKind::Fetched, Some(head.status), "");
        let read = self.understand(task, url, &head, body).await;
        Seen {
            body: read,
            ..Seen::with_head(outcome, head)
        }
    }

    async fn understand(
        &self,
        task: &PageTask,
        url: &Url,
        head: &Head,
        body: Body,
    ) -> Option<ReadBody> {
        if body.bytes.len() < LARGE_BODY {
            return Some(read_through(
                self.plan, url, head, task.score, self.clock, &body,
            ));
        }
        let (plan, url, head) = (Arc::clone(self.plan), url.clone(), head.clone());
        let (score, clock) = (task.score, self.clock);
        let reading = move || read_through(&plan, &url, &head, score, clock, &body);
        tokio::task::spawn_blocking(reading).await.ok()
    }

    /// What follows from all that was seen.
    fn conclude(&self, mut task: Box<PageTask>, url: &Url, mut seen: Seen) -> (Report, Step) {
        let mut report = self.report(&task, &seen);
        if seen.get_next {
            report.counts_as_page = false;
            task.phase = Phase::Get;
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
        let settlement = self.settle(&task, url, seen, redirect);
        (
            report,
            Step::Settled {
                task,
                settlement: Box::new(settlement),
            },
        )
    }

    fn settle(
        &self,
        task: &PageTask,
        url: &Url,
        seen: Seen,
        redirect: Option<Target>,
    ) -> Settlement {
        let attempts = task.attempts + 1;
        if self.is_worth_another_try(&seen.outcome, attempts) {
            let pause = self.pause_before_retry(task, attempts, &seen);
            let not_before = trawl_types::UnixMillis(self.clock.wall().0 + pause as i64);
            let end = VisitEnd::Retry {
                attempts,
                not_before,
                outcome: seen.outcome,
            };
            return Settlement {
                page: task.page,
                end,
                links: Vec::new(),
            };
        }
        let mut visit = self.visit_of(task, url, attempts, &seen);
        let mut links = Vec::new();
        if let Some(Target::Other { to, link, .. }) = redirect {
            visit.redirect_to = Some(to).filter(|to| !to.is_empty());
            links.extend(link.map(|link| *link));
        }
        if let Some(body) = seen.body {
            visit.body = body.record;
            links = body.facts.links;
        }
        Settlement {
            page: task.page,
            end: VisitEnd::Final(Box::new(visit)),
            links,
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
        let most = self.plan.spec.politeness.max_wait_ms;
        asked_to_wait(seen.head.as_ref()?, self.clock.wall(), most)
    }

    fn report(&self, task: &PageTask, seen: &Seen) -> Report {
        let kind = seen.outcome.kind;
        let never_left = matches!(kind, OutcomeKind::AddressRefused | OutcomeKind::DnsFailure);
        let health = match kind {
            _ if kind.is_host_failure() => Health::Failing,
            OutcomeKind::AddressRefused => Health::Unknown,
            _ => Health::Well,
        };
        let policy = self.plan.spec.politeness.on_rate_limit;
        let limited = kind == OutcomeKind::RateLimited;
        let wait_ms = match self.asked_to_wait(seen) {
            Some(wait) if limited || kind == OutcomeKind::ServerError => Some(wait),
            None if limited => {
                let retry = &self.plan.spec.politeness.retry;
                Some(backoff_ms(retry, task.attempts + 1, task.page.0 as u64))
            }
            _ => None,
        };
        Report {
            contacted: !never_left,
            health,
            wait_ms,
            counts_as_page: kind.is_page(),
            suspend: limited && policy == RateLimitPolicy::SuspendHost,
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
                .or(head.and_then(|h| h.content_length)),
            content_hash: body.map(|b| b.facts.hash),
            truncated: body.is_some_and(|b| b.truncated),
            etag: head.and_then(|h| h.etag.clone()),
            last_modified: head.and_then(|h| h.last_modified.clone()),
            robots: robots_text(head, page),
            links_total: page.map_or(0, |p| p.links_total),
            fetch_time_ms: self.clock.now().as_millis().saturating_sub(self.began),
            crawled_at: self.clock.wall(),
            body: None,
        }
    }
}

/// HEAD was refused or broken, or says nothing final: GET decides.
fn unusable_for_head(kind: OutcomeKind) -> bool {
    !matches!(
        kind,
        OutcomeKind::NotHtml
            | OutcomeKind::NotModified
            | OutcomeKind::NotFound
            | OutcomeKind::Gone
            | OutcomeKind::RateLimited
    )
}

fn detail_of(kind: OutcomeKind, head: &Head) -> String {
    match kind {
        OutcomeKind::ClientError | OutcomeKind::ServerError => format!("status {}", head.status),
        _ => String::new(),
    }
}

/// Directives of header and meta element, as they were found.
fn robots_text(head: Option<&Head>, page: Option<&PageFacts>) -> Option<String> {
    let mut parts: Vec<String> = head.map(|h| h.robots_tags.clone()).unwrap_or_default();
    parts.extend(
        page.map(|p| p.robots.to_string())
            .filter(|text| !text.is_empty()),
    );
    (!parts.is_empty()).then(|| parts.join(", "))
}
