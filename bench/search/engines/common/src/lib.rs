//! What all engines share: texts become batches of tokens, states become vectors, and the clock
//! counts the time that the process had on a processor.
//!
//! An engine is called with `MODEL GRAPH TEXTS OUTPUT`: the folder of the model, an ONNX graph with
//! its weights (or what else the engine wants to know), a text on each line, and where the vectors
//! go. It prints how many tokens it read and in how many seconds.

use std::{
    fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow};
use tokenizers::{Tokenizer, TruncationParams};

/// As sentence-transformers does it: texts of about one length at once.
const BATCH: usize = 32;

/// What an engine was called with.
#[derive(Debug)]
pub struct Call {
    pub model: PathBuf,
    pub graph: PathBuf,
    texts: PathBuf,
    output: PathBuf,
}

/// Texts of one batch as tokens, filled up to the longest.
#[derive(Debug)]
pub struct Batch {
    pub ids: Vec<i64>,
    /// 1 for a token, 0 for what was filled up.
    pub mask: Vec<i64>,
    pub rows: usize,
    pub longest: usize,
}

impl Batch {
    fn new(texts: &[&[u32]]) -> Self {
        let longest = texts
            .iter()
            .map(|text| text.len())
            .max()
            .unwrap_or_default();
        let (mut ids, mut mask) = (Vec::new(), Vec::new());
        for text in texts {
            ids.extend(text.iter().map(|id| i64::from(*id)));
            mask.extend(text.iter().map(|_| 1));
            ids.resize(ids.len() + longest - text.len(), 0);
            mask.resize(ids.len(), 0);
        }
        Self {
            ids,
            mask,
            rows: texts.len(),
            longest,
        }
    }

    /// What is added to attention: nothing for a token, so much that it is nothing for the rest.
    pub fn bias(&self) -> Vec<f32> {
        let bias = |mask: &i64| if *mask == 1 { 0.0 } else { -10_000.0 };
        self.mask.iter().map(bias).collect()
    }

    pub fn places(&self) -> Vec<i64> {
        (0..self.longest as i64).collect()
    }

    /// The mean of each text's states, normalised.
    fn pooled(&self, states: &[f32]) -> Vec<Vec<f32>> {
        let hidden = states.len() / self.mask.len();
        let texts = states
            .chunks(self.longest * hidden)
            .zip(self.mask.chunks(self.longest));
        texts
            .map(|(states, mask)| mean(states, mask, hidden))
            .collect()
    }
}

fn mean(states: &[f32], mask: &[i64], hidden: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f32; hidden];
    let tokens = states
        .chunks(hidden)
        .zip(mask)
        .filter(|(_, mask)| **mask == 1);
    for (state, _) in tokens {
        for (sum, value) in sum.iter_mut().zip(state) {
            *sum += value;
        }
    }
    let norm = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    sum.into_iter().map(|value| value / norm).collect()
}

impl Call {
    pub fn read() -> Result<Self> {
        let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
        let [model, graph, texts, output] = arguments
            .try_into()
            .map_err(|_| anyhow!("usage: engine MODEL GRAPH TEXTS OUTPUT"))?;
        Ok(Self {
            model,
            graph,
            texts,
            output,
        })
    }

    /// Measures an engine that gives the last states of a batch.
    pub fn measure(&self, mut states: impl FnMut(&Batch) -> Result<Vec<f32>>) -> Result<()> {
        let tokenizer = tokenizer(&self.model)?;
        self.measure_texts(|texts| {
            let texts = encode(&tokenizer, texts)?;
            let texts: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
            let batch = Batch::new(&texts);
            Ok(batch.pooled(&states(&batch)?))
        })
    }

    /// Measures what makes vectors of texts.
    pub fn measure_texts(
        &self,
        mut embed: impl FnMut(&[&str]) -> Result<Vec<Vec<f32>>>,
    ) -> Result<()> {
        let text = fs::read_to_string(&self.texts)?;
        let lines: Vec<&str> = text.lines().collect();
        let lengths = encode(&tokenizer(&self.model)?, &lines)?;
        let tokens: usize = lengths.iter().map(Vec::len).sum();
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by_key(|at| lengths[*at].len());
        let mut vectors = vec![Vec::new(); lines.len()];
        // What is made once is not counted.
        embed(&lines[..1])?;
        let before = cpu_seconds()?;
        for batch in order.chunks(BATCH) {
            let texts: Vec<&str> = batch.iter().map(|at| lines[*at]).collect();
            for (at, vector) in batch.iter().zip(embed(&texts)?) {
                vectors[*at] = vector;
            }
        }
        let seconds = cpu_seconds()? - before;
        self.write(&vectors)?;
        println!("{tokens} {seconds}");
        Ok(())
    }

    fn write(&self, vectors: &[Vec<f32>]) -> Result<()> {
        let mut out = BufWriter::new(fs::File::create(&self.output)?);
        for vector in vectors {
            let numbers: Vec<String> = vector.iter().map(ToString::to_string).collect();
            writeln!(out, "{}", numbers.join(" "))?;
        }
        Ok(())
    }
}

/// The one file of a folder with weights.
pub fn weights(model: &Path) -> Result<Vec<u8>> {
    let entries = fs::read_dir(model)?.flatten().map(|entry| entry.path());
    let is_weights = |path: &PathBuf| path.extension().is_some_and(|end| end == "safetensors");
    let path = entries.into_iter().find(is_weights).context("no weights")?;
    Ok(fs::read(path)?)
}

fn tokenizer(model: &Path) -> Result<Tokenizer> {
    let path = model.join("tokenizer.json");
    let mut tokenizer = Tokenizer::from_file(path).map_err(|error| anyhow!(error))?;
    tokenizer.with_padding(None);
    let truncation = TruncationParams::default();
    tokenizer
        .with_truncation(Some(truncation))
        .map_err(|error| anyhow!(error))?;
    Ok(tokenizer)
}

fn encode(tokenizer: &Tokenizer, texts: &[&str]) -> Result<Vec<Vec<u32>>> {
    let encode = |text: &&str| {
        let encoding = tokenizer.encode_fast(*text, true);
        Ok(encoding.map_err(|error| anyhow!(error))?.get_ids().to_vec())
    };
    texts.iter().map(encode).collect()
}

/// Time this process has had on processors, in user and kernel mode, on all its threads.
fn cpu_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name in parentheses may hold spaces.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let field = |n: usize| rest.split_whitespace().nth(n)?.parse::<f64>().ok();
    let ticks = field(11).zip(field(12)).map(|(user, kernel)| user + kernel);
    Ok(ticks.context("no times in /proc/self/stat")? / 100.0)
}
