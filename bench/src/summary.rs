//! From samples to ratios and verdicts. Pure.

use crate::{
    cases::{Case, Target},
    contender::{Contender, Sample},
    growth::Quarters,
};

/// A case with all its runs.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) case: Case,
    pub(crate) lines: Vec<Line>,
}

/// The runs of one contender.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) contender: Contender,
    pub(crate) samples: Vec<Sample>,
}

/// What a target asked for and what came out.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) target: Target,
    pub(crate) measured: f64,
    pub(crate) met: bool,
}

impl Line {
    pub(crate) fn median(&self, figure: impl Fn(&Sample) -> f64) -> f64 {
        median(self.samples.iter().map(figure).collect())
    }

    pub(crate) fn best_rate(&self) -> f64 {
        let rates = self.samples.iter().map(Sample::pages_per_second);
        rates.fold(0.0, f64::max)
    }

    pub(crate) fn peak_bytes(&self) -> u64 {
        let peaks = self.samples.iter().map(|sample| sample.used.peak_bytes);
        peaks.max().unwrap_or(0)
    }

    fn last_to_first(&self) -> f64 {
        let quarters = self.samples.iter().filter_map(|sample| sample.quarters);
        median(quarters.map(Quarters::last_to_first).collect())
    }
}

impl Summary {
    pub(crate) fn of(case: &Case, contenders: &[Contender], samples: Vec<Vec<Sample>>) -> Self {
        let lines = contenders
            .iter()
            .zip(samples)
            .map(|(&contender, samples)| Line { contender, samples })
            .collect();
        Self {
            case: case.clone(),
            lines,
        }
    }

    /// The line that others are compared with.
    pub(crate) fn baseline(&self) -> Option<&Line> {
        let is_baseline = |line: &&Line| matches!(line.contender, Contender::Baseline(_));
        self.lines.iter().find(is_baseline)
    }

    /// Median of the ratios of the same rounds, and ratio of the best runs.
    pub(crate) fn ratios(&self, line: &Line) -> Option<(f64, f64)> {
        let baseline = self.baseline()?;
        let pairs = line.samples.iter().zip(&baseline.samples);
        let ratios = pairs.map(|(own, base)| own.pages_per_second() / base.pages_per_second());
        Some((
            median(ratios.collect()),
            line.best_rate() / baseline.best_rate(),
        ))
    }

    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        let Some(trawl) = self.lines.iter().find(|l| l.contender == Contender::Trawl) else {
            return Vec::new();
        };
        let judge = |&target: &Target| {
            let (measured, met) = match target {
                Target::ShareOfBaseline(least) => {
                    let (median, _) = self.ratios(trawl).unwrap_or((0.0, 0.0));
                    (median, median >= least)
                }
                Target::CpuPerThousand(most) => {
                    let cpu = trawl.median(Sample::cpu_per_thousand);
                    (cpu, cpu <= most)
                }
                Target::LastQuarter(least) => {
                    let share = trawl.last_to_first();
                    (share, share >= least)
                }
                Target::PeakBytes(most) => {
                    let peak = trawl.peak_bytes();
                    (peak as f64, peak < most)
                }
            };
            Verdict {
                target,
                measured,
                met,
            }
        };
        self.case.targets.iter().map(judge).collect()
    }

    pub(crate) fn all_targets_met(&self) -> bool {
        self.verdicts().iter().all(|verdict| verdict.met)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(median(vec![]).abs() < 1e-9);
    }
}
