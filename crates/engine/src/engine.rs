//! Starting, resuming, pausing and cancelling crawls. Pause, resume and recovery after a crash are
//! one mechanism: a crawl begins with whatever the store says is pending.

use std::sync::Arc;

use tokio::sync::{
    mpsc::{UnboundedSender, unbounded_channel},
    oneshot, watch,
};
use trawl_quick::{Quick, beats::Done, bell::WHAT_RUNS};
use trawl_store::{
    Store, StoreError,
    contract::{
        jobs::NewJob,
        queue::{Changed, Planted, QueueChange},
        write::NewLink,
    },
};
use trawl_types::{CrawlId, CrawlSpec, CrawlState, CrawlUrl, HostId, Reason, spec::SpecError};

use crate::{
    attend::Attendant,
    clock::Clock,
    dispatch::{Beginning, Command, Dispatcher, Start, Stop},
    plan::CrawlPlan,
    progress::{CrawlEnd, Progress, Tally, progress_of},
};

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A store failure that ended several crawls at once.
    #[error("{0}")]
    StoreFailed(Arc<str>),
    #[error("crawl {0} is {1}: nothing is left to resume")]
    NothingLeft(CrawlId, &'static str),
    #[error("the engine has stopped")]
    Stopped,
}

#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Hosts kept in memory; further ones wait in the store.
    pub most_hosts: usize,
    /// What processes that share a store tell each other by the way.
    pub quick: Quick,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            most_hosts: 50_000,
            quick: Quick::here(),
        }
    }
}

/// Runs any number of crawls on one store, with one politeness ledger.
#[derive(Debug)]
pub struct Engine {
    store: Arc<dyn Store>,
    pub(crate) quick: Quick,
    clock: Clock,
    done: Arc<Tally>,
    commands: UnboundedSender<Command>,
}

/// A crawl that runs in this process.
#[derive(Debug)]
pub struct CrawlHandle {
    pub crawl: CrawlId,
    pub plan: Arc<CrawlPlan>,
    pub progress: watch::Receiver<Progress>,
    ended: oneshot::Receiver<Result<CrawlEnd, EngineError>>,
    commands: UnboundedSender<Command>,
}

impl Engine {
    /// Must be called in a tokio runtime.
    pub async fn start(store: Arc<dyn Store>, options: EngineOptions) -> Result<Self, EngineError> {
        let clock = Clock::start();
        // A store with history may have asked its hosts a moment ago, in a process that was killed.
        // Where hosts are on loan, the lender sees to that.
        let hold_off = store.loans().is_none() && !store.crawls().await?.is_empty();
        let (commands, inbox) = unbounded_channel();
        let done = Arc::new(Tally::default());
        let beginning = Beginning {
            store: Arc::clone(&store),
            quick: options.quick.clone(),
            clock,
            hold_off,
            most_hosts: options.most_hosts,
            done: Arc::clone(&done),
        };
        Dispatcher::spawn(beginning, inbox);
        Ok(Self {
            store,
            quick: options.quick,
            clock,
            done,
            commands,
        })
    }

    /// Visits of this process that have ended, of all crawls together.
    pub fn done(&self) -> Done {
        self.done.so_far()
    }

    /// Compiles a spec without running it.
    pub fn plan(&self, spec: CrawlSpec) -> Result<CrawlPlan, EngineError> {
        Ok(CrawlPlan::compile(
            spec,
            self.store.key_secret(),
            self.clock.year(),
        )?)
    }

    /// Begins a new crawl. It is durable before this returns.
    pub async fn crawl(&self, spec: CrawlSpec, name: &str) -> Result<CrawlHandle, EngineError> {
        self.crawl_for(spec, name, None).await
    }

    /// Begins a new crawl on behalf of a job, which is recorded with it.
    pub async fn crawl_for(
        &self,
        spec: CrawlSpec,
        name: &str,
        job: Option<NewJob>,
    ) -> Result<CrawlHandle, EngineError> {
        let plan = Arc::new(self.plan(spec)?);
        let (seeds, rules) = (plan.seed_links(), plan.write_rules());
        let now = self.clock.wall();
        let crawl = self
            .store
            .create_crawl(&plan.spec, name, seeds, rules, job, now)
            .await?;
        if self.store.is_shared() {
            self.quick.bell().ring(WHAT_RUNS);
            return self.attend(crawl, plan).await;
        }
        self.run(crawl, plan, 0).await
    }

    /// Goes on with a crawl that was paused, or that a crash left behind.
    pub async fn resume(&self, crawl: CrawlId) -> Result<CrawlHandle, EngineError> {
        self.resume_under(crawl, |_| ()).await
    }

    /// The same, with a spec that is changed for this process: what an operator allows may have
    /// changed since.
    pub async fn resume_under(
        &self,
        crawl: CrawlId,
        change: impl FnOnce(&mut CrawlSpec),
    ) -> Result<CrawlHandle, EngineError> {
        if self.store.is_shared() {
            return self.attend_again(crawl, change).await;
        }
        let (plan, pages) = self.reopen(crawl, change).await?;
        self.store
            .set_state(crawl, CrawlState::Running, "", self.clock.wall())
            .await?;
        self.run(crawl, plan, pages).await
    }

    /// Takes part in a crawl that runs, in a store whose hosts are on loan.
    pub async fn join(
        &self,
        crawl: CrawlId,
        change: impl FnOnce(&mut CrawlSpec),
    ) -> Result<CrawlHandle, EngineError> {
        let (plan, pages) = self.reopen(crawl, change).await?;
        self.run(crawl, plan, pages).await
    }

    /// Lets a crawl go on that whoever takes part in it works on.
    async fn attend_again(
        &self,
        crawl: CrawlId,
        change: impl FnOnce(&mut CrawlSpec),
    ) -> Result<CrawlHandle, EngineError> {
        let mut row = self.store.crawl(crawl).await?;
        change(&mut row.spec);
        something_is_left(crawl, row.state)?;
        let plan = Arc::new(self.plan(row.spec)?);
        self.store.reopen_crawl(crawl, plan.write_rules()).await?;
        if row.state != CrawlState::Running {
            let now = self.clock.wall();
            self.store
                .set_state(crawl, CrawlState::Running, "", now)
                .await?;
            self.quick.bell().ring(WHAT_RUNS);
        }
        self.attend(crawl, plan).await
    }

    /// A crawl that others work on.
    async fn attend(
        &self,
        crawl: CrawlId,
        plan: Arc<CrawlPlan>,
    ) -> Result<CrawlHandle, EngineError> {
        let (sender, progress) = watch::channel(self.first_look(crawl).await?);
        let (end, ended) = oneshot::channel();
        let (commands, inbox) = unbounded_channel();
        let attendant = Attendant {
            store: Arc::clone(&self.store),
            quick: self.quick.clone(),
            clock: self.clock,
            crawl,
            progress: sender,
            commands: inbox,
            ended: end,
        };
        tokio::spawn(attendant.run());
        Ok(CrawlHandle {
            crawl,
            plan,
            progress,
            ended,
            commands,
        })
    }

    async fn reopen(
        &self,
        crawl: CrawlId,
        change: impl FnOnce(&mut CrawlSpec),
    ) -> Result<(Arc<CrawlPlan>, u64), EngineError> {
        let mut row = self.store.crawl(crawl).await?;
        change(&mut row.spec);
        something_is_left(crawl, row.state)?;
        let mut plan = self.plan(row.spec)?;
        plan.remember(self.store.as_ref(), crawl).await?;
        let plan = Arc::new(plan);
        self.store.reopen_crawl(crawl, plan.write_rules()).await?;
        let pages = self.store.counts(crawl).await?.pages;
        Ok((plan, pages))
    }

    async fn first_look(&self, crawl: CrawlId) -> Result<Progress, EngineError> {
        let counts = self.store.counts(crawl).await?;
        let last_seq = self.store.crawl(crawl).await?.last_seq;
        Ok(progress_of(&counts, Some(last_seq)))
    }

    /// A host that failed, or asked to be left alone, is as good as new. Its delay stays.
    pub fn forgive(&self, host: HostId) {
        let _ = self.commands.send(Command::Forgive(host));
    }

    /// Gives hosts on loan back that no crawl needs any more; they are free when this returns.
    pub(crate) async fn give_back(&self) {
        let (reply, done) = oneshot::channel();
        if self.commands.send(Command::GiveBack(reply)).is_ok() {
            let _ = done.await;
        }
    }

    async fn run(
        &self,
        crawl: CrawlId,
        plan: Arc<CrawlPlan>,
        pages: u64,
    ) -> Result<CrawlHandle, EngineError> {
        let (progress, watching) = watch::channel(self.first_look(crawl).await?);
        let (end, ended) = oneshot::channel();
        let start = Start {
            crawl,
            plan: Arc::clone(&plan),
            progress,
            ended: end,
            pages,
        };
        let command = Command::Start(Box::new(start));
        self.commands
            .send(command)
            .map_err(|_| EngineError::Stopped)?;
        let commands = self.commands.clone();
        Ok(CrawlHandle {
            crawl,
            plan,
            progress: watching,
            ended,
            commands,
        })
    }
}

fn something_is_left(crawl: CrawlId, state: CrawlState) -> Result<(), EngineError> {
    match state {
        CrawlState::Completed | CrawlState::Cancelled => {
            Err(EngineError::NothingLeft(crawl, state.as_str()))
        }
        _ => Ok(()),
    }
}

/// What became of a URL that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// The text is no URL that could be crawled.
    Unusable(Reason),
    /// It waits for its turn.
    New(CrawlUrl),
    /// A rule is against it, which is recorded.
    Refused(CrawlUrl, Reason),
    /// The crawl has it already: the store says how it stands.
    Known(CrawlUrl),
}

impl Added {
    fn of(url: CrawlUrl, link: &NewLink) -> Self {
        match &link.target.verdict {
            Ok(_) => Self::New(url),
            Err(reason) => Self::Refused(url, Reason::clone(reason)),
        }
    }

    fn became(&mut self, planted: Planted) {
        if planted == Planted::Known
            && let Self::New(url) | Self::Refused(url, _) = self
        {
            *self = Self::Known(url.clone());
        }
    }
}

/// What can be done about a crawl that runs in this process, or that this process looks on; shared
/// freely.
#[derive(Debug, Clone)]
pub struct CrawlControl {
    pub crawl: CrawlId,
    pub plan: Arc<CrawlPlan>,
    pub progress: watch::Receiver<Progress>,
    commands: UnboundedSender<Command>,
}

impl CrawlControl {
    /// Stops with work left: answers under way are awaited for a few seconds.
    pub fn pause(&self) {
        self.stop(Stop::Pause);
    }

    /// As [`CrawlControl::pause`], but the crawl stays `running`: the next process goes on with it.
    pub fn suspend(&self) {
        self.stop(Stop::Suspend);
    }

    /// Stops for good, at once.
    pub fn cancel(&self) {
        self.stop(Stop::Cancel);
    }

    fn stop(&self, how: Stop) {
        let crawl = self.crawl;
        let _ = self.commands.send(Command::Stop { crawl, how });
    }

    /// Adds URLs, each with its score, as if they were seeds. They are durable before this returns;
    /// what became of each is said in their order.
    pub async fn add(&self, urls: &[(String, u8)]) -> Result<Vec<Added>, EngineError> {
        let mut answers = Vec::with_capacity(urls.len());
        let (mut links, mut places) = (Vec::new(), Vec::new());
        for (text, score) in urls {
            match self.plan.added_link(text, *score) {
                Ok((url, link)) => {
                    places.push(answers.len());
                    answers.push(Added::of(url, &link));
                    links.push(link);
                }
                Err(reason) => answers.push(Added::Unusable(reason)),
            }
        }
        let (reply, planted) = oneshot::channel();
        let crawl = self.crawl;
        self.send(Command::Add {
            crawl,
            links,
            reply,
        })?;
        let planted = planted.await.map_err(|_| EngineError::Stopped)??;
        for (place, planted) in places.into_iter().zip(planted) {
            if let Some(answer) = answers.get_mut(place) {
                answer.became(planted);
            }
        }
        Ok(answers)
    }

    /// Changes the queue; durable before this returns, and the crawl goes on with what is left.
    pub async fn change(&self, change: QueueChange) -> Result<Changed, EngineError> {
        let (reply, changed) = oneshot::channel();
        let crawl = self.crawl;
        self.send(Command::Change {
            crawl,
            change,
            reply,
        })?;
        changed.await.map_err(|_| EngineError::Stopped)?
    }

    fn send(&self, command: Command) -> Result<(), EngineError> {
        self.commands
            .send(command)
            .map_err(|_| EngineError::Stopped)
    }

    /// Asks for nothing more while it is held; what is under way arrives. For readers that cannot
    /// keep up.
    pub fn hold(&self, held: bool) {
        let crawl = self.crawl;
        let _ = self.commands.send(Command::Hold { crawl, held });
    }
}

impl CrawlHandle {
    pub fn control(&self) -> CrawlControl {
        CrawlControl {
            crawl: self.crawl,
            plan: Arc::clone(&self.plan),
            progress: self.progress.clone(),
            commands: self.commands.clone(),
        }
    }

    /// See [`CrawlControl::pause`].
    pub fn pause(&self) {
        self.control().pause();
    }

    /// See [`CrawlControl::cancel`].
    pub fn cancel(&self) {
        self.control().cancel();
    }

    /// Waits for the end, whatever brings it.
    pub async fn ended(&mut self) -> Result<CrawlEnd, EngineError> {
        (&mut self.ended).await.map_err(|_| EngineError::Stopped)?
    }
}
