//! Footnotes: which links are references, which elements are the notes, and their labels.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::address::Addresses;
use super::math::text_in;
use crate::markdown::tree::{NodeId, Tag, Tree};

/// Longer labels are numbered instead.
const MAX_LABEL: usize = 12;

/// The footnotes of a page.
#[derive(Debug, Default)]
pub(super) struct Notes {
    references: HashMap<NodeId, String>,
    notes: HashMap<NodeId, String>,
}

impl Notes {
    pub(super) fn find(tree: &Tree<'_>, addresses: &Addresses) -> Self {
        let candidates: Vec<(NodeId, String)> = tree
            .ids()
            .filter(|&id| tree.tag(id) == Tag::A)
            .filter_map(|id| Some((id, reference_target(tree, addresses, id)?)))
            .collect();
        if candidates.is_empty() {
            return Self::default();
        }
        let targets = elements_by_id(tree);
        let mut found = Self::default();
        let mut labels = Labels::default();
        for (reference, target) in candidates {
            let Some(note) = targets
                .get(target.as_str())
                .and_then(|&id| note_around(tree, id))
            else {
                continue;
            };
            if is_inside(tree, reference, note) {
                continue;
            }
            let label = match found.notes.get(&note) {
                Some(label) => label.clone(),
                None => labels.free(&text_in(tree, reference)),
            };
            found.notes.insert(note, label.clone());
            found.references.insert(reference, label);
        }
        found
    }

    /// The label that a link refers to.
    pub(super) fn reference(&self, link: NodeId) -> Option<&str> {
        self.references.get(&link).map(String::as_str)
    }

    /// The label of the note that an element is.
    pub(super) fn note(&self, element: NodeId) -> Option<&str> {
        self.notes.get(&element).map(String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }
}

fn reference_target(tree: &Tree<'_>, addresses: &Addresses, id: NodeId) -> Option<String> {
    let href = tree.attribute(id, "href")?;
    let fragment = addresses.own_fragment(&href)?;
    let is_raised = tree.parent(id).is_some_and(|parent| {
        tree.tag(parent) == Tag::Sup
            || tree.has_class(parent, |class| class == "footnote-reference")
    }) || tree.children(id).any(|child| tree.tag(child) == Tag::Sup);
    let is_named = tree.has_class(id, |class| {
        matches!(
            class,
            "footnote-ref" | "footnote-reference" | "noteref" | "footnote"
        )
    }) || tree
        .attribute(id, "role")
        .is_some_and(|role| role == "doc-noteref");
    let lower = fragment.to_ascii_lowercase();
    let leads_to_note = [
        "fn",
        "footnote",
        "cite_note",
        "note",
        "_ftn",
        "user-content-fn",
        "ftn",
        "id",
    ]
    .iter()
    .any(|prefix| lower.starts_with(prefix));
    let leads_back = lower.contains("ref") && !lower.contains("note");
    let wanted = is_named || is_raised && leads_to_note;
    (wanted && !leads_back && !fragment.is_empty()).then(|| decode_fragment(fragment))
}

fn decode_fragment(fragment: &str) -> String {
    let decoded = url::form_urlencoded::parse(fragment.replace('+', "%2B").as_bytes())
        .next()
        .map(|(name, _)| name.into_owned());
    if fragment.contains(['&', '=']) {
        return fragment.to_owned();
    }
    decoded.unwrap_or_else(|| fragment.to_owned())
}

fn elements_by_id<'a>(tree: &Tree<'a>) -> HashMap<Cow<'a, str>, NodeId> {
    let mut elements = HashMap::new();
    for id in tree.ids() {
        let name = tree
            .attribute(id, "id")
            .or_else(|| (tree.tag(id) == Tag::A).then(|| tree.attribute(id, "name"))?);
        if let Some(name) = name {
            elements.entry(name).or_insert(id);
        }
    }
    elements
}

/// The element that holds the note whose target is `id`.
fn note_around(tree: &Tree<'_>, id: NodeId) -> Option<NodeId> {
    if matches!(tree.tag(id), Tag::Div | Tag::Aside | Tag::Section) {
        return Some(id);
    }
    std::iter::successors(Some(id), |&node| tree.parent(node))
        .take(4)
        .find(|&node| matches!(tree.tag(node), Tag::Li | Tag::P | Tag::Dd))
}

fn is_inside(tree: &Tree<'_>, node: NodeId, around: NodeId) -> bool {
    std::iter::successors(Some(node), |&node| tree.parent(node)).any(|node| node == around)
}

/// Labels given so far.
#[derive(Debug, Default)]
struct Labels {
    taken: HashSet<String>,
    last_number: u32,
}

impl Labels {
    /// The visible label where it is plain and free, else the next number.
    fn free(&mut self, visible: &str) -> String {
        let plain: String = visible
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(MAX_LABEL + 1)
            .collect();
        let mut label = plain;
        while label.is_empty() || label.len() > MAX_LABEL || self.taken.contains(&label) {
            self.last_number += 1;
            label = self.last_number.to_string();
        }
        self.taken.insert(label.clone());
        label
    }
}

/// Links from a note back to where it is referred to.
pub(super) fn is_back_link(tree: &Tree<'_>, addresses: &Addresses, id: NodeId) -> bool {
    let named = tree.has_class(id, |class| {
        matches!(
            class,
            "footnote-backref"
                | "footnote-back"
                | "reversefootnote"
                | "fn-backref"
                | "mw-cite-backlink"
                | "data-footnote-backref"
        )
    }) || tree
        .attribute(id, "role")
        .is_some_and(|role| role == "doc-backlink");
    let leads_back = || {
        tree.attribute(id, "href").is_some_and(|href| {
            addresses.own_fragment(&href).is_some_and(|fragment| {
                let fragment = fragment.to_ascii_lowercase();
                [
                    "fnref",
                    "cite_ref",
                    "ref",
                    "_ftnref",
                    "footnote-ref",
                    "footnoteref",
                    "user-content-fnref",
                ]
                .iter()
                .any(|prefix| fragment.starts_with(prefix))
            })
        })
    };
    named || tree.tag(id) == Tag::A && leads_back()
}
