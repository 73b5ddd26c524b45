//! The work grows with the text and not faster.

use std::cell::Cell;

use trawl_extract::chunk::{ChunkSettings, EstimatedTokens, TokenCounter, chunks};

/// Counts the bytes it is asked to look at.
#[derive(Default)]
struct Watched(Cell<usize>);

impl TokenCounter for Watched {
    fn count(&self, text: &str) -> usize {
        self.0.set(self.0.get() + text.len());
        EstimatedTokens.count(text)
    }
}

fn looks_per_byte(text: &str) -> usize {
    let watched = Watched::default();
    let found = chunks(text, &ChunkSettings::default(), &watched);
    assert!(!found.is_empty());
    watched.0.get() / text.len()
}

#[test]
fn megabytes_of_any_shape_are_looked_at_a_few_times() {
    let size = 2_000_000;
    for shape in [
        "A sentence of some words, as usual. ",
        "word ",
        "x",
        ".",
        "汉",
        "a. 1 ",
        "- item\n",
        "| a | b |\n",
        "# h\n",
        "## h\n\ntext\n\n",
        "```\n",
        "line\n",
        "line\n\n",
        "\n \n.",
        "💩\u{200d}",
    ] {
        let text = shape.repeat(size / shape.len());
        let looks = looks_per_byte(&text);
        assert!(looks <= 12, "{shape:?}: every byte {looks} times");
    }
}

#[test]
fn ten_megabytes_of_prose_are_looked_at_a_few_times() {
    let text = "A sentence of some words, as usual. And then another one!\n\n".repeat(170_000);
    assert!(looks_per_byte(&text) <= 6);
}
