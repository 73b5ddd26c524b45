//! Tokens to tree: implied end tags, formatting that outlives its block, text that strays into
//! the frame of a table.
//!
//! A simpler tree construction than the standard's: what it gives up are cases in which readers
//! of text see no difference.

use super::{Data, MAX_DEPTH, MAX_NODES, NONE, Node, NodeId, ROOT, Tag, Tree};
use crate::html::{Attributes, StartTag, Token, Tokenizer};

/// As many formatting elements are carried from one block into the next.
const MAX_CARRIED: usize = 8;

/// Builds the tree of a page or fragment.
pub(in crate::markdown) fn build(source: &str) -> Tree<'_> {
    let mut builder = Builder::new();
    let mut tokens = Tokenizer::new(source);
    while let Some(token) = tokens.next() {
        if builder.tree.nodes.len() >= MAX_NODES {
            builder.tree.cut = true;
            break;
        }
        match token {
            Token::Start(tag) => builder.start(&tag),
            Token::End(tag) => builder.end(&tag),
            Token::Text(text) => builder.text(text),
            Token::RawText(text) => {
                builder.insert(Data::Raw(text), Tag::Text);
            }
        }
        tokens.set_foreign(builder.foreign.is_some());
    }
    builder.tree
}

pub(super) struct Builder<'a> {
    pub(super) tree: Tree<'a>,
    /// The open elements, the root first.
    pub(super) open: Vec<NodeId>,
    /// Elements too deep for the tree.
    pub(super) flattened: Vec<Tag>,
    /// Formatting elements closed by the end of a block around them, to be opened again.
    pub(super) carried: Vec<NodeId>,
    /// Where in `open` the outermost SVG or MathML element is.
    pub(super) foreign: Option<usize>,
}

impl<'a> Builder<'a> {
    fn new() -> Self {
        let root = Node {
            data: Data::Element(Attributes::new("")),
            tag: Tag::Body,
            parent: NONE,
            previous: NONE,
            next: NONE,
            first: NONE,
            last: NONE,
        };
        Builder {
            tree: Tree {
                nodes: vec![root],
                cut: false,
                flattened: false,
            },
            open: vec![ROOT],
            flattened: Vec::new(),
            carried: Vec::new(),
            foreign: None,
        }
    }

    fn current(&self) -> NodeId {
        self.open.last().copied().unwrap_or(ROOT)
    }

    pub(super) fn current_tag(&self) -> Tag {
        self.tree.tag(self.current())
    }

    /// Appends a node to the current element, or before the table whose frame it strayed into.
    pub(super) fn insert(&mut self, data: Data<'a>, tag: Tag) -> NodeId {
        let current = self.current();
        if self.tree.tag(current).is_table_frame()
            && !tag.belongs_in_table_frame()
            && !is_blank(&data)
            && let Some(table) = self.innermost_table()
        {
            return self.insert_before(table, data, tag);
        }
        let mut parent = current;
        // A list directly in a list belongs to the item before it.
        if tag.is_list() && self.tree.tag(current).is_list() {
            let last = self.last_element(current);
            parent = last
                .filter(|&id| self.tree.tag(id) == Tag::Li)
                .unwrap_or(current);
        }
        self.append(parent, data, tag)
    }

    fn last_element(&self, parent: NodeId) -> Option<NodeId> {
        let mut last = super::some(self.tree.node(parent).last);
        // Of text only one node can stand at the end, or a handful around comments.
        for _ in 0..4 {
            match last {
                Some(id) if self.tree.tag(id) == Tag::Text => {
                    last = super::some(self.tree.node(id).previous);
                }
                _ => break,
            }
        }
        last
    }

    fn innermost_table(&self) -> Option<NodeId> {
        let position = self.position_of(|tag| tag == Tag::Table, |_| false)?;
        self.open.get(position).copied()
    }

    fn append(&mut self, parent: NodeId, data: Data<'a>, tag: Tag) -> NodeId {
        let previous = self.tree.node(parent).last;
        self.link(parent, previous, NONE, data, tag)
    }

    fn insert_before(&mut self, sibling: NodeId, data: Data<'a>, tag: Tag) -> NodeId {
        let (parent, previous) = {
            let node = self.tree.node(sibling);
            (node.parent, node.previous)
        };
        self.link(parent, previous, sibling, data, tag)
    }

    fn link(
        &mut self,
        parent: NodeId,
        previous: NodeId,
        next: NodeId,
        data: Data<'a>,
        tag: Tag,
    ) -> NodeId {
        let id = self.tree.nodes.len() as NodeId;
        self.tree.nodes.push(Node {
            data,
            tag,
            parent,
            previous,
            next,
            first: NONE,
            last: NONE,
        });
        let nodes = &mut self.tree.nodes;
        match super::some(previous) {
            Some(previous) => nodes[previous as usize].next = id,
            None => nodes[parent as usize].first = id,
        }
        match super::some(next) {
            Some(next) => nodes[next as usize].previous = id,
            None => nodes[parent as usize].last = id,
        }
        id
    }

    fn text(&mut self, text: &'a str) {
        if !text.trim_ascii().is_empty() {
            self.reopen_carried();
        }
        self.insert(Data::Text(text), Tag::Text);
    }

    fn start(&mut self, start: &StartTag<'a>) {
        let tag = Tag::of(start.name);
        if let Some(root) = self.foreign {
            if !start.key.breaks_out_of_foreign_content() {
                if start.self_closing {
                    self.insert(Data::Element(start.attributes()), tag);
                } else {
                    self.push(tag, start.attributes());
                }
                return;
            }
            self.open.truncate(root);
            self.foreign = None;
        }
        if matches!(tag, Tag::Html | Tag::Head | Tag::Body) {
            return;
        }
        if self.flattened.is_empty() {
            self.imply_ends(tag);
        }
        if !tag.is_block() {
            self.reopen_carried();
        }
        if tag.is_void() {
            self.insert(Data::Element(start.attributes()), tag);
            return;
        }
        self.push(tag, start.attributes());
        if matches!(tag, Tag::Svg | Tag::Math) && self.flattened.is_empty() {
            if start.self_closing {
                self.open.pop();
            } else {
                self.foreign = Some(self.open.len() - 1);
            }
        }
    }

    pub(super) fn push(&mut self, tag: Tag, attributes: Attributes<'a>) {
        if self.open.len() < MAX_DEPTH {
            let id = self.insert(Data::Element(attributes), tag);
            self.open.push(id);
            return;
        }
        self.tree.flattened = true;
        self.flattened.push(tag);
        if tag.is_block() {
            // An empty block still keeps the texts on both sides of it apart.
            self.insert(Data::Element(Attributes::new("")), Tag::Div);
        }
    }

    fn reopen_carried(&mut self) {
        if self.carried.is_empty() || !self.flattened.is_empty() {
            return;
        }
        for id in std::mem::take(&mut self.carried) {
            if let Data::Element(attributes) = self.tree.data(id).clone() {
                self.push(self.tree.tag(id), attributes);
            }
        }
    }

    /// Closes what the start of `tag` closes without an end tag.
    fn imply_ends(&mut self, tag: Tag) {
        if tag.is_table_part() {
            self.imply_table_ends(tag);
            return;
        }
        if tag == Tag::Table && self.current_tag().is_table_frame() {
            self.close(|open| open == Tag::Table, |_| false);
        }
        if tag.closes_paragraph() {
            self.close(
                |open| open == Tag::P,
                |open| open.is_scope() || open == Tag::Button,
            );
        }
        match tag {
            Tag::Li => self.close(
                |open| open == Tag::Li,
                |open| open.is_list() || open.is_scope() || open == Tag::Blockquote,
            ),
            Tag::Dt | Tag::Dd => self.close(
                |open| matches!(open, Tag::Dt | Tag::Dd),
                |open| open == Tag::Dl || open.is_scope(),
            ),
            Tag::Rt | Tag::Rp => self.close(
                |open| matches!(open, Tag::Rt | Tag::Rp),
                |open| !matches!(open, Tag::Rtc | Tag::Other | Tag::Span),
            ),
            Tag::A => self.close(|open| open == Tag::A, Tag::is_scope),
            Tag::Option => self.close(|open| open == Tag::Option, |open| open != Tag::Option),
            _ if tag.heading_level().is_some() && self.current_tag().heading_level().is_some() => {
                self.open.pop();
            }
            _ => {}
        }
    }

    fn imply_table_ends(&mut self, tag: Tag) {
        let in_table = |open| open == Tag::Table;
        match tag {
            Tag::Td | Tag::Th => {
                self.close(
                    |open| matches!(open, Tag::Td | Tag::Th | Tag::Caption),
                    |open| matches!(open, Tag::Table | Tag::Tr),
                );
                self.close_to(Tag::is_table_frame);
                if matches!(
                    self.current_tag(),
                    Tag::Table | Tag::Thead | Tag::Tbody | Tag::Tfoot
                ) {
                    self.push(Tag::Tr, Attributes::new(""));
                }
            }
            Tag::Tr => {
                self.close(|open| open == Tag::Tr, in_table);
                self.close_to(|open| {
                    matches!(open, Tag::Table | Tag::Thead | Tag::Tbody | Tag::Tfoot)
                });
            }
            _ => self.close_to(in_table),
        }
    }

    /// Where the innermost open element that `wanted` accepts is, not looking past `boundary`.
    pub(super) fn position_of(
        &self,
        wanted: impl Fn(Tag) -> bool,
        boundary: impl Fn(Tag) -> bool,
    ) -> Option<usize> {
        for position in (1..self.open.len()).rev() {
            let tag = self.tree.tag(self.open[position]);
            if wanted(tag) {
                return Some(position);
            }
            if boundary(tag) {
                return None;
            }
        }
        None
    }

    /// Closes the innermost element that `wanted` accepts and everything in it.
    pub(super) fn close(&mut self, wanted: impl Fn(Tag) -> bool, boundary: impl Fn(Tag) -> bool) {
        if let Some(position) = self.position_of(wanted, boundary) {
            self.close_at(position);
        }
    }

    /// Closes everything in the innermost element that `wanted` accepts, if there is one.
    fn close_to(&mut self, wanted: impl Fn(Tag) -> bool) {
        if let Some(position) = self.position_of(wanted, |_| false) {
            self.close_at(position + 1);
        }
    }

    pub(super) fn close_at(&mut self, position: usize) {
        let closes_cell = self.open[position..]
            .iter()
            .any(|&id| self.tree.tag(id).is_scope());
        if closes_cell {
            // What was begun in a cell ends with it.
            self.carried.clear();
        } else {
            for &id in self.open[position..].iter().skip(1) {
                if self.tree.tag(id).is_formatting() && self.carried.len() < MAX_CARRIED {
                    self.carried.push(id);
                }
            }
        }
        self.open.truncate(position);
    }
}

fn is_blank(data: &Data<'_>) -> bool {
    matches!(data, Data::Text(text) | Data::Raw(text) if text.trim_ascii().is_empty())
}
