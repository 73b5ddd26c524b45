//! Whether the reader is inside SVG or MathML, where `<style>` and `<title>` are ordinary
//! elements and CDATA sections exist.
//!
//! Follows the tree builder's rules as far as they can be followed without a tree.

use crate::html::TagKey;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Svg,
    Math,
    /// An element inside SVG or MathML whose content is HTML again.
    HtmlInside(TagKey),
}

const MAX_DEPTH: usize = 64;

/// The open SVG and MathML roots and the HTML islands in them.
#[derive(Debug, Default)]
pub(crate) struct Foreign {
    open: Vec<Node>,
}

impl Foreign {
    /// Whether the next tag is an SVG or MathML one.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self.open.last(), Some(Node::Svg | Node::Math))
    }

    /// Whether there is any SVG or MathML around, so that tags must be reported here.
    pub(crate) fn is_active(&self) -> bool {
        !self.open.is_empty()
    }

    pub(crate) fn start(&mut self, key: TagKey, self_closing: bool) {
        if self.is_foreign() && key.breaks_out_of_foreign_content() {
            while self.is_foreign() {
                self.open.pop();
            }
            return;
        }
        let node = match (key, self.open.last()) {
            (TagKey::SVG, _) => Node::Svg,
            (TagKey::MATH, _) => Node::Math,
            (TagKey::FOREIGN_OBJECT | TagKey::DESC | TagKey::TITLE, Some(Node::Svg))
            | (
                TagKey::MI
                | TagKey::MO
                | TagKey::MN
                | TagKey::MS
                | TagKey::MTEXT
                | TagKey::ANNOTATION_XML,
                Some(Node::Math),
            ) => Node::HtmlInside(key),
            _ => return,
        };
        if !self_closing && self.open.len() < MAX_DEPTH {
            self.open.push(node);
        }
    }

    pub(crate) fn end(&mut self, key: TagKey) {
        let closes = match (key, self.open.last()) {
            (TagKey::SVG, Some(Node::Svg)) | (TagKey::MATH, Some(Node::Math)) => true,
            (_, Some(Node::HtmlInside(open))) => *open == key,
            (TagKey::P | TagKey::BR, Some(_)) => {
                while self.is_foreign() {
                    self.open.pop();
                }
                false
            }
            _ => false,
        };
        if closes {
            self.open.pop();
        }
    }
}
