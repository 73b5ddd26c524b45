//! What is wrong with a configuration: every problem with its place, what was found and what is
//! allowed, set for a terminal. Knows nothing of what the fields mean.

use std::{fmt, ops::Range};

/// One problem of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// `crawler.max-depth`, `quality[2].seeds`; empty where the text is no TOML.
    pub field: String,
    pub found: String,
    pub allowed: String,
    /// What to do about it, where that can be guessed.
    pub hint: Option<String>,
    /// The line itself, and where in it (in characters) the problem lies. Left out for secrets.
    excerpt: Option<(String, Range<usize>)>,
}

/// Everything that is wrong with a file, in the order of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors {
    pub file: String,
    pub problems: Vec<Problem>,
}

impl std::error::Error for ConfigErrors {}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.problems.iter().enumerate() {
            if number > 0 {
                f.write_str("\n\n")?;
            }
            write!(f, "{}:{}:{}: ", self.file, problem.line, problem.column)?;
            problem.fmt(f)?;
        }
        if self.problems.len() > 1 {
            write!(f, "\n\n{} problems in {}", self.problems.len(), self.file)?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        write!(f, "found {}; allowed: {}", self.found, self.allowed)?;
        if let Some((line, marked)) = &self.excerpt {
            let number = self.line.to_string();
            let margin = " ".repeat(number.len());
            let before = " ".repeat(marked.start);
            let carets = "^".repeat(marked.len().max(1));
            write!(
                f,
                "\n {margin} |\n {number} | {line}\n {margin} | {before}{carets}"
            )?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n   help: {hint}")?;
        }
        Ok(())
    }
}

/// Collects the problems of one text.
#[derive(Debug)]
pub struct Problems<'t> {
    text: &'t str,
    found: Vec<Problem>,
}

impl<'t> Problems<'t> {
    pub fn of(text: &'t str) -> Self {
        Self {
            text,
            found: Vec::new(),
        }
    }

    /// Notes a problem at a place (in bytes) of the text.
    pub fn add(
        &mut self,
        span: Range<usize>,
        field: &str,
        found: impl Into<String>,
        allowed: impl Into<String>,
    ) -> &mut Problem {
        let (line, column, excerpt) = locate(self.text, &span);
        self.found.push(Problem {
            line,
            column,
            field: field.to_owned(),
            found: found.into(),
            allowed: allowed.into(),
            hint: None,
            excerpt: Some(excerpt),
        });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    pub(super) fn line_of(&self, span: &Range<usize>) -> usize {
        locate(self.text, span).0
    }

    pub fn len(&self) -> usize {
        self.found.len()
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub fn into_errors(mut self, file: &str) -> ConfigErrors {
        self.found
            .sort_by(|a, b| (a.line, a.column, &a.field).cmp(&(b.line, b.column, &b.field)));
        ConfigErrors {
            file: file.to_owned(),
            problems: self.found,
        }
    }
}

impl Problem {
    pub fn hint(&mut self, hint: impl Into<String>) {
        self.hint = Some(hint.into());
    }

    /// The line may hold a password.
    pub(super) fn without_excerpt(&mut self) {
        self.excerpt = None;
    }
}

/// Line, column and the marked line of a place; a place of several lines is marked on its first.
fn locate(text: &str, span: &Range<usize>) -> (usize, usize, (String, Range<usize>)) {
    let start = floor(text, span.start.min(text.len()));
    let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let stop = floor(text, span.end.clamp(start, end));
    let line = text[..start].matches('\n').count() + 1;
    let before = text[begin..start].chars().count();
    let marked = text[start..stop].chars().count();
    // A tab or an escape sequence would move the carets or do worse.
    let shown: String = text[begin..end]
        .trim_end_matches('\r')
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    (line, before + 1, (shown, before..before + marked))
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The known key nearest to one that is not, if any is near.
pub fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let spelled = key.to_lowercase().replace('_', "-");
    known
        .iter()
        .map(|candidate| (distance(&spelled, candidate), *candidate))
        .min()
        .filter(|(away, candidate)| *away <= candidate.len().max(spelled.len()) / 3)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance: letters to change, add or leave out.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_by_line_and_column_in_characters() {
        let text = "a = 1\r\nü = \"ö\"\r\n";
        let at = text.find("\"ö").unwrap();
        let (line, column, (shown, marked)) = locate(text, &(at..at + 4));
        assert_eq!((line, column), (2, 5));
        assert_eq!((shown.as_str(), marked), ("ü = \"ö\"", 4..7));
    }

    #[test]
    fn a_place_behind_the_end_is_the_end() {
        assert_eq!(locate("a", &(9..12)).0, 1);
        assert_eq!(locate("", &(0..0)).0, 1);
    }

    #[test]
    fn the_nearest_key_is_one_that_could_have_been_meant() {
        let known = ["max-depth", "max-domain-requests", "domain"];
        assert_eq!(nearest("max_depth", &known), Some("max-depth"));
        assert_eq!(nearest("maxdepth", &known), Some("max-depth"));
        assert_eq!(nearest("domian", &known), Some("domain"));
        assert_eq!(nearest("colour", &known), None);
    }
}
