//! Figures as a table for people and as JSON for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    cases::Target,
    contender::Sample,
    summary::{Line, Summary, Verdict},
};

/// The table of one case with its verdicts.
pub(crate) fn table(summary: &Summary) -> String {
    let mut out = format!("\n{}: {}\n", summary.case.name, summary.case.about);
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "  {:<10} {:>9} {:>9} {:>8} {:>8} {:>10} {:>9} {:>9}",
        "", "pages/s", "best", "ratio", "of best", "CPU s/1000", "peak MB", "disk MB"
    );
    for line in &summary.lines {
        push_line(&mut out, summary, line);
    }
    for verdict in summary.verdicts() {
        let _ = writeln!(out, "  {}", sentence(&verdict));
    }
    out
}

fn push_line(out: &mut String, summary: &Summary, line: &Line) {
    let ratio = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |r| format!("{r:.2}"));
    let ratios = summary.ratios(line);
    let disk = line.samples.last().and_then(|sample| sample.database_bytes);
    let _ = writeln!(
        out,
        "  {:<10} {:>9.0} {:>9.0} {:>8} {:>8} {:>10.3} {:>9.1} {:>9}",
        line.contender.name(),
        line.median(Sample::pages_per_second),
        line.best_rate(),
        ratio(ratios.map(|r| r.0)),
        ratio(ratios.map(|r| r.1)),
        line.median(Sample::cpu_per_thousand),
        megabytes(line.peak_bytes()),
        disk.map_or_else(|| "-".to_owned(), |b| format!("{:.1}", megabytes(b))),
    );
    for quarters in line.samples.iter().filter_map(|sample| sample.quarters) {
        let [first, second, third, last] = quarters.0;
        let _ = writeln!(
            out,
            "  {:<10} quarters at {first:.0}, {second:.0}, {third:.0}, {last:.0} pages/s",
            ""
        );
    }
}

fn sentence(verdict: &Verdict) -> String {
    let word = if verdict.met { "met:   " } else { "MISSED:" };
    match verdict.target {
        Target::ShareOfBaseline(least) => format!(
            "{word} {:.0} % of the baseline's pages/s, at least {:.0} % wanted",
            verdict.measured * 100.0,
            least * 100.0
        ),
        Target::CpuPerThousand(most) => format!(
            "{word} {:.3} CPU seconds for 1,000 pages, at most {most:.2} wanted",
            verdict.measured
        ),
        Target::LastQuarter(least) => format!(
            "{word} the last quarter ran at {:.0} % of the first, at least {:.0} % wanted",
            verdict.measured * 100.0,
            least * 100.0
        ),
        Target::PeakBytes(most) => format!(
            "{word} {:.0} MB at the peak, under {:.0} MB wanted",
            verdict.measured / 1e6,
            megabytes(most)
        ),
    }
}

/// All cases with every single run.
pub(crate) fn json(summaries: &[Summary]) -> String {
    let cases: Vec<Value> = summaries.iter().map(case_json).collect();
    format!("{:#}\n", json!({ "cases": cases }))
}

fn case_json(summary: &Summary) -> Value {
    let contenders: Vec<Value> = summary
        .lines
        .iter()
        .map(|line| {
            let ratios = summary.ratios(line);
            json!({
                "name": line.contender.name(),
                "pages_per_second": line.median(Sample::pages_per_second),
                "best_pages_per_second": line.best_rate(),
                "ratio": ratios.map(|r| r.0),
                "ratio_of_best": ratios.map(|r| r.1),
                "cpu_seconds_per_1000": line.median(Sample::cpu_per_thousand),
                "peak_bytes": line.peak_bytes(),
                "runs": line.samples.iter().map(sample_json).collect::<Vec<_>>(),
            })
        })
        .collect();
    let verdicts: Vec<Value> = summary
        .verdicts()
        .iter()
        .map(|verdict| json!({ "met": verdict.met, "says": sentence(verdict) }))
        .collect();
    json!({
        "case": summary.case.name,
        "about": summary.case.about,
        "contenders": contenders,
        "verdicts": verdicts,
    })
}

fn sample_json(sample: &Sample) -> Value {
    json!({
        "pages": sample.pages,
        "pages_per_second": sample.pages_per_second(),
        "used": sample.used,
        "database_bytes": sample.database_bytes,
        "quarters": sample.quarters,
    })
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
