//! The index against one built from scratch: whatever was added, changed, deleted and restored,
//! both answer alike, and nothing that is gone is ever found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{collections::BTreeMap, path::Path};

use proptest::prelude::*;
use trawl_extract::chunk::{ChunkSettings, EstimatedTokens};
use trawl_search::{
    analysis::Analyser,
    document::{DocSource, Filter, NewDocument},
    file::{Changes, IndexFile},
    prepare::{Prepared, prepare},
    query::Query,
};
use trawl_types::UnixMillis;

const WORDS: [&str; 8] = [
    "crawler",
    "robots",
    "politeness",
    "frontier",
    "the",
    "search",
    "engine",
    "crawling",
];

fn document(number: u8, words: &[usize], title: u8) -> NewDocument {
    // Sections, so that documents have several chunks of which some stay as they are.
    let paragraphs: Vec<String> = words
        .chunks(4)
        .enumerate()
        .map(|(n, part)| {
            let text: Vec<&str> = part.iter().map(|word| WORDS[*word]).collect();
            format!("## Part {n}\n\n{}", text.join(" "))
        })
        .collect();
    NewDocument {
        url: format!("https://site{}.test/{number}", number % 3),
        parent_url: None,
        title: Some(format!("Title {}", WORDS[title as usize % WORDS.len()])),
        content: paragraphs.join("\n\n"),
        language: Some("en".into()),
        source: DocSource::Crawl,
        collection: None,
        tags: Vec::new(),
        metadata: serde_json::Value::Null,
        crawled_at: UnixMillis(i64::from(number)),
        crawl: Some(1),
        owner: None,
    }
}

/// A made-up embedding: how often each word occurs.
fn embedded(mut prepared: Prepared) -> Prepared {
    for chunk in &mut prepared.chunks {
        let count = |word: &&str| chunk.embed_text.matches(*word).count() as f32 + 0.1;
        let mut vector: Vec<f32> = WORDS.iter().map(count).collect();
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        for value in &mut vector {
            *value /= norm;
        }
        chunk.vector = Some(vector);
    }
    prepared
}

fn ready(document: NewDocument) -> Prepared {
    let settings = ChunkSettings {
        max_tokens: 12,
        overlap: 0,
        min_tokens: 1,
    };
    embedded(prepare(document, &settings, &EstimatedTokens))
}

fn changes() -> Changes {
    let mut changes = Changes::at(UnixMillis(1));
    changes.model = Some(("counts".into(), WORDS.len()));
    changes
}

/// What a query finds: chunk and score, in an order that does not depend on numbers.
fn found(index: &IndexFile, typed: &str, filter: &Filter) -> Vec<(String, String)> {
    let query = Query::parse(typed, &Analyser::default()).unwrap();
    let ranked = index.by_keywords(&query, filter, 10_000).unwrap();
    named(index, ranked.hits.iter().map(|hit| (hit.chunk, hit.score)))
}

fn nearest(index: &IndexFile, filter: &Filter) -> Vec<(String, String)> {
    let query = Query::parse("x", &Analyser::default()).unwrap();
    let vector: Vec<f32> = (0..WORDS.len())
        .map(|n| if n == 1 { 1.0 } else { 0.0 })
        .collect();
    let hits = index.by_vector(&vector, &query, filter, 10_000).unwrap();
    named(index, hits.iter().map(|hit| (hit.chunk, hit.score)))
}

fn named(index: &IndexFile, hits: impl Iterator<Item = (u32, f32)>) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = hits
        .map(|(chunk, score)| {
            let rows = index.chunks(&[chunk]).unwrap();
            let row = rows.first().expect("what is found is there");
            (row.uuid.to_string(), format!("{score:.4}"))
        })
        .collect();
    all.sort();
    all
}

fn open(path: &Path) -> IndexFile {
    IndexFile::open(path).unwrap()
}

#[derive(Debug, Clone)]
enum Step {
    Put(u8, Vec<usize>, u8),
    Remove(u8),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let words = prop::collection::vec(0..WORDS.len(), 0..20);
    prop_oneof![
        6 => (0_u8..8, words, 0_u8..3).prop_map(|(n, words, title)| Step::Put(n, words, title)),
        2 => (0_u8..8).prop_map(Step::Remove),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn after_any_edits_the_index_equals_one_built_from_scratch(
        steps in prop::collection::vec(step(), 1..30)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edited");
        let mut edited = open(&path);
        let mut expected: BTreeMap<u8, NewDocument> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(number, words, title) => {
                    let document = document(number, &words, title);
                    let mut changes = changes();
                    changes.put.push(ready(document.clone()));
                    edited.apply(changes).unwrap();
                    expected.insert(number, document);
                }
                Step::Remove(number) => {
                    let mut changes = changes();
                    changes.remove.push(document(number, &[], 0).url);
                    edited.apply(changes).unwrap();
                    expected.remove(&number);
                }
                Step::Reopen => {
                    drop(edited);
                    edited = open(&path);
                }
            }
        }
        let scratch = open(&folder.path().join("scratch"));
        let mut all = changes();
        all.put.extend(expected.into_values().map(ready));
        scratch.apply(all).unwrap();
        prop_assert_eq!(edited.counts(), scratch.counts());
        let everything = Filter::default();
        let one = Filter { domains: vec!["site1.test".into()], ..Filter::default() };
        for typed in [
            "crawler", "the search engine", "\"robots politeness\"", "crawl*", "search -robots",
            "frontier site:site2.test", "title", "part 1",
        ] {
            prop_assert_eq!(
                found(&edited, typed, &everything),
                found(&scratch, typed, &everything),
                "{}", typed
            );
            prop_assert_eq!(found(&edited, typed, &one), found(&scratch, typed, &one));
        }
        prop_assert_eq!(nearest(&edited, &everything), nearest(&scratch, &everything));
        prop_assert_eq!(nearest(&edited, &one), nearest(&scratch, &one));
    }
}

#[test]
fn many_small_writes_are_merged_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder.path().join("index"));
    for number in 0..100 {
        let mut changes = changes();
        changes
            .put
            .push(ready(document(number, &[0, 1, 2], number)));
        index.apply(changes).unwrap();
    }
    assert_eq!(found(&index, "politeness", &Filter::default()).len(), 100);
    let again = IndexFile::open_to_read(&folder.path().join("index")).unwrap();
    assert_eq!(found(&again, "politeness", &Filter::default()).len(), 100);
    assert_eq!(index.counts(), again.counts());
}

#[test]
fn an_unchanged_chunk_keeps_its_number_and_its_vector() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder.path().join("index"));
    let mut first = changes();
    first
        .put
        .push(ready(document(1, &[0, 1, 2, 3, 4, 5, 6, 7], 0)));
    index.apply(first).unwrap();
    let mut second = changes();
    second
        .put
        .push(ready(document(1, &[0, 1, 2, 3, 4, 5, 6, 0], 0)));
    let report = index.apply(second).unwrap();
    assert_eq!((report.chunks_kept, report.chunks_written), (1, 1));
}

#[test]
fn tags_and_collections_filter_and_unknown_ones_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder.path().join("index"));
    let manuals = index
        .create_collection("manuals", None, UnixMillis(0))
        .unwrap();
    let mut all = changes();
    for number in 0..4 {
        let mut document = document(number, &[0, 1], 0);
        document.collection = (number < 2).then_some(manuals);
        document.tags = if number == 3 {
            vec!["Old".into()]
        } else {
            Vec::new()
        };
        all.put.push(ready(document));
    }
    index.apply(all).unwrap();
    let within = Filter {
        collections: vec![manuals],
        ..Filter::default()
    };
    assert_eq!(found(&index, "robots", &within).len(), 2);
    let old = index.create_tag("old", UnixMillis(0)).unwrap();
    let tagged = Filter {
        tags: vec![old],
        ..Filter::default()
    };
    assert_eq!(found(&index, "robots", &tagged).len(), 1);
    let id = trawl_search::prepare::document_id(&document(0, &[], 0).url);
    assert!(index.tag(id, "OLD", UnixMillis(0)).unwrap());
    assert_eq!(found(&index, "robots", &tagged).len(), 2);
    assert!(index.untag(id, old).unwrap());
    assert_eq!(found(&index, "robots", &tagged).len(), 1);
    let query = Query::parse("robots", &Analyser::default()).unwrap();
    let nobody = Filter {
        tags: vec![manuals],
        ..Filter::default()
    };
    assert!(index.by_keywords(&query, &nobody, 10).is_err());
    assert!(index.delete_collection(manuals).unwrap());
    assert!(index.create_collection("", None, UnixMillis(0)).is_err());
}
