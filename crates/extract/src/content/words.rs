//! Text to words, and words to numbers, so that texts are compared by integers.
//!
//! A word is a run of letters and digits, lower-cased; in scripts without spaces each character
//! is one. Punctuation and spacing never matter.

/// Calls `each` with the hash of every word of `text`.
pub(crate) fn each_word(text: &str, mut each: impl FnMut(u32)) {
    let mut hash = 0;
    for character in text.chars() {
        if is_word_by_itself(character) {
            if hash != 0 {
                each(hash);
            }
            each(mix(0, character));
            hash = 0;
        } else if character.is_ascii_alphanumeric() {
            hash = mix(hash, character.to_ascii_lowercase());
        } else if !character.is_ascii() && character.is_alphanumeric() {
            hash = character.to_lowercase().fold(hash, mix);
        } else if hash != 0 {
            each(hash);
            hash = 0;
        }
    }
    if hash != 0 {
        each(hash);
    }
}

/// The words of `text`.
pub(crate) fn words(text: &str) -> Vec<u32> {
    let mut words = Vec::with_capacity(text.len() / 6);
    each_word(text, |word| words.push(word));
    words
}

fn mix(hash: u32, character: char) -> u32 {
    let mixed = (hash.rotate_left(5) ^ u32::from(character)).wrapping_mul(0x9e37_79b1);
    // Zero says "no word yet".
    mixed.max(1)
}

/// Thai, Lao, Burmese, Khmer, kana, Han: written without spaces between words.
fn is_word_by_itself(character: char) -> bool {
    matches!(u32::from(character),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
        && character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn case_spacing_and_punctuation_do_not_matter() {
        assert_eq!(words("Hello,  World!"), words("hello world"));
        assert_ne!(words("hello world"), words("world hello"));
        assert!(words(" .,-\n").is_empty());
    }

    #[test]
    fn scripts_without_spaces_have_one_word_per_character() {
        assert_eq!(words("日本語").len(), 3);
        assert_eq!(words("Straße 12").len(), 2);
    }
}
