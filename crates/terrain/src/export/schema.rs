//! What all formats have in common: nodes and edges with named values, written in that order.

use std::io;

use crate::runs::Life;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Whole,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

pub(super) const fn text(name: &'static str) -> Column {
    Column {
        name,
        kind: Kind::Text,
    }
}

pub(super) const fn whole(name: &'static str) -> Column {
    Column {
        name,
        kind: Kind::Whole,
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    Text(&'a str),
    Whole(i64),
    Nothing,
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Nothing, Self::Text)
    }
}

/// The columns of a graph, besides what every node and edge has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema {
    pub(super) nodes: &'static [Column],
    pub(super) edges: &'static [Column],
}

#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) id: i64,
    pub(super) label: &'a str,
    pub(super) life: Life,
    /// As many as the schema has columns.
    pub(super) values: &'a [Value<'a>],
}

#[derive(Debug)]
pub(super) struct Edge<'a> {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) weight: u64,
    pub(super) life: Life,
    pub(super) values: &'a [Value<'a>],
}

/// A format: begin, all nodes, all edges, end.
pub(super) trait GraphWriter {
    fn begin(&mut self, schema: Schema, about: &About) -> io::Result<()>;

    /// A format that leaves out edges need not be given any.
    fn wants_edges(&self) -> bool {
        true
    }

    fn node(&mut self, node: &Node<'_>) -> io::Result<()>;
    fn edge(&mut self, edge: &Edge<'_>) -> io::Result<()>;
    fn end(&mut self) -> io::Result<()>;
}

/// The graph as a whole.
#[derive(Debug)]
pub(super) struct About {
    /// One sentence.
    pub(super) title: String,
    /// When its run ended or, if it did not, began; ISO.
    pub(super) date: String,
}
