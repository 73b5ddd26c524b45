//! Every hostile behaviour of the test web comes to the end it should, on one fetcher.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use support::{fetcher, get};
use trawl_fetch::{Ended, Fetcher};
use trawl_testweb::{Behaviours, GalleryEntry, TestWeb, WebSpec, hostile_gallery};
use trawl_types::OutcomeKind;
use url::Url;

const LIMIT: u64 = 10 * 1024 * 1024;

/// The outcome's name as far as a single fetch can know it; `None` for what is the crawl's to
/// decide (redirects, content types).
async fn outcome(fetcher: &Fetcher, url: Url) -> Option<&'static str> {
    match get(fetcher, url).await {
        Ok((head, body)) => {
            assert!(body.bytes.len() as u64 <= LIMIT);
            let kind = match head.status {
                200..=299 => OutcomeKind::Fetched,
                404 => OutcomeKind::NotFound,
                410 => OutcomeKind::Gone,
                429 => OutcomeKind::RateLimited,
                400..=499 => OutcomeKind::ClientError,
                500..=599 => OutcomeKind::ServerError,
                _ => return None,
            };
            Some(kind.as_str())
        }
        Err(Ended { outcome, .. }) => Some(outcome.kind.as_str()),
    }
}

fn is_right(entry: &GalleryEntry, outcome: &str) -> bool {
    // A file is fetched here and judged elsewhere; what broke off is kept as far as it came; the
    // crawl asks again where we do not.
    let kept = entry.path.ends_with("-truncated")
        || entry.path.ends_with("/flapping")
        || entry.expects("not_html");
    entry.expects(outcome) || (kept && matches!(outcome, "fetched" | "server_error"))
}

#[tokio::test]
async fn every_piece_of_the_gallery_comes_to_its_end() {
    let web = TestWeb::start_with(WebSpec::default(), Behaviours::none().with_gallery())
        .await
        .unwrap();
    let patient = fetcher(|spec| spec.max_body_bytes = LIMIT);
    // For what is meant to be late; anything else may take its time on a busy machine.
    let hurried = fetcher(|spec| {
        spec.headers_timeout_ms = 300;
        spec.idle_timeout_ms = 300;
        spec.total_timeout_ms = 1_000;
    });
    let mut wrong = Vec::new();
    for entry in hostile_gallery() {
        let url = Url::parse(&web.loopback_url(&entry.path)).unwrap();
        let late = entry.expected_outcome.contains("timeout");
        let fetcher = if late { &hurried } else { &patient };
        let Some(outcome) = outcome(fetcher, url).await else {
            continue;
        };
        if !is_right(&entry, outcome) {
            wrong.push(format!(
                "{}: {outcome}, not {}",
                entry.path, entry.expected_outcome
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
