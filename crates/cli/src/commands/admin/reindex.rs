//! The search index of `trawl admin rebuild --index`: read from the logs of all crawls, from the beginning,
//! beside the old one, whose place it takes when it is whole.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

use trawl_api::search::JobOwners;
use trawl_search::{
    SearchError,
    file::IndexFile,
    follow::{Indexer, Settings},
};
use trawl_store::{Store, contract::server::ServerStore};

use super::now;
use crate::{
    args::RebuildArgs,
    commands::{embedder::embedder, index::languages},
    database::Database,
    display::number,
    exit::BadInput,
    settings::environment,
};

/// Where an index is, and what it says that it was made from.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    /// Of a database that is no file, without its password.
    database: Option<String>,
}

impl Place {
    /// Where a server with these settings has it, unless another file is named.
    pub(super) fn of(args: &RebuildArgs, database: &Database) -> anyhow::Result<Self> {
        let settings = args.database.settings()?;
        let Some(search) = settings.search(database, &environment)? else {
            return Err(BadInput("--index: search is switched off (search.off)".into()).into());
        };
        let path = args.search_index.clone().unwrap_or(search.index);
        if matches!(database, Database::Url(_)) && !path.exists() && args.search_index.is_none() {
            let why = format!(
                "--index: there is no search index {}: name the file with --search-index, on the machine \
                 of the server that has it",
                path.display()
            );
            return Err(BadInput(why).into());
        }
        Ok(Self {
            path,
            database: search.database,
        })
    }
}

/// Makes the index anew, or says that it would.
pub(super) async fn run(
    place: &Place,
    store: &Arc<dyn ServerStore>,
    args: &RebuildArgs,
) -> anyhow::Result<()> {
    let path = &place.path;
    // Held until the new one is in its place: nobody writes to the old one meanwhile.
    let old = match path.exists().then(|| IndexFile::open(path)).transpose() {
        Err(error @ SearchError::Locked(_)) => return Err(error.into()),
        // One that cannot be read is what this is for.
        found => found.ok().flatten(),
    };
    if let (Some(old), Some(database)) = (&old, &place.database) {
        old.belongs_to(database)?;
    }
    if let Some(old) = &old
        && !args.discard_uploads
        && old.holds_work_of_people()?
    {
        let why = "the search index holds uploads, collections, tags or deletions, which no crawl brings \
                   back: leave it, or give them up with --discard-uploads";
        return Err(BadInput(why.into()).into());
    }
    let shown = path.display();
    if args.check {
        let documents = old.map_or(0, |old| old.counts().documents);
        let documents = number(documents);
        println!("the search index, of {documents} documents, would be made anew: {shown}");
        return Ok(());
    }
    let fresh = beside(path, ".rebuilding");
    remove(&fresh)?;
    let documents = fill(&fresh, place, store, args).await?;
    remove(path)?;
    for ending in ["", "-wal", "-shm"] {
        match fs::rename(beside(&fresh, ending), beside(path, ending)) {
            Err(error) if ending.is_empty() || error.kind() != ErrorKind::NotFound => {
                return Err(error.into());
            }
            _ => {}
        }
    }
    drop(old);
    remove(&beside(&fresh, ".lock"))?;
    let documents = number(documents);
    println!("the search index was made anew, of {documents} documents: {shown}");
    Ok(())
}

/// Gives how many documents there are.
async fn fill(
    fresh: &Path,
    place: &Place,
    store: &Arc<dyn ServerStore>,
    args: &RebuildArgs,
) -> anyhow::Result<u64> {
    let opening = fresh.to_owned();
    let index = tokio::task::spawn_blocking(move || IndexFile::open(&opening)).await??;
    if let Some(database) = &place.database {
        index.belongs_to(database)?;
    }
    let index = Arc::new(index);
    let settings = Settings {
        languages: languages(&args.languages.languages),
        ..Settings::default()
    };
    let embedder = embedder(&args.model).await?;
    let source = Arc::clone(store) as Arc<dyn Store>;
    let mut indexer = Indexer::new(source, Arc::clone(&index), embedder.into(), settings);
    // People find again what their own jobs crawled.
    indexer.owners = Some(Arc::new(JobOwners::new(Arc::clone(store))));
    indexer.catch_up(now(), &|_| {}).await?;
    Ok(index.counts().documents)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A file with what SQLite keeps beside it, as far as it is there.
fn remove(path: &Path) -> anyhow::Result<()> {
    for ending in ["", "-wal", "-shm"] {
        match fs::remove_file(beside(path, ending)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}
