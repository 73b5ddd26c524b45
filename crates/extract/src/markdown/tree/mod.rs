//! A small tree of a page, borrowed from its source, no deeper than [`MAX_DEPTH`].
//!
//! Enough of HTML's tree construction to give well and badly nested pages their shape. Knows
//! nothing of Markdown. Nothing here recurses, and everything is linear in the source.

mod build;
mod ends;
mod tag;

use std::borrow::Cow;

use crate::html::Attributes;

pub(super) use build::build;
pub(super) use tag::Tag;

/// Deeper elements lose their tags and keep their text.
const MAX_DEPTH: usize = 256;
/// More nodes than any page that somebody reads; what comes later is left out.
const MAX_NODES: usize = 1_000_000;

/// The index of a node.
pub(super) type NodeId = u32;

const NONE: NodeId = NodeId::MAX;
pub(super) const ROOT: NodeId = 0;

#[derive(Clone, Debug)]
pub(super) enum Data<'a> {
    Element(Attributes<'a>),
    /// Text whose character references are not yet decoded.
    Text(&'a str),
    /// Text without character references, as in `<script>`.
    Raw(&'a str),
}

#[derive(Clone, Debug)]
struct Node<'a> {
    data: Data<'a>,
    tag: Tag,
    parent: NodeId,
    previous: NodeId,
    next: NodeId,
    first: NodeId,
    last: NodeId,
}

/// A page as a tree.
#[derive(Clone, Debug)]
pub(super) struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    /// The page has more nodes than were taken.
    pub(super) cut: bool,
    /// Elements nested too deep have lost their tags.
    pub(super) flattened: bool,
}

fn some(id: NodeId) -> Option<NodeId> {
    (id != NONE).then_some(id)
}

impl<'a> Tree<'a> {
    fn node(&self, id: NodeId) -> &Node<'a> {
        // Ids are made by this module only and never outlive their tree.
        &self.nodes[id as usize]
    }

    pub(super) fn tag(&self, id: NodeId) -> Tag {
        self.node(id).tag
    }

    pub(super) fn data(&self, id: NodeId) -> &Data<'a> {
        &self.node(id).data
    }

    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        some(self.node(id).parent)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        0..self.nodes.len() as NodeId
    }

    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(some(self.node(id).first), |&child| {
            some(self.node(child).next)
        })
    }

    /// The next element beside `id`, past the text between them.
    pub(super) fn next_element(&self, id: NodeId) -> Option<NodeId> {
        const MOST_TEXTS: usize = 8;
        std::iter::successors(some(self.node(id).next), |&next| some(self.node(next).next))
            .take(MOST_TEXTS)
            .find(|&next| self.tag(next) != Tag::Text)
    }

    /// The value of an attribute, character references decoded.
    pub(super) fn attribute(&self, id: NodeId, name: &str) -> Option<Cow<'a, str>> {
        let Data::Element(attributes) = &self.node(id).data else {
            return None;
        };
        attributes
            .clone()
            .find(|attribute| attribute.is(name))
            .map(|attribute| attribute.value())
    }

    /// Whether the element has a class that `wanted` accepts.
    pub(super) fn has_class(&self, id: NodeId, wanted: impl Fn(&str) -> bool) -> bool {
        self.attribute(id, "class")
            .is_some_and(|classes| classes.split_ascii_whitespace().any(wanted))
    }

    /// A walk over the node and everything in it.
    pub(super) fn walk(&self, from: NodeId) -> Walk<'_, 'a> {
        Walk {
            tree: self,
            root: from,
            next: Some(Step::Enter(from)),
        }
    }

    /// The nodes in `id`, without itself, in the order of the source.
    pub(super) fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.walk(id).filter_map(move |step| match step {
            Step::Enter(node) if node != id => Some(node),
            _ => None,
        })
    }
}

/// One step of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Enter(NodeId),
    Exit(NodeId),
}

/// Steps through a tree without recursion.
#[derive(Debug)]
pub(super) struct Walk<'t, 'a> {
    tree: &'t Tree<'a>,
    root: NodeId,
    next: Option<Step>,
}

impl Walk<'_, '_> {
    /// Leaves out the content and the exit of the node that was entered last.
    pub(super) fn leave_out(&mut self, entered: NodeId) {
        self.next = self.after(entered);
    }

    fn after(&self, left: NodeId) -> Option<Step> {
        if left == self.root {
            return None;
        }
        let node = self.tree.node(left);
        some(node.next)
            .map(Step::Enter)
            .or(some(node.parent).map(Step::Exit))
    }
}

impl Iterator for Walk<'_, '_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let step = self.next?;
        self.next = match step {
            Step::Enter(id) => {
                let child = some(self.tree.node(id).first);
                Some(child.map_or(Step::Exit(id), Step::Enter))
            }
            Step::Exit(id) => self.after(id),
        };
        Some(step)
    }
}
