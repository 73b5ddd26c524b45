//! Where on the page a link stands, from the sectioning elements that are open around it.
//!
//! A bounded stack, not a tree: pages that forget end tags must not turn into one long `<nav>`.

use trawl_types::Place;

use crate::html::TagKey;

const MAX_DEPTH: usize = 64;

/// The open sectioning elements.
#[derive(Debug, Default)]
pub(crate) struct Places {
    open: Vec<(TagKey, Place)>,
    /// Elements opened when the stack was full.
    beyond: usize,
}

impl Places {
    /// The innermost place.
    pub(crate) fn current(&self) -> Place {
        self.open.last().map_or(Place::Body, |(_, place)| *place)
    }

    pub(crate) fn start(&mut self, key: TagKey) {
        let around = self.current();
        let place = match key {
            TagKey::NAV => Place::Nav,
            TagKey::ASIDE => Place::Aside,
            TagKey::ARTICLE if around == Place::Aside => Place::Aside,
            TagKey::ARTICLE => Place::Main,
            TagKey::MAIN => {
                // `<main>` cannot stand in these, so whatever is open was not closed.
                self.open.clear();
                self.beyond = 0;
                Place::Main
            }
            TagKey::HEADER if around == Place::Body => Place::Header,
            TagKey::FOOTER if around == Place::Body => Place::Footer,
            TagKey::HEADER | TagKey::FOOTER => around,
            _ => return,
        };
        if self.open.len() < MAX_DEPTH {
            self.open.push((key, place));
        } else {
            self.beyond += 1;
        }
    }

    pub(crate) fn end(&mut self, key: TagKey) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else if let Some(at) = self.open.iter().rposition(|(open, _)| *open == key) {
            self.open.truncate(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unclosed_sections_end_with_the_section_around_them() {
        let mut places = Places::default();
        places.start(TagKey::HEADER);
        places.start(TagKey::NAV);
        assert_eq!(places.current(), Place::Nav);
        places.end(TagKey::HEADER);
        assert_eq!(places.current(), Place::Body);
        places.start(TagKey::NAV);
        places.start(TagKey::MAIN);
        places.end(TagKey::MAIN);
        assert_eq!(
            places.current(),
            Place::Body,
            "main closed the forgotten nav"
        );
        places.end(TagKey::FOOTER);
        assert_eq!(places.current(), Place::Body);
    }

    #[test]
    fn nesting_beyond_the_bound_is_counted_not_stored() {
        let mut places = Places::default();
        for _ in 0..1000 {
            places.start(TagKey::ASIDE);
        }
        for _ in 0..999 {
            places.end(TagKey::ASIDE);
        }
        assert_eq!(places.current(), Place::Aside);
        places.end(TagKey::ASIDE);
        assert_eq!(places.current(), Place::Body);
    }
}
