//! Caches: asked once for many, dropped when the data changes, and nothing deleted comes out of them.

use std::thread;

use serde_json::json;

use super::{Harbour, found, search, upload};
use crate::harness::{Api, Health, Tei, Trawl};

#[test]
fn results_are_remembered_until_the_data_changes_and_nothing_deleted_comes_back() {
    let harbour = Harbour::start(super::harbour(), &[]);
    let api = harbour.server.client();
    let document = upload(&api, "rope", "Rope is made of hemp.");
    let path = format!("/documents/{}", document["id"].as_str().unwrap());
    let query = json!({ "query": "hemp" });
    let ask = || search(&api, "/search", &query);
    assert_eq!(ask()["result_cached"], false);
    let again = ask();
    assert_eq!(
        (&found(&again)[..], &again["result_cached"]),
        (&["rope".to_owned()][..], &json!(true))
    );
    let other = search(&api, "/search", &json!({ "query": "hemp", "limit": 1 }));
    assert_eq!(other["result_cached"], false, "another question");
    upload(&api, "hemp", "Hemp grows in the field.");
    let more = ask();
    assert_eq!(
        (found(&more).len(), &more["result_cached"]),
        (2, &json!(false))
    );
    assert_eq!(ask()["result_cached"], true);
    api.delete(&path).expect(204);
    for _ in 0..3 {
        assert_eq!(found(&ask()), ["hemp"]);
    }
    api.act(&format!("{path}/restore")).expect(200);
    assert_eq!(found(&ask()).len(), 2);
    let tags = json!({ "tags": ["plant"] });
    let tagged = json!({ "query": "hemp", "tags": ["plant"] });
    api.post(&format!("{path}/tags"), &tags).expect(200);
    assert_eq!(found(&search(&api, "/search", &tagged)), ["rope"]);
}

#[test]
fn documents_deleted_while_others_search_are_not_found_afterwards() {
    let harbour = Harbour::start(super::harbour(), &[]);
    let api = harbour.server.client();
    let base = harbour.server.base.clone();
    let key = harbour.server.key.clone();
    for round in 0..20 {
        let word = format!("word{round}");
        let document = upload(&api, &word, &format!("A text with {word} in it."));
        let path = format!("/documents/{}", document["id"].as_str().unwrap());
        let searching: Vec<_> = (0..3)
            .map(|_| {
                let (base, key, word) = (base.clone(), key.clone(), word.clone());
                thread::spawn(move || {
                    let api = Api::new(&base, key.as_deref());
                    for _ in 0..5 {
                        search(&api, "/search", &json!({ "query": word }));
                    }
                })
            })
            .collect();
        api.delete(&path).expect(204);
        let after = search(&api, "/search", &json!({ "query": word }));
        assert!(found(&after).is_empty(), "{after}");
        for thread in searching {
            thread.join().unwrap();
        }
        assert!(found(&search(&api, "/search", &json!({ "query": word }))).is_empty());
    }
}

#[test]
fn of_many_equal_searches_at_once_one_is_computed() {
    let tei = Tei::start();
    let harbour = Harbour::indexed(&["--embed-url", &tei.base]);
    let api = harbour.server.client();
    api.wait_for_index(|figures| figures["embedded"] == figures["chunks"]);
    let before = tei.embedded();
    let misses = |api: &Api| api.get("/cache/stats").expect(200).json()["query"]["misses"].clone();
    let earlier = misses(&api).as_u64().unwrap();
    tei.be(Health::Slow);
    let asking: Vec<_> = (0..12)
        .map(|_| {
            let (base, key) = (harbour.server.base.clone(), harbour.server.key.clone());
            thread::spawn(move || {
                let api = Api::new(&base, key.as_deref());
                search(&api, "/search", &json!({ "query": "hurricane at sea" }))
            })
        })
        .collect();
    let answers: Vec<_> = asking.into_iter().map(|one| one.join().unwrap()).collect();
    for answer in &answers {
        assert_eq!(answer["results"], answers[0]["results"]);
        assert_eq!(found(answer)[0], "storms");
    }
    assert_eq!(tei.embedded() - before, 1, "the query was embedded once");
    assert_eq!(misses(&api).as_u64().unwrap() - earlier, 1);
    let computed = answers
        .iter()
        .filter(|answer| answer["result_cached"] == false);
    assert_eq!(computed.count(), 1);
}

#[test]
fn caches_are_counted_and_cleared_by_administrators() {
    let tei = Tei::start();
    let harbour = Harbour::indexed(&["--embed-url", &tei.base]);
    let api = harbour.server.client();
    api.wait_for_index(|figures| figures["embedded"] == figures["chunks"]);
    api.delete("/cache/query").expect(200);
    let query = json!({ "query": "nets" });
    let ask = || search(&api, "/search", &query);
    ask();
    ask();
    let stats = api.get("/cache/stats").expect(200).json();
    assert_eq!(stats["query"]["entries"], 1);
    assert!(stats["query"]["hits"].as_u64().unwrap() >= 1, "{stats}");
    let figures = api.get("/stats").expect(200).json();
    assert_eq!(figures["search"]["cache"]["query"], stats["query"]);
    let cleared = |path: &str| api.delete(path).expect(200).json()["cleared"].clone();
    assert_eq!(cleared("/cache/domain/elsewhere.test"), 0);
    assert_eq!(cleared("/cache/domain/site0.test"), 1);
    let again = ask();
    assert_eq!(
        (&again["result_cached"], &again["query_embedding_cached"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(cleared("/cache/query"), 1);
    assert_eq!(cleared("/cache/embeddings"), 1);
    assert_eq!(cleared("/cache/crawl"), 0);
    assert_eq!(ask()["query_embedding_cached"], false);
    let writer = Trawl::on("keys", &harbour.database)
        .args(["create", "somebody", "--scope", "write"])
        .run();
    let writer = Api::new(
        &harbour.server.base,
        Some(writer.expect_code(0).stdout.trim()),
    );
    writer.get("/cache/stats").expect(200);
    for path in ["crawl", "query", "embeddings", "domain/site0.test"] {
        writer.delete(&format!("/cache/{path}")).expect(403);
    }
}
