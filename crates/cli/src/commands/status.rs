//! `trawl status`: the crawls of a database and how they stand.

use std::{io::Write, process::ExitCode};

use serde_json::json;
use trawl_store::{
    contract::read::{CrawlCounts, CrawlRow},
    is_written,
};
use trawl_types::{CrawlState, UnixMillis};

use super::{open_to_read, pick};
use crate::{args::StatusArgs, display};

pub(crate) async fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let store = open_to_read(&args.database.database)?;
    let rows = match args.crawl {
        Some(id) => vec![pick(store.as_ref(), Some(id)).await?],
        None => store.crawls().await?,
    };
    let mut out = std::io::stdout().lock();
    if rows.is_empty() && !args.json {
        writeln!(out, "no crawls yet")?;
    }
    let path = &args.database.database;
    for row in rows {
        // It says so itself, but nobody is there: its process was killed.
        let is_interrupted = row.state == CrawlState::Running && !is_written(path);
        let counts = store.counts(row.id).await?;
        if args.json {
            writeln!(out, "{}", as_json(&row, &counts, is_interrupted))?;
        } else {
            writeln!(
                out,
                "{:>4}  {:<11}  {}  {:>8} pages  {:>8} pending  {}",
                row.id.0,
                if is_interrupted {
                    "interrupted"
                } else {
                    row.state.as_str()
                },
                row.started_at.iso(),
                display::number(counts.pages),
                display::number(counts.pending),
                display::printable(&row.name),
            )?;
            if args.crawl.is_some() {
                if !row.why.is_empty() {
                    let why = display::printable(&row.why);
                    writeln!(out, "      {}: {why}", row.state.as_str())?;
                }
                out.write_all(display::counts_text(&counts).as_bytes())?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(row: &CrawlRow, counts: &CrawlCounts, is_interrupted: bool) -> serde_json::Value {
    json!({
        "crawl": row.id.0,
        "name": row.name,
        "state": row.state.as_str(),
        "interrupted": is_interrupted,
        "why": row.why,
        "started_at": row.started_at.iso(),
        "finished_at": row.finished_at.map(UnixMillis::iso),
        "seeds": row.spec.seeds,
        "results": row.last_seq.0,
        "counts": counts,
    })
}
