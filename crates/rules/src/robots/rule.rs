//! One Allow or Disallow line. Matching is linear: the pieces between wildcards are found from
//! left to right, each at its first place, which is right because a wildcard may take anything.

use memchr::memmem;

use super::{RobotsVerdict, path::push_literal};

/// Most of a rule's text that is kept to be shown.
const SHOWN_BYTES: usize = 200;

#[derive(Debug, Clone)]
pub(super) struct Rule {
    allow: bool,
    line: u32,
    /// Octets of the pattern, by which the most specific rule is chosen.
    weight: u32,
    /// What the path must begin with.
    prefix: Box<[u8]>,
    /// What must follow, in this order, with anything in between.
    pieces: Box<[Box<[u8]>]>,
    /// The last piece (or the prefix, if there is none) must end the path.
    anchored: bool,
    source: Box<[u8]>,
}

impl Rule {
    /// `None` for a pattern that matches nothing: an empty one, or one that begins with neither
    /// `/` nor `*`.
    pub(super) fn new(allow: bool, pattern: &[u8], line: u32) -> Option<Self> {
        if !matches!(pattern.first(), Some(b'/' | b'*')) {
            return None;
        }
        let (body, anchored) = match pattern.strip_suffix(b"$") {
            Some(body) => (body, true),
            None => (pattern, false),
        };
        let mut pieces = literals(body);
        let stars = pieces.len() - 1;
        let octets = pieces.iter().map(Vec::len).sum::<usize>() + stars + usize::from(anchored);
        let prefix = pieces.remove(0).into_boxed_slice();
        // `a*$` ends anywhere, and empty pieces between stars ask for nothing.
        let anchored = anchored && pieces.last().is_none_or(|last| !last.is_empty());
        pieces.retain(|piece| !piece.is_empty());
        Some(Self {
            allow,
            line,
            weight: u32::try_from(octets).unwrap_or(u32::MAX),
            prefix,
            pieces: pieces.into_iter().map(Vec::into_boxed_slice).collect(),
            anchored,
            source: pattern[..pattern.len().min(SHOWN_BYTES)].into(),
        })
    }

    /// Sorts rules so that the first that matches decides.
    pub(super) fn precedence(&self) -> (std::cmp::Reverse<u32>, bool, u32) {
        (std::cmp::Reverse(self.weight), !self.allow, self.line)
    }

    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let Some(mut rest) = path.strip_prefix(&*self.prefix) else {
            return false;
        };
        let Some((last, middle)) = self.pieces.split_last() else {
            return !self.anchored || rest.is_empty();
        };
        for piece in middle {
            match find(rest, piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        if self.anchored {
            rest.ends_with(last)
        } else {
            find(rest, last).is_some()
        }
    }

    pub(super) fn verdict(&self) -> RobotsVerdict {
        if self.allow {
            return RobotsVerdict::Allowed {
                line: Some(self.line),
            };
        }
        RobotsVerdict::Disallowed {
            line: self.line,
            rule: format!("Disallow: {}", String::from_utf8_lossy(&self.source)),
        }
    }
}

fn find(text: &[u8], piece: &[u8]) -> Option<usize> {
    match piece {
        [byte] => memchr::memchr(*byte, text),
        _ => memmem::find(text, piece),
    }
}

/// The texts between the stars of a pattern, in the spelling paths are compared in.
fn literals(body: &[u8]) -> Vec<Vec<u8>> {
    let mut in_query = false;
    body.split(|byte| *byte == b'*')
        .map(|piece| {
            let mut out = Vec::with_capacity(piece.len());
            in_query = push_literal(&mut out, piece, in_query);
            out
        })
        .collect()
}
