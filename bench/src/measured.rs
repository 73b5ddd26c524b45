//! The small process that starts a program, waits for it and writes down what it used. A process
//! of its own because the kernel adds up the use of *all* awaited children, and because a child
//! begins with the peak memory of the process that started it.

use std::{
    fs,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, bail};
use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike as _,
};
use serde::{Deserialize, Serialize};

use crate::args::MeasuredArguments;

/// What a finished program used.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Use {
    pub(crate) wall_seconds: f64,
    pub(crate) user_seconds: f64,
    pub(crate) system_seconds: f64,
    pub(crate) peak_bytes: u64,
}

impl Use {
    pub(crate) fn cpu_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }
}

pub(crate) fn run(arguments: &MeasuredArguments) -> anyhow::Result<()> {
    let (program, rest) = arguments
        .command
        .split_first()
        .context("no program to run")?;
    let started = Instant::now();
    let status = Command::new(program)
        .args(rest)
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {program}"))?;
    let wall_seconds = started.elapsed().as_secs_f64();
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / 1e6;
    let used = Use {
        wall_seconds,
        user_seconds: seconds(usage.user_time()),
        system_seconds: seconds(usage.system_time()),
        // Linux counts in KiB.
        peak_bytes: usage.max_rss().max(0) as u64 * 1024,
    };
    fs::write(&arguments.to, serde_json::to_vec(&used)?)?;
    Ok(())
}
