//! `trawl admin cleanup`: removes what is older than the settings keep it. A server can do the same by
//! itself (`retention.every`).

use std::{io::Write, process::ExitCode};

use serde_json::json;
use trawl_store::contract::{
    jobs::JobFilter,
    server::ServerStore,
    upkeep::{Ageing, Cleaned, Cutoff, Keeping, clean_up},
};
use trawl_types::UnixMillis;

use super::now;
use crate::{args::CleanupArgs, display::number, exit::BadInput};

/// Jobs of one look; more are found by the next.
const JOBS: u32 = 1_000;

/// How many days to keep what.
struct Ages {
    jobs: Option<u32>,
    others: Keeping,
}

pub(crate) async fn run(args: &CleanupArgs) -> anyhow::Result<ExitCode> {
    let ages = ages(args)?;
    let database = args.database.find()?;
    let store = database.open_to_look_after("cleanup", args.dry_run).await?;
    let archived_first = ages.others.archived_first;
    if archived_first && !args.json {
        eprintln!("pages that have not been archived stay (archive.every)");
    }
    let mut all: Vec<(&str, Cleaned)> = Vec::new();
    if let Some(days) = ages.jobs {
        let before = UnixMillis(now().0 - i64::from(days) * 86_400_000);
        let old = Cutoff {
            before,
            archived: archived_first,
        };
        let jobs = old_jobs(store.as_ref(), old, args.dry_run).await?;
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
    let mut others = settings.keeping();
    others.ages.retain(|(what, _)| wanted(what.as_str()));
    for (_, days) in &mut others.ages {
        *days = args.days.unwrap_or(*days);
    }
    let jobs = settings.job_days();
    Ok(Ages {
        jobs: wanted("jobs").then(|| args.days.unwrap_or(jobs)),
        others,
    })
}

/// Jobs that ended before, with their crawls; those of which something is not archived stay, if they must.
async fn old_jobs(store: &dyn ServerStore, old: Cutoff, dry_run: bool) -> anyhow::Result<u64> {
    let (mut gone, mut stay) = (0, 0);
    loop {
        let filter = JobFilter {
            ended_before: Some(old.before),
            limit: JOBS,
            offset: stay,
            ..JobFilter::default()
        };
        let (rows, _) = store.jobs(filter).await?;
        if rows.is_empty() {
            return Ok(gone);
        }
        for row in rows {
            if old.archived && store.archived(row.crawl.id).await? < row.crawl.last_seq {
                stay += 1;
            } else if dry_run {
                (gone, stay) = (gone + 1, stay + 1);
            } else {
                gone += u64::from(store.delete_job(&row.id).await?);
            }
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
