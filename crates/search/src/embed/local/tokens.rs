//! What a model reads at once: the tokens of a text, or of a pair of texts. Pure.

use tokenizers::{EncodeInput, Tokenizer};

/// Tokens that are computed together: enough for full registers, few enough for the caches.
const BATCH_TOKENS: usize = 1024;

#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) ids: Vec<u32>,
    /// Where the second text of a pair begins; the end, if there is none.
    pub(super) second: usize,
    /// Whether there were more than the model reads.
    pub(super) cut: bool,
}

impl Tokens {
    /// Never empty: what the tokenizer cannot read is one unknown token.
    pub(super) fn read<'s>(tokenizer: &Tokenizer, input: impl Into<EncodeInput<'s>>) -> Self {
        let encoding = tokenizer.encode_fast(input, true).ok();
        let Some(encoding) = encoding.filter(|encoding| !encoding.is_empty()) else {
            return Self {
                ids: vec![0],
                second: 1,
                cut: false,
            };
        };
        let kinds = encoding.get_type_ids();
        let second = kinds.iter().position(|kind| *kind != 0);
        Self {
            ids: encoding.get_ids().to_vec(),
            second: second.unwrap_or(kinds.len()),
            cut: !encoding.get_overflowing().is_empty(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }
}

/// Which texts are computed together, by their places: those of about one length share the caches
/// best.
pub(super) fn batches(texts: &[Tokens]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|at| texts[*at].len());
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut tokens = 0;
    for at in order {
        tokens += texts[at].len();
        match batches.last_mut() {
            Some(batch) if tokens <= BATCH_TOKENS => batch.push(at),
            _ => {
                tokens = texts[at].len();
                batches.push(vec![at]);
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_every_text_once_and_no_more_tokens_than_fit() {
        let lengths = [700, 3, 1500, 400, 600, 20, 1];
        let tokens = |length: &usize| Tokens {
            ids: vec![0; *length],
            second: *length,
            cut: false,
        };
        let texts: Vec<Tokens> = lengths.iter().map(tokens).collect();
        let batches = batches(&texts);
        let mut all: Vec<usize> = batches.concat();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6]);
        for batch in batches.iter().filter(|batch| batch.len() > 1) {
            let tokens: usize = batch.iter().map(|at| lengths[*at]).sum();
            assert!(tokens <= BATCH_TOKENS, "{tokens}");
        }
    }
}
