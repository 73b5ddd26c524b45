//! Plain text: line ends made one, characters that are no text left out.

use super::{DocumentKind, TextDocument};

pub(super) fn read(text: &str) -> TextDocument {
    TextDocument::new(DocumentKind::PlainText, clean(text))
}

/// Text with line feeds only, without control characters and without blank space at its ends.
pub(super) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\r' => {
                characters.next_if_eq(&'\n');
                clean.push('\n');
            }
            // Page breaks of printed text, such as RFCs have.
            '\u{c}' => clean.push('\n'),
            '\n' | '\t' => clean.push(c),
            c if c.is_control() || c == '\u{feff}' => {}
            c => clean.push(c),
        }
    }
    let start = clean.len() - clean.trim_start_matches(['\n', ' ', '\t']).len();
    // Blank lines go, the first line's indentation stays.
    let line_start = clean
        .get(..start)
        .and_then(|blank| blank.rfind('\n'))
        .map_or(0, |at| at + 1);
    clean.drain(..line_start);
    clean.truncate(clean.trim_end().len());
    clean
}
