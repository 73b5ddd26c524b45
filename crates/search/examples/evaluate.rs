//! Indexes a test collection and writes what every kind of search finds for its queries.
//!
//! `evaluate COLLECTION OUTPUT [MODEL|none [float|eight-bit [LIMIT [K1,B,TITLE,DOCUMENT]]]]`: the
//! collection is a folder with `docs.jsonl` (id, title,
//! text) and `queries.jsonl` (id, text); the output gets `keyword.run`, and with a model
//! `vector.run` and `hybrid.run`: query, document, rank, score on each line.

use std::{
    error::Error,
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::Path,
    sync::Arc,
    time::Instant,
};

use serde::Deserialize;
use trawl_extract::chunk::{ChunkSettings, EstimatedTokens};
use trawl_search::{
    Mode, Request, Searcher,
    document::{DocSource, NewDocument},
    embed::{Embedder, LocalModel, Precision},
    file::{Changes, IndexFile},
    lexical::Bm25,
    prepare::prepare,
};
use trawl_types::UnixMillis;

#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    #[serde(default)]
    title: Option<String>,
    text: String,
}

/// What was typed after collection and output.
struct Options {
    model: Option<Arc<LocalModel>>,
    limit: usize,
    weights: Bm25,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self, Box<dyn Error>> {
        let at = |n: usize| arguments.get(n).map(String::as_str);
        let precision = match at(1) {
            Some("float") => Precision::Float,
            _ => Precision::EightBit,
        };
        let folder = at(0).filter(|folder| *folder != "none").map(Path::new);
        let model = folder.map(|folder| LocalModel::load(folder, precision));
        let numbers = at(3).unwrap_or_default().split(',');
        let numbers: Vec<f32> = numbers.filter_map(|part| part.parse().ok()).collect();
        let weights = match numbers.as_slice() {
            [k1, b, title, document] => Bm25 {
                k1: *k1,
                b: *b,
                title: *title,
                document: *document,
            },
            _ => Bm25::default(),
        };
        Ok(Self {
            model: model.transpose()?.map(Arc::new),
            limit: at(2).map_or(Ok(100), str::parse)?,
            weights,
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [collection, output, options @ ..] = arguments.as_slice() else {
        return Err("usage: evaluate COLLECTION OUTPUT [MODEL]".into());
    };
    let (collection, output) = (Path::new(collection), Path::new(output));
    let Options {
        model,
        limit,
        weights,
    } = Options::read(options)?;
    std::fs::create_dir_all(output)?;
    let path = output.join("index.search");
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{ending}", path.display()));
    }
    let index = IndexFile::open(&path)?.with_weights(weights);
    let started = Instant::now();
    build(&index, collection, model.as_deref())?;
    eprintln!("indexed {:?} in {:?}", index.counts(), started.elapsed());
    let embedder = model.map(|model| Arc::new(model) as Arc<dyn Embedder>);
    let sides: &[(Mode, &str)] = if embedder.is_some() {
        &[
            (Mode::Keyword, "keyword"),
            (Mode::Vector, "vector"),
            (Mode::Hybrid, "hybrid"),
        ]
    } else {
        &[(Mode::Keyword, "keyword")]
    };
    let searcher = Searcher::new(Arc::new(index), embedder);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    for (mode, name) in sides {
        let out = File::create(output.join(format!("{name}.run")))?;
        let request = Request {
            mode: *mode,
            one_per_document: true,
            limit,
            ..Request::new("")
        };
        let found = run(
            &runtime,
            &searcher,
            collection,
            &request,
            BufWriter::new(out),
        )?;
        eprintln!("{name}: {found}");
    }
    Ok(())
}

fn lines(path: &Path) -> Result<Vec<Line>, Box<dyn Error>> {
    let file = BufReader::new(File::open(path)?);
    file.lines()
        .map(|line| Ok(serde_json::from_str(&line?)?))
        .collect()
}

fn build(
    index: &IndexFile,
    collection: &Path,
    model: Option<&LocalModel>,
) -> Result<(), Box<dyn Error>> {
    let settings = ChunkSettings::default();
    for batch in lines(&collection.join("docs.jsonl"))?.chunks(500) {
        let mut changes = Changes::at(UnixMillis(0));
        changes.model = model.map(|model| (model.name().to_owned(), model.dimension()));
        for line in batch {
            let document = NewDocument {
                url: format!("https://test.invalid/{}", line.id),
                parent_url: None,
                title: line.title.clone().filter(|title| !title.is_empty()),
                content: line.text.clone(),
                language: Some("en".into()),
                source: DocSource::Upload,
                collection: None,
                tags: Vec::new(),
                metadata: serde_json::Value::Null,
                crawled_at: UnixMillis(0),
                crawl: None,
                owner: None,
            };
            changes
                .put
                .push(prepare(document, &settings, &EstimatedTokens));
        }
        if let Some(model) = model {
            let chunks: Vec<_> = changes.put.iter_mut().flat_map(|p| &mut p.chunks).collect();
            let texts: Vec<&str> = chunks
                .iter()
                .map(|chunk| chunk.embed_text.as_str())
                .collect();
            let vectors = model.embed(&texts);
            for (chunk, vector) in chunks.into_iter().zip(vectors) {
                chunk.vector = Some(vector);
            }
        }
        index.apply(changes)?;
    }
    Ok(())
}

fn run(
    runtime: &tokio::runtime::Runtime,
    searcher: &Searcher,
    collection: &Path,
    like: &Request,
    mut out: BufWriter<File>,
) -> Result<String, Box<dyn Error>> {
    let mut times = Vec::new();
    for line in lines(&collection.join("queries.jsonl"))? {
        let text: String = line.text.chars().take(1000).collect();
        let request = Request {
            query: plain(&text),
            ..like.clone()
        };
        let started = Instant::now();
        let response = runtime.block_on(searcher.search(&request))?;
        times.push(started.elapsed());
        for (rank, hit) in response.results.iter().enumerate() {
            let id = hit.url.rsplit('/').next().unwrap_or_default();
            writeln!(out, "{} {id} {} {}", line.id, rank + 1, hit.score)?;
        }
    }
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    Ok(format!(
        "{} queries, p50 {:?}, p99 {:?}",
        times.len(),
        at(0.5),
        at(0.99)
    ))
}

/// Queries of test collections are sentences: their marks are no operators.
fn plain(text: &str) -> String {
    text.replace(['"', '\u{201c}', '*'], " ")
        .replace(" -", " ")
        .replace("site:", " ")
}
