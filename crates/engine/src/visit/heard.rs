//! Answers to robots.txt that another process got a short while ago. Only what a server said itself is
//! passed on: that it could not be reached may be one's own trouble.

use std::time::Duration;

use trawl_quick::{Quick, cache::Kind};
use trawl_store::contract::write::StoredRobots;
use trawl_types::{HostKey, Scheme, UnixMillis};

use crate::task::RobotsTask;

/// How long an answer is passed on (004 §8), and how long the news that a server is in trouble.
const ANSWER: Duration = Duration::from_hours(1);
const TROUBLE: Duration = Duration::from_mins(1);

/// What another process was told, if there is one.
pub(crate) async fn find(
    quick: &Quick,
    task: &RobotsTask,
    now: UnixMillis,
) -> Option<StoredRobots> {
    if task.hops > 0 || !quick.is_shared() {
        return None;
    }
    let host = HostKey::of(&task.url)?;
    let scheme = task.scheme.as_str();
    let kept = quick.cached(Kind::Robots, host.as_str(), scheme).await?;
    read(task.scheme, &kept, now)
}

/// Tells other processes, beside everything else.
pub(crate) fn pass_on(quick: &Quick, host: &str, robots: &StoredRobots) {
    let lasts = match robots.status {
        429 | 500..=599 => TROUBLE,
        200..=499 => ANSWER,
        _ => return,
    };
    if !quick.is_shared() {
        return;
    }
    let (quick, host) = (quick.clone(), host.to_owned());
    let (scheme, kept) = (robots.scheme.as_str(), write(robots));
    tokio::spawn(async move { quick.keep(Kind::Robots, &host, scheme, &kept, lasts).await });
}

fn write(robots: &StoredRobots) -> Vec<u8> {
    let mut kept = robots.status.to_be_bytes().to_vec();
    kept.extend(robots.fetched_at.0.to_be_bytes());
    kept.extend(&robots.body);
    kept
}

fn read(scheme: Scheme, kept: &[u8], now: UnixMillis) -> Option<StoredRobots> {
    let (status, rest) = kept.split_first_chunk()?;
    let (fetched_at, body) = rest.split_first_chunk()?;
    let (status, fetched_at) = (u16::from_be_bytes(*status), i64::from_be_bytes(*fetched_at));
    let age = now.0 - fetched_at;
    let fits = (200..600).contains(&status) && age.unsigned_abs() <= ANSWER.as_millis() as u64;
    fits.then(|| StoredRobots {
        scheme,
        status,
        body: body.to_vec(),
        fetched_at: UnixMillis(fetched_at.min(now.0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_passed_on_is_what_was_said_and_when() {
        let robots = StoredRobots {
            scheme: Scheme::Https,
            status: 200,
            body: b"User-agent: *".to_vec(),
            fetched_at: UnixMillis(1_000_000),
        };
        let kept = write(&robots);
        let later = UnixMillis(1_500_000);
        let heard = read(Scheme::Https, &kept, later).unwrap();
        assert_eq!(heard, robots);
        let next_day = UnixMillis(90_000_000);
        assert!(read(Scheme::Https, &kept, next_day).is_none());
        for damaged in [&b""[..], &kept[..9], &[0; 40]] {
            assert!(read(Scheme::Https, damaged, later).is_none());
        }
    }
}
