//! Equal content has equal hashes, nearly equal content nearly equal fingerprints.
//!
//! - [`content_hash`]: the same document, byte for byte.
//! - [`text_sha256`]: the same text, however it is set.
//! - [`near_fingerprint`], [`NearIndex`]: nearly the same text, and where it was seen before.

mod buckets;
mod index;
mod near;

use icu_normalizer::ComposingNormalizerBorrowed;
use sha2::{Digest, Sha256};

pub use index::NearIndex;
pub use near::{Fingerprint, near_fingerprint};

/// BLAKE3 of a page's decoded text, markup included, exactly as decoded: the same document in
/// another character encoding has the same hash, any other difference gives another one.
///
/// Cryptographic although that costs more: with a weaker hash, a hostile site could publish pages
/// that make somebody else's page look like a copy of its own. BLAKE3 rather than SHA-256, which
/// took a sixteenth of a whole crawl's time.
pub fn content_hash(text: &str) -> [u8; 32] {
    blake3::hash(text.as_bytes()).into()
}

/// SHA-256 of a text after normalisation: Unicode NFKC, then every run of white space one space
/// and none at the ends. Case is kept: texts that differ in case are near, not equal.
///
/// NFKC, because `ﬁ` and `fi`, full-width and plain letters, or composed and combining accents
/// come from the program that made a page and not from its author.
pub fn text_sha256(text: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    let normal = ComposingNormalizerBorrowed::new_nfkc().normalize(text);
    let mut words = normal.split_whitespace();
    if let Some(first) = words.next() {
        hasher.update(first.as_bytes());
    }
    for word in words {
        hasher.update(b" ");
        hasher.update(word.as_bytes());
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_hash_however_it_is_set() {
        let hash = text_sha256("The file was opened at the café.");
        assert_eq!(
            hash,
            text_sha256(" The \u{a0} ﬁle\n\twas opened at the cafe\u{301}.\r\n")
        );
        assert_ne!(hash, text_sha256("the file was opened at the café."));
        assert_ne!(text_sha256("ab"), text_sha256("a b"));
        let empty = Sha256::digest(b"");
        assert_eq!(text_sha256(" \n"), <[u8; 32]>::from(empty));
    }
}
