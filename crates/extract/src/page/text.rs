//! Visible text of an anchor or a title: whitespace collapsed, cut at a number of characters.

/// Collects text up to a limit.
#[derive(Debug)]
pub(crate) struct TextCollector {
    text: String,
    characters: usize,
    limit: usize,
    space_wanted: bool,
}

impl TextCollector {
    pub(crate) fn new(limit: usize) -> Self {
        TextCollector {
            text: String::new(),
            characters: 0,
            limit,
            space_wanted: false,
        }
    }

    /// Appends text whose character references are decoded.
    pub(crate) fn push(&mut self, text: &str) {
        if self.has_room_for(text) && is_tidy(text.as_bytes()) {
            self.separate();
            self.text.push_str(text);
            self.characters += text.len();
        } else if text.is_ascii() {
            let is_space = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
            let ends_in_space = is_space(text.as_bytes().last());
            self.push_words(
                text.split_ascii_whitespace(),
                is_space(text.as_bytes().first()),
            );
            if ends_in_space {
                self.space();
            }
        } else {
            self.push_words(
                text.split_whitespace(),
                text.starts_with(char::is_whitespace),
            );
            if text.ends_with(char::is_whitespace) {
                self.space();
            }
        }
    }

    /// Also with a space before it.
    fn has_room_for(&self, text: &str) -> bool {
        text.len() < self.limit.saturating_sub(self.characters)
    }

    fn push_words<'t>(&mut self, words: impl Iterator<Item = &'t str>, mut space_before: bool) {
        for word in words {
            if space_before {
                self.space();
            }
            if !self.push_word(word) {
                return;
            }
            space_before = true;
        }
    }

    /// Appends one word; says whether there is room for more.
    fn push_word(&mut self, word: &str) -> bool {
        self.separate();
        let room = self.limit.saturating_sub(self.characters);
        // A word of fewer bytes has fewer characters: the usual case needs no count of them first.
        if word.len() > room
            && let Some((cut, _)) = word.char_indices().nth(room)
        {
            self.text.push_str(word.get(..cut).unwrap_or_default());
            self.characters = self.limit;
            return false;
        }
        self.text.push_str(word);
        self.characters += word.chars().count();
        self.characters < self.limit
    }

    /// Writes the space that is wanted between what came and what comes.
    fn separate(&mut self) {
        if self.space_wanted && self.characters < self.limit {
            self.text.push(' ');
            self.characters += 1;
        }
        self.space_wanted = false;
    }

    /// Separates what comes from what came, as a block element or a line break does.
    pub(crate) fn space(&mut self) {
        self.space_wanted = !self.text.is_empty();
    }

    pub(crate) fn is_full(&self) -> bool {
        self.characters >= self.limit
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What was collected so far.
    pub(crate) fn collected(&self) -> &str {
        self.text.trim_end()
    }

    /// The collected text; the collector is empty afterwards and keeps its memory.
    pub(crate) fn take(&mut self) -> Box<str> {
        let taken = Box::from(self.collected());
        self.clear();
        taken
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.characters = 0;
        self.space_wanted = false;
    }
}

/// Whether a text is words of visible ASCII with single spaces between them: most are, and nothing is to
/// be done to them.
fn is_tidy(text: &[u8]) -> bool {
    let mut before = b' ';
    for &byte in text {
        let is_word = byte.is_ascii_graphic();
        if !is_word && (byte != b' ' || before == b' ') {
            return false;
        }
        before = byte;
    }
    before != b' '
}

/// One text collapsed and cut.
pub(crate) fn collapse(text: &str, limit: usize) -> Box<str> {
    let mut collector = TextCollector::new(limit);
    collector.push(text);
    collector.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_collapses_and_cuts_fall_between_characters() {
        assert_eq!(&*collapse("  a\n\t b\u{a0}c ", 200), "a b c");
        assert_eq!(&*collapse("äöüß", 3), "äöü");
        assert_eq!(&*collapse("ab cd", 3), "ab");
        assert_eq!(&*collapse("ab cd", 4), "ab c");
        assert_eq!(&*collapse("ab  cd", 9), "ab cd");
        assert_eq!(&*collapse("ab cd ", 9), "ab cd");
        assert_eq!(&*collapse(" ab\tcd", 9), "ab cd");
        assert_eq!(&*collapse("", 4), "");
        assert_eq!(&*collapse("abc", 0), "");
    }

    #[test]
    fn pieces_join_without_a_space_unless_one_is_asked_for() {
        let mut text = TextCollector::new(50);
        text.push("Tra");
        text.push("wl ");
        text.push(" map");
        text.space();
        text.push("x");
        text.push("y z");
        assert_eq!(&*text.take(), "Trawl map xy z");
        assert!(text.is_empty());
    }
}
