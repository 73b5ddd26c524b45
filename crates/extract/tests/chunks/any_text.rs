//! Promises that hold for any text and any settings.

use proptest::prelude::*;
use trawl_extract::chunk::{Chunk, ChunkSettings, EstimatedTokens, TokenCounter, chunks};

/// A counter of another kind: four bytes a token, more for the whole than for its parts.
struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(4) + text.len() / 64
    }
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Za-z ,.!?]{0,80}",
        1 => "#{1,4} [a-z ]{1,12}",
        1 => "[-*] [a-z .]{1,30}",
        1 => "\\| [a-z]{1,9} \\| [a-z]{1,9} \\|",
        1 => Just("```".to_owned()),
        2 => Just(String::new()),
        1 => "\\PC{0,60}",
        1 => "[a-z]{100,300}",
        1 => Just("===".to_owned()),
    ]
}

fn document() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 0..60).prop_map(|lines| lines.join("\n"))
}

fn any_settings() -> impl Strategy<Value = ChunkSettings> {
    (0_usize..80, 0_usize..60, 0_usize..60).prop_map(|(max_tokens, overlap, min_tokens)| {
        ChunkSettings {
            max_tokens,
            overlap,
            min_tokens,
        }
    })
}

fn check(text: &str, settings: &ChunkSettings, tokens: &dyn TokenCounter) -> Vec<Chunk> {
    let chunks = chunks(text, settings, tokens);
    let max = settings.max_tokens.max(1);
    let mut covered = 0;
    for (index, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk.index, index);
        let piece = &text[chunk.start..chunk.end];
        assert!(!piece.trim().is_empty());
        assert_eq!(chunk.token_count, tokens.count(piece));
        let is_one_character = piece.chars().count() == 1;
        assert!(chunk.token_count <= max || is_one_character, "{piece:?}");
        assert!(chunk.end > covered, "every chunk has something new");
        if chunk.start >= covered {
            let between = &text[covered..chunk.start];
            assert!(between.trim().is_empty(), "{between:?} is in no chunk");
        } else {
            let repeated = &text[chunk.start..covered];
            assert!(tokens.count(repeated) <= settings.overlap, "{repeated:?}");
            assert_eq!(chunk.heading_path, chunks[index - 1].heading_path);
        }
        covered = chunk.end;
    }
    assert!(text[covered..].trim().is_empty());
    chunks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn chunks_cover_the_text_within_the_limits(text in document(), settings in any_settings()) {
        let first = check(&text, &settings, &EstimatedTokens);
        prop_assert_eq!(&first, &chunks(&text, &settings, &EstimatedTokens));
        let mut ids: Vec<_> = first.iter().map(|chunk| chunk.id).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), first.len(), "ids are distinct");
    }

    #[test]
    fn any_counter_is_obeyed(text in document(), settings in any_settings()) {
        check(&text, &settings, &Bytes);
    }

    #[test]
    fn an_edit_leaves_the_ids_of_other_sections(
        sections in prop::collection::vec("[A-Za-z ,.!?]{1,300}", 2..6),
        edited in 0_usize..6,
    ) {
        let edited = edited % sections.len();
        let write = |change: &str| {
            let section = |(number, body): (usize, &String)| {
                let change = if number == edited { change } else { "" };
                format!("## Section {number}\n\nBegin {body}{change}\n\n")
            };
            sections.iter().enumerate().map(section).collect::<String>()
        };
        let settings = ChunkSettings { max_tokens: 30, overlap: 8, min_tokens: 5 };
        let ids = |text: &str| -> Vec<_> {
            let other = format!("Section {edited}");
            let chunks = chunks(text, &settings, &EstimatedTokens);
            let others = chunks.into_iter().filter(|chunk| chunk.heading_path != [other.clone()]);
            others.map(|chunk| chunk.id).collect()
        };
        prop_assert_eq!(ids(&write("")), ids(&write(" Something quite new. And more of it.")));
    }
}
