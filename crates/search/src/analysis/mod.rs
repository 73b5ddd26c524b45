//! Text to terms: the same way for documents, queries and highlights. Pure.
//!
//! Words are runs of letters and digits, folded to lower case without accents; an ideograph is a
//! word by itself. English words are reduced to their stem, so that `crawlers` finds `crawling`.

mod stop;
mod words;

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

pub use stop::{is_function_word, is_stop_word};
pub use words::{Word, words};

/// Reduces words to terms.
pub struct Analyser(Stemmer);

impl std::fmt::Debug for Analyser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Analyser")
    }
}

impl Default for Analyser {
    fn default() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }
}

/// What the keyword index has to know of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// The places of each term, ascending; places count all words.
    pub places: FxHashMap<String, Vec<u32>>,
    /// How many words it has, without stop words.
    pub length: u32,
}

impl Analyser {
    /// The stem of a folded word.
    pub fn stem<'w>(&self, word: &'w str) -> Cow<'w, str> {
        let english = word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase());
        if english {
            self.0.stem(word)
        } else {
            Cow::Borrowed(word)
        }
    }

    /// All terms of a text.
    pub fn terms(&self, text: &str) -> Terms {
        let mut terms = Terms::default();
        for (place, word) in words(text).enumerate() {
            if !is_stop_word(&word.text) {
                terms.length += 1;
            }
            let stem = self.stem(&word.text);
            let place = place as u32;
            match terms.places.get_mut(stem.as_ref()) {
                Some(places) => places.push(place),
                None => {
                    terms.places.insert(stem.into_owned(), vec![place]);
                }
            }
        }
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_an_english_word_are_one_term() {
        let analyser = Analyser::default();
        let terms = analyser.terms("Crawling crawlers crawled the crawl's crawl");
        assert_eq!(terms.places["crawl"], [0, 2, 4, 5]);
        assert_eq!(terms.places["crawler"], [1]);
        assert_eq!(terms.length, 5);
    }

    #[test]
    fn words_of_other_scripts_are_left_as_they_are() {
        let analyser = Analyser::default();
        assert_eq!(analyser.stem("größe"), "größe");
        assert_eq!(analyser.stem("2024"), "2024");
    }
}
