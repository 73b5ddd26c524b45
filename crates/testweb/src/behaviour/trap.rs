//! Webs without end, made of pages that look honest.

use std::fmt::Write as _;

use crate::prng::Prng;
use crate::reply::{Ask, Reply};

/// Kinds of endless webs. Mount those that grow in the path with a trailing `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trap {
    /// A calendar with a next month for ever (`?month=2026-11`).
    Calendar,
    /// The same few pages, each time under a new session (`?sid=...`).
    SessionId,
    /// Paths that repeat a segment: `/a/a/a/...`.
    RepeatedPath,
    /// Paths with ever new segments: `/x1/x12/x123/...`.
    GrowingPath,
    /// Filters that can be combined in any order.
    Filters,
}

impl Trap {
    pub(crate) fn reply(self, ask: &Ask<'_>) -> Reply {
        let path = ask.path();
        let links = match self {
            Self::Calendar => calendar(path, ask.parameter("month").unwrap_or("2026-01")),
            Self::SessionId => sessions(path, ask.hits),
            Self::RepeatedPath => vec![format!("{}/a", path.trim_end_matches('/'))],
            Self::GrowingPath => growing(path),
            Self::Filters => filters(path, ask.query()),
        };
        let mut html = format!("<!doctype html><title>Trap at {path}</title><h1>More</h1>\n");
        for link in links {
            let _ = writeln!(
                html,
                "<p><a href=\"{}\">more</a></p>",
                link.replace('&', "&amp;")
            );
        }
        Reply::html(html)
    }
}

fn calendar(path: &str, month: &str) -> Vec<String> {
    let (year, number) = month.split_once('-').unwrap_or(("2026", "1"));
    let year: u32 = year.parse().unwrap_or(2026);
    let number: u32 = number.parse().unwrap_or(1);
    let total = year
        .saturating_mul(12)
        .saturating_add(number.clamp(1, 12) - 1);
    let name = |total: u32| format!("{path}?month={}-{:02}", total / 12, total % 12 + 1);
    let mut links = vec![name(total.saturating_add(1)), name(total.saturating_sub(1))];
    links.extend((1..=3).map(|day| format!("{}&day={day}", name(total))));
    links
}

fn sessions(path: &str, hits: u32) -> Vec<String> {
    let sid = Prng::new(0x7369_6473, u64::from(hits)).next();
    (0..3)
        .map(|item| format!("{path}?item={item}&sid={sid:016x}"))
        .collect()
}

fn growing(path: &str) -> Vec<String> {
    let path = path.trim_end_matches('/');
    let depth = path.matches('/').count();
    (0..3).map(|n| format!("{path}/x{depth}{n}")).collect()
}

fn filters(path: &str, query: &str) -> Vec<String> {
    const FILTERS: [&str; 6] = [
        "colour=red",
        "colour=blue",
        "size=s",
        "size=l",
        "sort=up",
        "page=2",
    ];
    let joined = |filter: &&str| match query {
        "" => format!("{path}?{filter}"),
        _ => format!("{path}?{query}&{filter}"),
    };
    FILTERS.iter().map(joined).collect()
}
