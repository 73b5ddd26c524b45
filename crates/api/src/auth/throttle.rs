//! How long somebody has to wait after bad logins: a few are free, then each doubles the wait. Pure:
//! counts are kept by the store, so that a restart forgives none, and time is an argument.

use std::net::{IpAddr, Ipv6Addr};

use sha2::{Digest, Sha256};
use trawl_store::contract::accounts::Failures;
use trawl_types::UnixMillis;

use super::key::hex;

const FIRST_WAIT: i64 = 30_000;
const LONGEST_WAIT: i64 = 15 * 60_000;
/// After so long without a bad login all is forgiven.
pub(crate) const FORGIVEN_AFTER: i64 = 24 * 3_600_000;

/// How many bad logins cost nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Throttle {
    free: u32,
}

/// For one user name, whether there is such a user or not.
pub(crate) const BY_USER: Throttle = Throttle { free: 5 };
/// For one address, behind which there may be many people.
pub(crate) const BY_ADDRESS: Throttle = Throttle { free: 20 };

impl Throttle {
    /// What to keep if an attempt is made now, or how many seconds to wait for one. Attempts
    /// during a wait cost nothing, so that it ends.
    pub(crate) fn admit(self, failures: Failures, now: UnixMillis) -> Result<Failures, u64> {
        // A clock that was set back must not lock anybody out for longer.
        let last = failures.last_at.0.min(now.0);
        if now.0 - last > FORGIVEN_AFTER {
            return Ok(Failures {
                count: 1,
                last_at: now,
            });
        }
        let until = last + self.wait(failures.count);
        if now.0 < until {
            return Err((until - now.0).unsigned_abs().div_ceil(1000));
        }
        Ok(Failures {
            count: failures.count.saturating_add(1),
            last_at: now,
        })
    }

    /// Milliseconds that so many bad logins cost.
    fn wait(self, count: u32) -> i64 {
        match count.checked_sub(self.free) {
            None => 0,
            Some(beyond) => (FIRST_WAIT << beyond.min(16)).min(LONGEST_WAIT),
        }
    }
}

/// Under what bad logins of a user are counted. Hashed: people type passwords into this field.
pub fn user_subject(name: &str) -> String {
    let hash = Sha256::digest(name.trim().to_lowercase().as_bytes());
    format!("user {}", hex(&hash[..16]))
}

pub(crate) fn address_subject(address: IpAddr) -> String {
    format!("address {}", neighbourhood(address))
}

/// Who can change their address at will within a network counts as one: all of an IPv6 /64.
pub(crate) fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let bits = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(bits))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_000_000_000_000);

    fn failed(count: u32, ago: i64) -> Failures {
        Failures {
            count,
            last_at: UnixMillis(NOW.0 - ago),
        }
    }

    #[test]
    fn a_few_bad_logins_are_free_and_then_each_doubles_the_wait() {
        let mut failures = Failures::NONE;
        for count in 1..=5 {
            failures = BY_USER.admit(failures, NOW).unwrap();
            assert_eq!(failures.count, count);
        }
        for (count, seconds) in [(5, 30), (6, 60), (7, 120), (9, 480), (10, 900), (4000, 900)] {
            assert_eq!(
                BY_USER.admit(failed(count, 0), NOW),
                Err(seconds),
                "{count}"
            );
            let after = failed(count, seconds as i64 * 1000);
            assert_eq!(BY_USER.admit(after, NOW).unwrap().count, count + 1);
        }
    }

    #[test]
    fn a_wait_is_rounded_up_and_gets_shorter() {
        assert_eq!(BY_USER.admit(failed(5, 29_999), NOW), Err(1));
        assert_eq!(BY_USER.admit(failed(5, 10_000), NOW), Err(20));
    }

    #[test]
    fn an_address_has_more_free_attempts_than_a_user() {
        assert!(BY_ADDRESS.admit(failed(19, 0), NOW).is_ok());
        assert_eq!(BY_ADDRESS.admit(failed(20, 0), NOW), Err(30));
    }

    #[test]
    fn after_a_day_all_is_forgiven() {
        let long_ago = failed(1000, FORGIVEN_AFTER + 1);
        assert_eq!(BY_USER.admit(long_ago, NOW).unwrap().count, 1);
    }

    #[test]
    fn a_clock_that_was_set_back_locks_nobody_out_for_longer() {
        assert_eq!(BY_USER.admit(failed(5, -86_400_000), NOW), Err(30));
    }

    #[test]
    fn names_are_counted_without_being_kept() {
        let subject = user_subject("hunter2");
        assert!(!subject.contains("hunter2"));
        assert_eq!(subject, user_subject(" Hunter2 "));
        assert_ne!(subject, user_subject("hunter3"));
    }

    #[test]
    fn a_network_that_one_person_has_to_themselves_counts_as_one() {
        let subject = |text: &str| address_subject(text.parse().unwrap());
        assert_eq!(subject("2001:db8::1"), subject("2001:db8::ffff:1"));
        assert_ne!(subject("2001:db8::1"), subject("2001:db8:0:1::1"));
        assert_ne!(subject("192.0.2.1"), subject("192.0.2.2"));
        assert_eq!(subject("::ffff:192.0.2.1"), subject("192.0.2.1"));
    }
}
