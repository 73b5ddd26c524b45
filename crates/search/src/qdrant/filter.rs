//! A filter as Qdrant has it. Pure.

use serde_json::{Value, json};
use trawl_types::UnixMillis;
use uuid::Uuid;

use crate::{
    document::{EVERYBODY, Filter},
    query::Query,
};

/// What the points of an index must have so that a search may find them.
pub(super) fn conditions(index: Uuid, model: &str, query: &Query, filter: &Filter) -> Value {
    let mut must = vec![
        json!({ "key": "index", "match": { "value": index.to_string() } }),
        json!({ "key": "model", "match": { "value": model } }),
    ];
    let mut any = |key: &str, values: Vec<String>| {
        if !values.is_empty() {
            must.push(json!({ "key": key, "match": { "any": values } }));
        }
    };
    let ids = |list: &[Uuid]| list.iter().map(Uuid::to_string).collect();
    any("collection_id", ids(&filter.collections));
    any("tags", ids(&filter.tags));
    any("within", hosts(&filter.domains));
    any("within", hosts(&query.sites));
    let lower = |list: &[String]| list.iter().map(|name| name.to_ascii_lowercase()).collect();
    any("language", lower(&filter.languages));
    let sources = filter.sources.iter().filter_map(|source| {
        let name = serde_json::to_value(source).ok()?;
        name.as_str().map(str::to_owned)
    });
    any("source", sources.collect());
    if let Some(owners) = &filter.owners {
        let owners = owners.iter().cloned().chain([EVERYBODY.to_owned()]);
        any("owners", owners.collect());
    }
    if filter.date_from.is_some() || filter.date_to.is_some() {
        let range = json!({
            "gte": filter.date_from.map(UnixMillis::iso),
            "lte": filter.date_to.map(UnixMillis::iso),
        });
        must.push(json!({ "key": "crawled_at", "range": range }));
    }
    let not = hosts(&query.not_sites);
    let must_not = if not.is_empty() {
        json!([])
    } else {
        json!([{ "key": "within", "match": { "any": not } }])
    };
    json!({ "must": must, "must_not": must_not })
}

fn hosts(names: &[String]) -> Vec<String> {
    let plain = |name: &String| name.trim_start_matches("*.").to_ascii_lowercase();
    names.iter().map(plain).collect()
}
