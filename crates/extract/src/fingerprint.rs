//! Equal content has equal hashes.

/// BLAKE3 of a page's decoded text, markup included, exactly as decoded: the same document in
/// another character encoding has the same hash, any other difference gives another one.
///
/// Cryptographic although that costs more: with a weaker hash, a hostile site could publish pages
/// that make somebody else's page look like a copy of its own. BLAKE3 rather than SHA-256, which
/// took a sixteenth of a whole crawl's time.
pub fn content_hash(text: &str) -> [u8; 32] {
    blake3::hash(text.as_bytes()).into()
}
