//! How long searches take, and how much memory they need, over so many made-up chunks.
//!
//! `scale FOLDER CHUNKS WORDS [MODEL]`: documents of eight chunks on a hundred hosts, words drawn
//! as in real texts (few often, most rarely), vectors at random. Queries have three words and a
//! filter on hosts; with a model, embedding the query is part of the time.

use std::{error::Error, fs, path::Path, sync::Arc, time::Instant};

use trawl_extract::chunk::{ChunkSettings, EstimatedTokens};
use trawl_search::{
    Mode, Request, Searcher,
    document::{DocSource, Filter, NewDocument},
    embed::{Embedder, LocalModel, Precision},
    file::{Changes, IndexFile},
    prepare::prepare,
};
use trawl_types::UnixMillis;

const CHUNKS_OF_A_DOCUMENT: usize = 8;
const DOCUMENTS_AT_ONCE: usize = 250;
const VOCABULARY: f64 = 200_000.0;
const QUERIES: usize = 300;

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between 0 and 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A word: rank `r` comes up about as often as `1 / r`.
    fn word(&mut self) -> String {
        let rank = VOCABULARY.powf(self.share());
        format!("w{:x}", rank as u64)
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        let mut vector: Vec<f32> = (0..dimension).map(|_| self.share() as f32 - 0.5).collect();
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        for value in &mut vector {
            *value /= norm;
        }
        vector
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, chunks, words, model @ ..] = arguments.as_slice() else {
        return Err("usage: scale FOLDER CHUNKS WORDS [MODEL]".into());
    };
    let (chunks, words): (usize, usize) = (chunks.parse()?, words.parse()?);
    fs::create_dir_all(folder)?;
    let path = Path::new(folder).join(format!("{chunks}.search"));
    let model = model
        .first()
        .map(|path| LocalModel::load(Path::new(path), Precision::EightBit));
    let model = model.transpose()?.map(Arc::new);
    let name = model
        .as_ref()
        .map_or("none", |model| model.name())
        .to_owned();
    if !path.exists() {
        let started = Instant::now();
        build(&path, chunks, words, &name)?;
        println!(
            "built in {:.0} s, {} MB",
            started.elapsed().as_secs_f64(),
            fs::metadata(&path)?.len() >> 20
        );
    }
    let started = Instant::now();
    let index = IndexFile::open_to_read(&path)?;
    println!(
        "opened {:?} in {:.2} s, {} MB resident",
        index.counts(),
        started.elapsed().as_secs_f64(),
        resident()?
    );
    let embedder = model.map(|model| Arc::new(model) as Arc<dyn Embedder>);
    let searcher = Searcher::new(Arc::new(index), embedder.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let asked: &[(Mode, &str)] = match embedder {
        Some(_) => &[
            (Mode::Keyword, "keyword"),
            (Mode::Vector, "vector"),
            (Mode::Hybrid, "hybrid"),
        ],
        None => &[(Mode::Keyword, "keyword")],
    };
    for (mode, label) in asked {
        println!("{label}: {}", ask(&runtime, &searcher, *mode)?);
    }
    println!("{} MB resident", resident()?);
    Ok(())
}

fn build(path: &Path, chunks: usize, words: usize, model: &str) -> Result<(), Box<dyn Error>> {
    let index = IndexFile::open(path)?;
    let mut dice = Dice(0x5eed_cafe);
    let documents = chunks / CHUNKS_OF_A_DOCUMENT;
    for first in (0..documents).step_by(DOCUMENTS_AT_ONCE) {
        let mut changes = Changes::at(UnixMillis(0));
        changes.model = Some((model.to_owned(), 384));
        for number in first..(first + DOCUMENTS_AT_ONCE).min(documents) {
            let mut prepared = prepare(
                document(number, words, &mut dice),
                &ChunkSettings {
                    max_tokens: 1 << 20,
                    overlap: 0,
                    min_tokens: 0,
                },
                &EstimatedTokens,
            );
            for chunk in &mut prepared.chunks {
                chunk.vector = Some(dice.vector(384));
            }
            changes.put.push(prepared);
        }
        index.apply(changes)?;
    }
    Ok(())
}

fn document(number: usize, words: usize, dice: &mut Dice) -> NewDocument {
    let section = |n: usize, dice: &mut Dice| {
        let text: Vec<String> = (0..words).map(|_| dice.word()).collect();
        format!("# Section {n}\n\n{}\n\n", text.join(" "))
    };
    NewDocument {
        url: format!("https://host{}.test/{number}", number % 100),
        parent_url: None,
        title: Some(format!("{} {}", dice.word(), dice.word())),
        content: (0..CHUNKS_OF_A_DOCUMENT)
            .map(|n| section(n, dice))
            .collect(),
        language: Some("en".into()),
        source: DocSource::Crawl,
        collection: None,
        tags: Vec::new(),
        metadata: serde_json::Value::Null,
        crawled_at: UnixMillis(0),
        crawl: Some(1),
        owner: None,
    }
}

fn ask(
    runtime: &tokio::runtime::Runtime,
    searcher: &Searcher,
    mode: Mode,
) -> Result<String, Box<dyn Error>> {
    let mut dice = Dice(0xbeef ^ mode as u64);
    let mut times = Vec::new();
    for _ in 0..QUERIES {
        let words: Vec<String> = (0..3).map(|_| dice.word()).collect();
        let domains = (0..20)
            .map(|_| format!("host{}.test", dice.next() % 100))
            .collect();
        let request = Request {
            mode,
            filter: Filter {
                domains,
                ..Filter::default()
            },
            ..Request::new(words.join(" "))
        };
        let started = Instant::now();
        runtime.block_on(searcher.search(&request))?;
        times.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    Ok(format!("p50 {:.1} ms, p99 {:.1} ms", at(0.5), at(0.99)))
}

/// Memory this process holds, in MB.
fn resident() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .ok_or("no VmRSS")?;
    let number = line.split_whitespace().nth(1).ok_or("no number")?;
    Ok(number.parse::<u64>()? >> 10)
}
