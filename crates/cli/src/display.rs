//! Progress and summaries on the terminal. All of it goes to standard error; crawled text is
//! stripped of control characters before it is shown.

use std::{
    fmt::Write,
    io::{self, IsTerminal, Write as _},
    path::Path,
    time::{Duration, Instant},
};

use chrono::{DateTime, Datelike, Utc};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::JoinHandle;
use trawl_engine::{CrawlEnd, CrawlHandle, CrawlPlan, Progress};
use trawl_store::contract::read::CrawlCounts;
use trawl_types::{CrawlState, OutcomeKind, UnixMillis};

use crate::hint;

pub(crate) fn this_year() -> i32 {
    Utc::now().year()
}

/// 12847 as `12,847`.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A moment as the name of a folder: in the order of time, and of letters that every file system takes.
pub(crate) fn stamp(at: UnixMillis) -> String {
    let at = DateTime::<Utc>::from_timestamp_millis(at.0).unwrap_or_default();
    at.format("%Y%m%dT%H%M%S%3fZ").to_string()
}

/// Whether a name is one of those.
pub(crate) fn is_stamp(name: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        8 => byte == b'T',
        18 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    name.len() == 19 && name.bytes().enumerate().all(fits)
}

/// Text of unknown origin without what a terminal would act upon.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

/// A line on standard error. Whoever closed it wants to hear nothing, which is no reason to fail.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The line that shows how a crawl goes: drawn in place on a terminal, absent elsewhere.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    drawing: Option<JoinHandle<()>>,
}

impl ProgressLine {
    pub(crate) fn start(handle: &CrawlHandle, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self {
                bar: ProgressBar::hidden(),
                drawing: None,
            };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {elapsed_precise}  {msg}")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        let progress = handle.progress.clone();
        let most = handle.plan.spec().scope.max_pages;
        let drawn = bar.clone();
        let drawing = tokio::spawn(async move {
            let mut rate = Rate::start(progress.borrow().pages);
            loop {
                tokio::time::sleep(Duration::from_millis(200)).await;
                let now = *progress.borrow();
                drawn.set_message(line(&now, rate.measure(now.pages), most));
            }
        });
        Self {
            bar,
            drawing: Some(drawing),
        }
    }

    /// Says something above what is drawn.
    pub(crate) fn tell(&self, text: &str) {
        self.bar.suspend(|| say(text));
    }

    pub(crate) fn finish(self) {
        if let Some(drawing) = self.drawing {
            drawing.abort();
        }
        self.bar.finish_and_clear();
    }
}

fn line(now: &Progress, rate: f64, most: Option<u64>) -> String {
    let eta = match most {
        Some(most) if rate > 0.0 => {
            let left = most.saturating_sub(now.pages).min(now.pending) as f64 / rate;
            format!("  ETA {}", span(Duration::from_secs_f64(left.min(1e9))))
        }
        _ => String::new(),
    };
    format!(
        "{} pages  {rate:.0}/s  {} hosts  {} errors  {} waiting  {} under way{eta}",
        number(now.pages),
        number(now.hosts),
        number(now.errors),
        number(now.pending),
        now.in_flight,
    )
}

fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Pages per second, smoothed over the last few seconds.
pub(crate) struct Rate {
    last: (Instant, u64),
    smooth: f64,
}

impl Rate {
    pub(crate) fn start(pages: u64) -> Self {
        Self {
            last: (Instant::now(), pages),
            smooth: 0.0,
        }
    }

    pub(crate) fn measure(&mut self, pages: u64) -> f64 {
        let now = Instant::now();
        let seconds = now.duration_since(self.last.0).as_secs_f64();
        if seconds > 0.0 {
            let current = pages.saturating_sub(self.last.1) as f64 / seconds;
            let share = (seconds / 2.0).min(1.0);
            self.smooth += (current - self.smooth) * share;
            self.last = (now, pages);
        }
        self.smooth
    }
}

/// What was found, what went wrong, and how to go on.
pub(crate) fn summary(end: &CrawlEnd, counts: &CrawlCounts, plan: &CrawlPlan, database: &Path) {
    let (crawl, state, why) = (end.crawl, end.state.as_str(), &end.why);
    let file = hint::quoted(database);
    let next = match end.state {
        CrawlState::Paused => format!("Go on with: {}", hint::resume(crawl, database)),
        _ if counts.pages == 0 => nothing_fetched(counts, plan, &file),
        _ => format!("Everything is in {file}; trawl export --database {file} writes it out."),
    };
    let counts = counts_text(counts);
    say(&format!("Crawl {crawl} {state}: {why}.\n{counts}{next}"));
}

/// Where to ask why there is not one page, and what would let the start URLs through.
fn nothing_fetched(counts: &CrawlCounts, plan: &CrawlPlan, file: &str) -> String {
    let mut text =
        format!("No page could be fetched; trawl explain --database {file} <URL> says why.");
    let refused = plan.spec().seeds.iter().filter_map(|seed| {
        let reason = plan.check_seed(seed).err()?;
        let flag = hint::allowing(&reason, seed)?;
        Some(format!(
            "\n{}: {}. To allow it: {flag}",
            printable(seed),
            reason.detail
        ))
    });
    // A list may be long, and what helps is the same for most of it.
    text.extend(refused.take(MOST_REFUSED));
    if counts.outcomes.contains_key(&OutcomeKind::AddressRefused) {
        let _ = write!(
            text,
            "\nTo allow addresses that are not public: {}",
            hint::ANY_ADDRESS
        );
    }
    text
}

const MOST_REFUSED: usize = 3;

pub(crate) fn counts_text(counts: &CrawlCounts) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: u64| {
        let _ = writeln!(text, "  {:>10}  {name}", number(value));
    };
    row("pages", counts.pages);
    row("links between pages", counts.edges);
    row("URLs seen", counts.discovered);
    row("hosts", counts.hosts);
    for (name, value) in [
        ("copies of other pages", counts.duplicates),
        ("near-duplicates of other pages", counts.near_duplicates),
        ("URLs waiting", counts.pending),
    ] {
        if value > 0 {
            row(name, value);
        }
    }
    if !counts.outcomes.is_empty() {
        text.push_str("How visits ended:\n");
        let mut outcomes: Vec<_> = counts.outcomes.iter().collect();
        outcomes.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (kind, count) in outcomes {
            let _ = writeln!(text, "  {:>10}  {}", number(*count), kind.as_str());
        }
    }
    if !counts.reasons.is_empty() {
        text.push_str("Why URLs were not visited:\n");
        let mut reasons: Vec<_> = counts.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (code, count) in reasons {
            let (code, says) = (code.as_str(), code.explanation());
            let _ = writeln!(text, "  {:>10}  {code}: {says}", number(*count));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_name_folders_in_their_order() {
        let (early, late) = (stamp(UnixMillis(0)), stamp(UnixMillis(1_700_000_000_123)));
        assert_eq!(early, "19700101T000000000Z");
        assert!(early < late && is_stamp(&early) && is_stamp(&late));
        for other in [
            "",
            "20200101",
            "20200101T000000000z",
            "2020-101T000000000Z",
            "ä",
        ] {
            assert!(!is_stamp(other), "{other}");
        }
    }

    #[test]
    fn numbers_are_grouped() {
        for (value, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (12_847_000, "12,847,000"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn control_characters_of_crawled_text_never_reach_the_terminal() {
        assert_eq!(printable("a\x1b[2Jb\r\n"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}");
    }
}
