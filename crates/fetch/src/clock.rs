//! The four timeouts of a fetch on one timer. The timer is armed once for the earliest moment at
//! which anything could be late and looks at the real deadlines only when it fires, so that a
//! chunk that arrives in time costs no timer work.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};
use trawl_types::{OutcomeKind, spec::FetchSpec};

use crate::{ended::End, unsent::SentAt};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    pub(crate) connect: Duration,
    pub(crate) headers: Duration,
    pub(crate) idle: Duration,
    pub(crate) total: Duration,
}

impl Timeouts {
    pub(crate) fn of(spec: &FetchSpec) -> Self {
        Self {
            connect: Duration::from_millis(spec.connect_timeout_ms),
            headers: Duration::from_millis(spec.headers_timeout_ms),
            idle: Duration::from_millis(spec.idle_timeout_ms),
            total: Duration::from_millis(spec.total_timeout_ms),
        }
    }

    fn shortest(&self) -> Duration {
        self.headers.min(self.idle).min(self.total)
    }
}

/// Time as one fetch sees it.
#[derive(Debug)]
pub(crate) struct Clock {
    timeouts: Timeouts,
    started: Instant,
    progress: Instant,
    sleep: Pin<Box<Sleep>>,
}

impl Clock {
    pub(crate) fn start(timeouts: Timeouts) -> Self {
        let now = Instant::now();
        Self {
            timeouts,
            started: now,
            progress: now,
            sleep: Box::pin(sleep_until(now + timeouts.shortest())),
        }
    }

    /// Something arrived: silence is counted from now.
    pub(crate) fn progressed(&mut self) {
        self.progress = Instant::now();
    }

    /// Ready once the headers are late. Waiting for a connection does not count; the connector
    /// ends that by itself.
    pub(crate) fn poll_headers_late(&mut self, cx: &mut Context<'_>, sent: &SentAt) -> Poll<End> {
        self.poll_late(cx, |clock| {
            let counted_from = sent.get().unwrap_or(clock.started + clock.timeouts.connect);
            let due = counted_from + clock.timeouts.headers;
            (due, OutcomeKind::HeadersTimeout, clock.timeouts.headers)
        })
    }

    /// Ready once the body has been silent for too long.
    pub(crate) fn poll_body_late(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        self.poll_late(cx, |clock| {
            let due = clock.progress + clock.timeouts.idle;
            (due, OutcomeKind::IdleTimeout, clock.timeouts.idle)
        })
    }

    fn poll_late(
        &mut self,
        cx: &mut Context<'_>,
        stage: impl Fn(&Self) -> (Instant, OutcomeKind, Duration),
    ) -> Poll<End> {
        loop {
            ready!(self.sleep.as_mut().poll(cx));
            let (due, kind, limit) = stage(self);
            let total_due = self.started + self.timeouts.total;
            let now = Instant::now();
            if now >= total_due {
                return Poll::Ready(late(OutcomeKind::TotalTimeout, self.timeouts.total));
            }
            if now >= due {
                return Poll::Ready(late(kind, limit));
            }
            self.sleep.as_mut().reset(due.min(total_due));
        }
    }
}

/// The end of something that took longer than it may.
pub(crate) fn late(kind: OutcomeKind, limit: Duration) -> End {
    let what = match kind {
        OutcomeKind::ConnectTimeout => "no connection",
        OutcomeKind::HeadersTimeout => "no answer",
        OutcomeKind::IdleTimeout => "nothing more of the body arrived",
        _ => "the fetch did not end",
    };
    End::new(kind, format!("{what} within {limit:?}"))
}
