//! The kept blocks as sanitised, well-formed HTML.
//!
//! Elements and attributes are written from lists of what is allowed; everything else is dropped
//! and its text kept. Addresses are made absolute; only harmless schemes survive.

use url::Url;

use super::blocks::Blocks;
use super::escape::push_text;
use super::hints;
use super::names;
use super::tree::{Data, Node, NodeId, ROOT, Tree};

/// Serialises what is kept.
pub(crate) fn html(tree: &Tree<'_>, blocks: &Blocks, kept: &[bool], base: Option<&Url>) -> String {
    let alive = alive_nodes(tree, blocks, kept);
    let mut out = String::with_capacity(4096);
    let mut open: Vec<(NodeId, bool)> = Vec::new();
    let mut id = ROOT;
    while let Some(node) = tree.nodes.get(id) {
        while let Some(&(top, written)) = open.last()
            && tree.nodes[top].end <= id
        {
            open.pop();
            close(&mut out, tree, top, written);
        }
        if !alive[id] {
            id = node.end;
            continue;
        }
        match &node.data {
            Data::Text(text) => push_text(&mut out, text),
            // Neither an end of the formula nor a comment, in which no end would be seen.
            Data::Raw(text) => {
                out.push_str(&text.replace("</", "<\\/").replace("<!--", "<\\!--"));
            }
            Data::Element { name, .. } => {
                let written = open_tag(&mut out, node, base);
                if !names::is_void(name) {
                    open.push((id, written));
                }
            }
        }
        id += 1;
    }
    while let Some((top, written)) = open.pop() {
        close(&mut out, tree, top, written);
    }
    out
}

fn close(out: &mut String, tree: &Tree<'_>, node: NodeId, written: bool) {
    if written {
        out.push_str("</");
        out.push_str(tree.nodes[node].name());
        out.push('>');
    } else if names::is_block(tree.nodes[node].name()) {
        out.push('\n');
    }
}

/// Nodes to write: kept text, what is around it, and what stands inside or between it.
fn alive_nodes(tree: &Tree<'_>, blocks: &Blocks, kept: &[bool]) -> Vec<bool> {
    let mut alive = vec![false; tree.nodes.len()];
    let mut first = usize::MAX;
    let mut last = 0;
    for (block, _) in blocks.list.iter().zip(kept).filter(|(_, kept)| **kept) {
        first = first.min(block.nodes.start);
        last = last.max(block.nodes.end);
        for id in block.nodes.clone() {
            if names::is_block(tree.nodes[id].name()) && !names::is_void(tree.nodes[id].name()) {
                continue;
            }
            revive(tree, &mut alive, id);
        }
    }
    if first < last {
        revive_media(tree, &mut alive, first..last);
    }
    alive
}

/// Marks a node and everything around it.
fn revive(tree: &Tree<'_>, alive: &mut [bool], node: NodeId) {
    alive[node] = true;
    for ancestor in tree.ancestors(node) {
        if alive[ancestor] {
            break;
        }
        alive[ancestor] = true;
    }
    alive[ROOT] = true;
}

/// Pictures, rules, formulas and spacing between kept text, unless something framing is around.
fn revive_media(tree: &Tree<'_>, alive: &mut [bool], range: std::ops::Range<NodeId>) {
    for id in range {
        if alive[id] {
            continue;
        }
        let node = &tree.nodes[id];
        match &node.data {
            Data::Element { name, .. } if matches!(name.as_ref(), "img" | "hr" | "math") => {
                let mut dead = tree.ancestors(id).take_while(|&around| !alive[around]);
                if !dead.any(|around| hints::is_boilerplate(&tree.nodes[around])) {
                    revive(tree, alive, id);
                    if name == "math" {
                        tree.below(id).for_each(|part| alive[part] = true);
                    }
                }
            }
            Data::Element { name, .. } if name == "br" || is_checkbox(node) => {
                alive[id] = alive[node.parent];
            }
            Data::Raw(_) => {
                if alive[tree.nodes[node.parent].parent] {
                    revive(tree, alive, id);
                }
            }
            Data::Text(text) => {
                alive[id] = alive[node.parent] && !text.chars().any(char::is_alphanumeric);
            }
            Data::Element { .. } => {}
        }
    }
}

fn is_allowed(name: &str) -> bool {
    names::is_heading(name)
        || is_math(name)
        || matches!(
            name,
            "p" | "div"
                | "section"
                | "article"
                | "main"
                | "header"
                | "aside"
                | "footer"
                | "ul"
                | "ol"
                | "li"
                | "dl"
                | "dt"
                | "dd"
                | "table"
                | "caption"
                | "thead"
                | "tbody"
                | "tfoot"
                | "tr"
                | "td"
                | "th"
                | "colgroup"
                | "col"
                | "pre"
                | "code"
                | "kbd"
                | "samp"
                | "var"
                | "blockquote"
                | "q"
                | "cite"
                | "a"
                | "img"
                | "figure"
                | "figcaption"
                | "picture"
                | "em"
                | "strong"
                | "b"
                | "i"
                | "u"
                | "s"
                | "del"
                | "ins"
                | "sub"
                | "sup"
                | "small"
                | "mark"
                | "abbr"
                | "dfn"
                | "time"
                | "br"
                | "hr"
                | "span"
                | "script"
                | "details"
                | "summary"
                | "address"
                | "ruby"
                | "rt"
                | "rp"
                | "tt"
                | "strike"
                | "wbr"
                | "bdi"
                | "bdo"
        )
}

/// A box that says whether a task is done.
fn is_checkbox(node: &Node<'_>) -> bool {
    let kind = node.attribute("type").filter(|_| node.name() == "input");
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
}

fn is_math(name: &str) -> bool {
    matches!(
        name,
        "math" | "semantics" | "annotation" | "annotation-xml" | "none"
    ) || (name.starts_with('m')
        && matches!(
            name,
            "mi" | "mo"
                | "mn"
                | "ms"
                | "mtext"
                | "mspace"
                | "mrow"
                | "mfrac"
                | "msqrt"
                | "mroot"
                | "mstyle"
                | "merror"
                | "mpadded"
                | "mphantom"
                | "mfenced"
                | "menclose"
                | "msub"
                | "msup"
                | "msubsup"
                | "munder"
                | "mover"
                | "munderover"
                | "mmultiscripts"
                | "mprescripts"
                | "mtable"
                | "mtr"
                | "mtd"
                | "mlabeledtr"
        ))
}

/// Writes a start tag if the element may be written; says whether it needs an end tag.
fn open_tag(out: &mut String, node: &Node<'_>, base: Option<&Url>) -> bool {
    let name = node.name();
    if !is_allowed(name) && !is_checkbox(node) {
        if names::is_block(name) {
            out.push('\n');
        }
        return false;
    }
    let mut tag = String::new();
    super::attributes::write(&mut tag, node, base);
    // A picture without a source is nothing, a span without attributes says nothing.
    if tag.is_empty() && matches!(name, "img" | "span") || (name == "img" && !tag.contains(" src="))
    {
        return false;
    }
    out.push('<');
    out.push_str(name);
    out.push_str(&tag);
    out.push('>');
    true
}
