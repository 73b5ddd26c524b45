//! `trawl admin requeue`: pages that were visited wait for their turn again. The log keeps what happened.

use std::process::ExitCode;

use trawl_store::contract::queue::{QueueChange, Requeue};
use trawl_types::{CrawlState, OutcomeKind};

use super::{ended, now};
use crate::{
    args::{EndedArg, RequeueArgs},
    commands::pick,
    database::Database,
    display::number,
    hint,
};

pub(crate) async fn run(args: &RequeueArgs) -> anyhow::Result<ExitCode> {
    let database = args.database.find()?;
    let store = database.open_to_look_after("requeue", false).await?;
    let row = pick(store.as_ref(), args.crawl).await?;
    let kinds = OutcomeKind::ALL.iter().copied();
    let wanted = |kind: &OutcomeKind| match args.state {
        EndedArg::Failed => kind.is_error(),
        EndedArg::Completed => !kind.is_error(),
        EndedArg::All => true,
    };
    let change = Requeue {
        host: args.domain.clone(),
        outcomes: kinds.filter(wanted).collect(),
        ended_before: args.before,
        ended_since: args.since,
        dry_run: args.dry_run,
        ..Requeue::default()
    };
    let changed = store
        .change_queue(row.id, QueueChange::Requeue(change))
        .await?;
    let pages = number(changed.requeued);
    if args.dry_run {
        println!("{pages} pages of crawl {} would be queued again", row.id);
        store.close().await?;
        return Ok(ExitCode::SUCCESS);
    }
    println!("{pages} pages of crawl {} are queued again", row.id);
    if changed.requeued > 0 && ended(row.state) {
        // In a file, whoever says `resume` goes on; workers go on with whatever runs.
        let (state, next) = match &database {
            Database::File(file) => {
                let command = hint::resume(row.id, file);
                (CrawlState::Paused, format!("`{command}`"))
            }
            Database::Url(_) => (CrawlState::Running, "a worker".to_owned()),
        };
        store.set_state(row.id, state, "", now()).await?;
        println!("{next} goes on with it");
    }
    store.close().await?;
    Ok(ExitCode::SUCCESS)
}
