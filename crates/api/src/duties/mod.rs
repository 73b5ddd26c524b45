//! What a server does by itself every so often: archives, backups, removing what is old, waking hosts. Where several
//! share a database, one of them is at a duty at a time; what is known of it stands in the store.
//!
//! * [`due`]: when it is time, without a clock
//! * [`retention`]: what is old goes
//! * [`hosts`]: hosts that rest by mistake are woken
//!
//! Knows nothing of what the others do: that is [`Work`], which whoever starts the server brings along.

mod due;
pub(crate) mod hosts;
mod retention;
#[cfg(test)]
mod tests;

use std::{
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use trawl_store::{
    StoreError,
    contract::duties::{Duties, DutyRow, Taking},
};
use trawl_types::UnixMillis;
use uuid::Uuid;

use due::next_at;
pub(crate) use retention::Retention;

/// A server that gave no sign for so long is not at it any more.
const HELD: Duration = Duration::from_mins(2);
/// How long nobody looks at most, and at least.
const LOOK: (Duration, Duration) = (Duration::from_mins(1), Duration::from_secs(1));
/// Characters of what is said of a run.
const TOLD: usize = 1_000;

/// What is to be done. May be ended at any moment and done again.
#[async_trait]
pub trait Work: Send + Sync + std::fmt::Debug {
    /// Gives what was done, in words.
    async fn run(&self, now: UnixMillis) -> Result<String, Failed>;
}

/// Why it was not done, in words for an administrator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);

/// Something to be done every so often.
#[derive(Debug, Clone)]
pub struct Duty {
    pub name: &'static str,
    /// Zero for never.
    pub every: Duration,
    pub work: Arc<dyn Work>,
}

/// What is known of a duty, for those who ask.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) every: Duration,
    pub(crate) row: Option<DutyRow>,
    /// Nothing where it is switched off.
    pub(crate) next_at: Option<UnixMillis>,
}

/// The duties of a server, in the order in which they are done.
#[derive(Debug)]
pub(crate) struct Roster<S: ?Sized> {
    store: Arc<S>,
    duties: Vec<Duty>,
    holder: String,
    held: Duration,
    clock: fn() -> UnixMillis,
    /// What it is at.
    at: Mutex<Option<&'static str>>,
}

impl<S: Duties + ?Sized> Roster<S> {
    pub(crate) fn new(store: Arc<S>, duties: Vec<Duty>, clock: fn() -> UnixMillis) -> Self {
        Self {
            store,
            duties,
            holder: format!("server-{}", Uuid::new_v4().simple()),
            held: HELD,
            clock,
            at: Mutex::default(),
        }
    }

    /// Does what is due, for as long as it is let.
    pub(crate) async fn keep(&self) {
        while self.duties.iter().any(|duty| !duty.every.is_zero()) {
            self.round().await;
            tokio::time::sleep(self.pause().await).await;
        }
    }

    /// The server stops: what was under way can be taken up by others at once, or by the next start.
    pub(crate) async fn let_go(&self) {
        let at = self.set_at(None);
        if let Some(name) = at {
            let ended = Err("the server was stopped".to_owned());
            let now = (self.clock)();
            let _ = self.store.end_duty(name, &self.holder, ended, now).await;
        }
    }

    pub(crate) async fn known(&self) -> Result<Vec<Known>, StoreError> {
        let mut rows = self.store.duties().await?;
        let known = self.duties.iter().map(|duty| {
            let row = rows.iter().position(|row| row.name == duty.name);
            let row = row.map(|place| rows.swap_remove(place));
            let next = next_at(row.as_ref(), duty.every, (self.clock)());
            Known {
                name: duty.name,
                every: duty.every,
                next_at: (!duty.every.is_zero()).then_some(next),
                row,
            }
        });
        Ok(known.collect())
    }

    /// Whatever is due, one after the other.
    async fn round(&self) {
        for duty in self.duties.iter().filter(|duty| !duty.every.is_zero()) {
            if let Err(error) = self.see_to(duty).await {
                tracing::warn!(duty = duty.name, %error, "a duty could not be taken up");
            }
        }
    }

    /// Until something may be due.
    async fn pause(&self) -> Duration {
        let (longest, shortest) = LOOK;
        let known = self.known().await.unwrap_or_default();
        let Some(next) = known.iter().filter_map(|known| known.next_at).min() else {
            return longest;
        };
        let wait = u64::try_from(next.0 - (self.clock)().0).unwrap_or(0);
        Duration::from_millis(wait).clamp(shortest, longest)
    }

    async fn see_to(&self, duty: &Duty) -> Result<(), StoreError> {
        let rows = self.store.duties().await?;
        let row = rows.iter().find(|row| row.name == duty.name);
        let now = (self.clock)();
        if next_at(row, duty.every, now) > now {
            return Ok(());
        }
        let taking = Taking {
            name: duty.name.to_owned(),
            holder: self.holder.clone(),
            seen: row.map(|row| row.begun_at),
            now,
            until: self.until(),
        };
        if !self.store.take_duty(taking).await? {
            return Ok(());
        }
        self.set_at(Some(duty.name));
        let done = self.at_work(duty, now).await;
        self.set_at(None);
        let Some(done) = done else {
            tracing::warn!(duty = duty.name, "another server has taken it over");
            return Ok(());
        };
        let (ended, now) = (report(duty.name, done), (self.clock)());
        let noted = self.store.end_duty(duty.name, &self.holder, ended, now);
        noted.await.map(drop)
    }

    /// Nothing if another server has taken it over meanwhile.
    async fn at_work(&self, duty: &Duty, now: UnixMillis) -> Option<Result<String, Failed>> {
        let mut work = pin!(duty.work.run(now));
        let mut beat = tokio::time::interval(self.held / 3);
        beat.tick().await;
        loop {
            tokio::select! {
                done = &mut work => return Some(done),
                _ = beat.tick() => {
                    let held = self.store.hold_duty(duty.name, &self.holder, self.until());
                    match held.await {
                        Ok(true) => {}
                        Ok(false) => return None,
                        Err(error) => tracing::debug!(%error, "a duty could not be held"),
                    }
                }
            }
        }
    }

    fn until(&self) -> UnixMillis {
        UnixMillis((self.clock)().0 + self.held.as_millis() as i64)
    }

    /// Gives what it was at before.
    fn set_at(&self, name: Option<&'static str>) -> Option<&'static str> {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *at, name)
    }
}

fn report(duty: &str, done: Result<String, Failed>) -> Result<String, String> {
    match done {
        Ok(result) => {
            tracing::info!(duty, result, "done");
            Ok(told(&result))
        }
        Err(Failed(error)) => {
            tracing::error!(duty, error, "a duty of the server failed");
            Err(told(&error))
        }
    }
}

fn told(text: &str) -> String {
    text.chars().take(TOLD).collect()
}
