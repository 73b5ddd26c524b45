//! What the items of a page refer to by `itemref`: properties that stand elsewhere. Only pages that
//! use it are read twice more.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::html::{TagKey, Token, Tokenizer};

use super::microdata::{MAX_REFS, Microdata, short};

/// Properties by the id of the element that holds them.
pub(super) type Referred = FxHashMap<String, Map<String, Value>>;

/// Elements that all items together refer to.
const MAX_ELEMENTS: usize = 200;

/// Reads what the items of a page refer to.
pub(super) fn referred(html: &str) -> Referred {
    if memchr::memmem::find(html.as_bytes(), b"itemref").is_none() {
        return Referred::default();
    }
    let ids = ids(html);
    if ids.is_empty() {
        return ids;
    }
    let mut microdata = Microdata::gathering(ids);
    let mut templates = 0_usize;
    for token in Tokenizer::new(html) {
        match token {
            Token::Start(tag) if tag.key == TagKey::TEMPLATE => templates += 1,
            Token::End(tag) if tag.key == TagKey::TEMPLATE => {
                templates = templates.saturating_sub(1);
            }
            _ if templates > 0 => {}
            Token::Start(tag) => microdata.start(&tag),
            Token::End(tag) => microdata.end(tag.key),
            Token::Text(text) => microdata.text(text),
            Token::RawText(_) => {}
        }
    }
    microdata.gathered()
}

/// The ids, with nothing gathered yet.
fn ids(html: &str) -> Referred {
    let mut ids = Referred::default();
    for token in Tokenizer::new(html) {
        let Token::Start(tag) = token else { continue };
        let Some(refs) = tag.attributes().find(|attribute| attribute.is("itemref")) else {
            continue;
        };
        for id in refs.value().split_whitespace().take(MAX_REFS) {
            if ids.len() < MAX_ELEMENTS {
                ids.insert(short(id), Map::new());
            }
        }
    }
    ids
}
