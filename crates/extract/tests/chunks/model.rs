//! Counting with the tokenizer of a model.

use trawl_extract::chunk::{ChunkSettings, ModelTokens, TokenCounter, chunks};

const WORDS: &[u8] = br#"{
    "version": "1.0",
    "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
    "padding": null,
    "added_tokens": [],
    "normalizer": null,
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": null,
    "decoder": null,
    "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "one": 1}, "unk_token": "[UNK]"}
}"#;

#[test]
fn a_models_own_tokens_are_counted_without_its_truncation() {
    let tokens = ModelTokens::from_json(WORDS).unwrap();
    assert_eq!(tokens.count("one two three, four five"), 6);
    let text = "one two three. one two three. ".repeat(10);
    let settings = ChunkSettings {
        max_tokens: 12,
        overlap: 4,
        min_tokens: 4,
    };
    let chunks = chunks(&text, &settings, &tokens);
    assert!(chunks.len() > 4);
    for chunk in &chunks {
        assert_eq!(
            chunk.token_count,
            tokens.count(&text[chunk.start..chunk.end])
        );
        assert!(chunk.token_count <= 12);
    }
}

#[test]
fn what_is_no_tokenizer_is_refused() {
    assert!(ModelTokens::from_json(b"{}").is_err());
}
