//! Equal content has equal hashes.

use sha2::{Digest, Sha256};

/// SHA-256 of a page's decoded text, markup included, exactly as decoded: the same document in
/// another character encoding has the same hash, any other difference gives another one.
///
/// Cryptographic although that costs more: with a weaker hash, a hostile site could publish pages
/// that make somebody else's page look like a copy of its own.
pub fn content_hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}
