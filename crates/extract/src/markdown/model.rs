//! What stands between reading HTML and writing Markdown or text: blocks and spans of text.
//!
//! Knows neither the tree nor the syntax of either side.

/// How a span of text is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u8);

impl Marks {
    pub(super) const NONE: Marks = Marks(0);
    pub(super) const STRONG: Marks = Marks(1);
    pub(super) const EMPHASIS: Marks = Marks(2);
    pub(super) const DELETED: Marks = Marks(4);
    pub(super) const CODE: Marks = Marks(8);

    pub(super) fn has(self, mark: Marks) -> bool {
        self.0 & mark.0 != 0
    }

    pub(super) fn with(self, mark: Marks) -> Marks {
        Marks(self.0 | mark.0)
    }

    pub(super) fn without(self, mark: Marks) -> Marks {
        Marks(self.0 & !mark.0)
    }

    pub(super) fn shared_with(self, other: Marks) -> Marks {
        Marks(self.0 & other.0)
    }
}

/// The number of a link, by which spans of the same link are known; see [`Links`].
pub(super) type LinkId = u32;

/// The id of text that is no link.
pub(super) const NO_LINK: LinkId = 0;

/// The targets of links, by id.
#[derive(Debug)]
pub(super) struct Links(Vec<String>);

impl Links {
    pub(super) fn new() -> Self {
        Links(vec![String::new()])
    }

    pub(super) fn add(&mut self, target: String) -> LinkId {
        self.0.push(target);
        (self.0.len() - 1) as LinkId
    }

    pub(super) fn target(&self, link: LinkId) -> &str {
        self.0.get(link as usize).map_or("", String::as_str)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Text with its whitespace collapsed.
    Text(String),
    /// TeX in a line of text.
    Math(String),
    Image {
        alt: String,
        source: String,
    },
    /// A reference to the footnote of this label.
    NoteReference(String),
    LineBreak,
}

/// A piece of a line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) content: Content,
    pub(super) marks: Marks,
    pub(super) link: LinkId,
}

/// How the cells of a column are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Alignment {
    #[default]
    None,
    Left,
    Center,
    Right,
}

/// A table; its first row is the header, which may be empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) rows: Vec<Vec<Vec<Span>>>,
    pub(super) alignments: Vec<Alignment>,
}

/// What holds other blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Container {
    Quote,
    List {
        /// Items are set apart by blank lines.
        loose: bool,
    },
    /// An item: its number in an ordered list, and its box in a task list.
    Item {
        number: Option<u64>,
        checked: Option<bool>,
    },
    Note {
        label: String,
    },
}

/// What stands on lines of its own.
#[derive(Clone, Debug)]
pub(super) enum Block {
    Paragraph(Vec<Span>),
    Heading(u8, Vec<Span>),
    Code {
        language: String,
        text: String,
    },
    /// TeX on lines of its own.
    Math(String),
    Table(Table),
    Rule,
}
