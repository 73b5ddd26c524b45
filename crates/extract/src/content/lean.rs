//! The page as libraries are given it: well-formed, shallow, and without what they would only
//! parse to throw away.
//!
//! Four fifths of a news page are scripts, styles and attributes; a library that never sees them
//! is several times as fast and comes to the same result.

use crate::html::Attribute;

use super::escape::{push_attribute, push_collapsed, push_text};
use super::names;
use super::tree::{Data, NodeId, ROOT, Tree};

const MAX_VALUE: usize = 300;
const MAX_JSON_LD: usize = 100_000;

/// Who the markup is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// One that looks for an article and would itself drop everything else first.
    Article,
    /// One that judges the kind of the page by all of it.
    AnyKind,
}

/// Serialises a tree.
pub(crate) fn lean(tree: &Tree<'_>, reader: Reader) -> String {
    let mut out = String::with_capacity(tree.nodes.len() * 24);
    head(&mut out, tree, reader);
    let mut open: Vec<NodeId> = Vec::new();
    let mut pre = 0;
    let mut id = ROOT;
    while let Some(node) = tree.nodes.get(id) {
        close_ended(&mut out, tree, &mut open, id);
        if pre <= id {
            pre = 0;
        }
        match &node.data {
            Data::Element { name, .. } if reader == Reader::Article && is_never_article(name) => {
                id = node.end;
                continue;
            }
            Data::Element { name, attributes } => {
                if name == "pre" {
                    pre = pre.max(node.end);
                }
                out.push('<');
                out.push_str(name);
                attributes
                    .clone()
                    .for_each(|attribute| push_kept(&mut out, &attribute));
                out.push('>');
                if !names::is_void(name) {
                    open.push(id);
                }
            }
            Data::Text(text) if pre > id => push_text(&mut out, text),
            Data::Text(text) => push_collapsed(&mut out, text),
            Data::Raw(_) => {}
        }
        id += 1;
    }
    close_ended(&mut out, tree, &mut open, usize::MAX);
    out.push_str("</html>");
    out
}

/// What the article strategy drops before it looks, and pictures, which have no text.
fn is_never_article(name: &str) -> bool {
    matches!(
        name,
        "nav" | "footer" | "aside" | "menu" | "button" | "img" | "input" | "source" | "label"
    )
}

fn close_ended(out: &mut String, tree: &Tree<'_>, open: &mut Vec<NodeId>, at: NodeId) {
    while let Some(&top) = open.last()
        && tree.nodes[top].end <= at
        && (top != ROOT || at == usize::MAX)
    {
        open.pop();
        out.push_str("</");
        out.push_str(tree.nodes[top].name());
        out.push('>');
    }
}

fn head(out: &mut String, tree: &Tree<'_>, reader: Reader) {
    out.push_str("<!DOCTYPE html><html><head><title>");
    push_text(out, &tree.title);
    out.push_str("</title>");
    if reader == Reader::Article {
        out.push_str("</head>");
        return;
    }
    for tag in tree.head.iter().filter(|tag| tag.name == "meta").take(80) {
        out.push_str("<meta");
        tag.attributes
            .clone()
            .for_each(|attribute| push_kept(out, &attribute));
        out.push('>');
    }
    let mut left = MAX_JSON_LD;
    for script in &tree.json_ld {
        if script.len() <= left {
            left -= script.len();
            out.push_str("<script type=\"application/ld+json\">");
            out.push_str(script);
            out.push_str("</script>");
        }
    }
    out.push_str("</head>");
}

fn push_kept(out: &mut String, attribute: &Attribute<'_>) {
    let name = attribute.name;
    let wanted = matches!(
        name,
        "id" | "class"
            | "role"
            | "href"
            | "src"
            | "alt"
            | "style"
            | "align"
            | "rel"
            | "type"
            | "name"
            | "property"
            | "content"
            | "itemprop"
            | "itemtype"
            | "itemscope"
            | "hidden"
            | "aria-hidden"
            | "aria-label"
            | "data-component"
            | "data-testid"
            | "colspan"
            | "rowspan"
            | "datetime"
            | "lang"
            | "title"
            | "aria-modal"
    );
    if wanted {
        let value = attribute.value();
        let end = value.floor_char_boundary(MAX_VALUE);
        push_attribute(out, name, value.get(..end).unwrap_or_default());
    }
}
