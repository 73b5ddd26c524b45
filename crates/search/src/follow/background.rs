//! The follower beside a server: pass after pass until it is told to stop, soon after something may
//! have happened and now and then otherwise.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::{Notify, watch};
use trawl_types::UnixMillis;

use super::{Followed, Indexer};
use crate::error::SearchError;

/// Logs are read again after this, if something was written to them.
const SOON: Duration = Duration::from_secs(1);
/// Between two passes when nothing happens; crawls of other processes are found this late.
const LATER: Duration = Duration::from_secs(15);
/// A pass that failed is tried again after this.
const AFTER_A_FAILURE: Duration = Duration::from_secs(5);

/// What the follower has done since it was started, for people to see.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    pub done: Followed,
    /// Passes over all logs.
    pub passes: u64,
    /// What the last pass failed of.
    pub failure: Option<String>,
}

/// Tells the follower, and is told by it.
#[derive(Debug, Clone, Default)]
pub struct Bell {
    ring: Arc<Notify>,
    figures: Arc<Mutex<Figures>>,
}

impl Bell {
    /// Something may have happened.
    pub fn ring(&self) {
        self.ring.notify_one();
    }

    pub fn figures(&self) -> Figures {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, before: &Followed, pass: &Result<Followed, SearchError>) {
        let mut figures = self.lock();
        figures.passes += 1;
        match pass {
            Ok(done) => {
                figures.done = before.and(done);
                figures.failure = None;
            }
            Err(error) => figures.failure = Some(error.public()),
        }
    }
}

impl Indexer {
    /// Follows until it is told to stop. A pass that is given up has written whole batches.
    pub async fn follow(
        &self,
        now: impl Fn() -> UnixMillis,
        bell: &Bell,
        mut stop: watch::Receiver<bool>,
    ) {
        loop {
            let before = bell.figures().done;
            let written = self.pace.written();
            let progress = |done: &Followed| {
                // What is held back is known at the end of a pass.
                bell.lock().done = Followed {
                    held_back: before.held_back,
                    ..before.and(done)
                };
            };
            let pass = tokio::select! {
                pass = self.catch_up(now(), &progress) => pass,
                _ = stop.wait_for(|stop| *stop) => return,
            };
            bell.note(&before, &pass);
            let wait = match &pass {
                Err(error) => {
                    tracing::warn!(
                        error = error.chain(),
                        "the index could not be kept up to date"
                    );
                    AFTER_A_FAILURE
                }
                Ok(_) => LATER,
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.something_written(written) => {}
                () = bell.ring.notified() => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
        }
    }

    async fn something_written(&self, before: u64) {
        loop {
            tokio::time::sleep(SOON).await;
            if self.pace.written() != before {
                return;
            }
        }
    }
}

impl Followed {
    /// Both together; what was held back is counted anew by every pass.
    fn and(&self, next: &Self) -> Self {
        Self {
            read: self.read + next.read,
            added: self.added + next.added,
            changed: self.changed + next.changed,
            unchanged: self.unchanged + next.unchanged,
            removed: self.removed + next.removed,
            held_back: next.held_back,
            without_content: self.without_content + next.without_content,
            other_languages: self.other_languages + next.other_languages,
            copies: self.copies + next.copies,
            left_alone: self.left_alone + next.left_alone,
            chunks_written: self.chunks_written + next.chunks_written,
            chunks_kept: self.chunks_kept + next.chunks_kept,
            embedded: self.embedded + next.embedded,
            reused: self.reused + next.reused,
        }
    }
}
