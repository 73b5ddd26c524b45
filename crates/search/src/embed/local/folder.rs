//! A model in a folder: `config.json`, `tokenizer.json` and a `.safetensors` file, as the makers
//! of sentence transformers and cross-encoders publish them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};

use super::{
    ModelError,
    bert::{Config, FEWEST_PLACES},
    weights::Weights,
};

/// What a folder holds.
#[derive(Debug)]
pub(super) struct Folder {
    /// That of the folder.
    pub(super) name: String,
    pub(super) config: Config,
    /// Cuts texts at what the model reads.
    pub(super) tokenizer: Tokenizer,
    /// The most tokens that it reads.
    pub(super) longest: usize,
    pub(super) weights: Weights,
}

/// What sentence transformers add to a model's own configuration.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

impl Folder {
    pub(super) fn open(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join("config.json");
        let config: Config = serde_json::from_slice(&read(&path)?)
            .map_err(|error| ModelError::file(&path, &error))?;
        config.check()?;
        let weights = Weights::read(&weights_in(folder)?, "embeddings.word_embeddings.weight")?;
        let path = folder.join("tokenizer.json");
        let mut tokenizer =
            Tokenizer::from_bytes(read(&path)?).map_err(|error| ModelError::file(&path, &error))?;
        tokenizer.with_padding(None);
        let longest = longest(folder, config.max_position_embeddings);
        // Of a pair the longer text is cut first, which is nearly always the one that is ranked.
        let truncation = TruncationParams {
            max_length: longest,
            ..TruncationParams::default()
        };
        tokenizer
            .with_truncation(Some(truncation))
            .map_err(|error| ModelError::file(&path, &error))?;
        Ok(Self {
            name: folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            config,
            tokenizer,
            longest,
            weights,
        })
    }
}

/// What the model was made for, where the folder says so; never more than it has places for.
fn longest(folder: &Path, places: usize) -> usize {
    let sentence = fs::read(folder.join("sentence_bert_config.json")).ok();
    let sentence = sentence.and_then(|json| serde_json::from_slice::<SentenceConfig>(&json).ok());
    let wanted = sentence
        .unwrap_or_default()
        .max_seq_length
        .unwrap_or(places);
    wanted.clamp(FEWEST_PLACES, places.max(FEWEST_PLACES))
}

fn weights_in(folder: &Path) -> Result<PathBuf, ModelError> {
    let entries = fs::read_dir(folder).map_err(|error| ModelError::file(folder, &error))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|ending| ending == "safetensors")
        })
        .collect();
    found.sort();
    let missing = || ModelError::file(folder, &"there is no .safetensors file in it");
    found.into_iter().next().ok_or_else(missing)
}

fn read(path: &Path) -> Result<Vec<u8>, ModelError> {
    fs::read(path).map_err(|error| ModelError::file(path, &error))
}
