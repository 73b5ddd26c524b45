//! A fingerprint of 64 bits in which nearly equal texts differ in few bits.
//!
//! One-bit minwise hashing (Li and König 2010) over a single permutation: shingles of three words
//! are hashed into 64 bins, and one bit of each bin's smallest hash is kept. The number of
//! differing bits grows as 32 times the share of shingles that differ. SimHash grows with the
//! square root of that share: three words changed in three hundred make five bits there and two
//! here, while texts that share nothing differ in 32 bits in both.

use crate::language::{Word, words};

const SHINGLE: usize = 3;
const BINS: usize = 64;
/// Texts that fill fewer bins have too few different shingles to be compared.
const MIN_FILLED_BINS: u32 = 20;

/// Where the words of a text point: nearly equal texts have nearly equal fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// In how many of the 64 bits two fingerprints differ. Up to 3: nearly the same text (nine
    /// shingles in ten are shared). About 32: nothing in common.
    pub fn distance(self, other: Fingerprint) -> u32 {
        (self.0 ^ other.0).count_ones()
    }
}

/// The fingerprint of a text; nothing if it is too short (some twenty-five different words) or
/// repeats itself too much to tell it from others. Case, punctuation and spacing do not count.
pub fn near_fingerprint(text: &str) -> Option<Fingerprint> {
    let mut bins = [u64::MAX; BINS];
    let mut window = [0_u64; SHINGLE];
    let mut seen = 0_usize;
    let mut take = |word: u64| {
        window.rotate_left(1);
        window[SHINGLE - 1] = word;
        seen += 1;
        if seen >= SHINGLE {
            let shingle = window.iter().fold(0, |hash, word| mix(hash ^ word));
            // The upper bits choose the bin, the rest compete in it.
            let bin = &mut bins[(shingle >> 58) as usize];
            *bin = (*bin).min(shingle << 6);
        }
    };
    for word in words(text) {
        match word {
            Word::Spaced(text) | Word::Dense(text) => take(hash(text.chars())),
            // Without a dictionary each letter is a word; marks stay out.
            Word::Unspaced(run) => run
                .chars()
                .filter(|c| c.is_alphanumeric())
                .for_each(|c| take(hash(std::iter::once(c)))),
        }
    }
    let filled = bins.iter().filter(|bin| **bin != u64::MAX).count() as u32;
    (filled >= MIN_FILLED_BINS).then(|| Fingerprint(bits(&bins)))
}

/// One bit of each bin. An empty bin borrows from a filled one that depends on its number only
/// (Shrivastava 2017), and takes another bit of what it borrows.
fn bits(bins: &[u64; BINS]) -> u64 {
    let mut print = 0;
    for number in 0..BINS {
        let mut from = number;
        let mut attempt = 0_u64;
        while bins[from] == u64::MAX {
            attempt += 1;
            from = (mix((number as u64) << 32 | attempt) >> 58) as usize;
        }
        let bit = mix(bins[from] ^ number as u64) >> 63;
        print |= bit << number;
    }
    print
}

/// A word's hash in any case.
fn hash(word: impl Iterator<Item = char>) -> u64 {
    let add = |hash: u64, c: char| {
        (hash.rotate_left(5) ^ u64::from(u32::from(c))).wrapping_mul(0x517c_c1b7_2722_0a95)
    };
    let mut hash = 0;
    for c in word {
        if c.is_ascii() {
            hash = add(hash, c.to_ascii_lowercase());
        } else {
            hash = c.to_lowercase().fold(hash, add);
        }
    }
    mix(hash)
}

/// The finaliser of SplitMix64.
fn mix(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
