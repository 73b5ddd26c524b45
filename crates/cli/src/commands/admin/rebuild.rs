//! `trawl admin rebuild`: what is kept in numbers is counted anew, and the search index made anew.

use std::process::ExitCode;

use trawl_store::contract::{server::ServerStore, upkeep::miscounts};

use super::{ended, reindex};
use crate::{args::RebuildArgs, commands::pick, display::number};

pub(crate) async fn run(args: &RebuildArgs) -> anyhow::Result<ExitCode> {
    let database = args.database.find()?;
    let place = args.index.then(|| reindex::Place::of(args, &database));
    let place = place.transpose()?;
    let store = database.open_to_look_after("rebuild", args.check).await?;
    let wrong = counters(store.as_ref(), args).await?;
    if let Some(place) = place {
        Box::pin(reindex::run(&place, &store, args)).await?;
    }
    store.close().await?;
    Ok(if args.check && wrong > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Gives how many figures are wrong, or were.
async fn counters(store: &dyn ServerStore, args: &RebuildArgs) -> anyhow::Result<u64> {
    let rows = match args.crawl {
        Some(_) => vec![pick(store, args.crawl).await?],
        None => store.crawls().await?,
    };
    let mut wrong = 0;
    for row in rows {
        // Figures of a crawl under way change between two looks.
        if !ended(row.state) {
            println!("crawl {} is {}: left alone", row.id, row.state.as_str());
            continue;
        }
        let said = store.counts(row.id).await?;
        let found = miscounts(&said, &store.recount(row.id).await?);
        for miscount in &found {
            println!(
                "crawl {}: {} is said to be {}, and is {}",
                row.id,
                miscount.figure,
                number(miscount.said),
                number(miscount.counted)
            );
        }
        wrong += found.len() as u64;
        if !found.is_empty() && !args.check {
            store.repair_counts(row.id).await?;
        }
    }
    let what = if args.check {
        "differ"
    } else {
        "were put right"
    };
    println!("{} figures {what}", number(wrong));
    Ok(wrong)
}
