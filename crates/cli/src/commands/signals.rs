//! Ctrl-C and requests to end: the first asks for a clean stop, the second leaves at once.

use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{display::say, exit};

/// `timeout` signals a process and then its group, and terminals and shells may both pass one
/// Ctrl-C on: what follows this closely was asked once.
const SAME: Duration = Duration::from_millis(200);

pub(crate) struct Signals {
    interrupts: Signal,
    terminations: Signal,
    asked: Option<Instant>,
}

impl Signals {
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupts: signal(SignalKind::interrupt())?,
            terminations: signal(SignalKind::terminate())?,
            asked: None,
        })
    }

    /// Returns at the first signal, and never at a second one.
    pub(crate) async fn first(&mut self) {
        loop {
            tokio::select! {
                _ = self.interrupts.recv() => {}
                _ = self.terminations.recv() => {}
            }
            match self.asked {
                None => break,
                Some(at) if at.elapsed() < SAME => {}
                Some(_) => {
                    say("trawl: left at once; nothing committed is lost");
                    std::process::exit(i32::from(exit::INTERRUPTED));
                }
            }
        }
        self.asked = Some(Instant::now());
    }

    /// Waits for what ends by itself, though perhaps not soon: a pipe that nobody reads.
    pub(crate) async fn unless_twice<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = self.first() => {
                    say("trawl: the crawl has ended and is being written (again to leave at once)");
                }
            }
        }
    }
}
