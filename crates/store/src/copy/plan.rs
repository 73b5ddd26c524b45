//! What becomes of which table: where its rows are read from, in which order, and what their columns are
//! in the other store. Pure.

/// What a column of PostgreSQL holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Col {
    Int2,
    Int4,
    Int8,
    Bool,
    Text,
    Bytes,
}

/// What a column of the file becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum As {
    /// It stays as it is.
    Same,
    /// A number that is not 0 becomes true.
    Truth,
    /// The number of a page, or of none.
    Page,
    /// The number of a host.
    Host,
    /// A host by its name: its own number, which the other store makes of it.
    HostNamed,
    /// A list of links as JSON.
    Links,
    /// Only looked at, by what follows.
    Aside,
    /// Crawl and number of the visit under which a body lies: made of segment and offset (which stand
    /// `Aside` before it), the place within (which it stands for) and the page (the last column).
    Owner(Kept),
    /// The record itself, of the visit that owns it; others have no row. Stands for the place within.
    Record(Kept),
}

/// Bodies, or what was made of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Body,
    Content,
}

#[derive(Debug)]
pub(crate) struct Plan {
    /// What it is called while it is copied.
    pub(crate) name: &'static str,
    pub(crate) table: &'static str,
    /// Names and kinds of columns there.
    pub(crate) columns: &'static [(&'static str, Col)],
    /// Reads rows after a key, which are its first columns, in the order of that key.
    pub(crate) select: &'static str,
    /// How many columns the key has.
    pub(crate) key: usize,
    /// The key before all: numbers, texts or bytes.
    pub(crate) first: &'static [Start],
    /// What becomes of the columns read.
    pub(crate) becomes: &'static [As],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Number,
    Text,
    Bytes,
}
