//! Markdown to chunks for search: pieces of at most so many tokens, cut where a reader would.
//!
//! In reading order: `blocks` finds headings, paragraphs, lists, tables and code; `units` cuts them
//! into sentences and lines under their headings; `pack` puts those together; `id` names the
//! result. `tokens` counts. Knows nothing of embeddings, and copies no text: a chunk is a range of
//! the document.

mod blocks;
#[cfg(feature = "tokenizers")]
mod huggingface;
mod id;
mod pack;
mod title;
mod tokens;
mod units;

#[cfg(feature = "tokenizers")]
pub use huggingface::{ModelTokens, TokenizerError};
pub use id::ChunkId;
pub use tokens::{EstimatedTokens, TokenCounter};

/// How large chunks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSettings {
    /// No chunk has more tokens.
    pub max_tokens: usize,
    /// A chunk begins with at most so many tokens of the one before it, in whole sentences or
    /// lines of the same section. At most half of `max_tokens`.
    pub overlap: usize,
    /// Chunks with fewer tokens are merged with a neighbour in the same section if they fit.
    pub min_tokens: usize,
}

impl Default for ChunkSettings {
    fn default() -> Self {
        ChunkSettings {
            max_tokens: 512,
            overlap: 50,
            min_tokens: 50,
        }
    }
}

/// What most of a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkKind {
    /// Paragraphs, headings and quotes.
    Prose,
    /// Fenced code.
    Code,
    /// Rows of a table.
    Table,
    /// Items of a list.
    List,
}

/// A piece of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The same for the same text under the same headings, so that an unchanged chunk needs no
    /// new embedding; different for repeated chunks of one document.
    pub id: ChunkId,
    /// Its place in the document.
    pub index: usize,
    /// Where it begins, in bytes: `text[start..end]` is the chunk.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
    /// As many tokens the counter finds in it.
    pub token_count: usize,
    /// The headings above it, the highest first.
    pub heading_path: Vec<String>,
    /// What most of it is.
    pub kind: ChunkKind,
}

/// Cuts a document's Markdown into chunks, in time linear in its length.
///
/// ```
/// use trawl_extract::chunk::{ChunkSettings, EstimatedTokens, chunks};
///
/// let text = "# Guide\n\nRead this.\n\n## Setup\n\nInstall it.";
/// let chunks = chunks(text, &ChunkSettings::default(), &EstimatedTokens);
/// assert_eq!(&text[chunks[1].start..chunks[1].end], "## Setup\n\nInstall it.");
/// assert_eq!(chunks[1].heading_path, ["Guide", "Setup"]);
/// ```
pub fn chunks(text: &str, settings: &ChunkSettings, tokens: &dyn TokenCounter) -> Vec<Chunk> {
    let max = settings.max_tokens.max(1);
    let settings = ChunkSettings {
        max_tokens: max,
        overlap: settings.overlap.min(max / 2),
        min_tokens: settings.min_tokens.min(max),
    };
    let document = units::read(text, max, tokens);
    let mut ids = id::Ids::default();
    let mut chunks = Vec::new();
    for section in &document.sections {
        let Some(units) = document.units.get(section.units.clone()) else {
            continue;
        };
        for piece in pack::pack(text, units, &settings, tokens) {
            let content = text.get(piece.start..piece.end).unwrap_or_default();
            chunks.push(Chunk {
                id: ids.next(&section.path, content),
                index: chunks.len(),
                start: piece.start,
                end: piece.end,
                token_count: piece.token_count,
                heading_path: section.path.clone(),
                kind: piece.kind,
            });
        }
    }
    chunks
}
