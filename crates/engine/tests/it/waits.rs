//! Retry-After in all its spellings, back-off and the circuit breaker: a host that asks for a wait
//! gets it, in this process and in the next.

use trawl_testweb::{Behaviour, Behaviours, LoggedRequest, RetryAfter, RobotsKind, WebSpec};
use trawl_types::{
    CrawlState, OutcomeKind,
    spec::{BreakerSpec, RateLimitPolicy},
};

use crate::stage::{Stage, ended, gaps};

const SECOND: u64 = 1_000_000;

fn busy(status: u16, retry_after: RetryAfter) -> Behaviour {
    Behaviour::Busy {
        status,
        retry_after,
    }
}

/// The first page after the front page; every other page of the site is ordinary.
const BUSY: &str = "/p/1";

/// After each answer from the busy path, the whole host must have been left alone this long.
fn assert_left_alone(requests: &[LoggedRequest], path: &str, least: u64) {
    let of_host: Vec<_> = requests.iter().filter(|r| r.host == 0).collect();
    let mut refusals = 0;
    for pair in of_host.windows(2) {
        if pair[0].path() == path && pair[0].status >= 400 {
            refusals += 1;
            let gap = pair[1].at_micros - pair[0].at_micros;
            let next = &pair[1].path_and_query;
            assert!(gap >= least, "{next} came {gap} µs after {path}");
        }
    }
    assert!(refusals > 0, "{path} was never refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_says_when_to_come_back_is_left_alone_until_then() {
    for (status, retry_after, kind) in [
        (429, RetryAfter::Seconds(1), OutcomeKind::RateLimited),
        (429, RetryAfter::Date(1), OutcomeKind::RateLimited),
        (503, RetryAfter::Seconds(1), OutcomeKind::ServerError),
        (503, RetryAfter::Date(1), OutcomeKind::ServerError),
    ] {
        let behaviours = Behaviours::none().on(0, BUSY, busy(status, retry_after));
        let stage = Stage::new(WebSpec::small_site(30), behaviours).await;
        let mut spec = stage.spec(0);
        spec.politeness.per_host = 1;
        let crawl = stage.crawl(spec).await;
        assert_left_alone(&stage.requests(), BUSY, SECOND);
        let results = stage.results(crawl).await;
        assert_eq!(results.len(), 30);
        let busy = results.iter().find(|r| r.url.ends_with(BUSY)).unwrap();
        assert_eq!((busy.outcome, busy.attempts), (kind, 2));
        assert_eq!(
            stage.web.log().count(0, BUSY),
            2,
            "two attempts and no more"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_several_requests_at_once_none_is_sent_after_the_host_asked_to_wait() {
    let behaviours = Behaviours::none().on(0, BUSY, busy(429, RetryAfter::Seconds(1)));
    let web = WebSpec::small_site(60).with_latency(std::time::Duration::from_millis(5));
    let stage = Stage::new(web, behaviours).await;
    let mut spec = stage.spec(0);
    spec.politeness.per_host = 4;
    stage.crawl(spec).await;
    let requests = stage.requests();
    let asked: Vec<_> = requests.iter().filter(|r| r.path() == BUSY).collect();
    for refused in asked {
        let answered = refused.finished_micros.unwrap();
        let until = refused.at_micros + SECOND;
        // Those that were under way when the answer came could not know of it.
        let under_way = 3;
        let within = |r: &&LoggedRequest| (answered + 1..until).contains(&r.at_micros);
        let too_early = requests.iter().filter(within).count();
        assert!(
            too_early <= under_way,
            "{too_early} requests within the wait"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_for_robots_txt_itself_is_kept_too() {
    for status in [429, 503] {
        let wait = busy(status, RetryAfter::Seconds(1));
        let behaviours = Behaviours::none().on(0, "/robots.txt", wait);
        let stage = Stage::new(WebSpec::small_site(5), behaviours).await;
        stage.crawl(stage.spec(0)).await;
        let requests = stage.requests();
        assert_eq!(requests.len(), 2, "two attempts at robots.txt, no page");
        assert_left_alone(&requests, "/robots.txt", SECOND);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_outlives_the_process_that_was_asked_for_it() {
    let behaviours = Behaviours::none().on(0, BUSY, busy(429, RetryAfter::Seconds(2)));
    let mut stage = Stage::new(WebSpec::small_site(30), behaviours).await;
    let mut handle = stage.start(stage.spec(0)).await;
    stage.until(&mut handle, |r| r.status == 429).await;
    handle.pause();
    assert_eq!(ended(&mut handle).await.state, CrawlState::Paused);
    let crawl = handle.crawl;
    stage.restart().await;
    let mut handle = stage.engine.resume(crawl).await.unwrap();
    assert_eq!(ended(&mut handle).await.state, CrawlState::Completed);
    assert_left_alone(&stage.requests(), BUSY, 2 * SECOND);
    assert_eq!(stage.results(crawl).await.len(), 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_host_waits_for_all_crawls() {
    let behaviours = Behaviours::none().on(0, BUSY, busy(429, RetryAfter::Seconds(1)));
    let stage = Stage::new(WebSpec::small_site(40), behaviours).await;
    let mut handles = Vec::new();
    for _ in 0..3 {
        handles.push(stage.start(stage.spec(0)).await);
    }
    for handle in &mut handles {
        ended(handle).await;
    }
    assert_left_alone(&stage.requests(), BUSY, SECOND);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_may_give_a_host_up_at_its_first_429() {
    let unsaid = busy(429, RetryAfter::Unsaid);
    let behaviours = Behaviours::none().on(0, BUSY, unsaid);
    let stage = Stage::new(WebSpec::many_hosts(3, 90), behaviours).await;
    let mut spec = stage.spec(0);
    spec.politeness.on_rate_limit = RateLimitPolicy::SuspendHost;
    stage.crawl(spec).await;
    let last = stage.web.log().of_host(0).pop().unwrap();
    assert_eq!(
        last.path(),
        BUSY,
        "nothing is asked of the host after the refusal"
    );
    assert_eq!(stage.web.log().count(1, "/"), 1, "the rest goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_asks_for_a_longer_wait_than_is_granted_is_given_up_and_not_asked_early() {
    for (path, status) in [(BUSY, 503), (BUSY, 429), ("/robots.txt", 503)] {
        let two_hours = busy(status, RetryAfter::Seconds(7200));
        let behaviours = Behaviours::none().on(0, path, two_hours);
        let mut stage = Stage::new(WebSpec::many_hosts(2, 60), behaviours).await;
        let mut spec = stage.spec(0);
        spec.seeds.push(stage.web.url(1, "/"));
        let mut other = stage.start(spec.clone()).await;
        let crawl = stage.crawl(spec.clone()).await;
        assert_eq!(ended(&mut other).await.state, CrawlState::Completed);
        let log = stage.web.log();
        assert_eq!(log.count(0, path), 1, "{path}: not asked again");
        let last = log.of_host(0).pop().unwrap();
        assert_eq!(last.path(), path, "nothing is asked after it");
        assert_eq!(log.count(1, "/"), 2, "the other host goes on");
        let url = url::Url::parse(&stage.web.url(0, "/")).unwrap();
        let name = trawl_types::HostKey::of(&url).unwrap();
        for crawl in [crawl, other.crawl] {
            let host = stage.store.host_by_name(crawl, name.as_str()).await;
            assert!(
                host.unwrap().unwrap().suspended.is_some(),
                "{path}: it is given up"
            );
        }

        // Nor by those who come later.
        let asked = log.of_host(0).len();
        stage.restart().await;
        stage.crawl(spec).await;
        assert_eq!(stage.web.log().of_host(0).len(), asked, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_fails_is_probed_after_a_time_and_then_given_up() {
    let behaviours =
        Behaviours::none()
            .robots(1, RobotsKind::AllowAll)
            .on(1, "/*", Behaviour::Status(500));
    let stage = Stage::new(WebSpec::many_hosts(2, 80), behaviours).await;
    let mut spec = stage.spec(0);
    spec.seeds = vec![stage.web.url(0, "/")];
    spec.seeds
        .extend((1..20).map(|n| stage.web.url(1, &format!("/n/{n}"))));
    spec.politeness.retry.attempts = 1;
    spec.politeness.breaker = BreakerSpec {
        failures: 5,
        reset_ms: 500,
        successes: 2,
        give_up_after: 3,
    };
    let crawl = stage.crawl(spec).await;
    let requests = stage.requests();
    let failing = gaps(&requests, 1);
    // robots.txt, five failures, two probes that find nothing better.
    assert_eq!(failing.len(), 7, "{failing:#?}");
    for (gap, request) in &failing[5..] {
        // The breaker's time is ours, not the host's: to the millisecond is good enough.
        assert!(
            *gap >= SECOND / 2 - 1_000,
            "{} came after {gap} µs",
            request.path()
        );
    }
    let fetched = |r: &&trawl_types::PageRecord| r.outcome == OutcomeKind::Fetched;
    let results = stage.results(crawl).await;
    assert_eq!(
        results.iter().filter(fetched).count(),
        40,
        "the other host is whole"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_pages_are_not_taken_for_a_broken_host() {
    let links: Vec<String> = (0..12).map(|n| format!("<a href=/n/{n}>x</a>")).collect();
    let broken = (0..5).fold(Behaviours::none(), |all, n| {
        all.on(0, &format!("/n/{n}"), Behaviour::Status(500))
    });
    let good = (5..12).fold(broken, |all, n| {
        all.on(0, &format!("/n/{n}"), Behaviour::page("<p>fine"))
    });
    let behaviours = good.on(0, "/start", Behaviour::page(links.concat()));
    let stage = Stage::new(WebSpec::small_site(1), behaviours).await;
    let mut spec = stage.spec(0);
    spec.seeds = vec![stage.web.url(0, "/start")];
    spec.politeness.per_host = 1;
    spec.politeness.retry.attempts = 3;
    spec.politeness.breaker = BreakerSpec {
        failures: 5,
        reset_ms: 300,
        successes: 2,
        give_up_after: 2,
    };
    let mut handle = stage.start(spec).await;
    let end = ended(&mut handle).await;
    let results = stage.results(end.crawl).await;
    let of = |kind| results.iter().filter(|r| r.outcome == kind).count();
    assert_eq!(of(OutcomeKind::Fetched), 8, "all that are well");
}
