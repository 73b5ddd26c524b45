//! Workers give signs of life, with what they do and what they have done. Whoever was silent for two
//! minutes is forgotten; the registry in the database is not.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::Quick;

const WORKERS: &str = "workers";
const STATS: &str = "stats";
/// Seconds without a sign of life after which a worker is forgotten.
const FORGOTTEN: i64 = 120;
/// Workers that are listed, at most.
const MOST: usize = 10_000;

/// A sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// Milliseconds since 1970.
    pub at: i64,
    /// As JSON.
    pub doing: String,
}

/// Visits that ended, and what they brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    pub pages: u64,
    pub failed: u64,
    pub bytes: u64,
}

impl Done {
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            pages: self.pages.saturating_sub(before.pages),
            failed: self.failed.saturating_sub(before.failed),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }
}

impl Quick {
    /// Gives a sign of life, and adds what was done since the last one to what all have done. False if
    /// nobody heard it.
    pub async fn beat(&self, worker: &str, beat: &Beat, done: Done) -> bool {
        let Some(link) = self.link() else {
            return false;
        };
        let Ok(text) = serde_json::to_string(beat) else {
            return false;
        };
        let (workers, stats) = (link.key(WORKERS), link.key(STATS));
        let mut commands = redis::pipe();
        commands
            .cmd("HSET")
            .arg(&workers)
            .arg(worker)
            .arg(text)
            .ignore();
        commands.cmd("EXPIRE").arg(&workers).arg(FORGOTTEN).ignore();
        for (name, count) in [
            ("pages_crawled", done.pages),
            ("pages_failed", done.failed),
            ("bytes_downloaded", done.bytes),
        ] {
            if count > 0 {
                commands
                    .cmd("HINCRBY")
                    .arg(&stats)
                    .arg(name)
                    .arg(count)
                    .ignore();
            }
        }
        link.ask_all::<()>(&commands).await.is_ok()
    }

    /// Workers take their leave, or are gone.
    pub async fn leave(&self, workers: &[String]) {
        if let Some(link) = self.link() {
            let mut command = redis::cmd("HDEL");
            command.arg(link.key(WORKERS)).arg(workers);
            let _ = link.ask::<i64>(&command).await;
        }
    }

    /// The last signs of life of those who are not forgotten at `now`; nothing where there is no Redis.
    pub async fn beats(&self, now: i64) -> HashMap<String, Beat> {
        let Some(link) = self.link() else {
            return HashMap::new();
        };
        let mut command = redis::cmd("HGETALL");
        command.arg(link.key(WORKERS));
        let Ok(all) = link.ask::<HashMap<String, String>>(&command).await else {
            return HashMap::new();
        };
        let (mut beats, mut silent) = (HashMap::new(), Vec::new());
        for (id, text) in all.into_iter().take(MOST) {
            match serde_json::from_str::<Beat>(&text) {
                Ok(beat) if now - beat.at <= FORGOTTEN * 1000 => {
                    beats.insert(id, beat);
                }
                _ => silent.push(id),
            }
        }
        if !silent.is_empty() {
            self.leave(&silent).await;
        }
        beats
    }

    /// What all workers have done since Redis last forgot; nothing where there is none.
    pub async fn done(&self) -> Option<Done> {
        let link = self.link()?;
        let mut command = redis::cmd("HMGET");
        command.arg(link.key(STATS));
        command.arg(&["pages_crawled", "pages_failed", "bytes_downloaded"]);
        let counts: Vec<Option<u64>> = link.ask(&command).await.ok()?;
        let count = |place: usize| counts.get(place).copied().flatten().unwrap_or(0);
        Some(Done {
            pages: count(0),
            failed: count(1),
            bytes: count(2),
        })
    }
}
