//! `trawl admin rebuild`: what is kept in numbers is counted anew, and the search index made anew.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use trawl_search::{SearchError, file::IndexFile};
use trawl_store::contract::{server::ServerStore, upkeep::miscounts};

use super::ended;
use crate::{
    args::{DatabaseArgs, IndexArgs, QdrantArgs, RebuildArgs},
    commands::{index, pick},
    database::Database,
    display::number,
    exit::BadInput,
};

pub(crate) async fn run(args: RebuildArgs) -> anyhow::Result<ExitCode> {
    let database = args.database.find()?;
    if args.index && matches!(database, Database::Url(_)) {
        let why = "--index: only a database file has a search index of its own";
        return Err(BadInput(why.into()).into());
    }
    let store = database.open_to_look_after("rebuild", args.check).await?;
    let wrong = counters(store.as_ref(), &args).await?;
    store.close().await?;
    if args.index
        && !args.check
        && let Database::File(path) = &database
    {
        Box::pin(make_index(path, &args)).await?;
    }
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

/// The new index takes the place of the old one when it is whole.
async fn make_index(database: &Path, args: &RebuildArgs) -> anyhow::Result<()> {
    let place = index::index_path(None, database);
    // Held until the new one is in its place: nobody writes to the old one meanwhile.
    let old = match place.exists().then(|| IndexFile::open(&place)).transpose() {
        Err(error @ SearchError::Locked(_)) => return Err(error.into()),
        // One that cannot be read is what this is for.
        found => found.ok().flatten(),
    };
    if let Some(old) = &old
        && !args.discard_uploads
        && old.holds_work_of_people()?
    {
        let why = "the search index holds uploads, collections, tags or deletions, which no crawl brings \
                   back: leave it, or give them up with --discard-uploads";
        return Err(BadInput(why.into()).into());
    }
    let beside = |path: &Path, ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let fresh = beside(&place, ".rebuilding");
    let remove = |path: &Path| -> anyhow::Result<()> {
        for ending in ["", "-wal", "-shm"] {
            match fs::remove_file(beside(path, ending)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error.into());
                }
                _ => {}
            }
        }
        Ok(())
    };
    remove(&fresh)?;
    let new = IndexArgs {
        database: DatabaseArgs {
            database: database.to_owned(),
        },
        index: Some(fresh.clone()),
        crawl: None,
        languages: args.languages.clone(),
        confirm_removals: false,
        model: args.model.clone(),
        qdrant: QdrantArgs::none(),
        quiet: true,
    };
    index::run(&new).await?;
    remove(&place)?;
    fs::rename(&fresh, &place)?;
    for ending in ["-wal", "-shm"] {
        match fs::rename(beside(&fresh, ending), beside(&place, ending)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error.into());
            }
            _ => {}
        }
    }
    drop(old);
    remove(&beside(&fresh, ".lock"))?;
    println!("the search index was made anew: {}", place.display());
    Ok(())
}
