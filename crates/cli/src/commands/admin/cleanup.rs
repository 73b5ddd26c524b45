//! `trawl admin cleanup`: removes what is older than the settings keep it. A server can do the same by
//! itself (`retention.every`).

use std::{io::Write, process::ExitCode};

use serde_json::json;
use trawl_store::contract::{
    jobs::JobFilter,
    server::ServerStore,
    upkeep::{Ageing, Cleaned, clean_up},
};
use trawl_types::UnixMillis;

use super::now;
use crate::{args::CleanupArgs, display::number, exit::BadInput};

/// Jobs of one look; more are found by the next.
const JOBS: u32 = 1_000;

/// How many days to keep what.
struct Ages {
    jobs: Option<u32>,
    others: Vec<(Ageing, u32)>,
}

pub(crate) async fn run(args: &CleanupArgs) -> anyhow::Result<ExitCode> {
    let ages = ages(args)?;
    let database = args.database.find()?;
    let store = database.open_to_look_after("cleanup", args.dry_run).await?;
    let mut all: Vec<(&str, Cleaned)> = Vec::new();
    if let Some(days) = ages.jobs {
        let before = UnixMillis(now().0 - i64::from(days) * 86_400_000);
        let jobs = old_jobs(store.as_ref(), before, args.dry_run).await?;
        all.push((
            "jobs",
            Cleaned {
                rows: jobs,
                bytes: 0,
            },
        ));
    }
    let cleaned = clean_up(store.as_ref(), &ages.others, now(), args.dry_run).await?;
    all.extend(cleaned.iter().map(|(what, done)| (what.as_str(), *done)));
    store.close().await?;
    say(args, &all)?;
    Ok(ExitCode::SUCCESS)
}

fn ages(args: &CleanupArgs) -> anyhow::Result<Ages> {
    let settings = args.database.settings()?;
    for name in &args.only {
        if name != "jobs" && name.parse::<Ageing>().is_err() {
            let kinds: Vec<&str> = Ageing::ALL.iter().map(|kind| kind.as_str()).collect();
            return Err(BadInput(format!(
                "--only: there is no kind {name:?}; there are: jobs, {}",
                kinds.join(", ")
            ))
            .into());
        }
    }
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let all = settings.ages().into_iter();
    let others = all.filter(|(what, _)| wanted(what.as_str()));
    let jobs = settings.job_days();
    Ok(Ages {
        jobs: wanted("jobs").then(|| args.days.unwrap_or(jobs)),
        others: others
            .map(|(what, days)| (what, args.days.unwrap_or(days)))
            .collect(),
    })
}

/// Jobs that ended before, with their crawls.
async fn old_jobs(
    store: &dyn ServerStore,
    before: UnixMillis,
    dry_run: bool,
) -> anyhow::Result<u64> {
    let mut gone = 0;
    loop {
        let filter = JobFilter {
            ended_before: Some(before),
            limit: JOBS,
            ..JobFilter::default()
        };
        let (rows, total) = store.jobs(filter).await?;
        if dry_run {
            return Ok(total);
        }
        if rows.is_empty() {
            return Ok(gone);
        }
        for row in rows {
            gone += u64::from(store.delete_job(&row.id).await?);
        }
    }
}

fn say(args: &CleanupArgs, all: &[(&str, Cleaned)]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if args.json {
        let kinds: serde_json::Map<_, _> = all
            .iter()
            .map(|(what, done)| ((*what).to_owned(), json!(done)))
            .collect();
        writeln!(
            out,
            "{}",
            json!({ "dry_run": args.dry_run, "cleaned": kinds })
        )?;
        return Ok(());
    }
    let verb = if args.dry_run { "would go" } else { "went" };
    for (what, done) in all {
        writeln!(
            out,
            "{what:<10} {:>12} rows {verb}, {:>15} bytes",
            number(done.rows),
            number(done.bytes)
        )?;
    }
    Ok(())
}
