//! A sentence transformer: texts to vectors.

use std::path::Path;

use tokenizers::Tokenizer;

use super::{
    ModelError, Precision,
    bert::Bert,
    folder::Folder,
    tokens::{Tokens, batches},
};

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

impl LocalModel {
    /// Reads a model; its name is that of the folder.
    pub fn load(folder: &Path, precision: Precision) -> Result<Self, ModelError> {
        let folder = Folder::open(folder)?;
        if folder.weights.has_classifier() {
            return Err(ModelError::Weights(format!(
                "{} ranks pairs of texts and embeds none: it is one for --rerank-model",
                folder.name
            )));
        }
        Ok(Self {
            name: folder.name,
            tokenizer: folder.tokenizer,
            bert: Bert::load(folder.config, &folder.weights, precision)?,
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
        let texts: Vec<Tokens> = texts
            .iter()
            .map(|text| self.encode(text.as_ref()))
            .collect();
        let mut vectors = vec![Vec::new(); texts.len()];
        for batch in batches(&texts) {
            let inputs: Vec<&Tokens> = batch.iter().map(|at| &texts[*at]).collect();
            for (at, vector) in batch.iter().zip(self.bert.embed(&inputs)) {
                vectors[*at] = vector;
            }
        }
        vectors
    }

    fn encode(&self, text: &str) -> Tokens {
        Tokens::read(&self.tokenizer, text)
    }
}
