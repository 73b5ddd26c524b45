//! Hostile sizes and depths: the output is bounded, and the fence is closed.

use trawl_extract::Warning;
use trawl_extract::markdown::{RenderLimits, render};

use crate::rendered;

fn limited(html: &str, max_content_bytes: usize) -> trawl_extract::markdown::Rendered {
    render(html, None, &RenderLimits { max_content_bytes })
}

#[test]
fn content_is_cut_between_characters_and_says_so() {
    let cut = limited("<p>äöü äöü äöü</p><p>more</p>", 11);
    assert_eq!(cut.markdown, "äöü");
    assert!(cut.truncated);
    assert_eq!(cut.warnings, [Warning::ContentTruncated]);
    assert!(!limited("<p>short</p>", 11).truncated);
}

#[test]
fn a_cut_code_block_is_closed() {
    let html = format!("<ul><li><pre>{}</pre></ul>", "line\n".repeat(100));
    let cut = limited(&html, 60);
    assert!(cut.markdown.ends_with("\n  ```"), "{}", cut.markdown);
    assert!(cut.markdown.len() <= 60 && cut.truncated);
}

#[test]
fn a_table_is_cut_between_rows() {
    let html = format!(
        "<table><tr><th>a<th>b{}</table>",
        "<tr><td>1<td>2".repeat(100)
    );
    let cut = limited(&html, 100);
    assert!(cut.markdown.ends_with("| 1 | 2 |"), "{}", cut.markdown);
}

#[test]
fn a_hundred_thousand_nested_elements_keep_their_text() {
    for tag in [
        "div",
        "blockquote",
        "ul><li",
        "b",
        "table><tr><td",
        "span",
        "a href=x",
        "dl><dd",
        "sup",
        "h1",
        "math",
    ] {
        let html = format!("{}deep", format!("<{tag}>").repeat(100_000));
        let rendered = rendered(&html);
        assert!(
            rendered.text.ends_with("deep"),
            "{tag}: {:?}",
            rendered.text.len()
        );
        if tag != "a href=x" && tag != "h1" {
            assert_eq!(rendered.warnings, [Warning::NestingFlattened], "{tag}");
        }
    }
}

#[test]
fn closed_nesting_returns_to_the_top() {
    let html = format!(
        "{}in{}<p>out",
        "<div><p>".repeat(50_000),
        "</div>".repeat(50_000)
    );
    assert_eq!(rendered(&html).text, "in\n\nout");
}

#[test]
fn spans_over_many_rows_stay_small() {
    let row = "<tr><td colspan=1000 rowspan=65000>x";
    let html = format!("<table><tr><th>a<th>b{}</table>", row.repeat(20_000));
    assert!(rendered(&html).markdown.len() <= 1_000_000);
}

#[test]
fn a_million_links_and_elements_are_bounded() {
    let links = "<a href=x>y</a> ".repeat(300_000);
    assert!(rendered(&links).truncated);
    let elements = "<b></b>".repeat(1_200_000);
    let rendered = rendered(&elements);
    assert!(rendered.truncated && rendered.markdown.is_empty());
}
