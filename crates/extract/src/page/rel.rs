//! The `rel` attribute as a small set.

/// Link types of one link that mean something to a crawler or an analyst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rel(u16);

const NAMES: [(&str, Rel); 13] = [
    ("nofollow", Rel::NOFOLLOW),
    ("ugc", Rel::UGC),
    ("sponsored", Rel::SPONSORED),
    ("noopener", Rel::NOOPENER),
    ("noreferrer", Rel::NOREFERRER),
    ("external", Rel::EXTERNAL),
    ("canonical", Rel::CANONICAL),
    ("alternate", Rel::ALTERNATE),
    ("next", Rel::NEXT),
    ("prev", Rel::PREV),
    ("tag", Rel::TAG),
    ("author", Rel::AUTHOR),
    ("stylesheet", Rel::STYLESHEET),
];

impl Rel {
    /// No link type.
    pub const NONE: Rel = Rel(0);
    /// `nofollow`
    pub const NOFOLLOW: Rel = Rel(1);
    /// `ugc`: user-generated content.
    pub const UGC: Rel = Rel(1 << 1);
    /// `sponsored`
    pub const SPONSORED: Rel = Rel(1 << 2);
    /// `noopener`
    pub const NOOPENER: Rel = Rel(1 << 3);
    /// `noreferrer`
    pub const NOREFERRER: Rel = Rel(1 << 4);
    /// `external`
    pub const EXTERNAL: Rel = Rel(1 << 5);
    /// `canonical`
    pub const CANONICAL: Rel = Rel(1 << 6);
    /// `alternate`
    pub const ALTERNATE: Rel = Rel(1 << 7);
    /// `next`
    pub const NEXT: Rel = Rel(1 << 8);
    /// `prev`
    pub const PREV: Rel = Rel(1 << 9);
    /// `tag`
    pub const TAG: Rel = Rel(1 << 10);
    /// `author`
    pub const AUTHOR: Rel = Rel(1 << 11);
    /// `stylesheet`
    pub const STYLESHEET: Rel = Rel(1 << 12);

    /// Reads an attribute value: link types separated by whitespace (or, as found in the wild, by
    /// commas), in any case; unknown ones are passed over.
    pub fn parse(value: &str) -> Rel {
        let mut rel = Rel::NONE;
        for word in value.split(|c: char| c.is_ascii_whitespace() || c == ',') {
            if let Some((_, known)) = NAMES
                .iter()
                .find(|(name, _)| word.eq_ignore_ascii_case(name))
            {
                rel = rel.union(*known);
            }
        }
        rel
    }

    /// Whether all link types of `other` are in this set.
    pub const fn contains(self, other: Rel) -> bool {
        self.0 & other.0 == other.0
    }

    /// The link types of either set.
    #[must_use]
    pub const fn union(self, other: Rel) -> Rel {
        Rel(self.0 | other.0)
    }

    /// The link types of both sets.
    #[must_use]
    pub const fn intersection(self, other: Rel) -> Rel {
        Rel(self.0 & other.0)
    }

    /// Whether the author asks not to endorse the link: `nofollow`, `ugc` or `sponsored`.
    pub const fn is_nofollow(self) -> bool {
        self.0 & (Rel::NOFOLLOW.0 | Rel::UGC.0 | Rel::SPONSORED.0) != 0
    }

    /// The set as a number, for storing.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The set a number stands for; unknown bits are dropped.
    pub const fn from_bits(bits: u16) -> Rel {
        Rel(bits & ((1 << NAMES.len()) - 1))
    }

    /// The names of the link types in this set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES
            .iter()
            .filter(move |(_, rel)| self.contains(*rel))
            .map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::Rel;

    #[test]
    fn link_types_are_read_in_any_case_and_with_any_separator() {
        let rel = Rel::parse(" NoFollow\tnoopener,UGC unknown ");
        assert_eq!(
            rel.names().collect::<Vec<_>>(),
            ["nofollow", "ugc", "noopener"]
        );
        assert!(rel.is_nofollow());
        assert_eq!(Rel::from_bits(rel.bits()), rel);
        assert_eq!(Rel::parse(""), Rel::NONE);
        assert_eq!(Rel::from_bits(u16::MAX).names().count(), 13);
    }
}
