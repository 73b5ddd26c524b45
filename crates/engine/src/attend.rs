//! A crawl that others work on, seen from a process that only looks on: its progress is read from
//! the store, and what is asked of it is said there.

use std::{sync::Arc, time::Duration};

use tokio::sync::{mpsc::UnboundedReceiver, oneshot, watch};
use trawl_quick::{Quick, bell::WHAT_RUNS};
use trawl_store::{
    Store, StoreError,
    contract::{
        queue::Planted,
        read::CrawlRow,
        write::{CommitBatch, NewLink},
    },
};
use trawl_types::{CrawlId, CrawlState, Sequence};

use crate::{
    clock::Clock,
    dispatch::{Command, Stop},
    engine::EngineError,
    progress::{CrawlEnd, Progress, progress_of},
};

/// How often the store is asked, besides when somebody says that the crawl has moved: seldom where
/// whoever moves it is heard.
const LOOK: Duration = Duration::from_millis(300);
const LOOK_WHERE_HEARD: Duration = Duration::from_secs(2);
/// And how often at most.
const APART: Duration = Duration::from_millis(100);

pub(crate) struct Attendant {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) quick: Quick,
    pub(crate) clock: Clock,
    pub(crate) crawl: CrawlId,
    pub(crate) progress: watch::Sender<Progress>,
    pub(crate) commands: UnboundedReceiver<Command>,
    pub(crate) ended: oneshot::Sender<Result<CrawlEnd, EngineError>>,
}

impl Attendant {
    /// Looks on until the crawl runs no more, or nobody wants to know.
    pub(crate) async fn run(mut self) {
        let mut moved = self.quick.bell().follow(self.crawl.0);
        // What somebody wants of the crawl and the store has not been told yet.
        let mut wanted = None;
        let end = loop {
            let look = if self.quick.bell().hears_others() {
                LOOK_WHERE_HEARD
            } else {
                LOOK
            };
            let moved = async {
                tokio::time::sleep(APART).await;
                let _ = moved.changed().await;
            };
            tokio::select! {
                () = tokio::time::sleep(look) => {}
                () = moved => {}
                command = self.commands.recv() => match command {
                    Some(Command::Stop { how: Stop::Suspend, .. }) | None => {
                        self.say_so(&mut wanted).await;
                        break Ok(self.end(CrawlState::Running, String::new()));
                    }
                    Some(Command::Stop { how, .. }) => wanted = Some(how),
                    Some(Command::Add { links, reply, .. }) => {
                        let _ = reply.send(self.add(links).await.map_err(EngineError::from));
                    }
                    Some(Command::Change { change, reply, .. }) => {
                        let changed = self.store.change_queue(self.crawl, change).await;
                        let _ = reply.send(changed.map_err(EngineError::from));
                    }
                    // Results wait in the store for slow readers; nobody else is held up.
                    Some(
                        Command::Hold { .. }
                        | Command::Start(_)
                        | Command::Forgive(_)
                        | Command::GiveBack(_),
                    ) => continue,
                },
            }
            if let Some(end) = self.look_and_say(&mut wanted).await {
                break end;
            }
        };
        let _ = self.ended.send(end);
    }

    /// How the crawl has ended, if it has. One that runs although somebody wants it to stop is
    /// stopped; while the store cannot be reached, at every look anew.
    async fn look_and_say(
        &self,
        wanted: &mut Option<Stop>,
    ) -> Option<Result<CrawlEnd, EngineError>> {
        loop {
            match self.look().await {
                Ok(row) if row.state != CrawlState::Running => {
                    return Some(Ok(self.end(row.state, row.why)));
                }
                Ok(_) if self.say_so(wanted).await => {}
                // Somebody deleted it.
                Err(error @ StoreError::NoCrawl(_)) => return Some(Err(error.into())),
                // It may come back.
                Ok(_) | Err(_) => return None,
            }
        }
    }

    /// Whether there was something to say, and it was heard.
    async fn say_so(&self, wanted: &mut Option<Stop>) -> bool {
        let Some(how) = *wanted else { return false };
        match self.say(how).await {
            Ok(()) => {
                *wanted = None;
                true
            }
            Err(error) => {
                tracing::warn!(crawl = self.crawl.0, %error, "a crawl could not be stopped yet");
                false
            }
        }
    }

    async fn say(&self, how: Stop) -> Result<(), StoreError> {
        let (state, why) = match how {
            Stop::Cancel => (CrawlState::Cancelled, "cancelled"),
            Stop::Pause | Stop::Suspend => (CrawlState::Paused, "interrupted"),
        };
        let now = self.clock.wall();
        self.store.set_state(self.crawl, state, why, now).await?;
        self.quick.bell().ring(WHAT_RUNS);
        self.quick.bell().ring(self.crawl.0);
        Ok(())
    }

    /// URLs that somebody adds; whoever has their hosts on loan finds them in the store.
    async fn add(&self, links: Vec<NewLink>) -> Result<Vec<Planted>, StoreError> {
        let batch = CommitBatch {
            crawl: self.crawl,
            now: self.clock.wall(),
            settlements: Vec::new(),
            hosts: Vec::new(),
            seeds: links,
        };
        Ok(self.store.commit(batch).await?.planted)
    }

    async fn look(&self) -> Result<CrawlRow, StoreError> {
        let row = self.store.crawl(self.crawl).await?;
        let counts = self.store.counts(self.crawl).await?;
        let progress = progress_of(&counts, Some(row.last_seq));
        self.progress.send_replace(progress);
        Ok(row)
    }

    fn end(&self, state: CrawlState, why: String) -> CrawlEnd {
        CrawlEnd {
            crawl: self.crawl,
            state,
            why,
            last_seq: Sequence(self.progress.borrow().last_seq),
        }
    }
}
