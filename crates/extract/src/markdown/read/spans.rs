//! Collects one line of text as spans: whitespace collapsed, invisible characters removed, equal
//! neighbours merged, spaces outside of marks.
//!
//! Knows nothing of elements.

use crate::markdown::model::{Content, LinkId, Marks, NO_LINK, Span};

/// What marks a list item where lists cannot stand.
pub(super) const BULLET: char = '•';

/// The spans of a paragraph, heading or cell that is being read.
#[derive(Debug, Default)]
pub(super) struct Spans {
    line: Vec<Span>,
    space_wanted: bool,
    /// The wanted space stood inside of code.
    space_is_code: bool,
}

/// What text looks like where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) marks: Marks,
    pub(super) link: LinkId,
}

/// Characters that show nothing and only break words for search: zero-width spaces, byte order
/// marks, word joiners, soft hyphens, control characters. Joiners and direction marks stay, they
/// change what is read.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{200b}' | '\u{feff}' | '\u{2060}' | '\u{ad}' | '\u{180e}'
    ) || character.is_control() && !character.is_whitespace()
}

impl Spans {
    pub(super) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.line.len()
    }

    /// The last character of the text, if the line ends in text.
    pub(super) fn last_character(&self) -> Option<char> {
        match self.line.last().map(|span| &span.content) {
            Some(Content::Text(text)) if !self.space_wanted => text.chars().next_back(),
            _ => None,
        }
    }

    /// Asks for a space before whatever comes next.
    pub(super) fn space(&mut self) {
        self.space_wanted = true;
        self.space_is_code = false;
    }

    /// Appends text whose character references are decoded.
    pub(super) fn text(&mut self, text: &str, look: Look) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest
                .find(|c: char| c.is_whitespace() || is_invisible(c))
                .unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            if !word.is_empty() {
                self.word(word, look);
            }
            let mut characters = behind.chars();
            if characters.next().is_some_and(char::is_whitespace) {
                self.space_is_code =
                    look.marks.has(Marks::CODE) && (self.space_is_code || !self.space_wanted);
                self.space_wanted = true;
            }
            rest = characters.as_str();
        }
    }

    fn word(&mut self, word: &str, look: Look) {
        self.settle_space(look);
        self.append(word, look);
    }

    fn append(&mut self, text: &str, look: Look) {
        if let Some(Span {
            content: Content::Text(last),
            marks,
            link,
        }) = self.line.last_mut()
            && *marks == look.marks
            && *link == look.link
        {
            last.push_str(text);
            return;
        }
        self.line.push(Span {
            content: Content::Text(text.to_owned()),
            marks: look.marks,
            link: look.link,
        });
    }

    /// A space between differently marked spans has only the marks that both have, so that no
    /// mark ever begins or ends with a space.
    fn settle_space(&mut self, look: Look) {
        if !std::mem::take(&mut self.space_wanted) {
            return;
        }
        let Some(last) = self.line.last() else {
            return;
        };
        let ends_in_space = matches!(&last.content, Content::Text(text) if text.ends_with(' '));
        if last.content == Content::LineBreak || ends_in_space {
            return;
        }
        let mut marks = last.marks.shared_with(look.marks);
        if !self.space_is_code {
            marks = marks.without(Marks::CODE);
        }
        let shared = Look {
            marks,
            link: if last.link == look.link {
                look.link
            } else {
                NO_LINK
            },
        };
        self.append(" ", shared);
    }

    /// Appends something that is not text.
    pub(super) fn push(&mut self, content: Content, look: Look) {
        self.settle_space(look);
        self.line.push(Span {
            content,
            marks: look.marks.without(Marks::CODE),
            link: look.link,
        });
    }

    /// Appends a line break; gives false where one is there already.
    pub(super) fn line_break(&mut self, look: Look) -> bool {
        self.space_wanted = false;
        match self.line.last() {
            None => true,
            Some(last) if last.content == Content::LineBreak => false,
            Some(_) => {
                self.push(Content::LineBreak, look);
                true
            }
        }
    }

    /// Appends ` / ` between two lines that have to share one.
    pub(super) fn separator(&mut self, separator: &str) {
        if self.is_empty() {
            return;
        }
        let ends_so = matches!(
            self.line.last().map(|span| &span.content),
            Some(Content::Text(text))
                if text.trim_end().ends_with([BULLET, ',', '/']) && text.ends_with(' ')
                    || text.ends_with(BULLET)
        );
        if !ends_so {
            self.space_wanted = false;
            self.append(separator, Look::default());
        }
    }

    /// Whether any span from the given one on belongs to the link.
    pub(super) fn uses(&self, link: LinkId, from: usize) -> bool {
        let since = self.line.get(from..).unwrap_or_default();
        since.iter().any(|span| span.link == link)
    }

    /// Removes a separator or line break at the end.
    pub(super) fn trim_end(&mut self, separator: &str) {
        self.space_wanted = false;
        while let Some(last) = self.line.last_mut() {
            match &mut last.content {
                Content::LineBreak => {}
                Content::Text(text) => {
                    let trimmed = text.strip_suffix(separator).unwrap_or(text);
                    let length = trimmed.trim_end().len();
                    text.truncate(length);
                    if length > 0 {
                        return;
                    }
                }
                _ => return,
            }
            self.line.pop();
        }
    }

    /// The collected spans; the collector is empty afterwards.
    pub(super) fn take(&mut self) -> Vec<Span> {
        self.space_wanted = false;
        let mut spans = std::mem::take(&mut self.line);
        while spans
            .last()
            .is_some_and(|span| span.content == Content::LineBreak)
        {
            spans.pop();
        }
        spans
    }
}
