//! robots.txt by RFC 9309, with the line that decided. Fetching, caching and redirects belong to
//! others; robots meta elements and headers are read where pages are.
//!
//! Where the RFC leaves room: a Crawl-delay is a rule of its group (so it ends a list of
//! User-agent lines, as the authors of such files mean it), and of several the longest counts.

mod lines;
mod path;
mod rule;
mod status;

use std::time::Duration;

use url::Url;

use lines::{Directive, Lines};
use rule::Rule;

pub use status::{RobotsFromStatus, robots_for_status, robots_unreachable};

/// Bytes of a robots.txt that are read.
pub const MAX_ROBOTS_BYTES: usize = 500 * 1024;
/// Sitemap lines that are kept.
const MAX_SITEMAPS: usize = 1000;
/// A longer Crawl-delay is cut to this; politeness may cut further.
const MAX_CRAWL_DELAY: Duration = Duration::from_hours(24);

/// What robots.txt says to one crawler. Only the rules of its own group are kept.
#[derive(Debug, Clone)]
pub struct RobotsRules {
    /// Longest first and allow before disallow: the first that matches decides.
    rules: Vec<Rule>,
    refuses_all: Option<String>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

/// What robots.txt says of one URL, and in which line (counted from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RobotsVerdict {
    /// By a rule, or because none matches.
    Allowed { line: Option<u32> },
    /// By a rule, as it stands in the file. Line 0: there is no file; `rule` says why.
    Disallowed { line: u32, rule: String },
}

impl RobotsVerdict {
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed { .. })
    }
}

/// The rules for one kind of agent while a file is read.
#[derive(Default)]
struct Group {
    named: bool,
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

impl RobotsRules {
    /// Reads a file for the crawler `agent`: its product name, with or without a version.
    pub fn parse(bytes: &[u8], agent: &str) -> Self {
        let agent = lines::product(agent.as_bytes());
        let (mut ours, mut others) = (Group::default(), Group::default());
        let mut sitemaps = Vec::new();
        let (mut for_us, mut for_all, mut agents_end) = (false, false, true);
        for (number, directive) in Lines::new(bytes, MAX_ROBOTS_BYTES) {
            if let Directive::UserAgent(name) = directive {
                if agents_end {
                    (for_us, for_all, agents_end) = (false, false, false);
                }
                let named = !agent.is_empty() && lines::product(name).eq_ignore_ascii_case(agent);
                let star = lines::is_star(name);
                for_us |= named;
                for_all |= star;
                ours.named |= named;
                continue;
            }
            if let Directive::Sitemap(url) = directive {
                if sitemaps.len() < MAX_SITEMAPS {
                    sitemaps.push(String::from_utf8_lossy(url).into_owned());
                }
                continue;
            }
            agents_end = true;
            if for_us {
                ours.take(number, &directive);
            }
            if for_all {
                others.take(number, &directive);
            }
        }
        let group = if ours.named { ours } else { others };
        Self::of_group(group, sitemaps)
    }

    fn of_group(mut group: Group, sitemaps: Vec<String>) -> Self {
        group.rules.sort_by_key(Rule::precedence);
        Self {
            rules: group.rules,
            refuses_all: None,
            crawl_delay: group.crawl_delay,
            sitemaps,
        }
    }

    /// For a host without a robots.txt.
    pub fn allow_all() -> Self {
        Self::of_group(Group::default(), Vec::new())
    }

    /// For a host whose robots.txt cannot be read; `why` is shown in verdicts.
    pub fn disallow_all(why: impl Into<String>) -> Self {
        Self {
            refuses_all: Some(why.into()),
            ..Self::allow_all()
        }
    }

    /// May `url` be fetched? Its host is not looked at. robots.txt itself always may.
    pub fn check(&self, url: &Url) -> RobotsVerdict {
        if url.path() == "/robots.txt" {
            return RobotsVerdict::Allowed { line: None };
        }
        if let Some(why) = &self.refuses_all {
            return RobotsVerdict::Disallowed {
                line: 0,
                rule: why.clone(),
            };
        }
        if self.rules.is_empty() {
            return RobotsVerdict::Allowed { line: None };
        }
        let target = path::of_url(url);
        match self.rules.iter().find(|rule| rule.matches(&target)) {
            None => RobotsVerdict::Allowed { line: None },
            Some(rule) => rule.verdict(),
        }
    }

    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The rules that hold for this crawler, as they stand in the file, by line.
    pub fn lines(&self) -> Vec<(u32, String)> {
        let mut lines: Vec<_> = self.rules.iter().map(Rule::shown).collect();
        lines.sort_unstable();
        lines
    }

    /// As written in the file: relative ones are resolved by whoever knows where it came from.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }
}

impl Group {
    fn take(&mut self, line: u32, directive: &Directive<'_>) {
        match directive {
            Directive::Allow(pattern) => self.rules.extend(Rule::new(true, pattern, line)),
            Directive::Disallow(pattern) => self.rules.extend(Rule::new(false, pattern, line)),
            Directive::CrawlDelay(text) => self.crawl_delay = self.crawl_delay.max(delay(text)),
            Directive::UserAgent(_) | Directive::Sitemap(_) => {}
        }
    }
}

/// Seconds, perhaps with a fraction. Negative ones and what is no number are ignored.
fn delay(text: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    if seconds.is_nan() || seconds.is_sign_negative() {
        return None;
    }
    Some(Duration::try_from_secs_f64(seconds).map_or(MAX_CRAWL_DELAY, |d| d.min(MAX_CRAWL_DELAY)))
}
