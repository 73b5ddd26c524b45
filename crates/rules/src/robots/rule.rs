//! One Allow or Disallow line. Matching is linear: the pieces between wildcards are found from
//! left to right, each at its first place, which is right because a wildcard may take anything.

use std::cmp::Reverse;

use memchr::memmem;

use super::{RobotsVerdict, path::push_literal};

/// Most of a rule's text that is kept to be shown.
const SHOWN_BYTES: usize = 200;

/// Kept small: a hostile file holds tens of thousands.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    allow: bool,
    /// The last piece must end the path.
    anchored: bool,
    line: u32,
    /// In the spelling paths are compared in, where a `*` can only be a wildcard; without `$`.
    pattern: Box<[u8]>,
    /// As it stands in the file, where that differs.
    source: Option<Box<[u8]>>,
}

impl Rule {
    /// `None` for a pattern that matches nothing: an empty one, or one that begins with neither
    /// `/` nor `*`.
    pub(super) fn new(allow: bool, written: &[u8], line: u32) -> Option<Self> {
        if !matches!(written.first(), Some(b'/' | b'*')) {
            return None;
        }
        let (body, anchored) = match written.strip_suffix(b"$") {
            Some(body) => (body, true),
            None => (written, false),
        };
        let pattern = comparable(body).into_boxed_slice();
        let source =
            (*pattern != *written).then(|| written[..written.len().min(SHOWN_BYTES)].into());
        Some(Self {
            allow,
            anchored,
            line,
            pattern,
            source,
        })
    }

    /// Sorts rules so that the first that matches decides: the one with most octets, then allow.
    pub(super) fn precedence(&self) -> (Reverse<usize>, bool, u32) {
        let octets = self.pattern.len() + usize::from(self.anchored);
        (Reverse(octets), !self.allow, self.line)
    }

    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let Some(star) = memchr::memchr(b'*', &self.pattern) else {
            return path.starts_with(&self.pattern)
                && (!self.anchored || path.len() == self.pattern.len());
        };
        let (prefix, pieces) = (&self.pattern[..star], &self.pattern[star + 1..]);
        path.strip_prefix(prefix)
            .is_some_and(|rest| self.matches_pieces(pieces, rest))
    }

    /// `pieces` is what follows the first star, `rest` what follows the prefix.
    fn matches_pieces(&self, mut pieces: &[u8], mut rest: &[u8]) -> bool {
        while let Some(star) = memchr::memchr(b'*', pieces) {
            let piece = &pieces[..star];
            match find(rest, piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
            pieces = &pieces[star + 1..];
        }
        if self.anchored {
            rest.ends_with(pieces)
        } else {
            find(rest, pieces).is_some()
        }
    }

    pub(super) fn verdict(&self) -> RobotsVerdict {
        if self.allow {
            return RobotsVerdict::Allowed {
                line: Some(self.line),
            };
        }
        let (line, rule) = self.shown();
        RobotsVerdict::Disallowed { line, rule }
    }

    /// Its line and its text, as it stands in the file.
    pub(super) fn shown(&self) -> (u32, String) {
        let source = self.source.as_deref().unwrap_or(&self.pattern);
        let shown = &source[..source.len().min(SHOWN_BYTES)];
        let name = if self.allow { "Allow" } else { "Disallow" };
        let text = format!("{name}: {}", String::from_utf8_lossy(shown));
        (self.line, text)
    }
}

fn find(text: &[u8], piece: &[u8]) -> Option<usize> {
    match piece {
        [] => Some(0),
        [byte] => memchr::memchr(*byte, text),
        _ => memmem::find(text, piece),
    }
}

fn comparable(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut in_query = false;
    for (index, piece) in body.split(|byte| *byte == b'*').enumerate() {
        if index > 0 {
            out.push(b'*');
        }
        in_query = push_literal(&mut out, piece, in_query);
    }
    out
}
