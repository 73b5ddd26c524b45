//! `trawl demo`: a crawl of a made-up web on this machine, with everything on its defaults.

use std::{path::Path, process::ExitCode, time::Duration};

use anyhow::Context;
use trawl_engine::{Engine, EngineOptions};
use trawl_testweb::{TestWeb, WebSpec};
use trawl_types::{CrawlSpec, spec::HostScope};

use super::{open, session};
use crate::{
    args::{DEMO_DATABASE, DemoArgs},
    exit::BadInput,
    hint,
};

pub(crate) async fn run(args: DemoArgs) -> anyhow::Result<ExitCode> {
    make_room(&args.database)?;
    let web = TestWeb::start(WebSpec {
        hosts: args.hosts.max(1),
        pages: args.pages.max(1),
        latency: Duration::from_millis(5),
        ..WebSpec::default()
    })
    .await
    .context("cannot start the made-up web")?;
    let root = web.url(0, "/");
    eprintln!(
        "A made-up web of {} pages on {} hosts is up on this machine. Crawling {root}\n",
        args.pages, args.hosts
    );
    let store = open(&args.database)?;
    let engine = Engine::start(store.clone(), EngineOptions::default()).await?;
    let handle = engine.crawl(spec_for(&root), "demo").await?;
    let code = session::run(store, handle, None, &args.database, false).await?;
    let example = web.page_url(web.graph().page_count() as u32 / 2);
    web.stop().await;
    say_what_to_try(&args.database, &example);
    Ok(code)
}

fn spec_for(root: &str) -> CrawlSpec {
    let mut spec = CrawlSpec {
        seeds: vec![root.to_owned()],
        ..CrawlSpec::default()
    };
    spec.scope.hosts = HostScope::Anywhere;
    spec.politeness.delay_ms = 10;
    spec.fetch.resolve = vec!["*.test=127.0.0.1".into()];
    spec.fetch.allow_networks = vec!["127.0.0.0/8".into()];
    spec.keep.html = true;
    spec
}

/// The demo begins anew each time, but removes only the database that it makes by default.
fn make_room(database: &Path) -> anyhow::Result<()> {
    crate::database::must_be_a_file(database)?;
    if !database.exists() {
        return Ok(());
    }
    let name = database.display();
    if database != Path::new(DEMO_DATABASE) {
        let message = format!("{name} exists already: remove it first or name another --database");
        return Err(BadInput(message).into());
    }
    for path in [
        name.to_string(),
        format!("{name}-wal"),
        format!("{name}-shm"),
    ] {
        let _ = std::fs::remove_file(path);
    }
    let _ = std::fs::remove_dir_all(format!("{name}-bodies"));
    Ok(())
}

fn say_what_to_try(database: &Path, example: &str) {
    let database = hint::quoted(database);
    eprintln!(
        "\nTry next:\n  \
         trawl status --database {database}\n  \
         trawl explain --database {database} {example}\n  \
         trawl export --database {database} --fields url,depth,title | head\n  \
         trawl index --database {database} && trawl search --database {database} 'tower garden'\n  \
         sqlite3 {database} 'select url from pages limit 5'\n  \
         trawl crawl --max-pages 50 --contact-url https://you.example/ https://example.org/"
    );
}
