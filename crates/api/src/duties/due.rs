//! When a duty is due. Pure: time is an argument.

use std::time::Duration;

use trawl_store::contract::duties::DutyRow;
use trawl_types::UnixMillis;

/// After a run that failed, or whose server died, the next one comes this soon, if not sooner.
const SOON_MS: i64 = 15 * 60_000;
/// Clocks of several machines differ by less.
const WRONG_MS: i64 = 10 * 60_000;

/// When it is to be done next, as far as is known now. Runs begin in equal distances, however long they
/// take; the first one is due at once.
pub(super) fn next_at(last: Option<&DutyRow>, every: Duration, now: UnixMillis) -> UnixMillis {
    let Some(last) = last else {
        return now;
    };
    // Noted by a clock that was wrong: it must not put off everything to come.
    if last.begun_at.0 > now.0 + WRONG_MS {
        return now;
    }
    let every = i64::try_from(every.as_millis()).unwrap_or(i64::MAX / 2);
    let soon = every.min(SOON_MS);
    let begun = last.begun_at.0;
    let next = match (&last.holder, &last.error) {
        (Some(_), _) => last.held_until.0.max(begun + soon),
        (None, Some(_)) => last.ended_at.map_or(begun, |at| at.0) + soon,
        (None, None) => begun + every,
    };
    UnixMillis(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const DAY: Duration = Duration::from_hours(24);
    const NOW: UnixMillis = UnixMillis(1_000 * MINUTE);

    fn run() -> DutyRow {
        DutyRow {
            name: "backup".into(),
            holder: None,
            held_until: UnixMillis(NOW.0 + 2 * MINUTE),
            begun_at: NOW,
            ended_at: Some(UnixMillis(NOW.0 + 5 * MINUTE)),
            succeeded_at: None,
            result: None,
            error: None,
        }
    }

    fn minutes_after_now(row: &DutyRow, every: Duration) -> i64 {
        (next_at(Some(row), every, NOW).0 - NOW.0) / MINUTE
    }

    #[test]
    fn the_first_run_is_due_at_once_and_others_follow_in_equal_distances() {
        assert_eq!(next_at(None, DAY, NOW), NOW);
        assert_eq!(minutes_after_now(&run(), DAY), 24 * 60);
    }

    #[test]
    fn a_run_that_failed_is_tried_again_soon_and_never_later_than_usual() {
        let failed = DutyRow {
            error: Some("no space".into()),
            ..run()
        };
        assert_eq!(minutes_after_now(&failed, DAY), 5 + 15);
        assert_eq!(minutes_after_now(&failed, Duration::from_mins(3)), 5 + 3);
    }

    #[test]
    fn a_run_under_way_is_left_alone_until_its_server_must_be_dead() {
        let under_way = DutyRow {
            holder: Some("a".into()),
            held_until: UnixMillis(NOW.0 + 40 * MINUTE),
            ..run()
        };
        assert_eq!(minutes_after_now(&under_way, DAY), 40);
        let died_early = DutyRow {
            held_until: UnixMillis(NOW.0 + 2 * MINUTE),
            ..under_way
        };
        assert_eq!(minutes_after_now(&died_early, DAY), 15);
    }

    #[test]
    fn a_clock_that_was_wrong_puts_nothing_off() {
        let future = DutyRow {
            begun_at: UnixMillis(NOW.0 + 400 * 24 * 60 * MINUTE),
            ..run()
        };
        assert_eq!(next_at(Some(&future), DAY, NOW), NOW);
    }
}
