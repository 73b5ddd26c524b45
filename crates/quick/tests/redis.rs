//! On a real Redis that the tests start, stop, freeze and make forget.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{future::Future, time::Duration};

use trawl_quick::{
    Address, Quick, RedisOptions, Standing,
    beats::{Beat, Done},
    cache::Kind,
};
use trawl_testdb::Redis;

const PATIENT: Duration = Duration::from_secs(20);
const HASTY: Duration = Duration::from_millis(50);
const HOUR: Duration = Duration::from_hours(1);

/// A process of its own.
fn process(redis: &Redis, timeout: Duration) -> Quick {
    let address = Address::parse(&redis.url()).unwrap();
    Quick::with_redis(RedisOptions {
        timeout,
        ..RedisOptions::new(address)
    })
}

/// Far above what anything takes on a busy machine.
async fn until<F: Future<Output = bool>>(mut is_so: impl FnMut() -> F) {
    for _ in 0..6_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it did not come to pass");
}

async fn becomes(quick: &Quick, wanted: fn(&Standing) -> bool) {
    until(|| async { wanted(&quick.standing().await) }).await;
}

fn is_well(standing: &Standing) -> bool {
    *standing == Standing::Well
}

fn is_away(standing: &Standing) -> bool {
    matches!(standing, Standing::Away(_))
}

/// How many of these requests are let through, process after process.
async fn let_through(processes: &[&Quick], requests: usize, allowance: u32) -> usize {
    let mut passed = 0;
    for number in 0..requests {
        let rate = processes[number % processes.len()]
            .take("ada", allowance)
            .await;
        passed += usize::from(!rate.is_refused());
    }
    passed
}

// A minute may end in the middle of a test: half of the allowance then counts anew at most. Allowances
// are such that this changes no verdict, or requests are counted from both sides.

#[tokio::test]
async fn requests_to_several_servers_count_together() {
    let redis = Redis::start();
    let (one, other) = (process(&redis, PATIENT), process(&redis, PATIENT));
    let passed = let_through(&[&one, &other], 40, 10).await;
    assert!((10..20).contains(&passed), "{passed}");
    assert!(!one.take("grace", 10).await.is_refused());
    // Owners are not to be read in Redis.
    let keys = redis.ask("KEYS *");
    assert!(
        keys.contains("trawl:rate:") && !keys.contains("ada"),
        "{keys}"
    );
}

#[tokio::test]
async fn without_redis_each_server_still_counts() {
    let redis = Redis::start();
    let quick = process(&redis, PATIENT);
    assert!(let_through(&[&quick], 5, 10).await == 5);
    redis.crash();
    // What was let through before is remembered.
    let passed = let_through(&[&quick], 40, 10).await;
    assert!(passed <= 10, "{passed}");
    becomes(&quick, is_away).await;
    redis.start_again();
    becomes(&quick, is_well).await;
}

#[tokio::test]
async fn a_redis_that_forgot_everything_does_not_give_the_rate_anew() {
    let redis = Redis::start();
    let quick = process(&redis, PATIENT);
    let_through(&[&quick], 10, 10).await;
    redis.flush();
    let passed = let_through(&[&quick], 20, 10).await;
    assert!(passed < 10, "{passed}");
}

#[tokio::test]
async fn a_redis_that_does_not_answer_is_given_up_and_found_again() {
    let redis = Redis::start();
    let quick = process(&redis, HASTY);
    becomes(&quick, is_well).await;
    redis.freeze();
    becomes(&quick, is_away).await;
    until(|| async {
        quick.take("ada", 1_000_000).await;
        // Once it was given up, there is an answer without any wait.
        let asked = quick.take("ada", 1_000_000);
        tokio::time::timeout(Duration::ZERO, asked).await.is_ok()
    })
    .await;
    redis.thaw();
    becomes(&quick, is_well).await;
}

#[tokio::test]
async fn a_redis_that_is_not_there_or_lets_nobody_in_is_said_so() {
    let redis = Redis::start();
    let wrong = redis.url().replace("s3cret", "wr0ng");
    for url in [wrong.as_str(), "redis://127.0.0.1:1"] {
        let options = RedisOptions::new(Address::parse(url).unwrap());
        let quick = Quick::with_redis(options);
        let Standing::Away(why) = quick.standing().await else {
            panic!("{url} is well");
        };
        assert!(!why.is_empty() && !why.contains("wr0ng"), "{why}");
        assert!(!quick.take("ada", 1).await.is_refused());
        assert!(quick.take("ada", 1).await.is_refused());
    }
}

#[tokio::test]
async fn a_ring_is_heard_in_other_processes_also_after_a_restart() {
    let redis = Redis::start();
    let (one, other) = (process(&redis, PATIENT), process(&redis, PATIENT));
    let mut heard = other.bell().follow(7);
    for _ in 0..3 {
        until(|| async { other.bell().hears_others() }).await;
        heard.borrow_and_update();
        // The ring may meet a connection that has just broken, and is lost then.
        until(|| async {
            one.bell().ring(7);
            tokio::time::timeout(HASTY, other.bell().follow(7).changed())
                .await
                .is_ok()
        })
        .await;
        redis.crash();
        until(|| async { !other.bell().hears_others() }).await;
        redis.start_again();
    }
    // To hear again wakes those who may have missed something.
    until(|| async { other.bell().hears_others() }).await;
    assert!(heard.has_changed().unwrap());
}

#[tokio::test]
async fn what_one_process_keeps_another_finds_until_it_is_forgotten() {
    let redis = Redis::start();
    let (one, other) = (process(&redis, PATIENT), process(&redis, PATIENT));
    let large = "large ".repeat(100_000);
    for (host, value) in [
        ("a.test", "small"),
        ("a.test", large.as_str()),
        ("b.test", "other"),
    ] {
        assert!(
            one.keep(Kind::Page, host, value, value.as_bytes(), HOUR)
                .await
        );
        let found = other.cached(Kind::Page, host, value).await;
        assert_eq!(found.as_deref(), Some(value.as_bytes()));
    }
    // Noise cannot be compressed.
    let mut state = 88_172_645_463_325_252_u64;
    let mut chance = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    let too_large: Vec<u8> = (0..6 << 20).map(|_| chance()).collect();
    assert!(
        !one.keep(Kind::Page, "a.test", "noise", &too_large, HOUR)
            .await
    );
    assert_eq!(other.forget(Kind::Page, Some("a.*")).await, 0);
    assert_eq!(other.forget(Kind::Page, Some("a.test")).await, 2);
    assert_eq!(one.cached(Kind::Page, "a.test", "small").await, None);
    assert_eq!(other.forget(Kind::Page, None).await, 1);
    let short = Duration::from_secs(1);
    assert!(one.keep(Kind::Robots, "a.test", "", b"x", short).await);
    until(|| async { other.cached(Kind::Robots, "a.test", "").await.is_none() }).await;
}

#[tokio::test]
async fn signs_of_life_and_what_was_done_are_seen_by_all() {
    let redis = Redis::start();
    let (one, other) = (process(&redis, PATIENT), process(&redis, PATIENT));
    let done = Done {
        pages: 3,
        failed: 1,
        bytes: 100,
    };
    let beat = |at| Beat {
        at,
        doing: "{}".into(),
    };
    assert!(one.beat("w1", &beat(1_000_000), done).await);
    assert!(one.beat("w2", &beat(1_100_000), done).await);
    let beats = other.beats(1_130_000).await;
    assert_eq!(beats.len(), 1, "w1 was silent for too long");
    assert_eq!(beats["w2"], beat(1_100_000));
    assert_eq!(other.done().await.unwrap().pages, 6);
    one.leave(&["w2".into()]).await;
    assert!(other.beats(1_130_000).await.is_empty());
}

#[tokio::test]
async fn over_tls_only_a_server_with_the_right_certificate_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["its", "other"] {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(path(&format!("{name}.pem")), made.cert.pem()).unwrap();
        std::fs::write(
            path(&format!("{name}.key")),
            made.signing_key.serialize_pem(),
        )
        .unwrap();
    }
    let port = trawl_testdb::spare_port().to_string();
    let (certificate, key) = (path("its.pem"), path("its.key"));
    let redis = Redis::start_with(&[
        "--tls-port",
        &port,
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-auth-clients",
        "no",
    ]);
    let over_tls = |root: &str| {
        let url = format!(
            "rediss://:s3cret@localhost:{port}?sslrootcert={}",
            path(root)
        );
        let address = Address::parse(&url).unwrap();
        Quick::with_redis(RedisOptions {
            timeout: PATIENT,
            ..RedisOptions::new(address)
        })
    };
    let good = over_tls("its.pem");
    assert_eq!(good.standing().await, Standing::Well);
    until(|| async { good.bell().hears_others() }).await;
    assert!(is_away(&over_tls("other.pem").standing().await));
    assert_eq!(redis.ask("PING"), "+PONG\r\n");
}
