//! Tags to a tree, in linear time, as deep as allowed and no deeper.
//!
//! Not the whole of the standard's tree construction: void elements, implied end tags and scopes,
//! which decide what text belongs where; no adoption agency, no foster parents. What is never
//! read (scripts, styles, frames, form fields) is left out here already.

use std::borrow::Cow;

use crate::html::{Attributes, EndTag, StartTag, Token, Tokenizer, entities};

use super::hints;
use super::names;
use super::tree::{Data, HeadTag, Node, NodeId, ROOT, Tree};

/// Deeper elements become siblings. Browsers stop at 512; the libraries behind this tree recurse
/// and must fit a small stack, and pages meant for people stay below 100.
pub(crate) const MAX_DEPTH: usize = 160;

/// How much of the head is kept.
const MAX_HEAD_TAGS: usize = 400;

/// Builds the tree of a page. `everything` says whether to read what only browsers without
/// scripts show, and what they hide.
pub(crate) fn build(source: &str, max_nodes: usize, everything: bool) -> Tree<'_> {
    let mut builder = Builder::new(max_nodes, everything);
    let mut tokenizer = Tokenizer::new(source);
    while let Some(token) = tokenizer.next() {
        match token {
            Token::Start(tag) => builder.start(&tag),
            Token::End(tag) => builder.end(&tag),
            Token::Text(text) => builder.text(text),
            Token::RawText(text) => builder.raw(text),
        }
        tokenizer.set_foreign(builder.is_foreign());
        if builder.tree.truncated {
            break;
        }
    }
    builder.finish()
}

struct Builder<'a> {
    tree: Tree<'a>,
    open: Vec<NodeId>,
    max_nodes: usize,
    everything: bool,
    /// Elements open beyond the depth limit.
    beyond: usize,
    /// The element whose content is being left out, and how often it is nested in itself.
    skipping: Option<(Cow<'a, str>, usize)>,
    in_title: bool,
    script: Script,
    /// How many `<math>` elements are open.
    formulas: usize,
}

/// What to do with the text of the script just opened.
#[derive(Clone, Copy, PartialEq)]
enum Script {
    Ignored,
    Formula,
    JsonLd,
}

fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

impl<'a> Builder<'a> {
    fn new(max_nodes: usize, everything: bool) -> Self {
        let mut tree = Tree::default();
        tree.nodes.push(Node {
            data: Data::Element {
                name: Cow::Borrowed("body"),
                attributes: Attributes::new(""),
            },
            parent: ROOT,
            end: 1,
        });
        Builder {
            tree,
            open: vec![ROOT],
            max_nodes,
            everything,
            beyond: 0,
            skipping: None,
            in_title: false,
            script: Script::Ignored,
            formulas: 0,
        }
    }

    fn name(&self, node: NodeId) -> &str {
        self.tree.nodes[node].name()
    }

    fn is_foreign(&self) -> bool {
        match &self.skipping {
            Some((name, _)) => name == "svg",
            None => self.formulas > 0,
        }
    }

    fn append(&mut self, data: Data<'a>) -> Option<NodeId> {
        if self.tree.nodes.len() >= self.max_nodes {
            self.tree.truncated = true;
            return None;
        }
        let id = self.tree.nodes.len();
        let parent = self.open.last().copied().unwrap_or(ROOT);
        self.tree.nodes.push(Node {
            data,
            parent,
            end: id + 1,
        });
        Some(id)
    }

    /// Closes the innermost open element.
    fn pop(&mut self) {
        if self.open.len() > 1
            && let Some(node) = self.open.pop()
        {
            self.tree.nodes[node].end = self.tree.nodes.len();
            if self.name(node) == "math" {
                self.formulas -= 1;
            }
        }
    }

    /// Closes the innermost element of these names unless one that shields it is nearer.
    fn close(&mut self, wanted: &[&str], shields: &[&str]) {
        let found = self.open.iter().skip(1).rposition(|&node| {
            let name = self.tree.nodes[node].name();
            wanted.contains(&name) || shields.contains(&name)
        });
        if let Some(at) = found
            && wanted.contains(&self.name(self.open[at + 1]))
        {
            while self.open.len() > at + 1 {
                self.pop();
            }
        }
    }

    fn start(&mut self, tag: &StartTag<'a>) {
        let name = lower(tag.name);
        if let Some((skipped, depth)) = &mut self.skipping {
            let is_svg = skipped == "svg";
            if !(is_svg && tag.key.breaks_out_of_foreign_content()) {
                if *skipped == name && !(is_svg && tag.self_closing) {
                    *depth += 1;
                }
                return;
            }
            self.skipping = None;
        }
        if self.head_tag(&name, tag) {
            return;
        }
        if names::is_noise(&name) || (name == "noscript" && !self.everything) {
            if !(tag.self_closing && name == "svg") {
                self.skipping = Some((name, 1));
            }
            return;
        }
        if self.formulas > 0 && names::closes_paragraph(&name) {
            // As in browsers: a formula nobody closed does not swallow the page.
            self.close(&["math"], &[]);
        }
        if !self.is_foreign() {
            self.imply_ends(&name);
        }
        if !self.everything && hints::is_hidden(&tag.attributes()) && !names::is_void(&name) {
            self.skipping = Some((name, 1));
            return;
        }
        self.open_element(name, tag);
    }

    fn imply_ends(&mut self, name: &str) {
        if names::closes_paragraph(name) {
            self.close(&["p"], &["table", "td", "th", "button"]);
        }
        if names::is_heading(name)
            && self
                .open
                .last()
                .is_some_and(|&top| names::is_heading(self.name(top)))
        {
            self.pop();
        }
        if let Some((wanted, shields)) = names::implied_end(name) {
            self.close(wanted, shields);
        }
    }

    fn open_element(&mut self, name: Cow<'a, str>, tag: &StartTag<'a>) {
        let is_void = names::is_void(&name) || (tag.self_closing && self.is_foreign());
        let element = Data::Element {
            name,
            attributes: tag.attributes(),
        };
        let Some(id) = self.append(element) else {
            return;
        };
        if is_void {
            return;
        }
        if self.open.len() >= MAX_DEPTH {
            self.tree.flattened = true;
            self.beyond += 1;
        } else {
            self.open.push(id);
            if self.name(id) == "math" {
                self.formulas += 1;
            }
        }
    }

    /// What is about the page rather than on it; true if the tag was one of those.
    fn head_tag(&mut self, name: &str, tag: &StartTag<'a>) -> bool {
        match name {
            "html" | "head" | "body" => {
                if let Data::Element { attributes, .. } = &mut self.tree.nodes[ROOT].data
                    && name == "body"
                {
                    *attributes = tag.attributes();
                }
            }
            "meta" | "link" | "base" => {
                if self.tree.head.len() < MAX_HEAD_TAGS {
                    self.tree.head.push(HeadTag {
                        name: lower(tag.name),
                        attributes: tag.attributes(),
                    });
                }
            }
            "title" => self.in_title = true,
            "script" => {
                let kind = tag.attributes().find(|attribute| attribute.is("type"));
                self.script = match kind.map(|kind| kind.value().to_ascii_lowercase()) {
                    Some(kind) if kind.starts_with("math/") => Script::Formula,
                    Some(kind) if kind.starts_with("application/ld+json") => Script::JsonLd,
                    _ => Script::Ignored,
                };
                if self.script == Script::Formula {
                    self.open_element(lower(tag.name), tag);
                }
            }
            _ => return false,
        }
        true
    }

    fn end(&mut self, tag: &EndTag<'a>) {
        let name = lower(tag.name);
        if let Some((skipped, depth)) = &mut self.skipping {
            if *skipped == name {
                *depth -= 1;
                if *depth == 0 {
                    self.skipping = None;
                }
            }
            return;
        }
        match name.as_ref() {
            "title" => self.in_title = false,
            "html" | "body" | "head" => {}
            "br" => {
                self.append(Data::Element {
                    name,
                    attributes: Attributes::new(""),
                });
            }
            _ if self.beyond > 0 && !names::is_void(&name) => self.beyond -= 1,
            _ => self.close_named(&name),
        }
    }

    fn close_named(&mut self, name: &str) {
        let own_scope = matches!(name, "table" | "tr" | "thead" | "tbody" | "tfoot");
        for at in (1..self.open.len()).rev() {
            let open = self.name(self.open[at]);
            let matches = open == name || (names::is_heading(open) && names::is_heading(name));
            if matches {
                while self.open.len() > at {
                    self.pop();
                }
                return;
            }
            if names::is_scope(open) && !(own_scope && open != "table") {
                return;
            }
            // A stray `</b>` must not end the paragraph it stands in.
            if names::is_block(open) && !names::is_block(name) {
                return;
            }
        }
    }

    fn text(&mut self, raw: &'a str) {
        if self.in_title {
            if self.tree.title.is_empty() {
                self.tree.title = entities::text(raw);
            }
        } else if self.skipping.is_none() {
            self.append(Data::Text(entities::text(raw)));
        }
    }

    fn raw(&mut self, raw: &'a str) {
        if self.skipping.is_some() {
            return;
        }
        match std::mem::replace(&mut self.script, Script::Ignored) {
            Script::Formula => {
                self.append(Data::Raw(raw));
            }
            Script::JsonLd => self.tree.json_ld.push(raw),
            // `<xmp>` and `<plaintext>` have text that is meant to be read.
            Script::Ignored => {
                if matches!(self.open.last(), Some(&top) if matches!(self.name(top), "xmp" | "plaintext"))
                {
                    self.append(Data::Text(Cow::Borrowed(raw)));
                }
            }
        }
    }

    fn finish(mut self) -> Tree<'a> {
        while self.open.len() > 1 {
            self.pop();
        }
        self.tree.nodes[ROOT].end = self.tree.nodes.len();
        self.tree
    }
}
