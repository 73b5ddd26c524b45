//! Microdata (`itemscope`, `itemprop`) to JSON, from tags as they come and without a tree.
//!
//! End tags that are left out are guessed as far as a few rules go. What `itemref` refers to is
//! read before (`item_refs`). Addresses are given as found.

use serde_json::{Map, Value};

use crate::html::{StartTag, TagKey, entities};
use crate::page::text::{TextCollector, collapse};

use super::item_refs::Referred;
use super::text::MAX_VALUE_CHARS;

const MAX_ITEMS: usize = 200;
const MAX_PROPERTIES: usize = 2000;
const MAX_OPEN: usize = 256;
const MAX_NESTING: usize = 16;
const MAX_TEXT_CHARS: usize = 500;
/// References of one item.
pub(super) const MAX_REFS: usize = 16;

/// An element that is open inside an item.
#[derive(Debug)]
struct Open {
    key: TagKey,
    /// How many items end with it.
    items: usize,
    property: Option<(Vec<String>, TextCollector)>,
}

#[derive(Debug, Default)]
struct Item {
    types: Vec<Value>,
    id: Option<String>,
    /// What the item is to the item around it.
    names: Vec<String>,
    properties: Map<String, Value>,
    /// Elements elsewhere that hold more of its properties.
    refs: Vec<String>,
    /// No item, but what the element of this id holds for the item that refers to it.
    held_for: Option<String>,
}

/// The attributes that matter to microdata.
#[derive(Debug, Default)]
struct Marks {
    scope: bool,
    types: Option<String>,
    id: Option<String>,
    names: Vec<String>,
    value: Option<String>,
    refs: Vec<String>,
    element: Option<String>,
}

/// Gathers items while the page is read.
#[derive(Debug, Default)]
pub(super) struct Microdata {
    finished: Vec<Value>,
    items: Vec<Item>,
    open: Vec<Open>,
    /// Open elements beyond what is kept track of.
    uncounted: usize,
    item_count: usize,
    property_count: usize,
    /// What items refer to, if it is known already; else it is gathered for the ids that are there.
    referred: Referred,
    gathers: bool,
}

impl Microdata {
    /// Items take over what they refer to.
    pub(super) fn with(referred: Referred) -> Self {
        Microdata {
            referred,
            ..Microdata::default()
        }
    }

    /// Gathers what the elements of these ids hold, and no items.
    pub(super) fn gathering(ids: Referred) -> Self {
        Microdata {
            referred: ids,
            gathers: true,
            ..Microdata::default()
        }
    }

    /// What was gathered.
    pub(super) fn gathered(mut self) -> Referred {
        while !self.open.is_empty() {
            self.close_last();
        }
        self.referred
    }

    pub(super) fn start(&mut self, tag: &StartTag<'_>) {
        let marks = Marks::read(tag);
        let element = marks.element.as_ref().filter(|_| self.gathers);
        let holds = element.is_some_and(|id| self.referred.contains_key(id));
        if self.open.is_empty() && !marks.scope && !holds {
            return;
        }
        if closes_its_like(tag.key) && self.open.last().is_some_and(|open| open.key == tag.key) {
            self.close_last();
        }
        let mut open = Open {
            key: tag.key,
            items: 0,
            property: None,
        };
        if holds && self.items.len() < MAX_NESTING {
            open.items += 1;
            self.items.push(Item {
                held_for: marks.element,
                ..Item::default()
            });
        }
        if marks.scope && self.items.len() < MAX_NESTING && self.item_count < MAX_ITEMS {
            self.item_count += 1;
            open.items += 1;
            self.items.push(Item {
                types: marks
                    .types
                    .iter()
                    .flat_map(|types| types.split_whitespace())
                    .map(Value::from)
                    .collect(),
                id: marks.id,
                names: marks.names,
                refs: marks.refs,
                ..Item::default()
            });
        } else if !marks.names.is_empty() && !self.items.is_empty() {
            match marks.value {
                Some(value) => self.add(&marks.names, &Value::from(value)),
                None if is_void(tag.name) => {}
                None => open.property = Some((marks.names, TextCollector::new(MAX_TEXT_CHARS))),
            }
        }
        if is_void(tag.name) {
            self.finish_items(open.items);
        } else if self.open.len() < MAX_OPEN {
            self.open.push(open);
        } else {
            self.uncounted += 1;
            self.finish_items(open.items);
        }
    }

    pub(super) fn end(&mut self, key: TagKey) {
        if self.uncounted > 0 {
            self.uncounted -= 1;
            return;
        }
        if let Some(at) = self.open.iter().rposition(|open| open.key == key) {
            while self.open.len() > at {
                self.close_last();
            }
        }
    }

    pub(super) fn text(&mut self, raw: &str) {
        for open in self.open.iter_mut().rev().take(MAX_NESTING) {
            if let Some((_, text)) = &mut open.property
                && !text.is_full()
            {
                text.push(&entities::text(raw));
            }
        }
    }

    /// The items that are not part of another one, in document order.
    pub(super) fn finish(mut self) -> Vec<Value> {
        while !self.open.is_empty() {
            self.close_last();
        }
        self.finished
    }

    fn close_last(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if let Some((names, mut text)) = open.property {
            let text = text.take();
            if !text.is_empty() {
                self.add(&names, &Value::from(text.into_string()));
            }
        }
        self.finish_items(open.items);
    }

    fn finish_items(&mut self, count: usize) {
        for _ in 0..count {
            self.finish_item();
        }
    }

    /// Adds what the item at hand refers to. Only once for each reference: what is referred to
    /// refers to nothing itself.
    fn take_referred(&mut self) {
        let refs = self
            .items
            .last_mut()
            .map(|item| std::mem::take(&mut item.refs));
        for id in refs.unwrap_or_default() {
            let held = self.referred.get(&id).cloned().unwrap_or_default();
            for (name, values) in held {
                let values = values.as_array().cloned().unwrap_or_default();
                for value in values {
                    // Each copy of an item counts with all that is in it.
                    self.property_count += size_of_item(&value);
                    self.add(std::slice::from_ref(&name), &value);
                }
            }
        }
    }

    fn finish_item(&mut self) {
        if !self.gathers {
            self.take_referred();
        }
        let Some(item) = self.items.pop() else { return };
        if let Some(id) = item.held_for {
            self.referred.insert(id, item.properties);
            return;
        }
        let mut value = Map::new();
        value.insert("type".into(), Value::Array(item.types));
        if let Some(id) = item.id {
            value.insert("id".into(), Value::from(id));
        }
        value.insert("properties".into(), Value::Object(item.properties));
        if item.names.is_empty() || self.items.is_empty() {
            self.finished.push(Value::Object(value));
        } else {
            // Under its first name only: copies of copies would grow without bound.
            self.add(
                item.names.get(..1).unwrap_or_default(),
                &Value::Object(value),
            );
        }
    }

    fn add(&mut self, names: &[String], value: &Value) {
        let Some(item) = self.items.last_mut() else {
            return;
        };
        for name in names {
            if self.property_count >= MAX_PROPERTIES {
                return;
            }
            self.property_count += 1;
            let list = item
                .properties
                .entry(name.as_str())
                .or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(value.clone());
            }
        }
    }
}

impl Marks {
    fn read(tag: &StartTag<'_>) -> Marks {
        let mut marks = Marks::default();
        let valued_by = value_attribute(tag.name);
        let (mut content, mut by_element) = (None, None);
        for attribute in tag.attributes() {
            let name = attribute.name;
            if attribute.is("itemscope") {
                marks.scope = true;
            } else if attribute.is("itemtype") {
                marks.types.get_or_insert_with(|| short(&attribute.value()));
            } else if attribute.is("itemid") {
                marks.id.get_or_insert_with(|| short(&attribute.value()));
            } else if attribute.is("itemprop") && marks.names.is_empty() {
                let names = attribute.value();
                let names = names.split_whitespace().take(8);
                marks.names = names.map(|name| name.chars().take(100).collect()).collect();
            } else if attribute.is("itemref") && marks.refs.is_empty() {
                let ids = attribute.value();
                let ids = ids.split_whitespace().take(MAX_REFS);
                marks.refs = ids.map(short).collect();
            } else if attribute.is("id") {
                marks
                    .element
                    .get_or_insert_with(|| short(&attribute.value()));
            } else if attribute.is("content") {
                content.get_or_insert_with(|| short(&attribute.value()));
            } else if valued_by.is_some_and(|wanted| name.eq_ignore_ascii_case(wanted)) {
                by_element.get_or_insert_with(|| short(&attribute.value()));
            }
        }
        marks.value = content.or(by_element);
        marks
    }
}

pub(super) fn short(value: &str) -> String {
    collapse(value, MAX_VALUE_CHARS).into_string()
}

/// How many properties there are in an item, and in those inside it.
fn size_of_item(value: &Value) -> usize {
    // Items nest at most `MAX_NESTING` deep.
    match value.get("properties") {
        Some(Value::Object(properties)) => properties
            .values()
            .filter_map(Value::as_array)
            .flatten()
            .map(|value| 1 + size_of_item(value))
            .sum(),
        _ => 0,
    }
}

/// The attribute that holds the value of a property on this element.
fn value_attribute(name: &str) -> Option<&'static str> {
    const ATTRIBUTES: [(&str, &str); 14] = [
        ("a", "href"),
        ("area", "href"),
        ("link", "href"),
        ("audio", "src"),
        ("embed", "src"),
        ("iframe", "src"),
        ("img", "src"),
        ("source", "src"),
        ("track", "src"),
        ("video", "src"),
        ("object", "data"),
        ("data", "value"),
        ("meter", "value"),
        ("time", "datetime"),
    ];
    let found = ATTRIBUTES
        .iter()
        .find(|(element, _)| name.eq_ignore_ascii_case(element));
    found.map(|(_, attribute)| *attribute)
}

fn is_void(name: &str) -> bool {
    [
        "meta", "link", "img", "br", "hr", "input", "area", "base", "col", "embed", "source",
        "track", "wbr", "param",
    ]
    .iter()
    .any(|void| name.eq_ignore_ascii_case(void))
}

/// Elements whose end tag is usually left out before the next of their kind.
fn closes_its_like(key: TagKey) -> bool {
    matches!(key, TagKey::LI | TagKey::DT | TagKey::DD | TagKey::P)
        || [&b"tr"[..], b"td", b"th", b"option"]
            .iter()
            .any(|name| TagKey::of(name) == key)
}

/// An item as a schema.org node, so that one reader serves microdata and JSON-LD.
pub(super) fn as_node(item: &Value) -> Value {
    let Value::Object(item) = item else {
        return item.clone();
    };
    let mut node = Map::new();
    node.insert(
        "@type".into(),
        item.get("type").cloned().unwrap_or_default(),
    );
    if let Some(Value::Object(properties)) = item.get("properties") {
        for (name, values) in properties {
            let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
            // Items nest at most `MAX_NESTING` deep.
            let values = values.iter().map(as_node).collect();
            node.insert(name.clone(), Value::Array(values));
        }
    }
    Value::Object(node)
}
