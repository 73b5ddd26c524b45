//! Duties on a real store, by a clock that the tests set.

use std::{
    sync::atomic::{AtomicI64, AtomicU32, Ordering},
    time::Duration,
};

use tokio::sync::Notify;
use trawl_store::{OpenOptions, SqliteStore};

use super::*;

const HOUR: i64 = 3_600_000;

/// Counts its runs, and fails while it is told to.
#[derive(Debug, Default)]
struct Counted {
    runs: AtomicU32,
    fails: AtomicU32,
}

#[async_trait]
impl Work for Counted {
    async fn run(&self, _: UnixMillis) -> Result<String, Failed> {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        let left = |fails: u32| fails.checked_sub(1);
        let failed = self
            .fails
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left);
        match failed {
            Ok(_) => Err(Failed("no space".into())),
            Err(_) => Ok(format!("run {run}")),
        }
    }
}

/// Ends when it is told to.
#[derive(Debug, Default)]
struct Long {
    begun: Notify,
    end: Notify,
}

#[async_trait]
impl Work for Long {
    async fn run(&self, _: UnixMillis) -> Result<String, Failed> {
        self.begun.notify_one();
        self.end.notified().await;
        Ok("at last".into())
    }
}

fn store() -> (tempfile::TempDir, Arc<SqliteStore>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trawl.db");
    let store = SqliteStore::open(&path, &OpenOptions::default()).unwrap();
    (folder, Arc::new(store))
}

fn duty(work: &Arc<impl Work + 'static>) -> Vec<Duty> {
    vec![Duty {
        name: "backup",
        every: Duration::from_hours(24),
        work: Arc::clone(work) as Arc<dyn Work>,
    }]
}

/// A clock of its own for each test.
macro_rules! clock {
    ($name:ident) => {
        static $name: AtomicI64 = AtomicI64::new(1_000 * HOUR);
    };
}

#[tokio::test]
async fn a_duty_is_done_once_in_its_time_whichever_server_comes_first() {
    clock!(NOW);
    let (_folder, store) = store();
    let work = Arc::new(Counted::default());
    let roster = || {
        let clock = || UnixMillis(NOW.load(Ordering::SeqCst));
        Roster::new(Arc::clone(&store), duty(&work), clock)
    };
    let (one, two) = (roster(), roster());
    for day in 1..4 {
        tokio::join!(one.round(), two.round());
        two.round().await;
        assert_eq!(work.runs.load(Ordering::SeqCst), day);
        NOW.fetch_add(23 * HOUR, Ordering::SeqCst);
        one.round().await;
        assert_eq!(work.runs.load(Ordering::SeqCst), day, "not yet");
        NOW.fetch_add(HOUR, Ordering::SeqCst);
    }
    let known = two.known().await.unwrap();
    let row = known[0].row.as_ref().unwrap();
    assert_eq!(row.result.as_deref(), Some("run 3"));
    assert_eq!(known[0].next_at.unwrap().0, NOW.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_failure_is_said_and_tried_again_soon() {
    clock!(NOW);
    let (_folder, store) = store();
    let work = Arc::new(Counted::default());
    work.fails.store(1, Ordering::SeqCst);
    let clock = || UnixMillis(NOW.load(Ordering::SeqCst));
    let roster = Roster::new(Arc::clone(&store), duty(&work), clock);
    roster.round().await;
    let known = roster.known().await.unwrap();
    let row = known[0].row.as_ref().unwrap();
    assert_eq!(row.error.as_deref(), Some("no space"));
    assert_eq!(row.succeeded_at, None);
    NOW.fetch_add(HOUR / 4, Ordering::SeqCst);
    roster.round().await;
    let known = roster.known().await.unwrap();
    let row = known[0].row.as_ref().unwrap();
    assert_eq!(
        (row.error.as_deref(), work.runs.load(Ordering::SeqCst)),
        (None, 2)
    );
}

#[tokio::test]
async fn a_long_run_is_held_on_to_and_given_up_when_another_has_it() {
    clock!(NOW);
    let (_folder, store) = store();
    let work = Arc::new(Long::default());
    let clock = || UnixMillis(NOW.load(Ordering::SeqCst));
    let mut roster = Roster::new(Arc::clone(&store), duty(&work), clock);
    roster.held = Duration::from_millis(30);
    let held_until = async || store.duties().await.unwrap()[0].held_until;
    let watching = async {
        work.begun.notified().await;
        let first = held_until().await;
        NOW.fetch_add(HOUR, Ordering::SeqCst);
        while held_until().await == first {
            tokio::task::yield_now().await;
        }
        let begun = store.duties().await.unwrap()[0].begun_at;
        // A server whose clock says that this one must be dead.
        let later = held_until().await.0 + 100 * HOUR;
        let taking = Taking {
            name: "backup".into(),
            holder: "other".into(),
            seen: Some(begun),
            now: UnixMillis(later),
            until: UnixMillis(later + HOUR),
        };
        assert!(store.take_duty(taking).await.unwrap());
    };
    // Its work never ends, and yet the round does.
    tokio::join!(roster.round(), watching);
    let row = &store.duties().await.unwrap()[0];
    assert_eq!(row.holder.as_deref(), Some("other"));
    assert_eq!(row.ended_at, None);
}

#[tokio::test]
async fn a_server_that_stops_lets_go_of_what_it_was_at() {
    clock!(NOW);
    let (_folder, store) = store();
    let work = Arc::new(Long::default());
    let clock = || UnixMillis(NOW.load(Ordering::SeqCst));
    let roster = Arc::new(Roster::new(Arc::clone(&store), duty(&work), clock));
    let keeping = Arc::clone(&roster);
    let task = tokio::spawn(async move { keeping.keep().await });
    work.begun.notified().await;
    task.abort();
    roster.let_go().await;
    let row = &store.duties().await.unwrap()[0];
    assert_eq!(row.holder, None);
    assert_eq!(row.error.as_deref(), Some("the server was stopped"));
    // The next start takes it up.
    NOW.fetch_add(HOUR, Ordering::SeqCst);
    let next = Roster::new(Arc::clone(&store), duty(&work), clock);
    work.end.notify_one();
    next.round().await;
    let row = &store.duties().await.unwrap()[0];
    assert_eq!(row.result.as_deref(), Some("at last"));
}

#[tokio::test]
async fn a_duty_that_is_switched_off_is_never_done() {
    let (_folder, store) = store();
    let work = Arc::new(Counted::default());
    let mut duties = duty(&work);
    duties[0].every = Duration::ZERO;
    let roster = Roster::new(Arc::clone(&store), duties, || UnixMillis(HOUR));
    roster.keep().await;
    assert_eq!(work.runs.load(Ordering::SeqCst), 0);
    assert_eq!(roster.known().await.unwrap()[0].next_at, None);
}
