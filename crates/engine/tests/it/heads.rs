//! When HEAD comes before GET, and what follows from its answer.

use trawl_testweb::{Answer, Behaviour, Behaviours, RetryAfter, WebSpec};
use trawl_types::{OutcomeKind, spec::HeadPolicy};

use crate::stage::{Stage, gaps};

const PAGE: &str = "<!doctype html><title>Page</title>";

fn picture() -> Behaviour {
    Behaviour::Answer(Answer::of_type("image/png", &b"\x89PNG"[..]))
}

/// The methods with which a path is asked for, and how its visit ends.
async fn visit(head: HeadPolicy, path: &str, what: Behaviour) -> (Vec<String>, OutcomeKind, Stage) {
    let stage = Stage::new(WebSpec::small_site(1), Behaviours::none().on(0, path, what)).await;
    let mut spec = stage.spec(0);
    spec.seeds = vec![stage.web.url(0, path)];
    spec.fetch.head = head;
    let crawl = stage.crawl(spec).await;
    let requests = stage.requests();
    let of_path = requests.iter().filter(|r| r.path() == path);
    let methods = of_path.map(|r| r.method.clone()).collect();
    let outcome = stage.results(crawl).await[0].outcome;
    (methods, outcome, stage)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn head_is_sent_where_the_policy_says_and_get_follows_where_it_must() {
    use HeadPolicy::{Always, Auto, Never};
    use OutcomeKind::{Fetched, NotFound, NotHtml, ServerError};
    let page = || Behaviour::page(PAGE);
    for (head, path, what, methods, outcome) in [
        (Auto, "/a.html", page(), &["GET"][..], Fetched),
        (Auto, "/a.png", page(), &["HEAD", "GET"], Fetched),
        (Auto, "/b.png", picture(), &["HEAD"], NotHtml),
        (Always, "/c", page(), &["HEAD", "GET"], Fetched),
        (Always, "/d", Behaviour::Status(404), &["HEAD"], NotFound),
        (
            Always,
            "/e",
            Behaviour::HeadRefused,
            &["HEAD", "GET"],
            Fetched,
        ),
        // Two attempts: what a server in trouble says to HEAD is asked again with GET.
        (
            Always,
            "/f",
            Behaviour::Status(500),
            &["HEAD", "GET", "HEAD", "GET"],
            ServerError,
        ),
        (Never, "/b.png", picture(), &["GET"], NotHtml),
    ] {
        let (asked, end, _) = visit(head, path, what).await;
        assert_eq!(
            (asked.iter().map(String::as_str).collect::<Vec<_>>(), end),
            (methods.to_vec(), outcome),
            "{head:?} {path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_asked_for_in_answer_to_head_is_kept() {
    let busy = Behaviour::Busy {
        status: 503,
        retry_after: RetryAfter::Seconds(1),
    };
    let (asked, end, stage) = visit(HeadPolicy::Always, "/busy", busy).await;
    assert_eq!(asked, ["HEAD", "HEAD"], "no GET in between");
    assert_eq!(end, OutcomeKind::ServerError);
    let requests = stage.requests();
    let (gap, _) = gaps(&requests, 0).pop().unwrap();
    assert!(gap >= 1_000_000, "asked again after {gap} µs");
}
