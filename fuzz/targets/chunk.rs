//! Text to chunks: everything is in one, none is too large.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_extract::chunk::{ChunkSettings, EstimatedTokens, TokenCounter, chunks};

fuzz_target!(|data: &[u8]| {
    let [max, overlap, min, body @ ..] = data else {
        return;
    };
    let settings = ChunkSettings {
        max_tokens: usize::from(*max),
        overlap: usize::from(*overlap),
        min_tokens: usize::from(*min),
    };
    let text = String::from_utf8_lossy(body);
    let mut covered = 0;
    for chunk in chunks(&text, &settings, &EstimatedTokens) {
        let piece = &text[chunk.start..chunk.end];
        assert_eq!(chunk.token_count, EstimatedTokens.count(piece));
        assert!(chunk.token_count <= settings.max_tokens.max(1));
        assert!(chunk.end > covered);
        if chunk.start >= covered {
            assert!(text[covered..chunk.start].trim().is_empty());
        } else {
            assert!(EstimatedTokens.count(&text[chunk.start..covered]) <= settings.overlap);
        }
        covered = chunk.end;
    }
    assert!(text[covered..].trim().is_empty());
});
