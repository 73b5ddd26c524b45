//! The visit of a page: request, judge the answer, read it, find its links.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use tokio::sync::mpsc::UnboundedSender;
use trawl_fetch::{Accept, Answer, Body, Ended, Head, Method, Request};
use trawl_frontier::LeaseId;
use trawl_types::{Outcome, OutcomeKind, spec::HeadPolicy};
use url::Url;

use super::{
    Finished, Permit, Said,
    answer::{Meaning, head_comes_first, looks_like_html, meaning},
    digest::{Raw, RawKind},
    links::Parent,
    read::{ReadBody, read_through, record_of},
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
    permit: Permit,
    tell: UnboundedSender<Said>,
) {
    let visitor = Visitor {
        plan: &plan,
        clock,
        lease,
        permit: &permit,
        tell: &tell,
        began: clock.now().as_millis(),
    };
    // In a box: what is spawned is moved about several times, and this is kilobytes.
    let run = Box::pin(visitor.run(&task, &url));
    let seen = AssertUnwindSafe(run).catch_unwind().await;
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

/// What an answer's headers let expect of its body.
#[derive(Clone, Copy)]
enum Expect {
    Html,
    Anything,
    Document,
}

/// Everything one lease brought to light.
pub(super) struct Seen {
    pub(super) outcome: Outcome,
    pub(super) head: Option<Head>,
    pub(super) body: Option<ReadBody>,
    /// A body of which more is to be made than links and facts.
    pub(super) raw: Option<Box<Raw>>,
    pub(super) redirect: Option<Target>,
    /// HEAD was answered: GET comes next.
    pub(super) get_next: bool,
    /// Nothing was sent, because the host may not be asked any more.
    pub(super) withdrawn: bool,
}

impl Seen {
    fn ended(outcome: Outcome) -> Self {
        Self {
            outcome,
            head: None,
            body: None,
            raw: None,
            redirect: None,
            get_next: false,
            withdrawn: false,
        }
    }

    fn withdrawn() -> Self {
        Self {
            withdrawn: true,
            ..Self::ended(Outcome::new(OutcomeKind::ConnectFailed, None, "withdrawn"))
        }
    }

    fn with_head(outcome: Outcome, head: Head) -> Self {
        Self {
            head: Some(head),
            ..Self::ended(outcome)
        }
    }
}

pub(super) struct Visitor<'a> {
    pub(super) plan: &'a Arc<CrawlPlan>,
    pub(super) clock: Clock,
    lease: LeaseId,
    permit: &'a Permit,
    tell: &'a UnboundedSender<Said>,
    pub(super) began: u64,
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
        let may_still = || self.permit.holds();
        let answer = match self.plan.fetcher.start_while(request, &may_still).await {
            Some(Ok(answer)) => answer,
            Some(Err(ended)) => return Self::ended(ended),
            None => return Seen::withdrawn(),
        };
        // Where there is no delay, nobody waits for its beginning.
        if self.plan.spec.politeness.per_host > 1 && self.permit.delay_ms > 0 {
            let _ = self.tell.send(Said::Answered(self.lease));
        }
        let status = answer.head().status;
        let asked_whether_changed = task.etag.is_some() || task.last_modified.is_some();
        if status == 304 && !asked_whether_changed {
            let said = "not modified, although nobody asked";
            let outcome = Outcome::new(OutcomeKind::ProtocolError, Some(status), said);
            return Seen::with_head(outcome, answer.head().clone());
        }
        match meaning(answer.head(), self.plan.others(), url.path()) {
            Meaning::Redirect => self.redirected(task, url, answer),
            Meaning::End(kind) if method == Method::Head && unusable_for_head(kind) => {
                let head = answer.head().clone();
                let outcome = Outcome::new(kind, Some(status), detail_of(kind, &head));
                Seen {
                    get_next: !asks_for_time(kind, &head),
                    ..Seen::with_head(outcome, head)
                }
            }
            Meaning::Html | Meaning::PerhapsHtml | Meaning::Document if method == Method::Head => {
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
            Meaning::Html => self.read(task, url, answer, Expect::Html).await,
            Meaning::PerhapsHtml => self.read(task, url, answer, Expect::Anything).await,
            Meaning::Document => self.read(task, url, answer, Expect::Document).await,
        }
    }

    fn method(&self, task: &PageTask, url: &Url) -> Method {
        let head = match (task.phase, self.plan.spec.fetch.head) {
            (Phase::Get, _) | (Phase::First, HeadPolicy::Never) => false,
            (Phase::First, HeadPolicy::Always) => true,
            (Phase::First, HeadPolicy::Auto) => head_comes_first(url.path(), self.plan.others()),
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

    async fn read(&self, task: &PageTask, url: &Url, answer: Answer, expect: Expect) -> Seen {
        let (head, body) = match answer.into_parts().await {
            Ok(parts) => parts,
            Err(ended) => return Self::ended(ended),
        };
        let html = match expect {
            Expect::Html => true,
            Expect::Anything => looks_like_html(&body.bytes),
            Expect::Document => false,
        };
        if !html {
            return self.document(url, head, body);
        }
        let outcome = Outcome::new(OutcomeKind::Fetched, Some(head.status), "");
        let (mut read, body) = self.understand(task, url, &head, body).await;
        if let (Some(read), Some(body)) = (&mut read, &body)
            && self.plan.spec.keep.html
        {
            let bytes = body.bytes.clone();
            read.record = Some(record_of(url, self.clock.wall(), &head, bytes));
        }
        let raw = body.filter(|_| self.plan.digests());
        let raw = raw.map(|body| Raw::boxed(RawKind::Page, url, &head, body));
        Seen {
            body: read,
            raw,
            ..Seen::with_head(outcome, head)
        }
    }

    /// What it holds is found out when the host has its lease back.
    fn document(&self, url: &Url, head: Head, body: Body) -> Seen {
        let outcome = Outcome::new(OutcomeKind::NotHtml, Some(head.status), "");
        let wanted = self.plan.others().any();
        let raw = wanted.then(|| Raw::boxed(RawKind::Document, url, &head, body));
        Seen {
            raw,
            ..Seen::with_head(outcome, head)
        }
    }

    async fn understand(
        &self,
        task: &PageTask,
        url: &Url,
        head: &Head,
        body: Body,
    ) -> (Option<ReadBody>, Option<Body>) {
        if body.bytes.len() < LARGE_BODY {
            let parent = Parent::of(task);
            let read = read_through(self.plan, url, head, parent, &body);
            return (Some(read), Some(body));
        }
        let (plan, url, head) = (Arc::clone(self.plan), url.clone(), head.clone());
        let parent = Parent::of(task);
        let reading = move || {
            let read = read_through(&plan, &url, &head, parent, &body);
            (read, body)
        };
        match tokio::task::spawn_blocking(reading).await {
            Ok((read, body)) => (Some(read), Some(body)),
            Err(_) => (None, None),
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

/// A server in trouble that says when to come back: GET would be too early as well.
fn asks_for_time(kind: OutcomeKind, head: &Head) -> bool {
    kind == OutcomeKind::ServerError && head.retry_after.is_some()
}

fn detail_of(kind: OutcomeKind, head: &Head) -> String {
    match kind {
        OutcomeKind::ClientError | OutcomeKind::ServerError => format!("status {}", head.status),
        _ => String::new(),
    }
}
