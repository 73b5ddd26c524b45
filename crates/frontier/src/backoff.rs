//! How long to wait after a failure: doubling, capped, with jitter.

use trawl_types::spec::RetrySpec;

/// The pause before attempt `failed + 1`, where `failed` attempts (at least 1) came before it.
///
/// The jitter (up to a quarter) comes from `salt`, not from a random source, so that a schedule
/// can be replayed; different pages give different salts, which is all that jitter is for.
pub fn backoff_ms(retry: &RetrySpec, failed: u32, salt: u64) -> u64 {
    let doubled = retry
        .base_ms
        .saturating_mul(1u64 << failed.saturating_sub(1).min(32));
    let pause = doubled.min(retry.max_ms);
    pause + scramble(salt ^ u64::from(failed)) % (pause / 4 + 1)
}

/// splitmix64's finaliser.
fn scramble(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_up_to_its_limit_and_jitter_adds_at_most_a_quarter() {
        let retry = RetrySpec {
            attempts: 10,
            base_ms: 100,
            max_ms: 1000,
        };
        for (failed, least) in [
            (1, 100),
            (2, 200),
            (3, 400),
            (4, 800),
            (5, 1000),
            (60, 1000),
        ] {
            for salt in 0..50 {
                let pause = backoff_ms(&retry, failed, salt);
                assert!(
                    (least..=least + least / 4).contains(&pause),
                    "{failed}: {pause}"
                );
            }
        }
    }

    #[test]
    fn pages_that_failed_together_do_not_come_back_together() {
        let retry = RetrySpec::default();
        let distinct: std::collections::HashSet<u64> =
            (0..100).map(|salt| backoff_ms(&retry, 1, salt)).collect();
        assert!(distinct.len() > 50);
    }
}
