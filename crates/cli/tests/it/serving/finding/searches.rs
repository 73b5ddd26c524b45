//! By words, by meaning, by both; filters, pages, what is refused.

use std::{collections::HashSet, thread, time::Duration};

use serde_json::{Value, json};

use super::{Harbour, found, refused, search, upload};
use crate::harness::{Health, Tei};

/// The words that a result has marked.
fn marked(hit: &Value) -> Vec<String> {
    let content: Vec<char> = hit["content"].as_str().unwrap().chars().collect();
    let ranges = hit["highlights"].as_array().unwrap().iter();
    let word = |range: &Value| {
        let at = |n: usize| range[n].as_u64().unwrap() as usize;
        content[at(0)..at(1)].iter().collect()
    };
    ranges.map(word).collect()
}

#[test]
fn what_a_job_crawled_is_found_by_words_and_without_a_model_that_is_said() {
    let harbour = Harbour::indexed(&[]);
    let api = harbour.server.client();
    let answer = search(
        &api,
        "/search",
        &json!({ "query": "mending a fishing net" }),
    );
    assert_eq!(found(&answer)[0], "nets");
    assert_eq!(answer["searched"], json!(["keyword"]));
    assert_eq!(answer["degraded"][0]["part"], "vector");
    assert!(answer["latency_ms"].as_f64().unwrap() >= 0.0);
    let hit = &answer["results"][0];
    assert_eq!(hit["source"], "keyword");
    assert!(marked(hit).iter().any(|word| word == "mended"), "{hit}");
    let exact = search(
        &api,
        "/search/keyword",
        &json!({ "query": "\"high water\"" }),
    );
    assert_eq!(found(&exact), ["tides"]);
    assert_eq!(exact["degraded"], json!([]));
    let without = json!({ "query": "harbour -tide", "domains": ["site0.test"] });
    let without = found(&search(&api, "/api/v1/search", &without));
    assert!(!without.is_empty() && !without.contains(&"tides".to_owned()));
    let vector = api.post("/search/vector", &json!({ "query": "harbour" }));
    let said = refused(vector, 422, "UNPROCESSABLE_ENTITY");
    assert!(said["message"].as_str().unwrap().contains("models pull"));
}

#[test]
fn meaning_finds_what_words_do_not() {
    let tei = Tei::start();
    let harbour = Harbour::indexed(&["--embed-url", &tei.base]);
    let api = harbour.server.client();
    api.wait_for_index(|figures| figures["embedded"] == figures["chunks"]);
    let query = json!({ "query": "angler" });
    assert!(found(&search(&api, "/search/keyword", &query)).is_empty());
    let vector = search(&api, "/search/vector", &query);
    assert_eq!(found(&vector)[0], "nets");
    assert_eq!(vector["query_embedding_cached"], false);
    let both = search(&api, "/search", &query);
    assert_eq!(
        (&found(&both)[0][..], &both["searched"]),
        ("nets", &json!(["keyword", "vector"]))
    );
    assert_eq!(both["query_embedding_cached"], true);
    assert_eq!(both["degraded"], json!([]));
    let fused = search(&api, "/search", &json!({ "query": "storms", "rrf_k": 60 }));
    let best = &fused["results"][0];
    assert_eq!(best["source"], "fused");
    let score = best["score"].as_f64().unwrap();
    assert!(
        (score - 2.0 / 61.0).abs() < 1e-4,
        "first on both sides: {score}"
    );
    let figures = api.get("/stats").expect(200).json();
    assert_eq!(figures["search"]["model"], "topics");
}

#[test]
fn an_embedder_that_is_unwell_leaves_words_and_is_named() {
    let tei = Tei::start();
    let harbour = Harbour::indexed(&["--embed-url", &tei.base]);
    let api = harbour.server.client();
    api.wait_for_index(|figures| figures["embedded"] == figures["chunks"]);
    for (number, (health, code)) in [
        (Health::WrongSize, "EMBEDDER_FAILED"),
        (Health::Broken, "EMBEDDER_UNAVAILABLE"),
    ]
    .into_iter()
    .enumerate()
    {
        tei.be(health);
        let query = json!({ "query": format!("lantern {number}") });
        let reply = loop {
            let reply = api.post("/search/vector", &query);
            if reply.json()["code"] == code {
                break reply;
            }
            // It is not asked again at once.
            thread::sleep(Duration::from_millis(200));
        };
        let said = reply.text();
        assert!(
            !said.contains(&tei.base),
            "addresses are the operator's: {said}"
        );
        let answer = search(&api, "/search", &query);
        assert_eq!(found(&answer), ["storms"]);
        assert_eq!(answer["degraded"][0]["part"], "vector", "{answer}");
        assert_eq!(answer["searched"], json!(["keyword"]));
    }
    tei.be(Health::Well);
    loop {
        let answer = search(&api, "/search", &json!({ "query": "hurricane lantern" }));
        assert_eq!(found(&answer)[0], "storms");
        if answer["degraded"] == json!([]) {
            break;
        }
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn an_embedder_that_comes_late_embeds_what_is_there() {
    let tei = Tei::start();
    tei.be(Health::Broken);
    let harbour = Harbour::indexed(&["--embed-url", &tei.base]);
    let api = harbour.server.client();
    let vector = api.post("/search/vector", &json!({ "query": "angler" }));
    refused(vector, 503, "EMBEDDER_UNAVAILABLE");
    tei.be(Health::Well);
    api.wait_for_index(|figures| figures["embedded"] == figures["chunks"]);
    let vector = search(&api, "/search/vector", &json!({ "query": "angler" }));
    assert_eq!(found(&vector)[0], "nets");
}

#[test]
fn a_reranker_puts_the_best_in_another_order() {
    let tei = Tei::start();
    let harbour = Harbour::indexed(&["--rerank-url", &tei.base]);
    let api = harbour.server.client();
    upload(&api, "short", "Harbour nets.");
    let query = json!({ "query": "nets harbour boats", "use_reranker": true });
    let answer = search(&api, "/search/keyword", &query);
    assert_eq!(found(&answer)[0], "short");
    let scores: Vec<f64> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["rerank_score"].as_f64().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    tei.be(Health::Broken);
    let query = json!({ "query": "nets harbour", "use_reranker": true });
    let answer = search(&api, "/search/keyword", &query);
    assert_eq!(answer["degraded"][0]["part"], "rerank");
    assert!(!found(&answer).is_empty());
}

#[test]
fn searches_that_cannot_be_answered_are_refused_by_name() {
    let harbour = Harbour::indexed(&[]);
    let api = harbour.server.client();
    let long = "x".repeat(1001);
    for (body, field) in [
        (json!({ "query": "" }), "query"),
        (json!({ "query": "  " }), "query"),
        (json!({ "query": long }), "query"),
        (json!({ "query": "x", "limit": 0 }), "limit"),
        (json!({ "query": "x", "limit": 101 }), "limit"),
        (json!({ "query": "x", "cursor": "10-beef" }), "cursor"),
        (json!({ "query": "x", "cursor": "nonsense" }), "cursor"),
        (json!({ "query": "x", "date_from": "soon" }), "date_from"),
        (json!({ "query": "x", "fusion": "magic" }), "fusion"),
        (json!({ "query": "x", "rrf_k": 0 }), "rrf_k"),
        (
            json!({ "query": "x", "vector_weight": -1 }),
            "vector_weight",
        ),
        (
            json!({ "query": "x", "use_reranker": true, "rerank_top_n": 0 }),
            "rerank_top_n",
        ),
    ] {
        let said = refused(api.post("/search", &body), 400, "VALIDATION_ERROR");
        assert_eq!(said["details"]["field"], field, "{body}");
    }
    let unknown =
        json!({ "query": "x", "collection_ids": ["0b6c9f5e-0000-4000-8000-000000000000"] });
    for path in ["/search", "/search/keyword"] {
        refused(api.post(path, &unknown), 404, "NOT_FOUND");
    }
    let unknown = json!({ "query": "x", "tags": ["nobody's"] });
    refused(api.post("/search", &unknown), 404, "NOT_FOUND");
    let reranked = json!({ "query": "x", "use_reranker": true });
    refused(api.post("/search", &reranked), 422, "UNPROCESSABLE_ENTITY");
    for wrong in [
        json!({ "query": "x", "surprise": 1 }),
        json!({ "query": 5 }),
        json!({ "query": "x", "source_types": ["rumour"] }),
    ] {
        refused(api.post("/search", &wrong), 422, "UNPROCESSABLE_ENTITY");
    }
}

#[test]
fn filters_are_applied_inside_the_search() {
    let harbour = Harbour::indexed(&[]);
    let api = harbour.server.client();
    let manuals = json!({ "name": "manuals" });
    let manuals = api.post("/collections", &manuals).expect(201).json();
    for (name, language, filed) in [
        ("one", "en", true),
        ("two", "de", true),
        ("three", "en", false),
    ] {
        let body = json!({
            "url": format!("upload:{name}"), "content": format!("The harbour in document {name}."),
            "language": language, "tags": if name == "one" { json!(["Old"]) } else { json!([]) },
            "collection_id": if filed { manuals["id"].clone() } else { Value::Null },
        });
        api.post("/documents", &body).expect(201);
    }
    let with = |filter: Value| {
        let mut body = json!({ "query": "harbour", "limit": 100 });
        body.as_object_mut()
            .unwrap()
            .extend(filter.as_object().unwrap().clone());
        let mut names = found(&search(&api, "/search", &body));
        names.sort();
        names
    };
    assert_eq!(
        with(json!({ "source_types": ["upload"] })),
        ["one", "three", "two"]
    );
    assert_eq!(
        with(json!({ "collection_ids": [manuals["id"]] })),
        ["one", "two"]
    );
    assert_eq!(with(json!({ "tags": ["old"] })), ["one"]);
    assert_eq!(with(json!({ "languages": ["de"] })), ["two"]);
    assert_eq!(with(json!({ "date_to": "2001-01-01" })), [""; 0]);
    assert_eq!(with(json!({ "date_from": "2001-01-01" })).len(), 6);
    assert_eq!(
        with(json!({ "domains": ["test"] })).len(),
        3,
        "hosts and what is below"
    );
    assert_eq!(
        with(json!({ "collection_ids": null, "tag_ids": [] })).len(),
        6
    );
    assert!(with(json!({ "min_score": 1e9 })).is_empty());
}

#[test]
fn pages_of_results_neither_repeat_nor_leave_out_and_neighbours_come_along() {
    let harbour = Harbour::start(super::harbour(), &[]);
    let api = harbour.server.client();
    for number in 0..7 {
        upload(
            &api,
            &format!("page-{number}"),
            &format!("A harbour, number {number}."),
        );
    }
    let sections: Vec<String> = (0..6)
        .map(|n| {
            format!(
                "## Part {n}\n\n{}",
                format!("The lighthouse in part {n}. ").repeat(60)
            )
        })
        .collect();
    upload(&api, "long", &sections.join("\n\n"));
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let body = json!({ "query": "harbour", "limit": 3, "cursor": cursor });
        let answer = search(&api, "/search", &body);
        seen.extend(found(&answer));
        cursor = answer["next_cursor"].clone();
        assert_eq!(answer["has_more"], json!(!cursor.is_null()));
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen.len(), 7);
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 7);
    let many = search(
        &api,
        "/search",
        &json!({ "query": "lighthouse", "expand_chunks": true }),
    );
    assert!(found(&many).len() > 1);
    let hit = &many["results"][0];
    assert!(
        !hit["expanded_chunks"].as_array().unwrap().is_empty(),
        "{hit}"
    );
    let once = search(
        &api,
        "/search",
        &json!({ "query": "lighthouse", "dedup": true }),
    );
    assert_eq!(found(&once), ["long"]);
}
