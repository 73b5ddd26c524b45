//! Both protocols against the server that `trawl embed-server` runs.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::net::TcpListener;

use super::*;
use crate::embed::{embed_all, server};

/// Gives the lengths of texts as vectors; fails as often as it is told to.
#[derive(Debug)]
struct Lengths {
    failures: AtomicUsize,
    bad: bool,
}

#[async_trait]
#[allow(clippy::unnecessary_literal_bound)] // the trait's signature
impl Embedder for Lengths {
    fn model(&self) -> &str {
        "lengths"
    }

    fn dimension(&self) -> usize {
        2
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let left = self.failures.load(Ordering::SeqCst);
        if left > 0 {
            self.failures.store(left - 1, Ordering::SeqCst);
            return Err(EmbedError::Stopped);
        }
        if self.bad {
            return Ok(vec![vec![f32::NAN, 0.0]; texts.len()]);
        }
        let vector = |text: &String| normalised(vec![text.len() as f32, 1.0]);
        Ok(texts.iter().map(vector).collect())
    }
}

async fn server_with(failures: usize, bad: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let embedder = Arc::new(Lengths {
        failures: AtomicUsize::new(failures),
        bad,
    });
    let models = server::Models {
        embedder: Some(embedder),
        reranker: None,
    };
    tokio::spawn(server::serve(listener, models));
    format!("http://{address}")
}

#[tokio::test]
async fn both_protocols_bring_the_same_vectors() {
    let base = server_with(0, false).await;
    let tei = TeiEmbedder::connect(&base, None, None).await.unwrap();
    assert_eq!((tei.model(), tei.dimension()), ("lengths", 2));
    assert!(tei.is_healthy().await);
    let openai = OpenAiEmbedder::connect(&base, "lengths".into(), Some("key".into()))
        .await
        .unwrap();
    let texts: Vec<String> = (0..100).map(|n| "x".repeat(n)).collect();
    let one = embed_all(&tei, texts.clone(), 1).await.unwrap();
    let two = embed_all(&openai, texts, 1).await.unwrap();
    assert_eq!(one.len(), 100);
    for (a, b) in one.iter().flatten().zip(two.iter().flatten()) {
        assert!((a - b).abs() < 1e-6);
    }
}

#[tokio::test]
async fn a_server_that_fails_for_a_moment_is_asked_again() {
    let base = server_with(2, false).await;
    let client = JsonClient::new(&base, None).unwrap().impatient();
    let answer = client.post("/embed", &json!({ "inputs": ["a"] })).await;
    assert!(answer.unwrap().is_array());
}

#[tokio::test]
async fn failures_that_stay_are_errors_with_the_address() {
    let client = JsonClient::new("http://127.0.0.1:9", None)
        .unwrap()
        .impatient();
    let error = client
        .post("/embed", &json!({ "inputs": ["a"] }))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("127.0.0.1:9"), "{error}");
    assert!(JsonClient::new("ftp://x", None).is_err());
}

#[tokio::test]
async fn vectors_that_are_no_numbers_are_refused() {
    let base = server_with(0, true).await;
    let client = JsonClient::new(&base, None).unwrap().impatient();
    let answer = client.post("/embed", &json!({ "inputs": ["a"] })).await;
    assert!(answer.is_err());
}

#[tokio::test]
async fn a_model_that_only_embeds_does_not_rank() {
    let base = server_with(0, false).await;
    let tei = TeiEmbedder::connect(&base, None, None).await.unwrap();
    let reranker = TeiReranker::new(&base, None).unwrap();
    let error = reranker.rerank("q", &["a".to_owned()]).await.unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("501") && said.contains("--rerank-model"),
        "{said}"
    );
    let wrong = tei
        .client
        .post("/embed", &json!({ "inputs": 5 }))
        .await
        .unwrap_err();
    assert!(wrong.to_string().contains("422"), "{wrong}");
}
