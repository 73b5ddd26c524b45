//! The loop that owns the truth: frontier, budgets, hosts and the ends of crawls. Visits, commits
//! and store look-ups run beside it and report by message; nothing else changes its state.
//!
//! * `running`: what is known of a crawl while it runs
//! * `hosts`: what is known of a host while it is in the frontier
//! * `lookups`: questions to the store that run beside the loop
//! * `leases`: what happens with a lease the frontier hands out
//! * `events`: what happens when a visit or a commit reports
//! * `loans`: hosts on loan, where several processes crawl from one store
//! * `queue`: URLs that people add, and changes of the queue that they ask for
//! * `digests`: content made of bodies beside the loop
//! * `sitemaps`: sitemaps that robots.txt names
//! * `ends`: how crawls stop

mod digests;
mod ends;
mod events;
mod hosts;
mod leases;
mod loans;
mod lookups;
mod queue;
mod running;
mod sitemaps;

use std::{sync::Arc, thread::available_parallelism, time::Duration};

use rustc_hash::FxHashMap;
use tokio::{
    sync::{
        Semaphore,
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot, watch,
    },
    task::AbortHandle,
    time::sleep_until,
};
use trawl_frontier::{Frontier, LeaseId};
use trawl_quick::Quick;
use trawl_store::{
    Store,
    contract::{
        queue::{Changed, Planted, QueueChange},
        write::NewLink,
    },
};
use trawl_types::{CrawlId, HostId};

use crate::{
    appetite::Hunger,
    clock::Clock,
    commit::{Committed, Committer, Item, Reply, What},
    engine::EngineError,
    plan::CrawlPlan,
    progress::{CrawlEnd, Progress, Tally},
    task::Task,
    visit::Said,
};
use hosts::HostFacts;
pub(crate) use hosts::KnownRobots;
use loans::Loans;
use lookups::Found;
use running::Running;

/// Settled pages that may wait for their commit before no more are leased.
const MOST_UNCOMMITTED: usize = 2048;
const MOST_UNCOMMITTED_BYTES: usize = 10 << 20;
/// Messages handled before the frontier is asked again.
const MOST_PER_ROUND: usize = 256;

/// What the outside may ask for.
#[derive(Debug)]
pub(crate) enum Command {
    Start(Box<Start>),
    Stop {
        crawl: CrawlId,
        how: Stop,
    },
    Hold {
        crawl: CrawlId,
        held: bool,
    },
    /// URLs that somebody adds to a crawl.
    Add {
        crawl: CrawlId,
        links: Vec<NewLink>,
        reply: Reply<Vec<Planted>>,
    },
    /// A change of a crawl's queue.
    Change {
        crawl: CrawlId,
        change: QueueChange,
        reply: Reply<Changed>,
    },
    /// A host that failed is as good as new.
    Forgive(HostId),
    /// Hosts on loan that nothing is wanted of go back now. Said when they have.
    GiveBack(oneshot::Sender<()>),
}

#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) crawl: CrawlId,
    pub(crate) plan: Arc<CrawlPlan>,
    pub(crate) progress: watch::Sender<Progress>,
    pub(crate) ended: oneshot::Sender<Result<CrawlEnd, EngineError>>,
    /// Pages of the budget that earlier processes used.
    pub(crate) pages: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Work is left for later.
    Pause,
    /// The process ends; the next one goes on by itself.
    Suspend,
    /// Nothing more of it.
    Cancel,
}

/// A visit that runs beside the loop.
struct UnderWay {
    crawl: CrawlId,
    /// The host it may contact.
    host: HostId,
    visit: AbortHandle,
}

/// What the loop begins with.
pub(crate) struct Beginning {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) quick: Quick,
    pub(crate) clock: Clock,
    /// Hosts of an earlier process may just have been asked: wait one delay.
    pub(crate) hold_off: bool,
    pub(crate) most_hosts: usize,
    pub(crate) done: Arc<Tally>,
}

pub(crate) struct Dispatcher {
    clock: Clock,
    store: Arc<dyn Store>,
    quick: Quick,
    done: Arc<Tally>,
    frontier: Frontier<Task>,
    crawls: FxHashMap<CrawlId, Running>,
    hosts: FxHashMap<HostId, HostFacts>,
    visits: FxHashMap<LeaseId, UnderWay>,
    /// Where hosts are shared with other processes.
    loans: Option<Loans>,
    /// Hosts of an earlier process may just have been asked: wait one delay.
    hold_off: bool,
    most_hosts: usize,
    uncommitted: usize,
    uncommitted_bytes: usize,
    /// Content is made on as many threads at once.
    cores: Arc<Semaphore>,
    hunger: Arc<Hunger>,
    commands: UnboundedReceiver<Command>,
    said: (UnboundedSender<Said>, UnboundedReceiver<Said>),
    found: (UnboundedSender<Found>, UnboundedReceiver<Found>),
    items: UnboundedSender<Item>,
    committed: UnboundedReceiver<Committed>,
}

impl Dispatcher {
    /// Starts the loop and its committer; they end when the command channel closes.
    pub(crate) fn spawn(
        beginning: Beginning,
        commands: UnboundedReceiver<Command>,
    ) -> tokio::task::JoinHandle<()> {
        tokio::spawn(Self::begin(beginning, commands).run())
    }

    /// The loop before its first turn; its committer runs.
    fn begin(beginning: Beginning, commands: UnboundedReceiver<Command>) -> Self {
        let Beginning { store, clock, .. } = beginning;
        let (items, items_in) = unbounded_channel();
        let (done, committed) = unbounded_channel();
        let hunger = Arc::new(Hunger::new());
        let writer = Committer {
            store: Arc::clone(&store),
            clock,
            items: items_in,
            done,
            hunger: Arc::clone(&hunger),
        };
        tokio::spawn(writer.run());
        let loans = store.loans().map(|_| Loans::default());
        Self {
            clock,
            store,
            quick: beginning.quick,
            done: beginning.done,
            loans,
            frontier: Frontier::default(),
            crawls: FxHashMap::default(),
            hosts: FxHashMap::default(),
            visits: FxHashMap::default(),
            hold_off: beginning.hold_off,
            most_hosts: beginning.most_hosts,
            uncommitted: 0,
            uncommitted_bytes: 0,
            cores: Arc::new(Semaphore::new(
                available_parallelism().map_or(2, usize::from),
            )),
            hunger,
            commands,
            said: unbounded_channel(),
            found: unbounded_channel(),
            items,
            committed,
        }
    }

    async fn run(mut self) {
        loop {
            self.lease_what_may_go();
            if !self.end_what_is_over().await && !self.next_message().await {
                return;
            }
        }
    }

    /// Waits for something to happen and handles all that has; false when nobody listens any more.
    async fn next_message(&mut self) -> bool {
        let wake_up = self.next_wake_up();
        let sleep = async {
            match wake_up {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(said) = self.said.1.recv() => self.hear(said),
            Some(committed) = self.committed.recv() => self.take_commit(committed),
            Some(found) = self.found.1.recv() => self.take_found(found),
            command = self.commands.recv() => match command {
                Some(command) => self.obey(command),
                None => return false,
            },
            () = sleep => {}
        }
        self.drain();
        true
    }

    fn drain(&mut self) {
        for _ in 0..MOST_PER_ROUND {
            if let Ok(said) = self.said.1.try_recv() {
                self.hear(said);
            } else if let Ok(committed) = self.committed.try_recv() {
                self.take_commit(committed);
            } else if let Ok(found) = self.found.1.try_recv() {
                self.take_found(found);
            } else {
                return;
            }
        }
    }

    fn next_wake_up(&mut self) -> Option<tokio::time::Instant> {
        let due = self
            .frontier
            .next_wake_up()
            .map(|at| self.clock.instant_of(at));
        let look = self.next_look().filter(|_| self.has_loans_to_tend());
        let look = look.map(|at| self.clock.instant_of(at));
        // For crawls with nothing out there is nothing to be done then, and time would not pass.
        let grace = self
            .crawls
            .iter()
            .filter(|(crawl, _)| self.frontier.in_flight(**crawl) > 0)
            .filter_map(|(_, running)| running.grace_until)
            .min();
        [due, look, grace].into_iter().flatten().min()
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Start(start) => self.start(*start),
            Command::Stop { crawl, how } => self.stop(crawl, how),
            Command::Hold { crawl, held } => self.hold(crawl, held),
            Command::Add {
                crawl,
                links,
                reply,
            } => self.add(crawl, links, reply),
            Command::Change {
                crawl,
                change,
                reply,
            } => self.commit(crawl, What::Change(change, reply), 64),
            Command::Forgive(host) => self.frontier.forgive(host, self.clock.now()),
            Command::GiveBack(reply) => self.give_all_back(reply),
        }
    }
}

/// How long a stopping crawl waits for answers that are under way.
pub(crate) const GRACE: Duration = Duration::from_secs(8);
