//! Where a reader would cut.

use trawl_extract::chunk::{ChunkKind, EstimatedTokens, TokenCounter};

use crate::{cut, pieces, settings};

#[test]
fn a_short_document_is_one_chunk() {
    let text = "\nJust a few words.\n\nAnd a few more.\n";
    let chunks = cut(text, settings(512, 50, 50));
    assert_eq!(pieces(text, &chunks), [text.trim()]);
    assert_eq!(chunks[0].kind, ChunkKind::Prose);
    assert!(chunks[0].heading_path.is_empty());
    assert_eq!(chunks[0].token_count, 10);
    assert!(cut(" \n\n", settings(512, 50, 50)).is_empty());
}

#[test]
fn headings_cut_and_make_the_path() {
    let text = "Intro.\n\n# [A](https://x.org)\n\nOne.\n\n## B\n\nTwo.\n\n### `C`\n\nThree.\n\n## D\n\nFour.";
    let chunks = cut(text, settings(512, 50, 50));
    let paths: Vec<String> = chunks.iter().map(|c| c.heading_path.join(" > ")).collect();
    assert_eq!(paths, ["", "A", "A > B", "A > B > C", "A > D"]);
    assert_eq!(pieces(text, &chunks)[2], "## B\n\nTwo.");
}

#[test]
fn a_heading_with_nothing_under_it_goes_with_the_deeper_one() {
    let text = "# Book\n\n## Chapter\n\nText.\n\n## Empty\n\n## Last\n\nEnd.";
    let chunks = cut(text, settings(512, 50, 50));
    assert_eq!(
        pieces(text, &chunks),
        [
            "# Book\n\n## Chapter\n\nText.",
            "## Empty",
            "## Last\n\nEnd."
        ]
    );
    assert_eq!(chunks[0].heading_path, ["Book", "Chapter"]);
}

#[test]
fn underlined_headings_count() {
    let text = "Title\n=====\n\nOne.\n\nPart\n----\n\nTwo.\n\n---\n\nThree.";
    let chunks = cut(text, settings(512, 50, 0));
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[1].heading_path, ["Title", "Part"]);
}

#[test]
fn long_prose_is_cut_between_sentences_that_overlap() {
    let text =
        "One two three four. Five six seven eight. Nine ten eleven twelve. Last words here now.";
    let chunks = cut(text, settings(11, 5, 0));
    assert_eq!(
        pieces(text, &chunks),
        [
            "One two three four. Five six seven eight.",
            "Five six seven eight. Nine ten eleven twelve.",
            "Nine ten eleven twelve. Last words here now.",
        ]
    );
    let without = cut(text, settings(11, 4, 0));
    assert_eq!(
        without.len(),
        2,
        "a sentence that does not fit into the overlap is left out"
    );
}

#[test]
fn code_and_tables_stay_whole_where_they_fit() {
    let code = "```rust\nfn a() {}\n\n# not a heading\nfn b() {}\n```";
    let table = "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |";
    let text = format!(
        "{}\n\n{code}\n\n{}\n\n{table}",
        "word ".repeat(30),
        "more ".repeat(30)
    );
    let chunks = cut(&text, settings(45, 0, 0));
    let all = pieces(&text, &chunks);
    assert!(all.iter().any(|piece| piece.contains(code)), "{all:?}");
    assert!(all.iter().any(|piece| piece.contains(table)), "{all:?}");
}

#[test]
fn a_table_too_large_is_cut_between_rows() {
    let text = format!("| a | b |\n| --- | --- |\n{}", "| one | two |\n".repeat(50));
    let chunks = cut(&text, settings(60, 12, 10));
    assert!(chunks.len() > 3);
    for (chunk, piece) in chunks.iter().zip(pieces(&text, &chunks)) {
        assert!(piece.starts_with('|') && piece.ends_with('|'), "{piece}");
        assert_eq!(chunk.kind, ChunkKind::Table);
    }
}

#[test]
fn code_too_large_is_cut_between_lines() {
    let text = format!("```\n{}```", "let x = call(1);\n".repeat(40));
    let chunks = cut(&text, settings(64, 16, 10));
    assert!(chunks.len() > 4);
    assert!(chunks.iter().all(|chunk| chunk.kind == ChunkKind::Code));
    let all = pieces(&text, &chunks);
    assert!(
        all[1..].iter().all(|piece| piece.starts_with("let x")),
        "{all:?}"
    );
}

#[test]
fn a_finished_code_block_is_not_repeated() {
    let text = format!("```\na b c\n```\n\n{}", "Words follow here. ".repeat(10));
    let chunks = cut(&text, settings(20, 10, 0));
    assert!(!pieces(&text, &chunks)[1].contains('`'));
}

#[test]
fn lists_are_lists() {
    let text = "- one\n- two\n  - three\n\n1. four\n\n   five\n";
    let chunks = cut(text, settings(512, 50, 50));
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].kind, ChunkKind::List);
}

#[test]
fn small_chunks_join_a_neighbour_of_their_section_only() {
    let long = "Many words stand in this sentence here. ".repeat(4);
    let text = format!("## A\n\n{long}\n\nTiny.\n\n## B\n\nTiny too.");
    let chunks = cut(&text, settings(48, 0, 10));
    let all = pieces(&text, &chunks);
    assert_eq!(all.last(), Some(&"## B\n\nTiny too."));
    assert!(all.iter().all(|piece| piece.trim() != "Tiny."), "{all:?}");
}

#[test]
fn a_run_without_spaces_is_cut_anyway() {
    let text = "x".repeat(5000);
    let chunks = cut(&text, settings(50, 10, 10));
    assert!(chunks.len() > 10);
    assert!(chunks.iter().all(|chunk| chunk.token_count <= 50));
    let chinese = "汉".repeat(500);
    assert!(cut(&chinese, settings(50, 10, 10)).len() >= 10);
}

#[test]
fn no_overlap_reaches_across_a_heading() {
    let text = "# A\n\nShort one. Short two.\n\n# B\n\nShort three.";
    let chunks = cut(text, settings(8, 4, 0));
    let b = chunks
        .iter()
        .find(|chunk| chunk.heading_path == ["B"])
        .unwrap();
    assert!(text[b.start..].starts_with("# B"));
}

#[test]
fn repeated_chunks_have_ids_of_their_own_that_stay() {
    let text = "# A\n\nSame.\n\n# A\n\nSame.\n\n# B\n\nSame.";
    let first = cut(text, settings(512, 50, 50));
    assert_eq!(first.len(), 3);
    assert_ne!(first[0].id, first[1].id);
    assert_ne!(first[1].id, first[2].id);
    assert_eq!(first, cut(text, settings(512, 50, 50)));
    let id = first[0].id.to_string();
    assert_eq!(
        (id.len(), &id[14..15]),
        (36, "8"),
        "{id} is a UUID of version 8"
    );
}

#[test]
fn the_estimate_counts_words_numbers_and_marks() {
    for (text, tokens) in [
        ("", 0),
        ("one two, three.", 5),
        ("internationalisation", 4),
        ("1234567", 3),
        ("汉字", 2),
        ("привет", 2),
        ("----------", 3),
        (" \n\t ", 0),
    ] {
        assert_eq!(EstimatedTokens.count(text), tokens, "{text}");
    }
}
