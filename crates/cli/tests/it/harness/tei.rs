//! A server that speaks the protocol of Text Embeddings Inference, with a tiny model of meaning that
//! can be looked through: words belong to topics. It can be told to be unwell.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// Words of one topic mean the same.
const TOPICS: [&[&str]; 3] = [
    &["net", "nets", "twine", "angler", "trawler"],
    &["tide", "tides", "keel", "moon", "ebb"],
    &["storm", "storms", "lantern", "gale", "hurricane"],
];

/// How the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    Well,
    /// 500 to everything.
    Broken,
    /// Vectors of another dimension.
    WrongSize,
    /// Answers after a while.
    Slow,
}

/// A running server; it ends with the test.
#[derive(Debug)]
pub(crate) struct Tei {
    pub(crate) base: String,
    health: Arc<AtomicU8>,
    embedded: Arc<AtomicUsize>,
}

impl Tei {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (health, embedded) = (Arc::new(AtomicU8::new(0)), Arc::new(AtomicUsize::new(0)));
        let (state, count) = (Arc::clone(&health), Arc::clone(&embedded));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, count) = (Arc::clone(&state), Arc::clone(&count));
                thread::spawn(move || serve(stream, &state, &count));
            }
        });
        Self {
            base,
            health,
            embedded,
        }
    }

    pub(crate) fn be(&self, health: Health) {
        self.health.store(health as u8, Ordering::SeqCst);
    }

    /// Texts that were embedded so far.
    pub(crate) fn embedded(&self) -> usize {
        self.embedded.load(Ordering::SeqCst)
    }
}

/// One request; the connection ends with it.
fn serve(mut stream: TcpStream, health: &AtomicU8, embedded: &AtomicUsize) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, answer) = answer(&first, &body, health.load(Ordering::SeqCst), embedded);
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        answer.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(answer.as_bytes()).ok()
}

fn answer(first: &str, body: &Value, health: u8, embedded: &AtomicUsize) -> (u16, Value) {
    if health == Health::Broken as u8 {
        return (500, json!({ "error": "unwell" }));
    }
    if health == Health::Slow as u8 {
        thread::sleep(Duration::from_millis(300));
    }
    match first.split(' ').nth(1) {
        Some("/info") => (200, json!({ "model_id": "topics" })),
        Some("/health") => (200, json!({})),
        Some("/embed") => {
            let texts = body["inputs"].as_array().cloned().unwrap_or_default();
            embedded.fetch_add(texts.len(), Ordering::SeqCst);
            let mut vectors: Vec<Vec<f64>> = texts.iter().map(vector).collect();
            if health == Health::WrongSize as u8 {
                for vector in &mut vectors {
                    vector.push(0.5);
                }
            }
            (200, json!(vectors))
        }
        Some("/rerank") => {
            let texts = body["texts"].as_array().cloned().unwrap_or_default();
            // The shorter, the better: nothing that words or meaning would say.
            let length = |text: &Value| text.as_str().unwrap_or_default().len();
            let score = |(index, text): (usize, &Value)| json!({ "index": index, "score": 1.0 / (length(text) as f64 + 1.0) });
            (200, texts.iter().enumerate().map(score).collect())
        }
        _ => (404, json!({ "error": "unknown" })),
    }
}

/// How much of a text belongs to each topic, as a vector of length 1.
fn vector(text: &Value) -> Vec<f64> {
    let text = text.as_str().unwrap_or_default().to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let count = |topic: &&[&str]| words.iter().filter(|word| topic.contains(word)).count();
    let mut vector: Vec<f64> = TOPICS.iter().map(|topic| count(topic) as f64).collect();
    vector.push(0.2);
    let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
    vector.iter().map(|value| value / norm).collect()
}
