//! A cross-encoder: how well texts answer a query, of a model that reads both at once. It is a
//! classifier of pairs with a single label (`BertForSequenceClassification`).

use std::{
    num::NonZero,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use tokenizers::Tokenizer;

use super::{
    ModelError, Precision,
    bert::Bert,
    folder::Folder,
    linear::Linear,
    math,
    tokens::{Tokens, batches},
};

/// A model ready to rank.
pub struct CrossEncoder {
    name: String,
    tokenizer: Tokenizer,
    longest: usize,
    bert: Bert,
    /// From the state of the first token, which stands for the pair.
    pooler: Linear,
    classifier: Vec<f32>,
    bias: f32,
}

impl std::fmt::Debug for CrossEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CrossEncoder")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl CrossEncoder {
    /// Reads a model; its name is that of the folder.
    pub fn load(folder: &Path, precision: Precision) -> Result<Self, ModelError> {
        let Folder {
            name,
            config,
            tokenizer,
            longest,
            weights,
        } = Folder::open(folder)?;
        if !weights.has_classifier() {
            return Err(ModelError::Weights(format!(
                "{name} ranks nothing: a cross-encoder is needed, \
                 as cross-encoder/ms-marco-MiniLM-L-6-v2 is one"
            )));
        }
        let hidden = config.hidden_size;
        let pooler = Linear::new(
            &weights.take("pooler.dense.weight", hidden * hidden)?,
            weights.take("pooler.dense.bias", hidden)?,
            hidden,
            // A hundredth of the work, right before the score.
            Precision::Float,
        );
        let (classifier, bias) = weights.classifier(hidden)?;
        Ok(Self {
            bert: Bert::load(config, &weights, precision)?,
            name,
            tokenizer,
            longest,
            pooler,
            classifier,
            bias,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The most tokens of a query and a text that are read, special ones included.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Whether all of a query and a text is read.
    pub fn reads_whole(&self, query: &str, text: &str) -> bool {
        !self.encode(query, text).cut
    }

    /// A score for each text, in their order: the larger, the better; above zero for "yes". All
    /// processors take part. Nothing, if `wanted` says so before the end.
    pub fn score<T: AsRef<str>>(
        &self,
        query: &str,
        texts: &[T],
        wanted: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<f32>> {
        let pairs: Vec<Tokens> = texts
            .iter()
            .map(|text| self.encode(query, text.as_ref()))
            .collect();
        let batches = batches(&pairs);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = Vec::new();
            while wanted()
                && let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed))
            {
                let inputs: Vec<&Tokens> = batch.iter().map(|at| &pairs[*at]).collect();
                found.extend(batch.iter().copied().zip(self.logits(&inputs)));
            }
            found
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let mut scores = vec![None; texts.len()];
        thread::scope(|scope| {
            // This thread works, too.
            let others: Vec<_> = (1..threads.min(batches.len()))
                .map(|_| scope.spawn(work))
                .collect();
            let found = others.into_iter().map(thread::ScopedJoinHandle::join);
            for (at, score) in work().into_iter().chain(found.flatten().flatten()) {
                scores[at] = Some(score);
            }
        });
        scores.into_iter().collect()
    }

    fn logits(&self, pairs: &[&Tokens]) -> Vec<f32> {
        let mut pooled = Vec::new();
        self.pooler
            .apply(&self.bert.first_of_each(pairs), &mut pooled);
        let score = |state: &[f32]| {
            let state: Vec<f32> = state.iter().map(|value| value.tanh()).collect();
            math::dot(&state, &self.classifier) + self.bias
        };
        pooled
            .chunks_exact(self.classifier.len())
            .map(score)
            .collect()
    }

    fn encode(&self, query: &str, text: &str) -> Tokens {
        Tokens::read(&self.tokenizer, (query, text))
    }
}

#[cfg(test)]
mod tests;
