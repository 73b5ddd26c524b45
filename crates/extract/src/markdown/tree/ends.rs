//! End tags: what they close, and what goes on behind them.

use super::build::Builder;
use super::{Data, NodeId, Tag};
use crate::html::{Attributes, EndTag};

/// As many flattened elements are searched for an end tag's start.
const MAX_FLATTENED_SEARCH: usize = 32;

impl<'a> Builder<'a> {
    pub(super) fn end(&mut self, end: &EndTag<'a>) {
        let tag = Tag::of(end.name);
        if self.end_flattened(tag) || matches!(tag, Tag::Html | Tag::Head | Tag::Body) {
            return;
        }
        if let Some(root) = self.foreign {
            self.end_foreign(tag, root);
            return;
        }
        if tag == Tag::Br {
            self.insert(Data::Element(Attributes::new("")), Tag::Br);
        } else if tag.is_formatting() {
            self.end_formatting(tag);
        } else if tag.heading_level().is_some() {
            self.close(|open| open.heading_level().is_some(), Tag::is_scope);
        } else if tag == Tag::Table || tag.is_table_part() {
            self.close(|open| open == tag, |open| open == Tag::Table);
        } else if tag.is_block() || tag == Tag::A {
            self.close(
                |open| open == tag,
                |open| open.is_scope() || tag == Tag::Li && open.is_list(),
            );
        } else {
            // An inline element does not end across the border of a block.
            self.close(|open| open == tag && tag != Tag::Other, Tag::is_block);
            if tag == Tag::Other && self.current_tag() == Tag::Other {
                self.open.pop();
            }
        }
    }

    fn end_flattened(&mut self, tag: Tag) -> bool {
        if self.flattened.is_empty() {
            return false;
        }
        let from = self.flattened.len().saturating_sub(MAX_FLATTENED_SEARCH);
        let found = self.flattened[from..].iter().rposition(|&open| open == tag);
        self.flattened
            .truncate(found.map_or(0, |position| from + position));
        found.is_some()
    }

    fn end_foreign(&mut self, tag: Tag, root: usize) {
        let found = (root..self.open.len())
            .rev()
            .find(|&position| self.tree.tag(self.open[position]) == tag);
        if let Some(position) = found {
            self.open.truncate(position);
            if position <= root {
                self.foreign = None;
            }
        } else if tag == Tag::P
            || self
                .position_of(|open| open == tag, Tag::is_scope)
                .is_some()
        {
            // The end of something around: the SVG or MathML was never closed.
            self.open.truncate(root);
            self.foreign = None;
            self.close(|open| open == tag, Tag::is_scope);
        }
    }

    fn end_formatting(&mut self, tag: Tag) {
        let Some(position) = self.position_of(|open| open == tag, Tag::is_scope) else {
            if let Some(carried) = self
                .carried
                .iter()
                .rposition(|&id| self.tree.tag(id) == tag)
            {
                self.carried.remove(carried);
            }
            return;
        };
        let inside: Vec<NodeId> = self.open[position + 1..].to_vec();
        let is_plain =
            |tag: Tag| matches!(tag, Tag::P | Tag::Div | Tag::Span | Tag::Section | Tag::A);
        let blocks: Vec<NodeId> = inside
            .into_iter()
            .filter(|&id| !self.tree.tag(id).is_formatting())
            .collect();
        if blocks.len() > 4 || !blocks.iter().all(|&id| is_plain(self.tree.tag(id))) {
            return;
        }
        self.close_at(position);
        // The blocks go on without the formatting.
        for id in blocks {
            if let Data::Element(attributes) = self.tree.data(id).clone() {
                self.push(self.tree.tag(id), attributes);
            }
        }
    }
}
