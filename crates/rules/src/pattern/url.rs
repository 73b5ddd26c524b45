//! Globs and regular expressions over URLs.
//!
//! How a pattern is read depends on how it begins:
//!
//! | pattern | is compared with |
//! |---|---|
//! | `regex:…` | any part of the whole URL; anchor with `^` and `$` where wanted |
//! | `https://example.org/*`, `*://…` | the whole URL |
//! | `/blog/*` | path and query |
//! | `*.pdf` (a leading `*.` and no `/`) | the end of the path, without case |
//! | `*/tag/*`, `*sort=*` (any other leading `*`) | the whole URL |
//! | `example.org` (no `/`, no `*`) | the host: all of it |
//! | `example.org/blog/*` | host, path and query |
//!
//! In a glob `*` matches any characters, `/` included; `?` any one character, so also the `?` of a
//! query; `[ab]` one of these; `{a,b}` either. A glob matches from beginning to end.

use std::fmt;

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};
use url::{Position, Url};

use super::{HostPattern, PatternError};

const MAX_PATTERN_BYTES: usize = 4096;
/// Compiled size of one pattern; also what its lazy DFA may use while matching.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// A pattern over URLs, compiled to run in time linear in the URL.
#[derive(Debug, Clone)]
pub struct UrlPattern {
    source: String,
    matcher: Matcher,
}

#[derive(Debug, Clone)]
enum Matcher {
    Host(HostPattern),
    Text(Part, Regex),
}

/// Which part of a URL a pattern is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    PathAndQuery,
    Path,
    FromHost,
}

impl UrlPattern {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(PatternError::new(text, "empty"));
        }
        if trimmed.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::new(
                &trimmed.chars().take(80).collect::<String>(),
                format!("longer than {MAX_PATTERN_BYTES} bytes"),
            ));
        }
        let matcher = match trimmed.strip_prefix("regex:") {
            Some("") => return Err(PatternError::new(text, "empty regular expression")),
            Some(expression) => Matcher::Text(Part::Whole, compile(text, expression, false)?),
            None => glob(text, trimmed)?,
        };
        Ok(Self {
            source: trimmed.to_owned(),
            matcher,
        })
    }

    pub fn matches(&self, url: &Url) -> bool {
        match &self.matcher {
            Matcher::Host(pattern) => url.host_str().is_some_and(|host| pattern.matches(host)),
            Matcher::Text(part, regex) => regex.is_match(part.of(url).as_bytes()),
        }
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl Part {
    fn of_glob(glob: &str) -> Self {
        if glob.contains("://") {
            Self::Whole
        } else if glob.starts_with('/') {
            Self::PathAndQuery
        } else if glob.starts_with("*.") && !glob.contains('/') {
            Self::Path
        } else if glob.starts_with('*') {
            Self::Whole
        } else {
            Self::FromHost
        }
    }

    fn of(self, url: &Url) -> &str {
        match self {
            Self::Whole => &url[..Position::AfterQuery],
            Self::PathAndQuery => &url[Position::BeforePath..Position::AfterQuery],
            Self::Path => url.path(),
            Self::FromHost => &url[Position::BeforeHost..Position::AfterQuery],
        }
    }
}

fn glob(text: &str, trimmed: &str) -> Result<Matcher, PatternError> {
    if !trimmed.contains(['/', '*', '?', '{']) {
        return HostPattern::parse(trimmed).map(Matcher::Host);
    }
    let glob = GlobBuilder::new(trimmed)
        .literal_separator(false)
        .backslash_escape(true)
        .build()
        .map_err(|e| PatternError::new(text, e.kind().to_string()))?;
    let part = Part::of_glob(trimmed);
    Ok(Matcher::Text(
        part,
        compile(text, glob.regex(), part == Part::Path)?,
    ))
}

fn compile(text: &str, expression: &str, ignore_case: bool) -> Result<Regex, PatternError> {
    RegexBuilder::new(expression)
        .case_insensitive(ignore_case)
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_COMPILED_BYTES)
        .build()
        .map_err(|e| PatternError::new(text, last_line(&e.to_string())))
}

/// Errors of the regex crate draw the pattern over several lines and end with what is wrong.
fn last_line(message: &str) -> String {
    let line = message.lines().last().unwrap_or(message).trim();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_what_people_expect() {
        for (pattern, url, expected) in [
            ("/blog/*", "https://e.test/blog/a/b", true),
            ("/blog/*", "https://e.test/blog", false),
            ("/blog*", "https://e.test/blog", true),
            ("/blog/*", "https://e.test/x/blog/a", false),
            ("/a?page=*", "https://e.test/a?page=2", true),
            ("/a", "https://e.test/a", true),
            ("/a", "https://e.test/a?x=1", false),
            ("*.pdf", "https://e.test/x/Report.PDF", true),
            ("*.pdf", "https://e.test/x/report.pdf?download=1", true),
            ("*.pdf", "https://e.test/pdf", false),
            ("*.pdf", "https://e.test/a?file=b.pdf", false),
            ("*.{jpg,png}", "https://e.test/a.png", true),
            ("*/tag/*", "https://e.test/x/tag/y", true),
            ("*sort=*", "https://e.test/x?sort=up", true),
            ("https://e.test/docs/*", "https://e.test/docs/a/b", true),
            ("https://e.test/docs/*", "http://e.test/docs/a", false),
            ("*://e.test/docs/*", "http://e.test/docs/a", true),
            ("https://e.test/*", "https://e.test.evil.org/", false),
            ("https://*.e.test/*", "https://a.e.test/", true),
            ("e.test/docs/*", "https://e.test/docs/a", true),
            ("e.test/docs/*", "https://www.e.test/docs/a", false),
            ("e.test", "https://e.test/anything?x", true),
            ("e.test", "https://e.testing.org/", false),
            ("regex:/\\d{4}/", "https://e.test/2020/x", true),
            ("regex:/\\d{4}/", "https://e.test/20/x", false),
            ("regex:^https://e\\.test/$", "https://e.test/", true),
            ("regex:[?&]sid=", "https://e.test/?a=1&sid=2", true),
            ("/[ab]/x", "https://e.test/b/x", true),
        ] {
            let parsed = UrlPattern::parse(pattern).unwrap();
            let url = Url::parse(url).unwrap();
            assert_eq!(parsed.matches(&url), expected, "{pattern} on {url}");
        }
    }

    #[test]
    fn a_bad_pattern_is_an_error_that_names_it_and_says_what_is_wrong() {
        let endless = format!("regex:{}", "(a{1000}){1000}");
        for pattern in [
            "",
            "   ",
            "regex:",
            "regex:(",
            "regex:a**{",
            "regex:(?=x)",
            "regex:(a)\\1",
            "/a/[b",
            "/a/{b",
            "exa mple",
            "localhost:80",
            endless.as_str(),
            &"x/".repeat(5000),
        ] {
            let error = UrlPattern::parse(pattern).unwrap_err();
            assert!(pattern.contains(error.pattern.trim()), "{pattern}");
            assert!(!error.problem.is_empty(), "{pattern}");
            assert!(!error.problem.contains('\n'), "{}", error.problem);
        }
    }

    #[test]
    fn a_hostile_pattern_and_url_take_linear_time() {
        let pattern = UrlPattern::parse("regex:(a*)*(a*)*b$").unwrap();
        let url = Url::parse(&format!("https://e.test/{}", "a".repeat(60_000))).unwrap();
        assert!(!pattern.matches(&url));
    }
}
