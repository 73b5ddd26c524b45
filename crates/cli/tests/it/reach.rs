//! Which pages are visited, and in what order, as the test web's log shows it.

use std::collections::HashSet;

use trawl_testweb::{Behaviour, Behaviours, WebSpec};

use crate::harness::{Trawl, Web, place};

/// Crawls from host 0's front page and returns the paths asked for with their hosts, in order.
fn visited(web: &Web, delay: &str, args: &[&str]) -> Vec<(u32, String)> {
    let (_folder, database) = place();
    let call = Trawl::crawl(&database, delay).args(args);
    call.arg(web.url(0, "/")).run().expect_code(0);
    let asked = web.pages_asked().into_iter();
    asked.map(|r| (r.host, r.path().to_owned())).collect()
}

fn hosts(visited: &[(u32, String)]) -> HashSet<u32> {
    visited.iter().map(|(host, _)| *host).collect()
}

/// The true pages within a condition, reachable through such pages alone.
fn truth(web: &Web, admit: impl Fn(u32) -> bool, depth: u32) -> HashSet<(u32, String)> {
    let graph = web.graph();
    let depths = graph.depths_within(0, &admit);
    let pages = (0..graph.page_count()).filter(|page| depths[*page as usize] <= depth);
    pages
        .map(|page| (graph.host(page), graph.path(page)))
        .collect()
}

fn as_set(visited: Vec<(u32, String)>) -> HashSet<(u32, String)> {
    let count = visited.len();
    let set: HashSet<_> = visited.into_iter().collect();
    assert_eq!(set.len(), count, "nothing is asked for twice");
    set
}

#[test]
fn a_page_budget_is_exact() {
    for most in ["1", "7", "25"] {
        let web = Web::start(WebSpec::many_hosts(4, 400));
        let args = ["--max-pages", most, "--scope", "any", "--per-host", "8"];
        let visited = visited(&web, "0", &args);
        assert_eq!(visited.len().to_string(), most);
    }
}

#[test]
fn a_budget_for_each_host_is_exact() {
    let web = Web::start(WebSpec::many_hosts(4, 400));
    let args = [
        "--max-pages-per-host",
        "6",
        "--scope",
        "any",
        "--per-host",
        "8",
    ];
    let visited = visited(&web, "0", &args);
    for host in 0..4 {
        assert_eq!(visited.iter().filter(|(h, _)| *h == host).count(), 6);
    }
}

#[test]
fn a_depth_limit_is_the_shortest_distance() {
    for depth in 0..3 {
        let web = Web::start(WebSpec::small_site(300));
        let limit = depth.to_string();
        let visited = visited(&web, "0", &["--max-depth", &limit, "--per-host", "8"]);
        assert_eq!(as_set(visited), truth(&web, |_| true, depth));
    }
}

#[test]
fn scope_is_the_host_the_site_or_everything() {
    let spec = WebSpec {
        host_suffix: "example.test".to_owned(),
        ..WebSpec::many_hosts(3, 60)
    };
    let far = |scope| {
        let web = Web::start(spec.clone());
        hosts(&visited(&web, "0", &["--scope", scope]))
    };
    assert_eq!(far("host"), HashSet::from([0]));
    assert_eq!(far("site"), HashSet::from([0, 1, 2]));
    assert_eq!(far("any"), HashSet::from([0, 1, 2]));
    let web = Web::start(WebSpec::many_hosts(3, 60));
    let site = hosts(&visited(&web, "0", &["--scope", "site"]));
    assert_eq!(
        site,
        HashSet::from([0]),
        "site0.test and site1.test are two sites"
    );
    let web = Web::start(WebSpec::many_hosts(3, 60));
    let listed = ["--host", "site0.test", "--host", "site2.test"];
    assert_eq!(hosts(&visited(&web, "0", &listed)), HashSet::from([0, 2]));
}

#[test]
fn patterns_choose_pages_and_exclusion_wins() {
    let is_doc = |web: &Web, page| page == 0 || web.graph().path(page).starts_with("/docs/");
    let web = Web::start(WebSpec::small_site(400));
    let docs = visited(&web, "0", &["--include", "/docs/*"]);
    assert_eq!(
        as_set(docs),
        truth(&web, |page| is_doc(&web, page), u32::MAX - 1)
    );
    let web = Web::start(WebSpec::small_site(400));
    let others = visited(&web, "0", &["--exclude", "regex:/docs/"]);
    let not_doc = |page| page == 0 || !is_doc(&web, page);
    assert_eq!(as_set(others), truth(&web, not_doc, u32::MAX - 1));
    let web = Web::start(WebSpec::small_site(400));
    let none = ["--include", "/docs/*", "--exclude", "*.html"];
    assert_eq!(visited(&web, "0", &none).len(), 1);
}

#[test]
fn breadth_first_visits_pages_in_order_of_their_depth() {
    let web = Web::start(WebSpec::small_site(200));
    let visited = visited(&web, "0", &["--concurrency", "1"]);
    let depth = |path: &str| web.graph().depth(web.graph().find(0, path).unwrap());
    let depths: Vec<u32> = visited.iter().map(|(_, path)| depth(path)).collect();
    assert!(depths.is_sorted(), "{depths:?}");
    assert_eq!(depths.len(), 200);
}

fn page(links: &[(&str, &str)]) -> Behaviour {
    let links = links
        .iter()
        .map(|(to, text)| format!("<p><a href=\"{to}\">{text}</a>"));
    Behaviour::page(format!(
        "<!doctype html><title>T</title>{}",
        links.collect::<String>()
    ))
}

#[test]
fn depth_first_goes_to_the_end_of_a_branch_before_it_begins_another() {
    let mut behaviours = Behaviours::none();
    behaviours = behaviours.on(0, "/", page(&[("/a", "a"), ("/b", "b"), ("/c", "c")]));
    for branch in ["/a", "/b", "/c"] {
        let mut path = branch.to_owned();
        for _ in 0..3 {
            let next = format!("{path}/x");
            behaviours = behaviours.on(0, &path, page(&[(&next, "deeper")]));
            path = next;
        }
        behaviours = behaviours.on(0, &path, page(&[]));
    }
    let web = Web::start_with(WebSpec::small_site(1), behaviours);
    // The delay gives each page's links time to be committed before the next choice.
    let visited = visited(&web, "300ms", &["--strategy", "depth-first"]);
    assert_eq!(visited.len(), 13);
    let branches: Vec<&str> = visited[1..].iter().map(|(_, path)| &path[..2]).collect();
    for branch in branches.chunks(4) {
        assert!(branch.iter().all(|b| *b == branch[0]), "{branches:?}");
    }
}

#[test]
fn best_first_visits_what_matches_the_keywords_first() {
    let (plain, wanted): (Vec<String>, Vec<String>) = (
        (0..30).map(|n| format!("/plain/{n}")).collect(),
        (0..5).map(|n| format!("/page/{n}")).collect(),
    );
    let mut links: Vec<(&str, &str)> = plain.iter().map(|to| (to.as_str(), "something")).collect();
    links.extend(
        wanted
            .iter()
            .map(|to| (to.as_str(), "the tides of the harbour")),
    );
    links.push(("/tides-and-moons", "here"));
    let behaviours = Behaviours::none()
        .on(0, "/", page(&links))
        .on(0, "/p*", page(&[]))
        .on(0, "/tides-and-moons", page(&[]));
    let web = Web::start_with(WebSpec::small_site(1), behaviours);
    let args = [
        "--strategy",
        "best-first",
        "--keywords",
        "tides,harbour",
        "--concurrency",
        "1",
    ];
    let visited = visited(&web, "0", &args);
    assert_eq!(visited.len(), 37);
    let first: HashSet<&str> = visited[1..7]
        .iter()
        .map(|(_, path)| path.as_str())
        .collect();
    let mut expected: HashSet<&str> = wanted.iter().map(String::as_str).collect();
    expected.insert("/tides-and-moons");
    assert_eq!(first, expected);
}

#[test]
fn seeds_come_from_a_file_as_well() {
    let (folder, database) = place();
    let web = Web::start(WebSpec::many_hosts(3, 3));
    let seeds = folder.path().join("seeds.txt");
    let text = format!("# hosts\n\n{}\n  {}  \n", web.url(1, "/"), web.url(2, "/"));
    std::fs::write(&seeds, text).unwrap();
    let call = Trawl::crawl(&database, "0").args(["--max-depth", "0", "--seeds"]);
    call.arg(&seeds).arg(web.url(0, "/")).run().expect_code(0);
    assert_eq!(web.pages_asked().len(), 3);
}

#[test]
fn a_bad_seed_is_named_and_the_others_are_crawled() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::small_site(3));
    let call = Trawl::crawl(&database, "0").args(["mailto:me@example.org", &web.url(0, "/")]);
    let done = call.run().expect_code(0);
    assert!(
        done.stderr.contains("mailto:me@example.org"),
        "{}",
        done.stderr
    );
    assert_eq!(web.pages_asked().len(), 3);
}
