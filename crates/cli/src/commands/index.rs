//! `trawl index`: makes what was crawled searchable, from where it stopped.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use indicatif::{ProgressBar, ProgressStyle};
use trawl_search::{
    file::IndexFile,
    follow::{Followed, Indexer, Settings},
    qdrant::{Qdrant, QdrantSettings},
};
use trawl_types::{CrawlId, UnixMillis};

use super::{embedder::embedder, open_to_read};
use crate::{
    args::{IndexArgs, QdrantArgs},
    display::number,
};

/// The index that belongs to a database.
pub(crate) fn index_path(index: Option<&Path>, database: &Path) -> PathBuf {
    index.map_or_else(
        || {
            let mut name = database.as_os_str().to_owned();
            name.push(".search");
            PathBuf::from(name)
        },
        Path::to_owned,
    )
}

pub(crate) async fn run(args: &IndexArgs) -> anyhow::Result<ExitCode> {
    let store = open_to_read(&args.database.database)?;
    let path = index_path(args.index.as_deref(), &args.database.database);
    let opening = path.clone();
    let index = tokio::task::spawn_blocking(move || IndexFile::open(&opening)).await??;
    let embedder = embedder(&args.model).await?;
    let settings = Settings {
        crawl: args.crawl.map(CrawlId),
        languages: languages(&args.languages.languages),
        confirmed: args.confirm_removals,
        ..Settings::default()
    };
    let index = Arc::new(index);
    let qdrant = qdrant(&args.qdrant, &index)?;
    let indexer = Indexer::new(store, index, embedder.into(), settings);
    let line = line(args.quiet);
    let progress = |done: &Followed| {
        line.set_message(format!(
            "{} read, {} documents new or changed, {} chunks embedded",
            number(done.read),
            number(done.added + done.changed),
            number(done.embedded)
        ));
        line.tick();
    };
    let done = indexer.catch_up(now(), &progress).await;
    line.finish_and_clear();
    let done = done?;
    if !args.quiet {
        summary(&indexer, &done, &path);
    }
    if let Some(qdrant) = qdrant {
        tell(&qdrant, args).await?;
    }
    Ok(ExitCode::SUCCESS)
}

fn qdrant(args: &QdrantArgs, index: &Arc<IndexFile>) -> anyhow::Result<Option<Qdrant>> {
    let Some(url) = &args.qdrant_url else {
        return Ok(None);
    };
    let settings = QdrantSettings {
        url: url.clone(),
        key: args.qdrant_key.clone().filter(|key| !key.is_empty()),
        collection: args.qdrant_collection.clone(),
    };
    Ok(Some(Qdrant::new(Arc::clone(index), &settings)?))
}

/// Brings Qdrant up to date.
async fn tell(qdrant: &Qdrant, args: &IndexArgs) -> anyhow::Result<()> {
    let sent = qdrant.push().await?;
    if !args.quiet {
        println!("Qdrant was told of {} changes.", number(sent));
    }
    if args.qdrant.reconcile {
        let found = qdrant.reconcile(true).await?;
        if !args.quiet {
            println!(
                "Of {} chunks Qdrant lacked {}, had {} otherwise and {} too many; all was mended.",
                number(found.compared),
                number(found.missing),
                number(found.stale),
                number(found.extra)
            );
        }
    }
    Ok(())
}

/// Languages as they are typed; none for all of them.
pub(crate) fn languages(typed: &[String]) -> Vec<String> {
    let codes = typed.iter().flat_map(|text| text.split(','));
    let codes = codes.map(|code| code.trim().to_ascii_lowercase());
    let codes: Vec<String> = codes.filter(|code| !code.is_empty()).collect();
    if codes.iter().any(|code| code == "all") {
        return Vec::new();
    }
    codes
}

fn now() -> UnixMillis {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn line(quiet: bool) -> ProgressBar {
    let line = if quiet {
        ProgressBar::hidden()
    } else {
        ProgressBar::new_spinner()
    };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        line.set_style(style);
    }
    line
}

fn summary(indexer: &Indexer, done: &Followed, path: &Path) {
    let counts = indexer.index.counts();
    eprintln!(
        "{} documents in {} chunks, {} of them with vectors: {}",
        number(counts.documents),
        number(counts.chunks),
        number(counts.embedded),
        path.display()
    );
    eprintln!(
        "  {} added, {} changed, {} unchanged, {} removed; {} chunks embedded, {} taken over",
        number(done.added),
        number(done.changed),
        number(done.unchanged),
        number(done.removed),
        number(done.embedded),
        number(done.reused + done.chunks_kept)
    );
    let hints = [
        (
            done.other_languages,
            "pages in other languages were left out: see --languages",
        ),
        (
            done.copies,
            "pages that repeat another one to the letter were left out",
        ),
        (
            done.held_back,
            "documents whose pages are gone were kept, as they are many: --confirm-removals",
        ),
        (
            done.left_alone,
            "pages were left alone: somebody removed or uploaded their documents",
        ),
        (
            done.without_content,
            "pages had nothing to index: crawl with --keep markdown, or --keep html",
        ),
    ];
    for (count, hint) in hints.into_iter().filter(|(count, _)| *count > 0) {
        eprintln!("  {} {hint}", number(count));
    }
    if indexer.model.get().is_none() {
        eprintln!("  there is no model: search goes by words alone (`trawl models pull`)");
    }
}
