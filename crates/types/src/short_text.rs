//! Text that is held in place while it is short. What is made by one thread and dropped by another, many
//! times for each page, should not ask the allocator of both.

use std::{fmt, ops::Deref};

/// At most `N` bytes in place, more in a piece of memory of its own. Equal texts are equal, wherever they are.
#[derive(Clone)]
pub struct ShortText<const N: usize>(Held<N>);

/// The text of a link, as most are.
pub type AnchorText = ShortText<30>;

#[derive(Clone)]
enum Held<const N: usize> {
    Here { bytes: [u8; N], len: u8 },
    Apart(Box<str>),
}

impl<const N: usize> ShortText<N> {
    /// Both texts in one piece.
    pub fn joined(first: &str, second: &str) -> Self {
        const { assert!(N <= u8::MAX as usize, "lengths in place are bytes") };
        let len = first.len() + second.len();
        let mut bytes = [0; N];
        match bytes.get_mut(..len) {
            Some(place) => {
                let (start, end) = place.split_at_mut(first.len());
                start.copy_from_slice(first.as_bytes());
                end.copy_from_slice(second.as_bytes());
                Self(Held::Here {
                    bytes,
                    len: len as u8,
                })
            }
            None => Self(Held::Apart([first, second].concat().into_boxed_str())),
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Held::Here { bytes, len } => &bytes[..usize::from(*len)],
            Held::Apart(text) => text.as_bytes(),
        }
    }

    /// Looks at both ends of what is held in place, so that it is near the processor afterwards; the
    /// number means nothing.
    pub fn glance(&self) -> u64 {
        match &self.0 {
            Held::Here { bytes, len } => {
                let end = |byte: Option<&u8>| byte.map_or(0, |byte| u64::from(*byte));
                end(bytes.first()) ^ end(bytes.last()) ^ u64::from(*len)
            }
            Held::Apart(text) => text.len() as u64,
        }
    }

    /// In bytes. Cheaper than to look at the text.
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    pub fn as_str(&self) -> &str {
        match &self.0 {
            // Put together of nothing but valid text.
            Held::Here { .. } => std::str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Held::Apart(text) => text,
        }
    }
}

impl<const N: usize> Deref for ShortText<N> {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> Default for ShortText<N> {
    fn default() -> Self {
        Self::joined("", "")
    }
}

impl<const N: usize> From<&str> for ShortText<N> {
    fn from(text: &str) -> Self {
        Self::joined(text, "")
    }
}

impl<const N: usize> From<String> for ShortText<N> {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl<const N: usize> PartialEq for ShortText<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const N: usize> Eq for ShortText<N> {}

impl<const N: usize> fmt::Debug for ShortText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> fmt::Display for ShortText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_come_back_as_they_were() {
        for length in [0, 1, 29, 30, 31, 300] {
            let text = "ä".repeat(length / 2) + &"x".repeat(length % 2);
            let short = AnchorText::from(text.as_str());
            assert_eq!((short.as_str(), short.len()), (text.as_str(), text.len()));
            assert_eq!(short.clone(), short);
        }
    }

    #[test]
    fn a_text_is_as_small_as_four_words() {
        assert_eq!(size_of::<AnchorText>(), 32);
    }
}
