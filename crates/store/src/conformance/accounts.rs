//! Keys, users, sessions and bad logins: written by one, read by another.

use std::sync::{Arc, Mutex};

use trawl_types::UnixMillis;

use crate::contract::{
    accounts::{AccountStore, AccountWriter, Failures, Judge, SessionRow, UserRow},
    jobs::{JobStore, KeyRow},
};

fn user(name: &str) -> UserRow {
    UserRow {
        id: format!("id of {name}"),
        name: name.into(),
        password: "hash".into(),
        role: "user".into(),
        created_at: UnixMillis(1),
        password_changed_at: UnixMillis(1),
        disabled_at: None,
    }
}

fn session(hash: u8, user: UserRow) -> SessionRow {
    SessionRow {
        hash: vec![hash; 32],
        user,
        created_at: UnixMillis(10),
        last_seen_at: UnixMillis(10),
        expires_at: UnixMillis(1000),
    }
}

pub async fn a_key_is_known_until_it_is_revoked<S, W>(store: &S, accounts: &W)
where
    S: JobStore,
    W: AccountWriter,
{
    let key = KeyRow {
        id: "k1".into(),
        name: "a ' \" name".into(),
        hash: vec![0, 1, 255],
        scope: "read".into(),
        per_minute: Some(7),
        created_at: UnixMillis(5),
        expires_at: Some(UnixMillis(500)),
        revoked_at: None,
    };
    assert!(accounts.add_first_key(&key).await.unwrap());
    let second = KeyRow {
        id: "k2".into(),
        ..key.clone()
    };
    assert!(!accounts.add_first_key(&second).await.unwrap());
    accounts.add_key(&key).await.unwrap_err();
    assert_eq!(store.key("k1").await.unwrap(), Some(key.clone()));
    assert_eq!(accounts.keys().await.unwrap(), [key]);
    assert!(accounts.revoke_key("k1", UnixMillis(9)).await.unwrap());
    assert!(!accounts.revoke_key("k1", UnixMillis(10)).await.unwrap());
    assert!(!accounts.revoke_key("k2", UnixMillis(10)).await.unwrap());
    let revoked = store.key("k1").await.unwrap().unwrap().revoked_at;
    assert_eq!(revoked, Some(UnixMillis(9)));
}

pub async fn a_session_lives_as_long_as_its_user_and_password<S, W>(store: &S, accounts: &W)
where
    S: AccountStore,
    W: AccountWriter,
{
    for change in ["password", "disable", "delete"] {
        assert!(accounts.add_user(&user("ada")).await.unwrap());
        let taken = accounts.add_user(&user("ada")).await.unwrap();
        assert!(!taken, "the name is taken");
        let row = session(1, user("ada"));
        assert!(accounts.add_session(&row).await.unwrap());
        assert_eq!(store.session(&row.hash).await.unwrap(), Some(row.clone()));
        let now = UnixMillis(2);
        let done = match change {
            "password" => accounts.set_password("ada", "new", now).await,
            "disable" => accounts.set_disabled("ada", Some(now)).await,
            _ => accounts.delete_user("ada").await,
        };
        assert!(done.unwrap());
        assert_eq!(store.session(&row.hash).await.unwrap(), None, "{change}");
        // A login that was under way meanwhile comes too late.
        assert!(!accounts.add_session(&row).await.unwrap(), "{change}");
        accounts.delete_user("ada").await.unwrap();
    }
    let nobody = accounts.set_password("ada", "new", UnixMillis(2)).await;
    assert!(!nobody.unwrap());
    assert!(store.users().await.unwrap().is_empty());
    assert_eq!(store.user_by_name("ada").await.unwrap(), None);
}

pub async fn what_is_over_is_removed_and_what_is_not_stays<S, W>(store: &S, accounts: &W)
where
    S: AccountStore,
    W: AccountWriter,
{
    accounts.add_user(&user("ada")).await.unwrap();
    let mut rows = [1, 2, 3].map(|hash| session(hash, user("ada")));
    rows[1].expires_at = UnixMillis(500);
    for row in &rows {
        accounts.add_session(row).await.unwrap();
    }
    for row in &rows[..2] {
        let touched = accounts.touch_session(&row.hash, UnixMillis(400));
        touched.await.unwrap();
    }
    // A note that comes late takes nothing back.
    let late = accounts.touch_session(&rows[0].hash, UnixMillis(20));
    late.await.unwrap();
    let remove = || accounts.remove_old(UnixMillis(600), UnixMillis(300), UnixMillis(0));
    let (one, other) = tokio::join!(remove(), remove());
    one.unwrap();
    other.unwrap();
    let mut left = Vec::new();
    for row in &rows {
        left.push(store.session(&row.hash).await.unwrap().is_some());
    }
    assert_eq!(left, [true, false, false], "used; too old; idle");
    assert!(accounts.end_session(&rows[0].hash).await.unwrap());
    assert!(!accounts.end_session(&rows[0].hash).await.unwrap());
}

/// Lets each subject fail so often.
fn at_most(most: [u32; 2]) -> Judge {
    Arc::new(move |place, before: Failures| {
        let next = Failures {
            count: before.count + 1,
            last_at: UnixMillis(7),
        };
        let waits = place as u64 + 1;
        (before.count < most[place]).then_some(next).ok_or(waits)
    })
}

const BOTH: [&str; 2] = ["user", "address"];

pub async fn a_login_counts_as_bad_until_it_turns_out_to_be_good<S, W>(_: &S, accounts: &W)
where
    W: AccountWriter,
{
    let charge = async || {
        let judged = accounts.charge(&BOTH, UnixMillis(7), at_most([2, 10]));
        judged.await.unwrap()
    };
    assert_eq!(charge().await, Ok(()));
    assert_eq!(charge().await, Ok(()));
    assert_eq!(charge().await, Err(1), "the user waits");
    accounts.discharge("user", "address").await.unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let judge = Arc::new(move |_, before: Failures| {
        notes.lock().unwrap().push(before.count);
        Ok(before)
    });
    let charged = accounts.charge(&BOTH, UnixMillis(8), judge).await;
    charged.unwrap().unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [0, 1],
        "forgiven, and one given back"
    );
    let removed = accounts.remove_old(UnixMillis(0), UnixMillis(0), UnixMillis(9));
    removed.await.unwrap();
    assert_eq!(charge().await, Ok(()), "long ago");
}

pub async fn logins_at_the_same_moment_count_as_many<S, W>(_: &S, accounts: &W)
where
    W: AccountWriter,
{
    let charge = || accounts.charge(&BOTH, UnixMillis(7), at_most([3, 5]));
    let mut admitted = 0;
    for _ in 0..2 {
        let all = tokio::join!(charge(), charge(), charge(), charge(), charge(), charge());
        let all = [all.0, all.1, all.2, all.3, all.4, all.5];
        admitted += all
            .into_iter()
            .filter(|one| one.as_ref().unwrap().is_ok())
            .count();
    }
    assert_eq!(admitted, 3);
}
