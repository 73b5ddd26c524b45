//! The best results in another order, by a cross-encoder of the process and by the same one behind
//! HTTP.

use serde_json::{Value, json};

use super::{Harbour, found, search, upload};
use crate::harness::{Api, CrossEncoder, Trawl};

const QUERY: &str = "nets harbour boats";

/// What the server says of each text.
fn told(encoder: &CrossEncoder, texts: &[&str]) -> Vec<f64> {
    let api = Api::new(&encoder.base, None);
    let body = json!({ "query": QUERY, "texts": texts, "truncate": true });
    let answer = api.post("/rerank", &body).expect(200).json();
    let mut scores = vec![f64::NAN; texts.len()];
    for entry in answer.as_array().unwrap() {
        scores[entry["index"].as_u64().unwrap() as usize] = entry["score"].as_f64().unwrap();
    }
    scores
}

fn hits(answer: &Value) -> &Vec<Value> {
    answer["results"].as_array().unwrap()
}

#[test]
fn a_cross_encoder_ranks_in_the_process_as_it_does_behind_http() {
    let encoder = CrossEncoder::start();
    let harbour = Harbour::indexed(&["--rerank-model", encoder.folder()]);
    let api = harbour.server.client();
    for (name, text) in [
        (
            "one",
            "Boats and nets, nets and boats: the harbour is full of them in spring.",
        ),
        ("two", "A quiet harbour without boats."),
        ("three", "Whoever mends nets reads no books."),
    ] {
        upload(&api, name, text);
    }
    let plain = search(&api, "/search/keyword", &json!({ "query": QUERY }));
    let body = json!({ "query": QUERY, "use_reranker": true });
    let ranked = search(&api, "/search/keyword", &body);
    assert_eq!(ranked["degraded"], json!([]), "{ranked}");
    let order = found(&ranked);
    assert!(order.len() >= 6 && order != found(&plain), "{order:?}");

    let texts: Vec<&str> = hits(&ranked)
        .iter()
        .map(|hit| hit["content"].as_str().unwrap())
        .collect();
    let scores = told(&encoder, &texts);
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    for (hit, score) in hits(&ranked).iter().zip(&scores) {
        let own = hit["rerank_score"].as_f64().unwrap();
        assert!((own - score).abs() < 1e-3, "{own} {score}");
    }
    for by in [
        ["--rerank-model", encoder.folder()],
        ["--rerank-url", &encoder.base],
    ] {
        let done = Trawl::on("search", &harbour.database)
            .args(["--json", "--model", "none", "--mode", "keyword"])
            .args(by)
            .arg(QUERY)
            .run()
            .expect_code(0);
        assert_eq!(found(&done.json_lines()[0]), order, "{by:?}");
    }
}

#[test]
fn rerankers_that_cannot_be_are_bad_input() {
    let (folder, database) = crate::harness::place();
    let empty = folder.path().to_str().unwrap();
    std::fs::write(folder.path().join("config.json"), "{}").unwrap();
    for (args, said) in [
        (&["--rerank-model", "nobody"][..], "no model nobody"),
        (&["--rerank-model", empty], "rerank-model"),
        (&["--rerank-url", "ftp://x"], "rerank-url"),
        (
            &["--rerank-model", empty, "--rerank-url", "http://x"],
            "nothing beside search.rerank-model",
        ),
    ] {
        let listening = ["--listen", "127.0.0.1:0", "--models", empty];
        let done = Trawl::on("serve", &database)
            .args(listening)
            .args(args)
            .run();
        let done = done.expect_code(2);
        assert!(done.stderr.contains(said), "{said}: {}", done.stderr);
    }
    let nothing = Trawl::new("embed-server").args(["--model", "none"]).run();
    assert!(nothing.expect_code(2).stderr.contains("models pull"));
}
