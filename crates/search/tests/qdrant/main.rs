//! The index mirrored in a real Qdrant: what it holds, what it is asked, and what becomes of it when it
//! goes away.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod server;

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use serde_json::{Value, json};
use trawl_extract::chunk::{ChunkSettings, EstimatedTokens};
use trawl_search::{
    Mode, Request, Searcher,
    document::{DocSource, Filter, NewDocument},
    embed::{EmbedError, Embedder},
    file::{Changes, IndexFile},
    prepare::{Prepared, prepare},
    qdrant::{Qdrant, QdrantSettings, Reconciled},
};
use trawl_types::UnixMillis;

use server::{KEY, Server};

const WORDS: [&str; 6] = [
    "crawler",
    "robots",
    "frontier",
    "politeness",
    "search",
    "engine",
];

/// A made-up embedding: how often each word occurs.
#[derive(Debug)]
struct Counting;

fn vector_of(text: &str) -> Vec<f32> {
    let lower = text.to_lowercase();
    let mut vector: Vec<f32> = WORDS
        .iter()
        .map(|word| lower.matches(word).count() as f32 + 0.05)
        .collect();
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    for value in &mut vector {
        *value /= norm;
    }
    vector
}

#[async_trait]
impl Embedder for Counting {
    fn model(&self) -> &'static str {
        "counting"
    }

    fn dimension(&self) -> usize {
        WORDS.len()
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| vector_of(text)).collect())
    }
}

fn document(number: usize, word: &str) -> NewDocument {
    NewDocument {
        url: format!("https://site{}.test/{number}", number % 3),
        parent_url: None,
        title: Some(format!("Number {number}")),
        content: format!("## Part\n\nAll of this is about the {word}, {word} and {word} again."),
        language: Some("en".into()),
        source: DocSource::Crawl,
        collection: None,
        tags: vec![word.to_owned()],
        metadata: Value::Null,
        crawled_at: UnixMillis(1_700_000_000_000 + number as i64),
        crawl: Some(1),
        owner: Some("*".into()),
    }
}

fn ready(document: NewDocument) -> Prepared {
    let mut prepared = prepare(document, &ChunkSettings::default(), &EstimatedTokens);
    for chunk in &mut prepared.chunks {
        chunk.vector = Some(vector_of(&chunk.embed_text));
    }
    prepared
}

fn changes() -> Changes {
    let mut changes = Changes::at(UnixMillis(1));
    changes.model = Some(("counting".into(), WORDS.len()));
    changes
}

fn put(index: &IndexFile, numbers: std::ops::Range<usize>) {
    let mut changes = changes();
    for number in numbers {
        changes
            .put
            .push(ready(document(number, WORDS[number % WORDS.len()])));
    }
    index.apply(changes).unwrap();
}

fn remove(index: &IndexFile, number: usize) {
    let mut changes = changes();
    changes.remove.push(document(number, "x").url);
    index.apply(changes).unwrap();
}

fn settings(server: &Server) -> QdrantSettings {
    QdrantSettings {
        url: server.url(),
        key: Some(KEY.to_owned()),
        collection: "trawl".into(),
    }
}

struct Stage {
    _folder: tempfile::TempDir,
    server: Server,
    index: Arc<IndexFile>,
    qdrant: Arc<Qdrant>,
}

fn stage() -> Stage {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let index = Arc::new(IndexFile::open(&folder.path().join("x.search")).unwrap());
    let qdrant = Arc::new(Qdrant::new(Arc::clone(&index), &settings(&server)).unwrap());
    Stage {
        _folder: folder,
        server,
        index,
        qdrant,
    }
}

async fn urls(searcher: &Searcher, query: &str, filter: Filter) -> Vec<String> {
    let request = Request {
        mode: Mode::Vector,
        filter,
        limit: 50,
        ..Request::new(query)
    };
    let response = searcher.search(&request).await.unwrap();
    assert_eq!(response.degraded, [], "Qdrant answers");
    let mut urls: Vec<String> = response.results.into_iter().map(|hit| hit.url).collect();
    urls.sort();
    urls
}

/// Both answer the same question alike.
async fn assert_alike(stage: &Stage, query: &str, filter: &Filter) -> usize {
    let embedder: Arc<dyn Embedder> = Arc::new(Counting);
    let alone = Searcher::new(Arc::clone(&stage.index), Some(Arc::clone(&embedder)));
    let mirrored = alone.clone().with_qdrant(Some(Arc::clone(&stage.qdrant)));
    let found = urls(&mirrored, query, filter.clone()).await;
    assert_eq!(
        found,
        urls(&alone, query, filter.clone()).await,
        "{filter:?}"
    );
    found.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mirrored_index_finds_what_the_index_finds_with_every_filter() {
    let stage = stage();
    put(&stage.index, 0..30);
    assert_eq!(stage.qdrant.push().await.unwrap(), 30);
    assert_eq!(stage.index.mirror_waiting().unwrap(), 0);
    let tag = stage.index.tag_ids(&["robots".into()]).unwrap();
    let filters = [
        Filter::default(),
        Filter {
            domains: vec!["site1.test".into()],
            ..Filter::default()
        },
        Filter {
            domains: vec!["test".into()],
            languages: vec!["en".into()],
            sources: vec![DocSource::Crawl],
            ..Filter::default()
        },
        Filter {
            tags: tag,
            ..Filter::default()
        },
        Filter {
            date_from: Some(UnixMillis(1_700_000_000_005)),
            date_to: Some(UnixMillis(1_700_000_000_011)),
            ..Filter::default()
        },
        Filter {
            owners: Some(vec!["somebody".into()]),
            ..Filter::default()
        },
    ];
    for filter in &filters {
        assert!(assert_alike(&stage, "the robots", filter).await > 0);
    }
    assert_alike(&stage, "robots site:site2.test", &Filter::default()).await;
    assert_alike(&stage, "robots -site:site2.test", &Filter::default()).await;
    let none = Filter {
        languages: vec!["fi".into()],
        ..Filter::default()
    };
    assert_eq!(assert_alike(&stage, "robots", &none).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_is_not_found_before_qdrant_knows() {
    let stage = stage();
    put(&stage.index, 0..12);
    stage.qdrant.push().await.unwrap();
    remove(&stage.index, 1);
    let found = assert_alike(&stage, "robots", &Filter::default()).await;
    assert_eq!(found, 11);
    assert!(stage.index.mirror_waiting().unwrap() > 0);
    stage.qdrant.push().await.unwrap();
    let checked = stage.qdrant.reconcile(false).await.unwrap();
    let expected = Reconciled {
        compared: 11,
        ..Reconciled::default()
    };
    assert_eq!(checked, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_away_is_told_everything_when_it_is_back() {
    let mut stage = stage();
    put(&stage.index, 0..10);
    stage.qdrant.push().await.unwrap();
    stage.server.kill();
    put(&stage.index, 10..20);
    remove(&stage.index, 2);
    assert!(stage.qdrant.push().await.is_err());
    assert!(
        stage.index.mirror_waiting().unwrap() >= 11,
        "nothing is lost"
    );
    // Meanwhile the index answers by itself, and says so.
    let searcher = Searcher::new(Arc::clone(&stage.index), Some(Arc::new(Counting)))
        .with_qdrant(Some(Arc::clone(&stage.qdrant)));
    let response = searcher.search(&Request::new("robots")).await.unwrap();
    assert_eq!(response.degraded[0].part, "qdrant");
    assert!(!response.results.is_empty());
    // It is left in peace for a moment: nobody waits for it who asks now.
    let stand_in = stage.server.stand_in();
    let response = searcher.search(&Request::new("robots")).await.unwrap();
    assert_eq!(response.degraded[0].part, "qdrant");
    let asked = stand_in.accept().map(drop).map_err(|error| error.kind());
    assert_eq!(asked, Err(std::io::ErrorKind::WouldBlock));
    drop(stand_in);
    stage.server.start_again();
    stage.qdrant.push().await.unwrap();
    assert_eq!(assert_alike(&stage, "robots", &Filter::default()).await, 19);
}

#[tokio::test(flavor = "multi_thread")]
async fn reconciling_finds_and_mends_what_differs() {
    let stage = stage();
    put(&stage.index, 0..8);
    stage.qdrant.push().await.unwrap();
    let (points, _) = stage.index.mirror_points(0, 100).unwrap();
    // Somebody deletes two points, changes one and adds one that looks like ours.
    let ids: Vec<String> = points.iter().map(|p| p.chunk.to_string()).collect();
    meddle(
        &stage.server,
        "POST",
        "/points/delete?wait=true",
        &json!({ "points": ids[..2] }),
    )
    .await;
    let payload = json!({ "payload": { "fingerprint": "x" }, "points": [ids[3]] });
    meddle(&stage.server, "POST", "/points/payload?wait=true", &payload).await;
    let index = stage.index.mirror_name().unwrap().unwrap().to_string();
    let alien = json!({ "points": [{
        "id": "00000000-0000-4000-8000-000000000001",
        "vector": vector_of("robots"),
        "payload": { "index": index, "model": "counting" },
    }]});
    meddle(&stage.server, "PUT", "/points?wait=true", &alien).await;
    let found = stage.qdrant.reconcile(false).await.unwrap();
    let differs = Reconciled {
        compared: 8,
        missing: 2,
        stale: 1,
        extra: 1,
        sent: 0,
    };
    assert_eq!(found, differs);
    let mended = stage.qdrant.reconcile(true).await.unwrap();
    assert_eq!(mended.sent, 4);
    let after = stage.qdrant.reconcile(false).await.unwrap();
    assert_eq!((after.missing, after.stale, after.extra), (0, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_of_others_is_neither_used_nor_touched() {
    let stage = stage();
    let theirs = json!({ "vectors": { "size": 3, "distance": "Dot" } });
    meddle(&stage.server, "PUT", "", &theirs).await;
    put(&stage.index, 0..3);
    let error = stage.qdrant.push().await.unwrap_err();
    assert!(
        error.to_string().contains("name another collection"),
        "{error}"
    );
    let found = meddle(&stage.server, "GET", "", &Value::Null).await;
    assert_eq!(found["result"]["config"]["params"]["vectors"]["size"], 3);
    assert_eq!(found["result"]["points_count"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_wait_across_restarts_and_another_target_gets_everything() {
    let mut server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.search");
    let open = |path: &Path| Arc::new(IndexFile::open(path).unwrap());
    let index = open(&path);
    let qdrant = Qdrant::new(Arc::clone(&index), &settings(&server)).unwrap();
    put(&index, 0..5);
    qdrant.push().await.unwrap();
    server.kill();
    put(&index, 5..7);
    drop((qdrant, index));
    let index = open(&path);
    server.start_again();
    let qdrant = Qdrant::new(Arc::clone(&index), &settings(&server)).unwrap();
    assert_eq!(
        qdrant.push().await.unwrap(),
        2,
        "what is known is not sent again"
    );
    drop(qdrant);
    let elsewhere = QdrantSettings {
        collection: "another".into(),
        ..settings(&server)
    };
    let qdrant = Qdrant::new(Arc::clone(&index), &elsewhere).unwrap();
    assert_eq!(qdrant.push().await.unwrap(), 7);
    index.mirror_nowhere().unwrap();
    put(&index, 7..8);
    assert_eq!(index.mirror_waiting().unwrap(), 0);
}

/// Does something to the collection behind the index's back.
async fn meddle(server: &Server, method: &str, path: &str, body: &Value) -> Value {
    use http_body_util::{BodyExt, Full};
    use hyper_util::{client::legacy::Client, rt::TokioExecutor};
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<bytes::Bytes>>();
    let text = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let request = hyper::Request::builder()
        .method(method)
        .uri(format!("{}/collections/trawl{path}", server.url()))
        .header("content-type", "application/json")
        .header("api-key", KEY)
        .body(Full::new(bytes::Bytes::from(text)))
        .unwrap();
    let response = client.request(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(status.is_success(), "{}", String::from_utf8_lossy(&body));
    serde_json::from_slice(&body).unwrap()
}
