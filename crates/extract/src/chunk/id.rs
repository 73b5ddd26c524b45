//! Names of chunks that depend on nothing but their content.

use std::collections::HashMap;
use std::fmt;

/// A 128-bit name in the form of a UUID (version 8), which vector stores take as an id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId([u8; 16]);

impl ChunkId {
    /// The bytes of the UUID.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChunkId({self})")
    }
}

/// Gives the chunks of one document their ids.
#[derive(Debug, Default)]
pub(super) struct Ids {
    seen: HashMap<[u8; 32], u64>,
}

impl Ids {
    /// The id of the next chunk; equal chunks are told apart by their order.
    pub(super) fn next(&mut self, path: &[String], content: &str) -> ChunkId {
        let mut hasher = blake3::Hasher::new();
        for heading in path {
            // Lengths keep `["a", "b"]` and `["ab"]` apart.
            hasher.update(&(heading.len() as u64).to_le_bytes());
            hasher.update(heading.as_bytes());
        }
        hasher.update(&u64::MAX.to_le_bytes());
        hasher.update(content.as_bytes());
        let before = self.seen.entry(*hasher.finalize().as_bytes()).or_insert(0);
        hasher.update(&before.to_le_bytes());
        *before += 1;
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        bytes[6] = bytes[6] & 0x0f | 0x80;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        ChunkId(bytes)
    }
}
