//! Counts with the tokenizer of a model, read from its `tokenizer.json`.

use std::fmt;

use tokenizers::Tokenizer;

use super::{EstimatedTokens, TokenCounter};

/// The tokenizer of a model.
pub struct ModelTokens(Tokenizer);

impl fmt::Debug for ModelTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelTokens")
    }
}

/// The bytes are no tokenizer.
#[derive(Debug)]
pub struct TokenizerError(tokenizers::Error);

impl fmt::Display for TokenizerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tokenizer cannot be read")
    }
}

impl std::error::Error for TokenizerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

impl ModelTokens {
    /// Reads the content of a `tokenizer.json`.
    pub fn from_json(json: &[u8]) -> Result<Self, TokenizerError> {
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(TokenizerError)?;
        // Cutting and filling up are for the model; here they would only hide tokens.
        tokenizer.with_truncation(None).map_err(TokenizerError)?;
        tokenizer.with_padding(None);
        Ok(ModelTokens(tokenizer))
    }
}

impl TokenCounter for ModelTokens {
    fn count(&self, text: &str) -> usize {
        match self.0.encode_fast(text, false) {
            Ok(encoding) => encoding.len(),
            // A text the model cannot read still has to be cut somewhere.
            Err(_) => EstimatedTokens.count(text),
        }
    }
}
