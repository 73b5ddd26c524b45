//! Microdata (`itemscope`, `itemprop`) to JSON, from tags as they come and without a tree.
//!
//! End tags that are left out are guessed as far as a few rules go; `itemref` is not followed.
//! Addresses are given as found.

use serde_json::{Map, Value};

use crate::html::{StartTag, TagKey, entities};
use crate::page::text::{TextCollector, collapse};

use super::text::MAX_VALUE_CHARS;

const MAX_ITEMS: usize = 200;
const MAX_PROPERTIES: usize = 2000;
const MAX_OPEN: usize = 256;
const MAX_NESTING: usize = 16;
const MAX_TEXT_CHARS: usize = 500;

/// An element that is open inside an item.
#[derive(Debug)]
struct Open {
    key: TagKey,
    is_item: bool,
    property: Option<(Vec<String>, TextCollector)>,
}

#[derive(Debug, Default)]
struct Item {
    types: Vec<Value>,
    id: Option<String>,
    /// What the item is to the item around it.
    names: Vec<String>,
    properties: Map<String, Value>,
}

/// The attributes that matter to microdata.
#[derive(Debug, Default)]
struct Marks {
    scope: bool,
    types: Option<String>,
    id: Option<String>,
    names: Vec<String>,
    value: Option<String>,
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
}

impl Microdata {
    pub(super) fn start(&mut self, tag: &StartTag<'_>) {
        let marks = Marks::read(tag);
        if self.open.is_empty() && !marks.scope {
            return;
        }
        if closes_its_like(tag.key) && self.open.last().is_some_and(|open| open.key == tag.key) {
            self.close_last();
        }
        let mut open = Open {
            key: tag.key,
            is_item: false,
            property: None,
        };
        if marks.scope && self.items.len() < MAX_NESTING && self.item_count < MAX_ITEMS {
            self.item_count += 1;
            open.is_item = true;
            self.items.push(Item {
                types: marks
                    .types
                    .iter()
                    .flat_map(|types| types.split_whitespace())
                    .map(Value::from)
                    .collect(),
                id: marks.id,
                names: marks.names,
                properties: Map::new(),
            });
        } else if !marks.names.is_empty() && !self.items.is_empty() {
            match marks.value {
                Some(value) => self.add(&marks.names, &Value::from(value)),
                None if is_void(tag.name) => {}
                None => open.property = Some((marks.names, TextCollector::new(MAX_TEXT_CHARS))),
            }
        }
        if is_void(tag.name) {
            if open.is_item {
                self.finish_item();
            }
        } else if self.open.len() < MAX_OPEN {
            self.open.push(open);
        } else {
            self.uncounted += 1;
            if open.is_item {
                self.finish_item();
            }
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
        if open.is_item {
            self.finish_item();
        }
    }

    fn finish_item(&mut self) {
        let Some(item) = self.items.pop() else { return };
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

fn short(value: &str) -> String {
    collapse(value, MAX_VALUE_CHARS).into_string()
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
