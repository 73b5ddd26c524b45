//! Where the text of `<script>`, `<style>`, `<title>` and the like ends.
//!
//! One forward pass in every case; returns the position of the `<` that starts the end tag.

use memchr::{memchr, memchr2};

use super::attributes::ends_tag_name;

/// Finds `</name` followed by whitespace, `/` or `>`.
pub(crate) fn find_end_tag(bytes: &[u8], from: usize, name: &[u8]) -> Option<usize> {
    let mut at = from;
    while let Some(offset) = memchr(b'<', bytes.get(at..)?) {
        at += offset;
        if starts_tag(bytes, at + 1, b"/", name) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The script data states: `<!--` escapes, `<script` inside that escapes doubly, and then the
/// first `</script` does not end the element.
pub(crate) fn find_script_end(bytes: &[u8], from: usize) -> Option<usize> {
    #[derive(PartialEq)]
    enum State {
        Plain,
        Escaped,
        DoublyEscaped,
    }
    let mut state = State::Plain;
    let mut at = from;
    // `-->` leaves the escaped states only if its dashes are not before this position.
    let mut dashes_from = from;
    while let Some(offset) = memchr2(b'<', b'>', bytes.get(at..)?) {
        at += offset;
        if bytes[at] == b'>' {
            if at >= dashes_from + 2 && bytes[at - 2..at] == *b"--" {
                state = State::Plain;
            }
        } else if starts_tag(bytes, at + 1, b"/", b"script") {
            if state != State::DoublyEscaped {
                return Some(at);
            }
            state = State::Escaped;
        } else if state == State::Plain && bytes[at..].starts_with(b"<!--") {
            state = State::Escaped;
            dashes_from = at + 2;
        } else if state == State::Escaped && starts_tag(bytes, at + 1, b"", b"script") {
            state = State::DoublyEscaped;
        }
        at += 1;
    }
    None
}

fn starts_tag(bytes: &[u8], at: usize, slash: &[u8], name: &[u8]) -> bool {
    let name_at = at + slash.len();
    let name_end = name_at + name.len();
    bytes.get(at..name_at) == Some(slash)
        && bytes
            .get(name_at..name_end)
            .is_some_and(|found| found.eq_ignore_ascii_case(name))
        && bytes.get(name_end).copied().is_some_and(ends_tag_name)
}
