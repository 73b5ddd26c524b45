//! A page as a tree in one vector: elements, text, and nothing that is never read.
//!
//! Nodes are numbers, in document order. Walks are iterative; what a tree means is for others.

use std::borrow::Cow;

use crate::html::Attributes;

/// The number of a node; a parent's is always smaller than its children's.
pub(crate) type NodeId = usize;

/// The node every other one is below: `<body>`.
pub(crate) const ROOT: NodeId = 0;

#[derive(Clone, Debug)]
pub(crate) enum Data<'a> {
    Element {
        name: Cow<'a, str>,
        attributes: Attributes<'a>,
    },
    Text(Cow<'a, str>),
    /// The text of a script that is kept: a formula.
    Raw(&'a str),
}

#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    pub(crate) data: Data<'a>,
    pub(crate) parent: NodeId,
    /// The first node behind this one's subtree.
    pub(crate) end: NodeId,
}

impl<'a> Node<'a> {
    /// The element's lower-case name; empty for text.
    pub(crate) fn name(&self) -> &str {
        match &self.data {
            Data::Element { name, .. } => name,
            Data::Text(_) | Data::Raw(_) => "",
        }
    }

    /// The value of an attribute, decoded.
    pub(crate) fn attribute(&self, wanted: &str) -> Option<Cow<'a, str>> {
        match &self.data {
            Data::Element { attributes, .. } => attributes
                .clone()
                .find(|attribute| attribute.is(wanted))
                .map(|attribute| attribute.value()),
            Data::Text(_) | Data::Raw(_) => None,
        }
    }
}

/// Something from the head that tells what the page is.
#[derive(Clone, Debug)]
pub(crate) struct HeadTag<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) attributes: Attributes<'a>,
}

impl<'a> HeadTag<'a> {
    pub(crate) fn attribute(&self, wanted: &str) -> Option<Cow<'a, str>> {
        let mut attributes = self.attributes.clone();
        attributes
            .find(|attribute| attribute.is(wanted))
            .map(|attribute| attribute.value())
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tree<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
    /// `<meta>`, `<link>` and `<base>`.
    pub(crate) head: Vec<HeadTag<'a>>,
    pub(crate) title: Cow<'a, str>,
    pub(crate) json_ld: Vec<&'a str>,
    /// Whether anything was left out because the tree would have become too large.
    pub(crate) truncated: bool,
    /// Whether deeper nesting than allowed was made flat.
    pub(crate) flattened: bool,
}

impl<'a> Tree<'a> {
    /// The node's ancestors, nearest first, without the root.
    pub(crate) fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let parent = move |&id: &NodeId| (id != ROOT).then(|| self.nodes[id].parent);
        std::iter::successors(parent(&node), parent).filter(|&id| id != ROOT)
    }

    /// Everything below `node`, in document order.
    pub(crate) fn below(&self, node: NodeId) -> std::ops::Range<NodeId> {
        node + 1..self.nodes[node].end
    }

    /// Text of a node that is text.
    pub(crate) fn text(&self, node: NodeId) -> &str {
        match &self.nodes[node].data {
            Data::Text(text) => text,
            Data::Raw(text) => text,
            Data::Element { .. } => "",
        }
    }

    pub(crate) fn base(&self) -> Option<Cow<'a, str>> {
        let mut bases = self.head.iter().filter(|tag| tag.name == "base");
        bases.find_map(|tag| tag.attribute("href"))
    }
}
