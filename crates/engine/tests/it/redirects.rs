//! Redirects within a page and across pages: one page, one budget, one chain.

use trawl_testweb::{Behaviour, Behaviours, Redirect, WebSpec};
use trawl_types::{OutcomeKind, PageRecord};

use crate::stage::Stage;

fn outcome_of(results: &[PageRecord], path: &str) -> OutcomeKind {
    let of_path = |r: &&PageRecord| url::Url::parse(&r.url).unwrap().path() == path;
    results.iter().find(of_path).unwrap().outcome
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_live_below_www_count_towards_the_budget_of_the_host_they_were_found_on() {
    let www = Behaviour::Redirect(Redirect::AddWww);
    let stage = Stage::new(
        WebSpec::small_site(1),
        Behaviours::none().on(0, "/w/*", www),
    )
    .await;
    let mut spec = stage.spec(0);
    spec.seeds = (1..=12)
        .map(|n| stage.web.url(0, &format!("/w/{n}")))
        .collect();
    spec.scope.max_pages_per_host = Some(3);
    spec.politeness.per_host = 4;
    let crawl = stage.crawl(spec).await;
    let results = stage.results(crawl).await;
    let fetched = results.iter().filter(|r| r.outcome == OutcomeKind::Fetched);
    assert_eq!(fetched.count(), 3, "{results:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_outside_of_the_scope_may_still_move_to_another_address_of_itself() {
    let www = Behaviour::Redirect(Redirect::AddWww);
    let stage = Stage::new(WebSpec::small_site(1), Behaviours::none().on(0, "/", www)).await;
    let with = |change: fn(&mut trawl_types::CrawlSpec)| {
        let mut spec = stage.spec(0);
        change(&mut spec);
        spec
    };
    for (spec, outcome) in [
        (
            with(|spec| spec.scope.include = vec!["/docs/*".to_owned()]),
            OutcomeKind::Fetched,
        ),
        (
            with(|spec| spec.scope.exclude = vec!["*//www.*".to_owned()]),
            OutcomeKind::RedirectRefused,
        ),
    ] {
        let crawl = stage.crawl(spec).await;
        assert_eq!(outcome_of(&stage.results(crawl).await, "/"), outcome);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_comes_back_to_itself_only_where_an_address_was_asked_for_before() {
    let behaviours = Behaviours::none()
        .on(0, "/a", Behaviour::redirect_to("/b"))
        .on(0, "/b", Behaviour::redirect_to("/a/"))
        .on(0, "/c", Behaviour::redirect_to("/d"))
        .on(0, "/d", Behaviour::redirect_to("/c"));
    let stage = Stage::new(WebSpec::small_site(1), behaviours).await;
    let mut spec = stage.spec(0);
    spec.seeds = vec![stage.web.url(0, "/a"), stage.web.url(0, "/c")];
    let crawl = stage.crawl(spec).await;
    let results = stage.results(crawl).await;
    assert_eq!(outcome_of(&results, "/b"), OutcomeKind::Redirected);
    assert_eq!(outcome_of(&results, "/d"), OutcomeKind::RedirectLoop);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_redirect_of_a_chain_counts_also_those_of_a_page_to_itself() {
    let mut behaviours = Behaviours::none();
    for n in 1..20 {
        let next = Behaviour::redirect_to(&format!("/c/{}", n + 1));
        let slash = Behaviour::Redirect(Redirect::AddSlash);
        behaviours = behaviours
            .on(0, &format!("/c/{n}"), slash)
            .on(0, &format!("/c/{n}/"), next);
    }
    let stage = Stage::new(WebSpec::small_site(1), behaviours).await;
    let mut spec = stage.spec(0);
    spec.seeds = vec![stage.web.url(0, "/c/1")];
    let crawl = stage.crawl(spec).await;
    let asked = |r: &trawl_testweb::LoggedRequest| r.path().starts_with("/c/");
    assert_eq!(stage.web.log().count_where(asked), 11, "ten were followed");
    let results = stage.results(crawl).await;
    let last = results.last().unwrap();
    assert_eq!(last.outcome, OutcomeKind::TooManyRedirects);
}
