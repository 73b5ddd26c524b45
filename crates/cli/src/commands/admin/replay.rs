//! `trawl admin replay`: content is made anew of the bodies that were kept, and written as the newest
//! version of each page, so that an index picks it up. Nothing is asked of the web.

use std::process::ExitCode;

use trawl_engine::redigest;
use trawl_store::contract::{server::ServerStore, write::Digest};
use trawl_types::{CrawlId, CrawlSpec, PageRecord, Sequence};
use url::Url;

use super::{blocking, ended, now};
use crate::{
    args::{ReplayArgs, ReplayKeep},
    commands::pick,
    display::number,
    exit::BadInput,
    units,
};

const PAGE: u32 = 200;

#[derive(Debug, Default)]
struct Replayed {
    changed: u64,
    unchanged: u64,
    without_body: u64,
}

pub(crate) async fn run(args: &ReplayArgs) -> anyhow::Result<ExitCode> {
    let database = args.database.find()?;
    let store = database.open_to_look_after("replay", args.dry_run).await?;
    let row = pick(store.as_ref(), args.crawl).await?;
    if !ended(row.state) {
        let state = row.state.as_str();
        return Err(BadInput(format!(
            "crawl {} is {state}: wait for its end, or cancel it",
            row.id
        ))
        .into());
    }
    let mut spec = row.spec;
    if !args.keep.is_empty() {
        spec.keep.markdown = args.keep.contains(&ReplayKeep::Markdown);
        spec.keep.text = args.keep.contains(&ReplayKeep::Text);
    }
    if !spec.keep.content() {
        return Err(BadInput(format!(
            "crawl {} keeps neither Markdown nor text: say --keep markdown",
            row.id
        ))
        .into());
    }
    let (mut done, mut after) = (Replayed::default(), Sequence(0));
    while after < row.last_seq {
        let records = store.results(row.id, after, PAGE).await?;
        let Some(last) = records.last() else { break };
        after = last.seq;
        // What is written here comes after the end that was seen, and is not read again.
        let records = records.into_iter().filter(|r| r.seq <= row.last_seq);
        for record in records.filter(|record| wanted(args, record)) {
            one(
                store.as_ref(),
                row.id,
                &spec,
                &record,
                args.dry_run,
                &mut done,
            )
            .await?;
        }
    }
    store.close().await?;
    let verb = if args.dry_run { "would get" } else { "got" };
    println!(
        "{} pages {verb} other content, {} would get the same, {} have no body to read",
        number(done.changed),
        number(done.unchanged),
        number(done.without_body)
    );
    Ok(ExitCode::SUCCESS)
}

fn wanted(args: &ReplayArgs, record: &PageRecord) -> bool {
    let host = || {
        let url = Url::parse(&record.url).ok()?;
        let name = match (url.host_str()?, url.port()) {
            (host, Some(port)) => format!("{host}:{port}"),
            (host, None) => host.to_owned(),
        };
        units::host(&name).ok()
    };
    record.outcome.is_page()
        && args.since.is_none_or(|since| record.crawled_at >= since)
        && args.before.is_none_or(|before| record.crawled_at < before)
        && args
            .domain
            .as_ref()
            .is_none_or(|name| host().as_ref() == Some(name))
}

async fn one(
    store: &dyn ServerStore,
    crawl: CrawlId,
    spec: &CrawlSpec,
    record: &PageRecord,
    dry_run: bool,
    done: &mut Replayed,
) -> anyhow::Result<()> {
    let Some(answer) = store.answer(crawl, record.seq).await? else {
        done.without_body += 1;
        return Ok(());
    };
    let (spec, page) = (spec.clone(), record.clone());
    let found = blocking(move || redigest(&spec, &page, &answer)).await?;
    let Some((digest, json)) = found else {
        done.without_body += 1;
        return Ok(());
    };
    if is_same(store, crawl, record, &json).await? {
        done.unchanged += 1;
        return Ok(());
    }
    let is_newest = dry_run || write(store, crawl, record, digest).await?;
    done.changed += u64::from(is_newest);
    Ok(())
}

async fn is_same(
    store: &dyn ServerStore,
    crawl: CrawlId,
    record: &PageRecord,
    json: &[u8],
) -> anyhow::Result<bool> {
    let kept = store.content(crawl, record.seq).await?;
    Ok(kept.as_deref() == Some(json))
}

/// False for a visit that is not the page's newest.
async fn write(
    store: &dyn ServerStore,
    crawl: CrawlId,
    record: &PageRecord,
    digest: Digest,
) -> anyhow::Result<bool> {
    let written = store.revise(crawl, record.seq, digest, now()).await?;
    Ok(written.is_some())
}
