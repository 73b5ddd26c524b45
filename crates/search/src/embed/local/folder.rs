//! A model in a folder: `config.json`, `tokenizer.json` and a `.safetensors` file, as the makers
//! of sentence transformers publish them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};

use super::{ModelError, Precision, bert::Bert};

/// Tokens that are computed together: enough for full registers, few enough for the caches.
const BATCH_TOKENS: usize = 1024;

/// A model ready to embed.
pub struct LocalModel {
    name: String,
    tokenizer: Tokenizer,
    bert: Bert,
}

impl std::fmt::Debug for LocalModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalModel")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What sentence transformers add to a model's own configuration.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

impl LocalModel {
    /// Reads a model; its name is that of the folder.
    pub fn load(folder: &Path, precision: Precision) -> Result<Self, ModelError> {
        let config = read(&folder.join("config.json"))?;
        let config = serde_json::from_slice(&config)
            .map_err(|error| ModelError::file(&folder.join("config.json"), &error))?;
        let bert = Bert::load(config, &weights_in(folder)?, precision)?;
        let path = folder.join("tokenizer.json");
        let mut tokenizer =
            Tokenizer::from_bytes(read(&path)?).map_err(|error| ModelError::file(&path, &error))?;
        tokenizer.with_padding(None);
        let truncation = TruncationParams {
            max_length: longest(folder, bert.config.max_position_embeddings),
            ..TruncationParams::default()
        };
        tokenizer
            .with_truncation(Some(truncation))
            .map_err(|error| ModelError::file(&path, &error))?;
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok(Self {
            name,
            tokenizer,
            bert,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn dimension(&self) -> usize {
        self.bert.config.hidden_size
    }

    /// How many tokens the model reads of a text, special ones included.
    pub fn tokens(&self, text: &str) -> usize {
        self.encode(text).len()
    }

    /// Embeds texts on this thread: each text's mean state, normalised.
    pub fn embed<T: AsRef<str>>(&self, texts: &[T]) -> Vec<Vec<f32>> {
        let mut encoded: Vec<(usize, Vec<u32>)> = texts
            .iter()
            .map(|text| self.encode(text.as_ref()))
            .enumerate()
            .collect();
        // Texts of about one length share the caches best.
        encoded.sort_by_key(|(_, tokens)| tokens.len());
        let mut vectors = vec![Vec::new(); texts.len()];
        let mut rest = encoded.as_slice();
        while !rest.is_empty() {
            let mut tokens = 0;
            let fits = |(_, text): &&(usize, Vec<u32>)| {
                tokens += text.len();
                tokens <= BATCH_TOKENS
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (batch, after) = rest.split_at(count);
            rest = after;
            let inputs: Vec<&[u32]> = batch.iter().map(|(_, tokens)| tokens.as_slice()).collect();
            for ((at, _), vector) in batch.iter().zip(self.bert.embed(&inputs)) {
                vectors[*at] = vector;
            }
        }
        vectors
    }

    /// Never empty: a text the tokenizer cannot read is one unknown token.
    fn encode(&self, text: &str) -> Vec<u32> {
        let encoding = self.tokenizer.encode_fast(text, true);
        let tokens = encoding.map(|encoding| encoding.get_ids().to_vec());
        tokens
            .ok()
            .filter(|tokens| !tokens.is_empty())
            .unwrap_or_else(|| vec![0])
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
    wanted.clamp(8, places.max(8))
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
