//! Where a text answers a query: ranges of characters. Pure.

use rustc_hash::FxHashSet;

use crate::{
    analysis::{Analyser, words},
    prepare::mask,
    query::{Phrase, Query},
};

/// No text has more highlights.
const MOST: usize = 64;

/// Ranges of characters (not bytes) of the words that match, ascending.
pub fn highlights(text: &str, query: &Query, analyser: &Analyser) -> Vec<(usize, usize)> {
    let mut stems: FxHashSet<&str> = FxHashSet::default();
    let mut prefixes: Vec<&str> = Vec::new();
    for term in &query.terms {
        if term.prefix {
            prefixes.push(&term.text);
        } else {
            stems.insert(&term.text);
        }
    }
    let phrase_stems = query.phrases.iter().flat_map(|phrase| &phrase.stems);
    stems.extend(phrase_stems.map(String::as_str));
    let mut ranges = Vec::new();
    let mut characters = Characters::of(text);
    // Stems begin as their words do; most words need not be stemmed to be told apart.
    let firsts: FxHashSet<u8> = stems
        .iter()
        .filter_map(|stem| stem.bytes().next())
        .collect();
    for word in words(&mask(text)) {
        let maybe = word
            .text
            .bytes()
            .next()
            .is_some_and(|first| firsts.contains(&first));
        let is_stem = || maybe && stems.contains(analyser.stem(&word.text).as_ref());
        let begins = || prefixes.iter().any(|prefix| word.text.starts_with(prefix));
        if is_stem() || begins() {
            ranges.push((characters.at(word.start), characters.at(word.end)));
            if ranges.len() == MOST {
                break;
            }
        }
    }
    ranges
}

/// Whether the words of a phrase follow each other in a text as they are written.
pub fn has_exactly(text: &str, phrase: &Phrase) -> bool {
    let masked = mask(text);
    let found: Vec<_> = words(&masked).map(|word| word.text).collect();
    let same = |window: &[std::borrow::Cow<'_, str>]| {
        window.iter().zip(&phrase.words).all(|(a, b)| a == b)
    };
    found.windows(phrase.words.len().max(1)).any(same)
}

/// Counts characters up to ascending places.
struct Characters<'t> {
    text: &'t str,
    byte: usize,
    count: usize,
}

impl<'t> Characters<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            byte: 0,
            count: 0,
        }
    }

    fn at(&mut self, byte: usize) -> usize {
        self.count += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, typed: &str) -> Vec<String> {
        let analyser = Analyser::default();
        let query = Query::parse(typed, &analyser).unwrap();
        let characters: Vec<char> = text.chars().collect();
        highlights(text, &query, &analyser)
            .into_iter()
            .map(|(start, end)| characters[start..end].iter().collect())
            .collect()
    }

    #[test]
    fn words_that_match_are_marked_by_characters() {
        assert_eq!(
            marked("Über Crawlers – the crawler", "crawler"),
            ["Crawlers", "crawler"]
        );
        assert_eq!(
            marked("connect to connections", "conn*"),
            ["connect", "connections"]
        );
        assert_eq!(marked("[a crawl](http://crawl/)", "crawl"), ["crawl"]);
    }

    #[test]
    fn exact_phrases_are_words_as_they_are_written() {
        let analyser = Analyser::default();
        let query = Query::parse("\"rate limits\"", &analyser).unwrap();
        assert!(has_exactly("The Rate limits are", &query.phrases[0]));
        assert!(!has_exactly("the rated limit", &query.phrases[0]));
        assert!(!has_exactly("limits of rate", &query.phrases[0]));
    }
}
