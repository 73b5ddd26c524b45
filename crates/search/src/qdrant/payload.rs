//! A chunk as a point of Qdrant (001 §6.2). Pure.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::file::MirrorPoint;

/// Fields that filters use, with the kind of their index.
pub(super) const INDEXED: [(&str, &str); 9] = [
    ("document_id", "uuid"),
    ("collection_id", "uuid"),
    ("index", "keyword"),
    ("within", "keyword"),
    ("tags", "keyword"),
    ("source", "keyword"),
    ("language", "keyword"),
    ("owners", "keyword"),
    ("crawled_at", "datetime"),
];

/// A point with its vector.
pub(super) fn point(index: Uuid, point: &MirrorPoint) -> Value {
    let mut payload = payload(index, point);
    payload["fingerprint"] = json!(fingerprint(index, point));
    json!({
        "id": point.chunk.to_string(),
        "vector": point.vector,
        "payload": payload,
    })
}

/// Points with equal ones are equal, vectors included.
pub(super) fn fingerprint(index: Uuid, point: &MirrorPoint) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(payload(index, point).to_string().as_bytes());
    for value in &point.vector {
        hash.update(&value.to_le_bytes());
    }
    hash.finalize().to_hex()[..32].to_owned()
}

fn payload(index: Uuid, point: &MirrorPoint) -> Value {
    json!({
        "index": index.to_string(),
        "model": point.model,
        "document_id": point.document.to_string(),
        "chunk_id": point.chunk.to_string(),
        "chunk_index": point.position,
        "collection_id": point.collection.map(|id| id.to_string()),
        "domain": point.domain,
        "within": within(&point.domain),
        "url": point.url,
        "title": point.title,
        "language": point.language.as_deref().map(str::to_ascii_lowercase),
        "source": point.source,
        "tags": point.tags.iter().map(Uuid::to_string).collect::<Vec<_>>(),
        "owners": point.owners,
        "section_header": point.header,
        "content_type": point.kind,
        "crawled_at": point.crawled_at.iso(),
    })
}

/// A host and all that are above it.
fn within(domain: &str) -> Vec<&str> {
    let dots = domain.match_indices('.').map(|(at, _)| &domain[at + 1..]);
    std::iter::once(domain).chain(dots).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_within_all_that_are_above_it() {
        assert_eq!(within("a.b.test"), ["a.b.test", "b.test", "test"]);
        assert_eq!(within("localhost"), ["localhost"]);
    }
}
