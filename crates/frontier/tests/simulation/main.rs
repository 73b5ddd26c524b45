//! Workers with real frontiers on a model of store, lender and web, stepped at random: borrowing, asking,
//! answers, failures, waits, retries, refills, pauses, crashes, sleep, loans that end. Everything comes
//! of a seed. Whatever happens, no host is asked too soon or too often at once, nothing is leased twice,
//! budgets are exact, and in the end nothing is lost.
//!
//! A seed that fails is printed; `TRAWL_SEED=n cargo test -p trawl-frontier --test simulation` replays it.
//!
//! * [`dice`]: chance that can be replayed
//! * [`web`]: who was asked when, and whether that was right
//! * [`store`]: what is durable, and who has which host
//! * [`worker`]: a process with a frontier
//! * [`world`]: all of them, and time
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod dice;
mod store;
mod web;
mod worker;
mod world;

use world::World;

/// As many as take a few seconds where nothing is optimised.
const SEEDS: u64 = 8_000;

/// Says which seed it was if something fails.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}: TRAWL_SEED={} replays it", self.0, self.0);
        }
    }
}

fn run(seed: u64) -> World {
    let _named = Named(seed);
    let mut world = World::new(seed);
    world.stir();
    world.calm_down();
    world.assert_all_is_well();
    world
}

#[test]
fn whatever_happens_hosts_are_spared_and_nothing_is_lost_or_doubled() {
    if let Some(seed) = option_env!("TRAWL_SEED") {
        run(seed.parse().unwrap());
        return;
    }
    let mut seen = [0_u64; 4];
    for seed in 0..SEEDS {
        let happened = run(seed).happened;
        for (all, one) in seen.iter_mut().zip(happened) {
            *all += u64::from(one > 0);
        }
    }
    // Otherwise all of this would say little.
    let [crashes, lost, refused, waits] = seen;
    assert!(crashes > SEEDS / 4 && lost > SEEDS / 4, "{seen:?}");
    assert!(refused > SEEDS / 20 && waits > SEEDS / 10, "{seen:?}");
}

#[test]
fn a_seed_always_tells_the_same_story() {
    for seed in 0..50 {
        assert_eq!(run(seed).story(), run(seed).story(), "seed {seed}");
    }
}
