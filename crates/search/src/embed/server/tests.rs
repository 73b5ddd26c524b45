//! `/rerank` of a tiny cross-encoder, asked over HTTP.

use std::path::Path;

use super::*;
use crate::embed::{
    CrossEncoder, EmbedError, JsonClient, Precision, Reranker, TeiReranker,
    local::checkpoint::Checkpoint,
};

const TEXTS: [&str; 3] = ["nets are mended", "", "the tide turns twice a day"];

fn model(folder: &Path) -> CrossEncoder {
    CrossEncoder::load(folder, Precision::Float).unwrap()
}

async fn served(reranker: Option<LocalReranker>) -> (String, JsonClient) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let models = Models {
        embedder: None,
        reranker: reranker.map(Arc::new),
    };
    tokio::spawn(serve(listener, models));
    let client = JsonClient::new(&base, None).unwrap();
    (base, client)
}

/// The server, and the scores that are right.
async fn ranking() -> (String, JsonClient, Vec<f32>) {
    let folder = tempfile::tempdir().unwrap();
    Checkpoint::cross_encoder().write(folder.path());
    let scores = model(folder.path()).score("nets", &TEXTS, &|| true);
    let (base, client) = served(Some(LocalReranker::new(model(folder.path())))).await;
    (base, client, scores.unwrap())
}

fn near(value: &Value, expected: f32) -> bool {
    (value.as_f64().unwrap() - f64::from(expected)).abs() < 1e-5
}

#[tokio::test]
async fn texts_come_back_by_score_with_what_was_asked_for() {
    let (base, client, scores) = ranking().await;
    let mut order = vec![0, 1, 2];
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let body = json!({ "query": "nets", "texts": TEXTS });
    let plain = client.post("/rerank", &body).await.unwrap();
    let body = json!({ "query": "nets", "texts": TEXTS, "raw_scores": true, "return_text": true });
    let raw = client.post("/rerank", &body).await.unwrap();
    for (place, at) in order.into_iter().enumerate() {
        assert_eq!(
            (&plain[place]["index"], &raw[place]["index"]),
            (&json!(at), &json!(at))
        );
        assert!(near(&raw[place]["score"], scores[at]), "{raw}");
        assert!(
            near(&plain[place]["score"], 1.0 / (1.0 + (-scores[at]).exp())),
            "{plain}"
        );
        assert_eq!(raw[place]["text"], TEXTS[at]);
        assert_eq!(plain[place].get("text"), None);
    }
    let tei = TeiReranker::new(&base, None).unwrap();
    let found = tei.rerank("nets", &TEXTS.map(str::to_owned)).await.unwrap();
    for (found, raw) in found.iter().zip(&scores) {
        assert!((found - 1.0 / (1.0 + (-raw).exp())).abs() < 1e-5);
    }
    let info = client.get("/info").await.unwrap();
    assert!(info["model_type"]["reranker"].is_object(), "{info}");
}

#[tokio::test]
async fn what_cannot_be_ranked_is_refused_as_tei_does() {
    let (_, client, _) = ranking().await;
    let long = "a ".repeat(600);
    for (body, status) in [
        (json!({ "query": "nets", "texts": [] }), "400"),
        (json!({ "query": "nets", "texts": vec!["a"; 2049] }), "413"),
        (json!({ "query": "nets", "texts": ["a", long] }), "413"),
        (json!({ "query": "", "texts": [""] }), "413"),
        (json!({ "query": "nets", "texts": [5] }), "422"),
        (json!({ "texts": ["a"] }), "422"),
    ] {
        let error = client.post("/rerank", &body).await.unwrap_err();
        let EmbedError::Http { why, retry, .. } = error else {
            panic!("{error}");
        };
        assert!(why.starts_with(status) && !retry, "{why}");
        assert!(why.contains(r#""error_type":"Validation""#), "{why}");
    }
    let body = json!({ "query": "nets", "texts": ["a", long], "truncate": true });
    let cut = client.post("/rerank", &body).await.unwrap();
    assert_eq!(cut.as_array().unwrap().len(), 2);
    let error = client
        .post("/embed", &json!({ "inputs": "a" }))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("501") && error.to_string().contains("--model"),
        "{error}"
    );
}

#[tokio::test]
async fn without_a_cross_encoder_it_is_said_what_to_do() {
    let (_, client) = served(None).await;
    let body = json!({ "query": "nets", "texts": ["a"] });
    let said = client.post("/rerank", &body).await.unwrap_err().to_string();
    assert!(
        said.contains("501") && said.contains("--rerank-model"),
        "{said}"
    );
}
