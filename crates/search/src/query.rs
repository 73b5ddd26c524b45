//! What somebody typed, read: words, `"phrases"`, `-not`, `prefix*`, `site:host`. Pure.

use crate::analysis::{Analyser, is_function_word, words};

/// Longer queries are refused.
pub const LONGEST_QUERY: usize = 1000;
/// Further words of a query are not looked at.
const MOST_WORDS: usize = 512;

/// Why a query cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("the query is empty")]
    Empty,
    #[error("the query has more than {LONGEST_QUERY} characters")]
    TooLong,
}

/// A query as it is understood.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// What was typed, without the space around it.
    pub text: String,
    /// Terms of which any may occur; the more, the better.
    pub terms: Vec<Term>,
    /// Words that must occur in this order, as they are written.
    pub phrases: Vec<Phrase>,
    /// Words and phrases that must not occur.
    pub without: Vec<Phrase>,
    /// Hosts of which one must be the document's, or above it.
    pub sites: Vec<String>,
    /// Hosts that must not be the document's.
    pub not_sites: Vec<String>,
}

/// A term and how often the query has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// A stem, or the beginning of words.
    pub text: String,
    /// Whether it stands for all words that begin so.
    pub prefix: bool,
    pub weight: f32,
}

/// Words in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Phrase {
    /// Folded words.
    pub words: Vec<String>,
    /// Their stems.
    pub stems: Vec<String>,
    /// Whether the words must be as they are written, and not only their stems.
    pub exact: bool,
}

impl Query {
    /// Reads what somebody typed.
    pub fn parse(typed: &str, analyser: &Analyser) -> Result<Self, QueryError> {
        let text = typed.trim();
        if text.is_empty() {
            return Err(QueryError::Empty);
        }
        if text.chars().count() > LONGEST_QUERY {
            return Err(QueryError::TooLong);
        }
        let mut query = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        let mut free = Vec::new();
        for part in parts(text).take(MOST_WORDS) {
            query.take(part, analyser, &mut free);
        }
        query.terms.extend(weighted(&free, analyser));
        Ok(query)
    }

    fn take(&mut self, part: Part<'_>, analyser: &Analyser, free: &mut Vec<String>) {
        if let Some(host) = part.text.strip_prefix("site:").filter(|_| !part.quoted) {
            let host = host.trim_matches('/').to_ascii_lowercase();
            if !host.is_empty() {
                let list = if part.not {
                    &mut self.not_sites
                } else {
                    &mut self.sites
                };
                list.push(host);
            }
            return;
        }
        let found: Vec<String> = words(part.text)
            .map(|word| word.text.into_owned())
            .collect();
        if found.is_empty() {
            return;
        }
        if part.quoted || part.not {
            let phrase = Phrase {
                stems: found
                    .iter()
                    .map(|word| analyser.stem(word).into_owned())
                    .collect(),
                words: found,
                exact: part.quoted,
            };
            let list = if part.not {
                &mut self.without
            } else {
                &mut self.phrases
            };
            list.push(phrase);
        } else if part.text.ends_with('*') && found.len() == 1 {
            self.terms.extend(found.into_iter().map(|text| Term {
                text,
                prefix: true,
                weight: 1.0,
            }));
        } else {
            free.extend(found);
        }
    }

    /// Whether there is anything to look for.
    pub fn asks_for_nothing(&self) -> bool {
        self.terms.is_empty() && self.phrases.is_empty()
    }
}

/// Free words as terms; what every question is made of is left out where there is more.
fn weighted(free: &[String], analyser: &Analyser) -> Vec<Term> {
    let says_something = free.iter().any(|word| !is_function_word(word));
    let mut terms: Vec<Term> = Vec::new();
    for word in free {
        if says_something && is_function_word(word) {
            continue;
        }
        let stem = analyser.stem(word);
        match terms.iter_mut().find(|term| term.text == stem) {
            Some(term) => term.weight += 1.0,
            None => terms.push(Term {
                text: stem.into_owned(),
                prefix: false,
                weight: 1.0,
            }),
        }
    }
    terms
}

/// One thing that was typed: a word or a phrase in quotes.
#[derive(Debug, Clone, Copy)]
struct Part<'q> {
    text: &'q str,
    quoted: bool,
    not: bool,
}

fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let after_minus = rest
            .strip_prefix('-')
            .filter(|r| !r.starts_with(char::is_whitespace));
        let not = after_minus.is_some_and(|r| !r.is_empty());
        if not {
            rest = after_minus.unwrap_or(rest);
        }
        if let Some(inner) = rest.strip_prefix(['"', '\u{201c}'])
            && let Some(end) = inner.find(['"', '\u{201d}'])
        {
            let quoted = &inner[..end];
            rest = inner[end..].trim_start_matches(['"', '\u{201d}']);
            return Some(Part {
                text: quoted,
                quoted: true,
                not,
            });
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(Part {
            text: word,
            quoted: false,
            not,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Query {
        Query::parse(text, &Analyser::default()).unwrap()
    }

    fn terms(text: &str) -> Vec<String> {
        parse(text)
            .terms
            .into_iter()
            .map(|term| term.text)
            .collect()
    }

    #[test]
    fn free_words_are_stems_without_what_every_question_is_made_of() {
        assert_eq!(
            terms("what is the politeness of crawlers"),
            ["polit", "crawler"]
        );
        assert_eq!(terms("to be or not to be").len(), 4);
    }

    #[test]
    fn quotes_minus_site_and_star_are_understood() {
        let query = parse(r#""Rate Limits" -"http 1" -proxy site:Docs.Example.org conn* crawl"#);
        assert_eq!(query.phrases[0].words, ["rate", "limits"]);
        assert_eq!(query.without[0].words, ["http", "1"]);
        assert_eq!(query.without[1].words, ["proxy"]);
        assert_eq!(query.sites, ["docs.example.org"]);
        assert!(query.terms.iter().any(|t| t.prefix && t.text == "conn"));
        assert!(query.terms.iter().any(|t| !t.prefix && t.text == "crawl"));
    }

    #[test]
    fn a_lone_dash_or_quote_is_no_operator() {
        assert_eq!(terms("cats - dogs"), ["cat", "dog"]);
        assert_eq!(terms("5\" disk"), ["5", "disk"]);
    }

    #[test]
    fn empty_and_overlong_queries_are_refused() {
        let analyser = Analyser::default();
        assert_eq!(Query::parse("  ", &analyser), Err(QueryError::Empty));
        let long = "x".repeat(1001);
        assert_eq!(Query::parse(&long, &analyser), Err(QueryError::TooLong));
        assert!(Query::parse(&"x".repeat(1000), &analyser).is_ok());
    }
}
