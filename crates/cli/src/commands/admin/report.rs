//! `trawl admin report`: how much of what there is, by kind, by crawl and by host, and how it went what
//! servers do by themselves.

use std::{io::Write, process::ExitCode};

use serde_json::{Value, json};
use trawl_store::contract::{duties::DutyRow, upkeep::Storage};
use trawl_types::UnixMillis;

use crate::{
    args::ReportArgs,
    display::{number, printable},
};

pub(crate) async fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let store = args
        .database
        .find()?
        .open_to_look_after("report", true)
        .await?;
    let storage = store.storage(args.top).await?;
    let duties = store.duties().await?;
    store.close().await?;
    if args.json {
        let mut report = serde_json::to_value(&storage)?;
        report["duties"] = duties.iter().map(as_json).collect();
        println!("{report}");
    } else {
        say(&storage)?;
        say_duties(&duties)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(duty: &DutyRow) -> Value {
    json!({
        "name": duty.name,
        "begun_at": duty.begun_at.iso(),
        "ended_at": duty.ended_at.map(UnixMillis::iso),
        "succeeded_at": duty.succeeded_at.map(UnixMillis::iso),
        "result": duty.result,
        "error": duty.error,
    })
}

fn say_duties(duties: &[DutyRow]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if !duties.is_empty() {
        writeln!(out, "\n{:<10} {:<25} what came of it", "duty", "last done")?;
    }
    for duty in duties {
        let done = duty.succeeded_at.map(UnixMillis::iso);
        let failed = duty.error.as_ref().map(|error| format!("failed: {error}"));
        let said = failed.or(duty.result.clone()).unwrap_or_default();
        writeln!(
            out,
            "{:<10} {:<25} {}",
            duty.name,
            done.as_deref().unwrap_or("never"),
            printable(&said)
        )?;
    }
    Ok(())
}

fn say(storage: &Storage) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "database {:>20} bytes, of which free {}",
        number(storage.database_bytes),
        number(storage.free_bytes)
    )?;
    writeln!(
        out,
        "bodies   {:>20} bytes in {} files beside it",
        number(storage.body_file_bytes),
        number(storage.body_files)
    )?;
    writeln!(out, "\n{:<16} {:>14} {:>18}", "table", "rows", "bytes")?;
    for table in &storage.tables {
        let (rows, bytes) = (number(table.rows), number(table.bytes));
        writeln!(out, "{:<16} {rows:>14} {bytes:>18}", table.name)?;
    }
    writeln!(
        out,
        "\n{:>6} {:<9} {:>12} {:>18} {:>18}  name",
        "crawl", "state", "results", "stored bytes", "read bytes"
    )?;
    for crawl in &storage.crawls {
        writeln!(
            out,
            "{:>6} {:<9} {:>12} {:>18} {:>18}  {}",
            crawl.crawl.0,
            crawl.state.as_str(),
            number(crawl.results),
            number(crawl.stored_bytes),
            number(crawl.read_bytes),
            printable(&crawl.name)
        )?;
    }
    writeln!(out, "\n{:>12} {:>18}  host", "pages", "read bytes")?;
    for host in &storage.hosts {
        let (pages, bytes) = (number(host.pages), number(host.read_bytes));
        writeln!(out, "{pages:>12} {bytes:>18}  {}", printable(&host.host))?;
    }
    Ok(())
}
