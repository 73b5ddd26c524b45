//! Pages of a list of URLs, read by a crawl that goes nowhere else.

use std::collections::HashMap;

use axum::http::HeaderMap;
use trawl_rules::Normaliser;
use trawl_types::{CrawlId, OutcomeKind, Sequence};

use super::{
    kept,
    page::{ExtractedPage, Format, failed_page, one},
};
use crate::{
    app::Shared,
    auth::Identity,
    error::ApiError,
    routes::{crawl::pages, spider::begin},
    spider::stream::Attendance,
};

/// Somebody waits for the answer.
const INTERACTIVE: Option<&str> = Some("high");

/// Pages to be read.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) urls: Vec<String>,
    pub(super) at_once: u32,
    pub(super) format: Format,
    /// Seconds.
    pub(super) max_age: u32,
}

/// Reads pages by a crawl that goes nowhere else, and gives them in the order of the URLs.
pub(super) async fn read(
    app: &Shared,
    identity: &Identity,
    headers: &HeaderMap,
    wanted: Wanted,
) -> Result<Vec<ExtractedPage>, ApiError> {
    let Wanted {
        urls,
        at_once,
        format,
        max_age,
    } = wanted;
    let mut results = HashMap::new();
    let mut good = Vec::new();
    for url in &urls {
        match pages(app, vec![url.clone()], at_once, INTERACTIVE) {
            // Asked after the rules: what may not be fetched is not given either.
            Ok(_) => match kept::find(app, url, format, max_age).await {
                Some(page) => {
                    results.insert(url.clone(), page);
                }
                None => good.push(url.clone()),
            },
            Err(error) if urls.len() == 1 => return Err(error),
            Err(error) => {
                results.insert(url.clone(), failed_page(url, error.message().to_owned()));
            }
        }
    }
    if !good.is_empty() {
        let spec = pages(app, good.clone(), at_once, INTERACTIVE)?;
        let request = serde_json::json!({ "extract": urls }).to_string();
        let started = begin(app, identity, headers, spec, request, true).await?;
        let mut attendance = Attendance::new(app, started.control.clone());
        app.jobs.ended(&started.row.id).await;
        attendance.done();
        let normaliser = Normaliser::new(&started.row.crawl.spec.normalise, app.store.key_secret());
        let found = by_identity(app, started.row.crawl.id, format, &normaliser).await?;
        for url in good {
            if let Some(page) = found.get(&identity_of(&normaliser, &url)) {
                let page = ExtractedPage {
                    url: url.clone(),
                    ..page.clone()
                };
                kept::keep(app, &page, format).await;
                results.insert(url, page);
            }
        }
    }
    let missing =
        |url: &String| failed_page(url, "not fetched: its host or robots.txt refused".into());
    Ok(urls
        .iter()
        .map(|url| results.get(url).cloned().unwrap_or_else(|| missing(url)))
        .collect())
}

/// Pages by what they are compared by, also under the addresses that redirected to them.
async fn by_identity(
    app: &Shared,
    crawl: CrawlId,
    format: Format,
    normaliser: &Normaliser,
) -> Result<HashMap<String, ExtractedPage>, ApiError> {
    let (mut found, mut moved) = (HashMap::new(), Vec::new());
    let mut after = Sequence(0);
    loop {
        let records = app.store.results(crawl, after, 100).await?;
        let Some(last) = records.last() else { break };
        after = last.seq;
        for record in records {
            match &record.redirect_to {
                Some(to) if record.outcome == OutcomeKind::Redirected => {
                    moved.push((
                        identity_of(normaliser, &record.url),
                        identity_of(normaliser, to),
                    ));
                }
                _ => {
                    let page = one(app, crawl, &record, format).await?;
                    found.insert(identity_of(normaliser, &record.url), page);
                }
            }
        }
    }
    // The last hop was recorded last: going backwards, every target is known.
    for (from, to) in moved.into_iter().rev() {
        if let Some(page) = found.get(&to).cloned() {
            found.insert(from, page);
        }
    }
    Ok(found)
}

pub(super) fn identity_of(normaliser: &Normaliser, url: &str) -> String {
    match normaliser.seed(url) {
        Ok(url) => normaliser.identity(url.address()),
        Err(_) => url.to_owned(),
    }
}
