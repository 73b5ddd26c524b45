//! Documents to chunks with everything that is written of them, except embeddings. Pure.

use sha2::{Digest, Sha256};
use trawl_extract::chunk::{self, ChunkSettings, TokenCounter};
use uuid::Uuid;

use crate::document::{ChunkKind, NewDocument};

/// A document ready to be written.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub document: NewDocument,
    /// Of title and content: nothing is done where it has not changed.
    pub content_hash: [u8; 32],
    pub uuid: Uuid,
    pub chunks: Vec<PreparedChunk>,
}

/// A chunk ready to be written.
#[derive(Debug, Clone)]
pub struct PreparedChunk {
    pub uuid: Uuid,
    pub position: u32,
    pub start: usize,
    pub stop: usize,
    pub tokens: u32,
    pub header: Option<String>,
    /// What is indexed as its title.
    pub headings: String,
    pub kind: ChunkKind,
    /// What is embedded.
    pub embed_text: String,
    pub embed_hash: [u8; 16],
    /// Its embedding, once there is one.
    pub vector: Option<Vec<f32>>,
}

/// The hash by which a document is known to be unchanged.
pub fn content_hash(title: Option<&str>, content: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(title.unwrap_or_default().as_bytes());
    hasher.update([0]);
    hasher.update(content.as_bytes());
    hasher.finalize().into()
}

/// The id of the document with this URL: the same in every index.
pub fn document_id(url: &str) -> Uuid {
    Uuid::new_v8(half(blake3::hash(url.as_bytes()).as_bytes()))
}

/// Cuts a document into chunks.
pub fn prepare(
    document: NewDocument,
    settings: &ChunkSettings,
    tokens: &dyn TokenCounter,
) -> Prepared {
    let uuid = document_id(&document.url);
    let title = document.title.as_deref().unwrap_or_default();
    let pieces = chunk::chunks(&document.content, settings, tokens);
    let chunks = pieces.into_iter().map(|piece| {
        let content = document
            .content
            .get(piece.start..piece.end)
            .unwrap_or_default();
        let embed_text = embed_text_of(title, content);
        PreparedChunk {
            uuid: chunk_id(uuid, piece.id.as_bytes()),
            position: piece.index as u32,
            start: piece.start,
            stop: piece.end,
            tokens: piece.token_count as u32,
            header: piece.heading_path.last().cloned(),
            headings: headings(title, &piece.heading_path),
            kind: match piece.kind {
                chunk::ChunkKind::Prose => ChunkKind::Prose,
                chunk::ChunkKind::Code => ChunkKind::Code,
                chunk::ChunkKind::Table => ChunkKind::Table,
                chunk::ChunkKind::List => ChunkKind::List,
            },
            embed_hash: half(blake3::hash(embed_text.as_bytes()).as_bytes()),
            embed_text,
            vector: None,
        }
    });
    Prepared {
        content_hash: content_hash(document.title.as_deref(), &document.content),
        uuid,
        chunks: chunks.collect(),
        document,
    }
}

/// Equal chunks of two documents have ids of their own.
fn chunk_id(document: Uuid, content: &[u8]) -> Uuid {
    let mut hasher = blake3::Hasher::new();
    hasher.update(document.as_bytes());
    hasher.update(content);
    Uuid::new_v8(half(hasher.finalize().as_bytes()))
}

fn half(hash: &[u8; 32]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    bytes
}

/// The title, and the headings that do not repeat it.
fn headings(title: &str, path: &[String]) -> String {
    let mut text = title.to_owned();
    for heading in path {
        if heading.trim() != title.trim() {
            text.push('\n');
            text.push_str(heading);
        }
    }
    text
}

/// What a model reads: the title, unless the chunk begins with it, and the words.
pub fn embed_text_of(title: &str, content: &str) -> String {
    let mut text = String::with_capacity(title.len() + content.len());
    let words = mask(content);
    let words = words.trim_start_matches(|c: char| c == '#' || c.is_whitespace());
    if !title.is_empty() && !words.starts_with(title) {
        text.push_str(title);
        text.push_str(". ");
    }
    let mut space = true;
    for c in words.chars() {
        let c = if matches!(c, '#' | '*' | '`' | '|' | '_') {
            ' '
        } else {
            c
        };
        if c.is_whitespace() {
            if !space {
                text.push(' ');
            }
            space = true;
        } else {
            text.push(c);
            space = false;
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Markdown with the targets of links blanked out: they are not words of the text. Every byte
/// stays in its place.
pub fn mask(markdown: &str) -> std::borrow::Cow<'_, str> {
    if !markdown.contains("](") {
        return markdown.into();
    }
    let mut masked = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(at) = rest.find("](") {
        let (before, target) = rest.split_at(at + 2);
        masked.push_str(before);
        let end = target.find([')', '\n']).unwrap_or(target.len());
        masked.extend(std::iter::repeat_n(' ', end));
        rest = &target[end..];
    }
    masked.push_str(rest);
    masked.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_links_are_no_words() {
        let text = "See [the guide](https://example.org/a_b) and [b](é) now";
        let masked = mask(text);
        assert_eq!(masked.len(), text.len());
        assert!(!masked.contains("example") && masked.contains("the guide"));
        assert!(masked.ends_with("now"));
    }

    #[test]
    fn what_is_embedded_has_the_title_once_and_no_markup() {
        assert_eq!(
            embed_text_of("Guide", "# Guide\n\nRead **this**."),
            "Guide Read this ."
        );
        assert_eq!(embed_text_of("Guide", "Read `this`"), "Guide. Read this");
    }

    #[test]
    fn equal_chunks_of_different_documents_have_different_ids() {
        let (a, b) = (
            document_id("https://a.test/"),
            document_id("https://b.test/"),
        );
        assert_ne!(chunk_id(a, b"x"), chunk_id(b, b"x"));
        assert_eq!(document_id("https://a.test/"), a);
    }
}
