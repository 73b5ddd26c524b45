//! How the rate changes over a long crawl, from the times in its result log.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};
use serde::Serialize;

use crate::binaries::Binaries;

/// Pages per second in each quarter of a crawl's results.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Quarters(pub(crate) [f64; 4]);

impl Quarters {
    pub(crate) fn last_to_first(self) -> f64 {
        self.0[3] / self.0[0]
    }
}

/// Reads the times of all results.
pub(crate) fn quarters(binaries: &Binaries, database: &Path) -> anyhow::Result<Quarters> {
    let output = Command::new(&binaries.trawl)
        .args(["export", "--format", "csv", "--fields", "crawled_at"])
        .args(["--output", "-", "--database"])
        .arg(database)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "trawl export failed");
    let text = String::from_utf8(output.stdout)?;
    let times = text
        .lines()
        .skip(1)
        .map(|line| seconds_of_day(line).with_context(|| format!("not a time: {line}")))
        .collect::<anyhow::Result<Vec<f64>>>()?;
    rates(times).context("too few results for a rate")
}

/// Hours, minutes and seconds of `2026-11-15T22:37:15.123Z`.
fn seconds_of_day(time: &str) -> Option<f64> {
    let clock = time
        .trim_matches('"')
        .split_once('T')?
        .1
        .strip_suffix('Z')?;
    let mut parts = clock.split(':').map(|part| part.parse::<f64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    Some(hours * 3600.0 + minutes * 60.0 + seconds)
}

fn rates(mut times: Vec<f64>) -> Option<Quarters> {
    let first = *times.first()?;
    for time in &mut times {
        // A crawl may run past midnight.
        if *time < first - 43_200.0 {
            *time += 86_400.0;
        }
    }
    times.sort_by(f64::total_cmp);
    let last = times.len().checked_sub(1).filter(|&last| last >= 4)?;
    let mut rates = [0.0; 4];
    for (quarter, rate) in rates.iter_mut().enumerate() {
        let (from, to) = (last * quarter / 4, last * (quarter + 1) / 4);
        // A quarter shorter than the clock's step would have no rate.
        let seconds = (times[to] - times[from]).max(0.001);
        *rate = (to - from) as f64 / seconds;
    }
    Some(Quarters(rates))
}

#[cfg(test)]
mod tests {
    use super::{rates, seconds_of_day};

    #[test]
    fn a_steady_crawl_has_four_equal_rates_even_past_midnight() {
        let times = (0..101).map(|n| (86_390.0 + f64::from(n)) % 86_400.0);
        let quarters = rates(times.collect()).unwrap();
        assert!(quarters.0.iter().all(|rate| (rate - 1.0).abs() < 1e-9));
        assert!((quarters.last_to_first() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_time_is_read_with_its_fraction() {
        assert_eq!(seconds_of_day("2026-11-15T01:01:01.500Z"), Some(3661.5));
        assert_eq!(seconds_of_day("yesterday"), None);
    }
}
