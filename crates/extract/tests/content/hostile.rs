//! Pages made to take forever, to fill the memory or to break something.

use trawl_extract::Warning;
use trawl_extract::content::{ContentLimits, main_content};

use crate::extract;

#[test]
fn a_hundred_thousand_nested_elements_are_flattened() {
    for name in [
        "div",
        "b",
        "a",
        "ul><li",
        "table><tr><td",
        "p",
        "section",
        "svg",
        "math",
        "q",
    ] {
        let page = format!("{}the text inside", format!("<{name}>").repeat(100_000));
        let content = extract(&page);
        if name != "svg" {
            assert!(content.html.contains("the text inside"), "{name}");
        }
    }
    let page = format!(
        "{}text{}",
        "<div>".repeat(100_000),
        "</div>".repeat(100_000)
    );
    assert!(extract(&page).warnings.contains(&Warning::NestingFlattened));
}

#[test]
fn fifty_megabytes_are_cut_and_said_to_be() {
    let page = "<p>Some words in a paragraph, and more of them.</p>\n".repeat(1_000_000);
    let content = extract(&page);
    assert!(content.warnings.contains(&Warning::ContentTooLarge));
    assert!(content.text_len > 0);
    assert!(content.html.len() < 20 << 20);
}

#[test]
fn a_million_links_are_read_in_bounds() {
    let page = "<a href=/x>y</a> ".repeat(1_000_000);
    let content = extract(&page);
    assert!(content.warnings.contains(&Warning::ContentTooLarge));
    assert!(content.text_len > 0);
}

#[test]
fn a_megabyte_of_one_element_is_read_in_bounds() {
    for piece in [
        "<p>a",
        "<b>",
        "<li>x",
        "</p>",
        "<td>1",
        "<br>",
        "&amp;",
        "<a href=x>",
        "<",
        "</",
        "<!--",
        "<h1>a b c d e f g h i j k",
    ] {
        extract(&piece.repeat((1 << 19) / piece.len()));
    }
}

#[test]
fn nul_bytes_do_not_come_through() {
    let content = extract("<p>One\0two</p><p title='a\0b'>three\0</p>");
    assert!(!content.html.contains('\0'));
    assert!(content.html.contains("three"));
}

#[test]
fn input_is_cut_between_characters() {
    for max_input_bytes in 0..12 {
        let limits = ContentLimits {
            max_input_bytes,
            ..ContentLimits::default()
        };
        main_content("<p>äöü日本", None, &limits);
    }
}
