//! Duties of servers: one of them at a time is at one, and whoever dies at it is followed by another.

use trawl_types::UnixMillis;

use crate::contract::duties::{Duties, Taking};

const MINUTE: i64 = 60_000;

fn at(minute: i64) -> UnixMillis {
    UnixMillis(minute * MINUTE)
}

/// For two minutes.
async fn take(store: &impl Duties, holder: &str, seen: Option<i64>, minute: i64) -> bool {
    let taking = Taking {
        name: "backup".into(),
        holder: holder.into(),
        seen: seen.map(at),
        now: at(minute),
        until: at(minute + 2),
    };
    store.take_duty(taking).await.unwrap()
}

pub async fn one_at_a_time_is_at_a_duty(store: &impl Duties) {
    assert!(store.duties().await.unwrap().is_empty());
    let (first, second) = tokio::join!(take(store, "a", None, 1), take(store, "b", None, 1));
    assert!(first != second, "one of two that come together");
    let (holder, other) = if first { ("a", "b") } else { ("b", "a") };
    assert!(!take(store, other, Some(1), 2).await, "somebody is at it");
    let until = at(9);
    assert!(!store.hold_duty("backup", other, until).await.unwrap());
    assert!(store.hold_duty("backup", holder, until).await.unwrap());
    assert!(!take(store, other, Some(1), 8).await, "and still is");
    let done = Ok("three files".to_owned());
    let late = store.end_duty("backup", other, done.clone(), at(8)).await;
    assert!(!late.unwrap(), "it is not theirs");
    assert!(store.end_duty("backup", holder, done, at(8)).await.unwrap());
    assert!(
        !take(store, other, None, 9).await,
        "who has not seen the last run comes too late"
    );
    assert!(take(store, other, Some(1), 9).await);
}

pub async fn a_duty_whose_holder_died_is_taken_up_after_a_while(store: &impl Duties) {
    assert!(take(store, "a", None, 1).await);
    assert!(!take(store, "b", Some(1), 2).await);
    assert!(take(store, "b", Some(1), 3).await, "its time was over");
    assert!(!store.hold_duty("backup", "a", at(99)).await.unwrap());
    let dead = Err("I am back".to_owned());
    assert!(!store.end_duty("backup", "a", dead, at(4)).await.unwrap());
    let rows = store.duties().await.unwrap();
    let [row] = rows.as_slice() else {
        panic!("one duty");
    };
    assert_eq!(row.holder.as_deref(), Some("b"));
    assert_eq!((row.begun_at, row.ended_at), (at(3), None));
}

pub async fn how_a_duty_ended_is_kept(store: &impl Duties) {
    let run = async |seen, minute, ended: Result<&str, &str>| {
        assert!(take(store, "a", seen, minute).await);
        let ended = ended.map(str::to_owned).map_err(str::to_owned);
        let noted = store.end_duty("backup", "a", ended, at(minute + 1)).await;
        assert!(noted.unwrap());
        store.duties().await.unwrap().remove(0)
    };
    let row = run(None, 1, Ok("all of it")).await;
    assert_eq!((row.holder, row.error), (None, None));
    assert_eq!((row.ended_at, row.succeeded_at), (Some(at(2)), Some(at(2))));
    let row = run(Some(1), 11, Err("no space \0")).await;
    assert_eq!(row.error.as_deref(), Some("no space \0"));
    assert_eq!(row.result.as_deref(), Some("all of it"), "of the last one");
    assert_eq!(
        (row.ended_at, row.succeeded_at),
        (Some(at(12)), Some(at(2)))
    );
    let row = run(Some(11), 21, Ok("again")).await;
    assert_eq!((row.error, row.succeeded_at), (None, Some(at(22))));
    assert_eq!(row.result.as_deref(), Some("again"));
}
