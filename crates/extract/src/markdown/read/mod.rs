//! A tree to blocks: what each element means to a reader.
//!
//! One walk over the tree; blocks go to the writers as soon as they are complete, and the walk
//! ends when the writers have enough. Knows nothing of Markdown's syntax.

mod address;
mod blocks;
mod code;
mod containers;
mod inline;
mod math;
mod notes;
mod spans;
mod table;

use std::collections::HashSet;

use url::Url;

use super::model::{Block, LinkId, Links, NO_LINK};
use super::tree::{Data, NodeId, ROOT, Step, Tree};
use super::write::Writers;
use crate::html::entities;
use address::Addresses;
use containers::Open;
use notes::Notes;
use spans::{Look, Spans};

/// Whether blocks stand on lines of their own or share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Flow,
    /// In a heading: blocks are set apart by spaces.
    Heading,
    /// In a cell: blocks are set apart by slashes.
    Cell,
}

/// What has to be as it was when an element ends.
#[derive(Debug)]
struct Saved {
    node: NodeId,
    look: Look,
    mode: Mode,
    /// How many spans there were.
    spans: usize,
}

/// Walks a tree and feeds the writers.
pub(super) struct Reader<'t, 'a> {
    tree: &'t Tree<'a>,
    addresses: Addresses,
    notes: Notes,
    links: Links,
    spans: Spans,
    look: Look,
    mode: Mode,
    saved: Vec<Saved>,
    containers: Vec<Open>,
    writers: Writers,
    /// The link that a block has used up: one link around several blocks is the link of the first.
    spent_link: LinkId,
    /// A definition's first paragraph goes on the line of its term.
    joins_term: bool,
    explained: HashSet<String>,
}

/// Reads the whole tree into the writers.
pub(super) fn read(tree: &Tree<'_>, page: Option<&Url>, max_bytes: usize) -> Writers {
    let addresses = Addresses::new(tree, page);
    let notes = Notes::find(tree, &addresses);
    let mut reader = Reader {
        tree,
        addresses,
        notes,
        links: Links::new(),
        spans: Spans::default(),
        look: Look::default(),
        mode: Mode::Flow,
        saved: Vec::new(),
        containers: Vec::new(),
        writers: Writers::new(max_bytes, math::page_has_formulas(tree)),
        spent_link: NO_LINK,
        joins_term: false,
        explained: HashSet::new(),
    };
    reader.walk(ROOT);
    reader.flush();
    while let Some(open) = reader.containers.pop() {
        reader.writers.close(&open.container);
    }
    reader.writers
}

impl Reader<'_, '_> {
    fn walk(&mut self, root: NodeId) {
        let tree = self.tree;
        let mut walk = tree.walk(root);
        while let Some(step) = walk.next() {
            match step {
                Step::Enter(id) => {
                    if !self.enter(id) {
                        walk.leave_out(id);
                    }
                }
                Step::Exit(id) => self.exit(id),
            }
            if self.writers.are_full() {
                return;
            }
        }
    }

    /// Begins a node; says whether its content is to be read.
    fn enter(&mut self, id: NodeId) -> bool {
        match self.tree.data(id) {
            Data::Text(raw) => {
                let look = self.current_look();
                self.spans.text(&entities::text(raw), look);
                return true;
            }
            Data::Raw(_) => return true,
            Data::Element(_) => {}
        }
        let tag = self.tree.tag(id);
        if self.is_hidden(id) {
            return false;
        }
        if let Some(descend) = self.enter_formula(id, tag) {
            return descend;
        }
        if tag.is_unread() {
            return false;
        }
        if tag.is_block() {
            self.enter_block(id, tag)
        } else {
            self.enter_inline(id, tag)
        }
    }

    fn exit(&mut self, id: NodeId) {
        let tag = self.tree.tag(id);
        if tag.is_block() {
            self.exit_block(id, tag);
        } else {
            self.exit_inline(id, tag);
        }
        if self.saved.last().is_some_and(|saved| saved.node == id)
            && let Some(saved) = self.saved.pop()
        {
            self.look = saved.look;
            self.mode = saved.mode;
        }
        self.close_containers_of(id);
    }

    /// Remembers how things are, to be restored when the element ends.
    fn save(&mut self, node: NodeId) {
        self.saved.push(Saved {
            node,
            look: self.look,
            mode: self.mode,
            spans: self.spans.len(),
        });
    }

    fn current_look(&self) -> Look {
        let mut look = self.look;
        if look.link == self.spent_link {
            look.link = NO_LINK;
        }
        look
    }

    fn is_hidden(&self, id: NodeId) -> bool {
        let tree = self.tree;
        let hidden = tree
            .attribute(id, "hidden")
            .is_some_and(|value| !value.eq_ignore_ascii_case("until-found"));
        let is_panel = || {
            // The panels of tabs are hidden by turns, and all of them are content.
            tree.attribute(id, "role")
                .is_some_and(|role| role == "tabpanel")
        };
        if hidden && !is_panel() {
            return true;
        }
        tree.attribute(id, "style").is_some_and(|style| {
            let style: String = style
                .split_whitespace()
                .collect::<String>()
                .to_ascii_lowercase();
            style.contains("display:none") || style.contains("visibility:hidden")
        })
    }

    /// Ends the paragraph that is being read.
    fn flush(&mut self) {
        if self.mode != Mode::Flow {
            return;
        }
        self.joins_term = false;
        let spans = self.take_spans();
        if !spans.is_empty() {
            self.emit(&Block::Paragraph(spans));
        }
    }

    fn take_spans(&mut self) -> Vec<super::model::Span> {
        let spans = self.spans.take();
        if self.look.link != NO_LINK && spans.iter().any(|span| span.link == self.look.link) {
            self.spent_link = self.look.link;
        }
        spans
    }

    /// Separates what comes from what came.
    fn break_block(&mut self) {
        match self.mode {
            Mode::Flow => self.flush(),
            Mode::Heading => self.spans.space(),
            Mode::Cell => self.spans.separator(table::SEPARATOR),
        }
    }
}
