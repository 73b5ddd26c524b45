//! The index follows the log: through `kill -9`, with pages that vanish, on PostgreSQL, and with two
//! servers on one index.

use std::{collections::BTreeMap, path::Path, thread, time::Duration};

use serde_json::json;
use trawl_search::{
    analysis::Analyser,
    document::Filter,
    file::{DocumentFilter, IndexFile},
    query::Query,
};
use trawl_testweb::{Behaviour, Behaviours, WebSpec};

use super::{Harbour, arguments, crawl, found, linking, page, refused, search, upload};
use crate::harness::{Api, Dice, Server, Trawl, Web, postgres};

const QUERIES: [&str; 5] = ["page", "site", "harbour water", "\"the page\"", "wa*"];

/// All that an index holds and finds, without the numbers that depend on the order of writing.
fn holds(path: &Path) -> BTreeMap<String, String> {
    let index = IndexFile::open_to_read(path).unwrap();
    let filter = DocumentFilter {
        limit: 10_000,
        ..DocumentFilter::default()
    };
    let mut all = BTreeMap::new();
    for row in index.documents(&filter).unwrap().documents {
        let chunks = index.chunks_of(row.id).unwrap();
        let texts: Vec<_> = chunks
            .iter()
            .map(|chunk| (chunk.uuid, &chunk.content))
            .collect();
        let text = format!("{:?} {:?} {texts:?}", row.title, row.content_hash);
        all.insert(row.url, text);
    }
    for typed in QUERIES {
        let query = Query::parse(typed, &Analyser::default()).unwrap();
        let found = index
            .by_keywords(&query, &Filter::default(), 10_000)
            .unwrap();
        let mut hits: Vec<String> = found
            .hits
            .iter()
            .map(|hit| {
                let row = &index.chunks(&[hit.chunk]).unwrap()[0];
                format!("{} {:.4}", row.uuid, hit.score)
            })
            .collect();
        hits.sort();
        all.insert(typed.to_owned(), hits.join(" "));
    }
    all
}

#[test]
fn a_server_killed_while_it_indexes_ends_with_the_index_that_one_from_scratch_has() {
    let pages = 600;
    let web = Web::start(WebSpec::small_site(pages).with_page_bytes(6_000));
    let harbour = Harbour::start(web, &["--no-indexing"]);
    let api = harbour.server.client();
    crawl(&api, &harbour.web.url(0, "/"));
    let key = harbour.server.key.clone();
    assert_eq!(harbour.server.stop(), Some(0));
    let index = harbour.database.with_extension("db.search");
    let port = harbour.web.addr().port().to_string();
    let start = || {
        Server::start(
            &harbour.database,
            &arguments(&port, &["--search-languages", "all"]),
        )
    };
    let scratch = harbour.database.with_extension("scratch");
    Trawl::on("index", &harbour.database)
        .args(["--model", "none", "--languages", "all", "--index"])
        .arg(&scratch)
        .run()
        .expect_code(0);
    let scratch = holds(&scratch);
    let all = scratch.len() as u64 - QUERIES.len() as u64;
    assert_eq!(all, u64::from(pages));
    let mut dice = Dice::new(0x696e_6465);
    let (mut so_far, mut killed_inside) = (0, 0);
    while so_far < all {
        let server = start();
        let api = Api::new(&server.base, key.as_deref());
        api.wait_for_index(|figures| figures["documents"].as_u64().unwrap() > so_far);
        thread::sleep(Duration::from_millis(dice.below(40)));
        server.kill();
        so_far = IndexFile::open_to_read(&index).unwrap().counts().documents;
        killed_inside += u64::from(so_far < all);
    }
    assert!(killed_inside > 0, "no kill hit the work");
    let server = start();
    let api = Api::new(&server.base, key.as_deref());
    api.wait_for_index(|figures| figures["documents"] == all);
    assert_eq!(server.stop(), Some(0));
    assert!(holds(&index) == scratch, "the indexes differ");
    println!("{killed_inside} kills hit the index while it was made");
}

/// A site of which pages can be taken away.
fn shelf(pages: usize) -> (Web, Vec<String>) {
    let paths: Vec<String> = (0..pages).map(|n| format!("/book-{n}")).collect();
    let mut behaviours = Behaviours::none().on(0, "/", linking(&paths));
    for (number, path) in paths.iter().enumerate() {
        let text = format!(
            "Book number {number} stands on the shelf in the harbour library, and has {number} \
             chapters about the sea, the boats and those who built them."
        );
        behaviours = behaviours.on(0, path, page(&format!("Book {number}"), &text));
    }
    (
        Web::start_with(WebSpec::many_hosts(1, 1), behaviours),
        paths,
    )
}

#[test]
fn pages_that_vanish_are_removed_but_not_a_whole_site_at_once() {
    let (web, paths) = shelf(20);
    let harbour = Harbour::start(web, &[]);
    let api = harbour.server.client();
    crawl(&api, &harbour.web.url(0, "/"));
    api.wait_for_index(|figures| figures["documents"] == 21);
    harbour.web.on(0, &paths[3], Behaviour::Status(404));
    harbour.web.on(0, &paths[4], Behaviour::Status(410));
    crawl(&api, &harbour.web.url(0, "/"));
    api.wait_for_index(|figures| figures["documents_removed"] == 2);
    for number in [3, 4] {
        let gone = json!({ "query": format!("\"number {number}\"") });
        assert!(found(&search(&api, "/search", &gone)).is_empty());
    }
    for path in &paths[5..] {
        harbour.web.on(0, path, Behaviour::Status(404));
    }
    crawl(&api, &harbour.web.url(0, "/"));
    let held = api.wait_for_index(|figures| figures["held_back"].as_u64() > Some(0));
    let left = held["documents"].as_u64().unwrap();
    assert!(left >= 16, "at most five of a day may go: {held}");
    let still = json!({ "query": "\"number 12\"" });
    assert_eq!(found(&search(&api, "/search", &still)), ["book-12"]);
    let removals = |path: &str| api.act(path).expect(200).json();
    let counted = removals("/admin/search/removals");
    assert_eq!(counted["domains"][0]["gone"], held["held_back"]);
    assert_eq!(
        (&counted["dry_run"], &counted["removed"]),
        (&json!(true), &json!(0))
    );
    // What comes back is no longer to be removed.
    for (number, path) in paths.iter().enumerate().skip(5) {
        let text =
            format!("Book number {number} is back on the shelf in the library of the harbour.");
        harbour
            .web
            .on(0, path, page(&format!("Book {number}"), &text));
    }
    crawl(&api, &harbour.web.url(0, "/"));
    api.wait_for_index(|figures| figures["held_back"] == 0 && figures["documents"] == 19);
}

#[test]
fn a_page_that_no_crawl_meets_any_more_is_removed() {
    let (web, paths) = shelf(20);
    let harbour = Harbour::start(web, &[]);
    let api = harbour.server.client();
    crawl(&api, &harbour.web.url(0, "/"));
    api.wait_for_index(|figures| figures["documents"] == 21);
    harbour.web.on(0, "/", linking(&paths[1..]));
    crawl(&api, &harbour.web.url(0, "/"));
    api.wait_for_index(|figures| figures["documents"] == 20);
    let gone = json!({ "query": "\"number 0\"" });
    assert!(found(&search(&api, "/search", &gone)).is_empty());
}

#[test]
fn on_postgresql_the_index_follows_the_shared_log_and_is_kept_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index").display().to_string();
    let (database, web) = (postgres::database(), super::harbour());
    let port = web.addr().port().to_string();
    let args = arguments(&port, &["--search-index", &index]);
    let first = Server::start(Path::new(&database), &args);
    let api = first.client();
    crawl(&api, &web.url(0, "/"));
    api.wait_for_index(|figures| figures["documents"] == 4);
    let query = json!({ "query": "twine" });
    assert_eq!(found(&search(&api, "/search", &query)), ["nets"]);
    // Another server in the same place searches what the first one keeps.
    let second = Server::start(Path::new(&database), &args);
    let other = Api::new(&second.base, first.key.as_deref());
    assert_eq!(found(&search(&other, "/search", &query)), ["nets"]);
    assert_eq!(
        other.get("/stats").expect(200).json()["search"]["indexing"],
        false
    );
    let body = json!({ "url": "upload:x", "content": "Hemp." });
    refused(other.post("/documents", &body), 503, "UNAVAILABLE");
    upload(&api, "rope", "Rope is made of hemp.");
    assert_eq!(
        found(&search(&other, "/search", &json!({ "query": "hemp" }))),
        ["rope"]
    );
    assert_eq!(second.stop(), Some(0));
    assert_eq!(first.stop(), Some(0));
    // An index of another database is not taken for one's own.
    let elsewhere = postgres::database();
    let done = Trawl::new("serve")
        .args(["--listen", "127.0.0.1:0", "--database", &elsewhere])
        .args(["--search-index", &index])
        .run();
    let said = done.expect_code(4).stderr;
    assert!(
        said.contains("--search-index") && !said.contains("password"),
        "{said}"
    );
}

#[test]
fn a_second_writer_is_told_who_keeps_the_index() {
    let harbour = Harbour::indexed(&[]);
    let done = Trawl::on("index", &harbour.database)
        .args(["--model", "none"])
        .run();
    let said = done.expect_code(4).stderr;
    assert!(said.contains("trawl serve"), "{said}");
}

#[test]
fn a_crawl_with_the_number_of_a_deleted_one_is_read_from_its_beginning() {
    let harbour = Harbour::start(super::harbour(), &[]);
    let api = harbour.server.client();
    let first = crawl(&api, &harbour.web.url(0, "/"));
    api.wait_for_index(|figures| figures["documents"] == 4);
    api.delete(&format!("/jobs/{first}")).expect(204);
    let text = "The lighthouse was built on the rocks before the breakwater, in a calm summer.";
    harbour.web.on(0, "/light", page("The light", text));
    crawl(&api, &harbour.web.url(0, "/light"));
    api.wait_for_index(|figures| figures["documents"] == 5);
    let answer = search(&api, "/search", &json!({ "query": "lighthouse" }));
    assert_eq!(found(&answer), ["light"]);
}
