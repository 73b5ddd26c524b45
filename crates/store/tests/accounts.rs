//! Users, sessions and bad logins, in the real file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use trawl_store::{
    OpenOptions, SqliteAccounts, SqliteStore, Store,
    contract::accounts::{AccountStore, Failures, SessionRow, UserRow},
};
use trawl_types::UnixMillis;

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

fn opened() -> (tempfile::TempDir, PathBuf, SqliteStore, SqliteAccounts) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = SqliteStore::open(&path, &OpenOptions::default()).unwrap();
    let accounts = SqliteAccounts::open(&path).unwrap();
    (folder, path, store, accounts)
}

#[tokio::test]
async fn a_session_lives_as_long_as_its_user_and_password() {
    let (_folder, _path, store, mut accounts) = opened();
    for change in ["password", "disable", "delete"] {
        assert!(accounts.add_user(&user("ada")).unwrap());
        assert!(
            !accounts.add_user(&user("ada")).unwrap(),
            "the name is taken"
        );
        let row = session(1, user("ada"));
        assert!(accounts.add_session(&row).unwrap());
        assert_eq!(store.session(&row.hash).await.unwrap(), Some(row.clone()));
        match change {
            "password" => assert!(accounts.set_password("ada", "new", UnixMillis(2)).unwrap()),
            "disable" => assert!(accounts.set_disabled("ada", Some(UnixMillis(2))).unwrap()),
            _ => assert!(accounts.delete_user("ada").unwrap()),
        }
        assert_eq!(store.session(&row.hash).await.unwrap(), None, "{change}");
        // A login that was under way meanwhile comes too late.
        assert!(!accounts.add_session(&row).unwrap(), "{change}");
        accounts.delete_user("ada").unwrap();
    }
    assert!(!accounts.set_password("ada", "new", UnixMillis(2)).unwrap());
    assert!(store.users().await.unwrap().is_empty());
    store.close().await.unwrap();
}

#[tokio::test]
async fn what_is_over_is_removed_and_what_is_not_stays() {
    let (_folder, _path, store, mut accounts) = opened();
    accounts.add_user(&user("ada")).unwrap();
    let mut rows = [1, 2, 3].map(|hash| session(hash, user("ada")));
    rows[1].expires_at = UnixMillis(500);
    for row in &rows {
        accounts.add_session(row).unwrap();
    }
    accounts
        .touch_session(&rows[0].hash, UnixMillis(400))
        .unwrap();
    accounts
        .touch_session(&rows[1].hash, UnixMillis(400))
        .unwrap();
    let (now, idle, forgiven) = (UnixMillis(600), UnixMillis(300), UnixMillis(0));
    accounts.remove_old(now, idle, forgiven).unwrap();
    let mut left = Vec::new();
    for row in &rows {
        left.push(store.session(&row.hash).await.unwrap().is_some());
    }
    assert_eq!(left, [true, false, false], "used; too old; idle");
}

#[test]
fn a_login_counts_as_bad_until_it_turns_out_to_be_good() {
    let (_folder, path, _store, mut accounts) = opened();
    let charge = |accounts: &mut SqliteAccounts| {
        accounts
            .charge(&["user", "address"], UnixMillis(7), |place, before| {
                let most = [2, 10][place];
                let next = Failures {
                    count: before.count + 1,
                    last_at: UnixMillis(7),
                };
                (before.count < most).then_some(next).ok_or(place)
            })
            .unwrap()
    };
    assert_eq!(charge(&mut accounts), Ok(()));
    assert_eq!(charge(&mut accounts), Ok(()));
    assert_eq!(charge(&mut accounts), Err(0), "the user waits");
    let mut later = SqliteAccounts::open(&path).unwrap();
    assert_eq!(charge(&mut later), Err(0), "it is in the file");
    accounts.discharge("user", "address").unwrap();
    let seen = std::cell::RefCell::new(Vec::new());
    let judge = |_: usize, before: Failures| {
        seen.borrow_mut().push(before.count);
        Err::<Failures, ()>(()).or(Ok::<_, ()>(before))
    };
    accounts
        .charge(&["user", "address"], UnixMillis(8), judge)
        .unwrap()
        .unwrap();
    assert_eq!(*seen.borrow(), [0, 1], "forgiven, and one given back");
}
