//! What a run looks like on a terminal: a line of figures and the busiest domains, cut to fit. Pure.

use std::fmt::Write;

use trawl_engine::Progress;
use trawl_store::BusyDomain;

use crate::display::{number, printable};

/// Domains shown where there is room.
pub(super) const MOST_DOMAINS: u32 = 12;
/// Taken by the spinner and the time, before the line of figures.
const BEFORE_FIGURES: usize = 12;
/// Taken by everything in a row but the name.
const BESIDE_NAME: usize = 51;
/// Lines besides those of domains: figures, titles and one for the cursor.
const OTHER_LINES: usize = 3;

/// The room there is on the terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) lines: usize,
    pub(super) columns: usize,
}

/// The whole picture.
pub(super) fn picture(
    now: &Progress,
    rate: f64,
    busy: &[BusyDomain],
    least_delay_ms: u64,
    room: Room,
) -> String {
    let mut text = String::new();
    for figure in figures(now, rate) {
        let gap = if text.is_empty() { "" } else { "  " };
        if BEFORE_FIGURES + text.len() + gap.len() + figure.len() >= room.columns {
            break;
        }
        let _ = write!(text, "{gap}{figure}");
    }
    let shown = room.lines.saturating_sub(OTHER_LINES).min(busy.len());
    if shown == 0 {
        return text;
    }
    let width = room.columns.saturating_sub(BESIDE_NAME).clamp(12, 40);
    let mut row = |name: &str, class: &str, [pages, queue, errors, delay]: [&str; 4]| {
        let name: String = name.chars().take(width).collect();
        let line =
            format!("  {name:<width$} {class:<11} {pages:>8} {queue:>8} {errors:>7} {delay:>9}");
        let cut: String = line.chars().take(room.columns.saturating_sub(1)).collect();
        let _ = write!(text, "\n{cut}");
    };
    row("domain", "class", ["pages", "queue", "errors", "delay"]);
    for domain in &busy[..shown] {
        let delay = if domain.suspended {
            "suspended".to_owned()
        } else {
            format!("{} ms", number(domain.delay_ms.max(least_delay_ms)))
        };
        let counts = [domain.pages, domain.waiting, domain.errors].map(number);
        let [pages, queue, errors] = counts.each_ref().map(String::as_str);
        let class = domain.class.as_str();
        row(
            &printable(&domain.name),
            class,
            [pages, queue, errors, &delay],
        );
    }
    text
}

/// The figures in one line, for logs.
pub(super) fn figures_line(now: &Progress, rate: f64) -> String {
    figures(now, rate).join("  ")
}

/// The most telling first: what does not fit is left out from the end.
fn figures(now: &Progress, rate: f64) -> [String; 7] {
    [
        format!("{} pages", number(now.pages)),
        format!("{rate:.1}/s"),
        format!("{} domains", number(now.hosts)),
        format!("{} waiting", number(now.pending)),
        format!("{} errors", number(now.errors)),
        format!("{} links", number(now.edges)),
        format!("{} under way", now.in_flight),
    ]
}

#[cfg(test)]
mod tests {
    use trawl_types::terrain::DomainClass;

    use super::*;

    fn busy(name: &str, suspended: bool) -> BusyDomain {
        BusyDomain {
            name: name.into(),
            class: DomainClass::Discovered,
            pages: 1_234,
            errors: 5,
            requests: 1_300,
            suspended,
            waiting: 67_890,
            delay_ms: 0,
        }
    }

    fn drawn(lines: usize, columns: usize) -> Vec<String> {
        let long = "a.very.long.name.of.a.domain.with.many.labels.example.org";
        let domains = [busy(long, false), busy("b.org\u{1b}[2J", true)];
        let now = Progress {
            pages: 12_345,
            edges: 1_234_567,
            ..Progress::default()
        };
        let picture = picture(&now, 12.34, &domains, 100, Room { lines, columns });
        picture.lines().map(str::to_owned).collect()
    }

    #[test]
    fn no_line_is_longer_than_the_terminal_is_wide() {
        for columns in [20, 40, 79, 80, 120, 300] {
            let lines = drawn(24, columns);
            assert_eq!(lines.len(), 4, "{lines:?}");
            assert!(lines[0].chars().count() + BEFORE_FIGURES < columns);
            for line in &lines {
                assert!(line.chars().count() < columns, "{columns}: {line:?}");
                assert!(!line.contains('\u{1b}'), "{line:?}");
            }
        }
    }

    #[test]
    fn the_table_has_room_or_is_left_out() {
        assert_eq!(drawn(3, 80).len(), 1);
        assert_eq!(drawn(4, 80).len(), 3);
        assert_eq!(drawn(24, 80).len(), 4);
    }

    #[test]
    fn a_row_shows_pages_queue_errors_and_the_delay_that_holds() {
        let lines = drawn(24, 80);
        assert!(
            lines[2].contains("1,234   67,890       5    100 ms"),
            "{lines:?}"
        );
        assert!(lines[3].ends_with("suspended"), "{lines:?}");
        assert!(drawn(24, 120)[0].ends_with("0 under way"));
    }
}
