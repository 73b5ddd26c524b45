//! robots.txt that cannot be read: what a host has said before goes on to hold, and what was never
//! read disallows. Which files allow what is in `politeness.rs`.

use trawl_store::contract::{
    target::LinkTarget,
    write::{Admission, CommitBatch, HostUpdate, StoredRobots, WriteRules},
};
use trawl_testweb::{Behaviour, Behaviours, Damage, RobotsKind, WebSpec};
use trawl_types::{CrawlId, HostKey, Reason, UnixMillis, spec::Order};

use crate::stage::Stage;

const RULES: &str = "User-agent: *\nDisallow: /private/\n";

async fn a_site_with(robots: RobotsKind) -> Stage {
    let index = "<a href=/fine>1</a><a href=/private/x>2</a>";
    let behaviours = Behaviours::none()
        .robots(0, robots)
        .on(0, "/", Behaviour::page(format!("<title>x</title>{index}")))
        .on(0, "/fine", Behaviour::page("<title>Fine</title>"))
        .on(0, "/private/x", Behaviour::page("<title>Private</title>"));
    Stage::new(WebSpec::small_site(1), behaviours).await
}

struct Anything;

impl Admission for Anything {
    fn admit(&mut self, _: &LinkTarget) -> Result<(), Reason> {
        Ok(())
    }
}

/// What was read of robots.txt is from the day before yesterday.
async fn let_robots_grow_old(stage: &Stage, crawl: CrawlId) {
    let url = url::Url::parse(&stage.web.url(0, "/")).unwrap();
    let name = HostKey::of(&url).unwrap();
    let host = stage.store.host_by_name(crawl, name.as_str()).await;
    let host = host.unwrap().unwrap();
    let robots = host.robots.first().unwrap();
    let old = StoredRobots {
        fetched_at: UnixMillis(robots.fetched_at.0 - 48 * 3_600_000),
        ..robots.clone()
    };
    let update = HostUpdate {
        host: Some(host.id),
        robots: Some(old),
        ..HostUpdate::default()
    };
    let batch = CommitBatch {
        crawl,
        now: robots.fetched_at,
        settlements: Vec::new(),
        hosts: vec![update],
        seeds: Vec::new(),
    };
    let rules = WriteRules {
        order: Order::BreadthFirst,
        max_depth: None,
        max_pages: None,
        admission: Box::new(Anything),
        terrain: None,
    };
    stage.store.reopen_crawl(crawl, rules).await.unwrap();
    stage.store.commit(batch).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_cannot_be_read_again_leaves_the_host_with_the_rules_it_had() {
    let failures = [
        RobotsKind::Status(503),
        RobotsKind::Reset,
        RobotsKind::ResetInBody,
        RobotsKind::Packed(Damage::Corrupt),
        RobotsKind::MovedTo("http://127.0.0.1:1/robots.txt".to_owned()),
    ];
    for failure in failures {
        let mut stage = a_site_with(RobotsKind::Custom(RULES.to_owned())).await;
        let crawl = stage.crawl(stage.spec(0)).await;
        let_robots_grow_old(&stage, crawl).await;
        stage.restart().await;
        stage.web.set_robots(0, failure.clone());
        let again = stage.crawl(stage.spec(0)).await;
        let log = stage.web.log();
        assert!(
            log.count(0, "/robots.txt") > 1,
            "{failure:?}: it is asked for again"
        );
        assert_eq!(log.count(0, "/fine"), 2, "{failure:?}");
        assert_eq!(log.count(0, "/private/x"), 0, "{failure:?}");
        assert_eq!(stage.results(again).await.len(), 2, "{failure:?}");

        // The next process finds the same rules, and a file that can be read replaces them.
        stage.restart().await;
        stage.web.set_robots(0, RobotsKind::AllowAll);
        stage.crawl(stage.spec(0)).await;
        assert_eq!(stage.web.log().count(0, "/private/x"), 1, "{failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_of_robots_txt_that_leads_nowhere_refuses_pages_and_ends_none() {
    let nowhere = RobotsKind::MovedTo("http://127.0.0.1:1/robots.txt".to_owned());
    let stage = a_site_with(nowhere).await;
    let crawl = stage.crawl(stage.spec(0)).await;
    assert_eq!(stage.web.log().count(0, "/"), 0);
    let results = stage.results(crawl).await;
    assert!(results.is_empty(), "the host itself is well: {results:#?}");
}
