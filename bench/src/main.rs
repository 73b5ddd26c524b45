//! Measures trawl against a baseline in the same run. Builds nothing: it runs the release
//! binaries that lie beside its own.
//!
//! * `args`: what may be typed
//! * `binaries`: where the programs under test are
//! * `cases`: what is measured, and what it should come to
//! * `web`: the test web as a process of its own
//! * `contender`: one run of one program, measured
//! * `measured`: the small process that waits for a program and says what it used
//! * `baseline`: the loop that trawl is compared with
//! * `growth`: how the rate changes over a long crawl
//! * `summary`: from samples to ratios and verdicts
//! * `report`: the same as a table and as JSON

mod args;
mod baseline;
mod binaries;
mod cases;
mod contender;
mod growth;
mod measured;
mod report;
mod summary;
mod web;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;

use args::{Arguments, Inner, RunArguments};
use binaries::Binaries;
use cases::Case;
use contender::{Contender, Sample};
use summary::Summary;
use web::Web;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.inner {
        Some(Inner::Baseline(options)) => baseline::run(options).map(|()| true),
        Some(Inner::Measured(options)) => measured::run(options).map(|()| true),
        None => run(&arguments.run),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("trawl-bench: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs the chosen cases; false if `--strict` was given and a target was missed.
fn run(arguments: &RunArguments) -> anyhow::Result<bool> {
    let cases = cases::chosen(&arguments.cases)?;
    let binaries = Binaries::beside_this_one()?;
    let mut summaries = Vec::new();
    for case in cases {
        let rounds = arguments.rounds.unwrap_or(case.rounds);
        let summary = measure(&case, rounds, &binaries)
            .with_context(|| format!("case {} could not be measured", case.name))?;
        print!("{}", report::table(&summary));
        summaries.push(summary);
    }
    if let Some(path) = &arguments.json {
        std::fs::write(path, report::json(&summaries))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let met = summaries.iter().all(Summary::all_targets_met);
    Ok(met || !arguments.strict)
}

/// All contenders of a case in turn, as often as asked, on the same running web. The order turns
/// from round to round, so that no contender always meets the machine in the same state.
fn measure(case: &Case, rounds: usize, binaries: &Binaries) -> anyhow::Result<Summary> {
    eprintln!("{}: {} ({rounds} rounds)", case.name, case.about);
    let folder = tempfile::Builder::new().prefix("trawl-bench-").tempdir()?;
    let web = Web::start(binaries, &case.web, folder.path())?;
    let contenders = case.contenders();
    let mut samples: Vec<Vec<Sample>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let which = (round + turn) % contenders.len();
            let contender: &Contender = &contenders[which];
            let sample = contender.run(case, &web, binaries, folder.path())?;
            eprintln!(
                "  round {}: {:<14} {:>8.0} pages/s",
                round + 1,
                contender.name(),
                sample.pages_per_second()
            );
            samples[which].push(sample);
        }
    }
    Ok(Summary::of(case, &contenders, samples))
}
