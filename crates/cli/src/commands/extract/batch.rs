//! Many documents with all cores: one line of JSON for each, in the order in which they were
//! named, whatever came of it.

use std::{
    fs,
    io::{self, BufWriter, IsTerminal, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
    thread::available_parallelism,
};

use anyhow::Context;
use futures_util::{StreamExt, stream};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use trawl_extract::Extraction;
use url::Url;

use super::{
    Raw,
    getter::Getter,
    inputs::{Input, load},
    understand,
};
use crate::{
    args::ExtractArgs,
    exit::{BadInput, NOTHING_FETCHED},
};

/// How a batch went.
#[derive(Debug, Default)]
struct Tally {
    read: u64,
    failed: u64,
}

pub(super) async fn run(
    args: &ExtractArgs,
    base: Option<Url>,
    getter: Getter,
) -> anyhow::Result<ExitCode> {
    let inputs = Input::many(&args.batch)?;
    if inputs.is_empty() {
        return Err(BadInput("--batch: there is no document in what was named".into()).into());
    }
    let mut out = open(args.output.as_deref())?;
    let bar = bar(inputs.len() as u64, args.output.is_some() && !args.quiet);
    let work = Arc::new(Work {
        getter,
        base,
        most: args.max_content as usize,
    });
    let cores = available_parallelism().map_or(1, usize::from);
    let mut lines = stream::iter(inputs)
        .map(|input| tokio::spawn(line_of(Arc::clone(&work), input)))
        .buffered(cores * 4);
    let mut tally = Tally::default();
    while let Some(line) = lines.next().await {
        let line = line?;
        match line.get("outcome").and_then(Value::as_str) {
            Some("extracted") => tally.read += 1,
            _ => tally.failed += 1,
        }
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
        bar.inc(1);
    }
    out.flush()?;
    bar.finish_and_clear();
    if !args.quiet {
        eprintln!("{} documents read, {} not", tally.read, tally.failed);
    }
    Ok(match tally.read {
        0 => ExitCode::from(NOTHING_FETCHED),
        _ => ExitCode::SUCCESS,
    })
}

struct Work {
    getter: Getter,
    base: Option<Url>,
    most: usize,
}

/// What came of one document, as a line.
async fn line_of(work: Arc<Work>, input: Input) -> Value {
    let name = input.to_string();
    let raw = match load(&input, &work.getter).await {
        Ok(raw) => raw,
        Err(problem) => return json!({ "input": name, "outcome": "failed", "error": problem }),
    };
    let reading = move || read(&work, &raw);
    match tokio::task::spawn_blocking(reading).await {
        Ok(Ok(content)) => with_input(&name, content),
        Ok(Err((outcome, why))) => json!({ "input": name, "outcome": outcome, "error": why }),
        Err(error) => json!({ "input": name, "outcome": "failed", "error": error.to_string() }),
    }
}

fn read(work: &Work, raw: &Raw) -> Result<Value, (&'static str, String)> {
    match understand(raw, work.base.as_ref(), work.most) {
        Extraction::Content(content) => {
            serde_json::to_value(&*content).map_err(|error| ("failed", error.to_string()))
        }
        Extraction::Nothing(why) => Err((why.as_str(), why.to_string())),
    }
}

fn with_input(name: &str, content: Value) -> Value {
    let mut line = json!({ "input": name, "outcome": "extracted" });
    if let (Value::Object(line), Value::Object(content)) = (&mut line, content) {
        line.extend(content);
    }
    line
}

fn open(path: Option<&Path>) -> anyhow::Result<Box<dyn Write>> {
    Ok(match path {
        None => Box::new(BufWriter::new(io::stdout().lock())),
        Some(path) if path == Path::new("-") => Box::new(BufWriter::new(io::stdout().lock())),
        Some(path) => {
            let file = fs::File::create(path)
                .with_context(|| format!("--output: cannot write {}", path.display()))?;
            Box::new(BufWriter::new(file))
        }
    })
}

fn bar(length: u64, wanted: bool) -> ProgressBar {
    if !(wanted && io::stderr().is_terminal()) {
        return ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::new(length);
    let style =
        ProgressStyle::with_template("{bar:40} {pos}/{len} documents  {per_sec}  ETA {eta}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
