//! Keywords found in the words of a URL and of an anchor text.

use percent_encoding::percent_decode_str;
use url::Url;

/// Words looked at in one text: crawled text is not trusted to be short.
const MAX_WORDS: usize = 64;
const MAX_BYTES: usize = 2048;
/// From this length on a keyword also matches longer words: `crawl` finds `crawling`.
const STEM: usize = 4;

/// Each keyword is one word or a phrase of several.
#[derive(Debug, Clone)]
pub(super) struct Keywords(Vec<Vec<String>>);

impl Keywords {
    pub(super) fn new(keywords: &[String]) -> Self {
        Self(
            keywords
                .iter()
                .map(|keyword| words(keyword))
                .filter(|words| !words.is_empty())
                .collect(),
        )
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many keywords the URL holds, plus how many the anchor text holds.
    pub(super) fn hits(&self, url: &Url, anchor: &str) -> u32 {
        let path = percent_decode_str(url.path()).decode_utf8_lossy();
        let mut in_url = words(url.host_str().unwrap_or_default());
        in_url.extend(words(&path));
        if let Some(query) = url.query() {
            in_url.extend(words(&percent_decode_str(query).decode_utf8_lossy()));
        }
        self.count(&in_url) + self.count(&words(anchor))
    }

    fn count(&self, text: &[String]) -> u32 {
        let found = self.0.iter().filter(|phrase| contains(text, phrase));
        u32::try_from(found.count()).unwrap_or(u32::MAX)
    }
}

fn words(text: &str) -> Vec<String> {
    let end = (0..=MAX_BYTES.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    text[..end]
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
        .map(str::to_lowercase)
        .collect()
}

fn contains(text: &[String], phrase: &[String]) -> bool {
    text.windows(phrase.len())
        .any(|window| window.iter().zip(phrase).all(|(word, key)| same(word, key)))
}

fn same(word: &str, key: &str) -> bool {
    word == key || key.chars().count() >= STEM && word.starts_with(key)
}
