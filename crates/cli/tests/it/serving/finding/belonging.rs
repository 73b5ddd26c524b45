//! Who may find what: one's own crawls, the open frontier, uploads; everything for administrators.

use serde_json::json;

use super::{Harbour, crawl, found, refused, search, upload};
use crate::harness::{Api, Server, Trawl};

fn key(harbour: &Harbour, scope: &str) -> Api {
    let made = Trawl::on("keys", &harbour.database)
        .args(["create", "somebody", "--scope", scope])
        .run();
    Api::new(
        &harbour.server.base,
        Some(made.expect_code(0).stdout.trim()),
    )
}

#[test]
fn documents_are_found_by_those_who_crawled_them_and_uploads_by_all() {
    let harbour = Harbour::start(super::harbour(), &[]);
    let (mine, other, reader) = (
        key(&harbour, "write"),
        key(&harbour, "write"),
        key(&harbour, "read"),
    );
    let admin = harbour.server.client();
    crawl(&mine, &harbour.web.url(0, "/"));
    admin.wait_for_index(|figures| figures["documents"] == 4);
    let query = json!({ "query": "twine" });
    for (api, count) in [(&mine, 1), (&admin, 1), (&other, 0), (&reader, 0)] {
        for path in ["/search", "/search/keyword"] {
            assert_eq!(found(&search(api, path, &query)).len(), count);
        }
        assert_eq!(
            api.get("/documents").expect(200).json()["total"],
            json!(count * 4)
        );
    }
    let id = search(&mine, "/search", &query)["results"][0]["document_id"].clone();
    let path = format!("/documents/{}", id.as_str().unwrap());
    for part in ["", "/chunks", "/versions"] {
        other.get(&format!("{path}{part}")).expect(404);
    }
    other.delete(&path).expect(404);
    other.act(&format!("{path}/reindex")).expect(404);

    // Whoever crawls the same page, and sees the same, finds it as well.
    crawl(&other, &harbour.web.url(0, "/"));
    let began = std::time::Instant::now();
    while found(&search(&other, "/search", &query)).is_empty() {
        assert!(began.elapsed().as_secs() < 120);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(found(&search(&mine, "/search", &query)).len(), 1);
    refused(mine.delete(&path), 403, "FORBIDDEN");
    admin.delete(&path).expect(204);
    assert!(found(&search(&mine, "/search", &query)).is_empty());

    upload(&mine, "rope", "Rope is made of hemp.");
    for api in [&mine, &other, &reader, &admin] {
        assert_eq!(
            found(&search(api, "/search", &json!({ "query": "hemp" }))),
            ["rope"]
        );
    }
}

#[test]
fn an_operator_can_open_everything_to_everybody_who_reads() {
    let harbour = Harbour::indexed(&["--search-visibility", "all"]);
    let reader = key(&harbour, "read");
    let answer = search(&reader, "/search", &json!({ "query": "twine" }));
    assert_eq!(found(&answer), ["nets"]);
    let listed = reader.get("/documents").expect(200).json();
    assert_eq!(listed["total"], 4);
    let id = listed["documents"][0]["id"].as_str().unwrap();
    reader.delete(&format!("/documents/{id}")).expect(403);
    key(&harbour, "write")
        .delete(&format!("/documents/{id}"))
        .expect(403);
}

#[test]
fn a_server_without_search_says_so() {
    let (_folder, database) = crate::harness::place();
    let server = Server::start(&database, &["--no-search"]);
    let api = server.client();
    refused(
        api.post("/search", &json!({ "query": "x" })),
        404,
        "NOT_FOUND",
    );
    assert_eq!(api.get("/stats").expect(200).json()["search"], json!(null));
    assert!(!database.with_extension("db.search").exists());
}
