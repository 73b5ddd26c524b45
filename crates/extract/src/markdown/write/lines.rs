//! Lines with the marks of the containers around them, up to a number of bytes.
//!
//! Knows nothing of what the lines mean.

/// What stands between a line and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    Line,
    Blank,
}

/// What a container puts before its lines.
#[derive(Debug)]
struct Prefix {
    /// Before the first line, until that is written.
    first: Option<String>,
    rest: String,
}

/// Writes lines.
#[derive(Debug)]
pub(super) struct Lines {
    out: String,
    prefixes: Vec<Prefix>,
    gap: Gap,
    limit: usize,
    full: bool,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Lines {
            out: String::new(),
            prefixes: Vec::new(),
            gap: Gap::Line,
            limit,
            full: false,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn into_text(self) -> String {
        self.out
    }

    /// Asks for a gap before the next line; the first line of a container has none.
    pub(super) fn separate(&mut self, gap: Gap) {
        if self
            .prefixes
            .last()
            .is_none_or(|prefix| prefix.first.is_none())
        {
            self.gap = gap;
        }
    }

    pub(super) fn open(&mut self, first: &str, rest: &str) {
        self.prefixes.push(Prefix {
            first: Some(first.to_owned()),
            rest: rest.to_owned(),
        });
    }

    /// Closes a container; one in which nothing was written leaves no trace.
    pub(super) fn close(&mut self) {
        self.prefixes.pop();
    }

    /// Whether the container has no line yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.prefixes
            .last()
            .is_some_and(|prefix| prefix.first.is_some())
    }

    /// Writes one line, as far as there is room.
    pub(super) fn line(&mut self, text: &str) {
        self.line_leaving(text, 0);
    }

    /// Writes one line, as far as there is room apart from `reserve`.
    pub(super) fn line_leaving(&mut self, text: &str, reserve: usize) {
        if self.full {
            return;
        }
        let start = self.out.len();
        self.begin_line();
        let room = self.limit.saturating_sub(self.out.len() + reserve);
        if self.out.len() + reserve > self.limit {
            self.out.truncate(start);
            self.full = true;
            return;
        }
        if text.len() <= room {
            self.out.push_str(text);
        } else {
            let cut = &text[..text.floor_char_boundary(room)];
            self.out.push_str(at_a_space(cut));
            self.full = true;
        }
        self.trim_line_end();
    }

    /// Writes one line only if all of it has room.
    pub(super) fn whole_line(&mut self, text: &str) {
        let start = self.out.len();
        self.line(text);
        if self.full {
            self.out.truncate(start);
        }
    }

    /// Writes one line for which room was left before.
    pub(super) fn reserved_line(&mut self, text: &str) {
        let full = std::mem::replace(&mut self.full, false);
        self.line(text);
        self.full |= full;
    }

    /// How many bytes a short line needs here.
    pub(super) fn cost_of(&self, text: &str) -> usize {
        self.prefixes
            .iter()
            .map(|prefix| prefix.rest.len())
            .sum::<usize>()
            + text.len()
            + 1
    }

    fn begin_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.gap == Gap::Blank {
                for prefix in &self.prefixes {
                    if prefix.first.is_some() {
                        break;
                    }
                    self.out.push_str(&prefix.rest);
                }
                self.trim_line_end();
                self.out.push('\n');
            }
        }
        self.gap = Gap::Line;
        for prefix in &mut self.prefixes {
            match prefix.first.take() {
                Some(first) => self.out.push_str(&first),
                None => self.out.push_str(&prefix.rest),
            }
        }
    }

    /// Marks before an empty line need no space behind them; hard breaks keep theirs, because
    /// they are followed by more text in the same call.
    fn trim_line_end(&mut self) {
        let line = self.out.rfind('\n').map_or(0, |newline| newline + 1);
        if self.out[line..].trim_matches([' ', '>']).is_empty() {
            let length = self.out.trim_end_matches(' ').len();
            self.out.truncate(length.max(line));
        }
    }
}

/// Cuts at the last space, if there is one near the end.
fn at_a_space(text: &str) -> &str {
    const NEAR: usize = 60;
    let near = text.floor_char_boundary(text.len().saturating_sub(NEAR));
    text[near..]
        .rfind(' ')
        .map_or(text, |space| &text[..near + space])
}
