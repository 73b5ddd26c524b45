//! How documents are cut into chunks, by example and for any text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod any_text;
mod cutting;
#[cfg(feature = "tokenizers")]
mod model;
mod work;

use trawl_extract::chunk::{Chunk, ChunkSettings, EstimatedTokens, chunks};

fn settings(max_tokens: usize, overlap: usize, min_tokens: usize) -> ChunkSettings {
    ChunkSettings {
        max_tokens,
        overlap,
        min_tokens,
    }
}

fn cut(text: &str, settings: ChunkSettings) -> Vec<Chunk> {
    chunks(text, &settings, &EstimatedTokens)
}

fn pieces<'t>(text: &'t str, chunks: &[Chunk]) -> Vec<&'t str> {
    let piece = |chunk: &Chunk| &text[chunk.start..chunk.end];
    chunks.iter().map(piece).collect()
}
