//! The containers that are open: lists and their items, quotes, notes.

use super::Reader;
use crate::markdown::model::{Block, Container};
use crate::markdown::tree::{NodeId, Tag};

const MOST_DIGITS: u64 = 999_999_999;

/// An open container and the element that closes it.
#[derive(Debug)]
pub(super) struct Open {
    node: NodeId,
    pub(super) container: Container,
    /// The number of the next item of an ordered list.
    next_number: Option<u64>,
    /// A list that no element began: its items stand outside of lists.
    is_orphan: bool,
}

impl Reader<'_, '_> {
    fn in_list(&self) -> bool {
        let innermost = self.containers.last();
        innermost.is_some_and(|open| matches!(open.container, Container::List { .. }))
    }

    pub(super) fn in_note(&self) -> bool {
        let is_note = |open: &Open| matches!(open.container, Container::Note { .. });
        self.containers.iter().rev().any(is_note)
    }

    fn push_container(&mut self, node: NodeId, container: Container, next_number: Option<u64>) {
        self.writers.open(&container);
        self.containers.push(Open {
            node,
            container,
            next_number,
            is_orphan: false,
        });
    }

    fn pop_container(&mut self) {
        if let Some(open) = self.containers.pop() {
            self.writers.close(&open.container);
        }
    }

    /// What stands in a list outside of its items is an item of its own.
    fn leave_or_fill_list(&mut self, node: NodeId) -> bool {
        if !self.in_list() {
            return false;
        }
        if self.containers.last().is_some_and(|open| open.is_orphan) {
            self.pop_container();
            return false;
        }
        self.push_container(node, unmarked_item(), None);
        true
    }

    pub(super) fn open(&mut self, node: NodeId, container: Container) {
        self.flush();
        self.leave_or_fill_list(node);
        self.push_container(node, container, None);
    }

    pub(super) fn close_containers_of(&mut self, node: NodeId) {
        while self.containers.last().is_some_and(|open| open.node == node) {
            self.flush();
            self.pop_container();
        }
    }

    pub(super) fn emit(&mut self, block: &Block) {
        let filled = self.leave_or_fill_list(NodeId::MAX);
        self.writers.block(block, &self.links);
        if filled {
            self.pop_container();
        }
    }

    pub(super) fn open_list(&mut self, id: NodeId, tag: Tag) {
        self.flush();
        let tree = self.tree;
        let first = tree.children(id).find(|&child| tree.tag(child) == Tag::Li);
        if first.is_some_and(|item| self.notes.note(item).is_some()) {
            return;
        }
        self.leave_or_fill_list(id);
        let next_number = (tag == Tag::Ol).then(|| {
            let start = tree.attribute(id, "start");
            start
                .and_then(|start| start.trim().parse().ok())
                .unwrap_or(1)
        });
        let loose = self.is_loose(id);
        self.push_container(id, Container::List { loose }, next_number);
    }

    /// A list some item of which has more than a paragraph and lists.
    fn is_loose(&self, list: NodeId) -> bool {
        let tree = self.tree;
        let has_blocks = |item: NodeId| {
            let mut paragraphs = 0;
            tree.children(item).any(|child| {
                paragraphs += u32::from(tree.tag(child) == Tag::P);
                paragraphs > 1
                    || matches!(tree.tag(child), Tag::Pre | Tag::Blockquote | Tag::Table)
                    || tree.tag(child).heading_level().is_some()
            })
        };
        tree.children(list)
            .any(|item| tree.tag(item) == Tag::Li && has_blocks(item))
    }

    pub(super) fn open_item(&mut self, id: NodeId) {
        self.flush();
        if let Some(label) = self.notes.note(id).map(str::to_owned) {
            self.open(id, Container::Note { label });
            return;
        }
        if !self.in_list() {
            let parent = self.tree.parent(id).unwrap_or(NodeId::MAX);
            self.push_container(parent, Container::List { loose: false }, None);
            if let Some(list) = self.containers.last_mut() {
                list.is_orphan = true;
            }
        }
        let value = self
            .tree
            .attribute(id, "value")
            .and_then(|value| value.trim().parse().ok());
        let number = self.containers.last_mut().and_then(|list| {
            let number = value.or(list.next_number)?.min(MOST_DIGITS);
            list.next_number = list.next_number.map(|_| number + 1);
            list.next_number.map(|_| number)
        });
        let checked = self.checkbox(id);
        self.push_container(id, Container::Item { number, checked }, None);
    }

    fn checkbox(&self, item: NodeId) -> Option<bool> {
        const NEAR: usize = 5;
        let tree = self.tree;
        let input = tree
            .descendants(item)
            .take(NEAR)
            .find(|&node| tree.tag(node) == Tag::Input)?;
        let kind = tree.attribute(input, "type")?;
        kind.eq_ignore_ascii_case("checkbox")
            .then(|| tree.attribute(input, "checked").is_some())
    }

    /// Begins a term: an item of its own, unless it is another name for the same definition.
    pub(super) fn open_term(&mut self, id: NodeId) {
        let list = self.definition_list_of(id);
        let is_alias = self.containers.last().is_some_and(|open| {
            open.node == list && matches!(open.container, Container::Item { .. })
        }) && !self.joins_term
            && !self.spans.is_empty();
        if is_alias {
            self.spans.separator(", ");
            return;
        }
        self.flush();
        while self.containers.last().is_some_and(|open| {
            open.node == list && matches!(open.container, Container::Item { .. })
        }) {
            self.pop_container();
        }
        self.push_container(list, unmarked_item(), None);
    }

    /// The list a term belongs to: its parent, or the one around a `<div>` that groups terms.
    fn definition_list_of(&self, id: NodeId) -> NodeId {
        let tree = self.tree;
        std::iter::successors(tree.parent(id), |&parent| tree.parent(parent))
            .take(2)
            .find(|&parent| tree.tag(parent) == Tag::Dl)
            .or(tree.parent(id))
            .unwrap_or(NodeId::MAX)
    }

    pub(super) fn open_definition(&mut self, id: NodeId) {
        let list = self.definition_list_of(id);
        if !self.containers.iter().rev().any(|open| open.node == list) {
            return;
        }
        if self.in_list() {
            self.push_container(list, unmarked_item(), None);
        }
        if self.spans.is_empty() {
            return;
        }
        if self.spans.last_character() != Some(':') {
            self.spans.text(":", super::Look::default());
        }
        self.spans.space();
        self.joins_term = true;
    }
}

fn unmarked_item() -> Container {
    Container::Item {
        number: None,
        checked: None,
    }
}
