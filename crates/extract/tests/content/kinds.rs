//! One page of each kind, with what frames such pages.

use trawl_extract::content::{PageKind, Strategy};

use crate::{check, extract};

const NEWS: &str = include_str!("pages/news.html");
const MANUAL: &str = include_str!("pages/manual.html");
const THREAD: &str = include_str!("pages/thread.html");
const PRODUCT: &str = include_str!("pages/product.html");
const LISTING: &str = include_str!("pages/listing.html");
const SERVICE: &str = include_str!("pages/service.html");

#[test]
fn a_news_page_gives_the_article_without_banner_share_bar_comments_and_teasers() {
    let content = check(
        NEWS,
        &[
            "reopened the old harbour bridge",
            "What the engineers found",
            "cast in a foundry that closed in 1931",
            "will be counted again in spring",
        ],
        &[
            "accept all cookies",
            "Share on",
            "Sign up for our newsletter",
            "I walk there every day",
            "Ten walks along the coast",
            "All rights reserved",
        ],
    );
    assert_eq!(content.kind, PageKind::Article);
    assert!(content.quality > 0.5, "{}", content.quality);
}

#[test]
fn a_manual_keeps_code_tables_and_lists_and_loses_its_sidebar() {
    let content = check(
        MANUAL,
        &[
            "reads a configuration file",
            "retry_limit",
            "cfgtool --check",
            "the file is not writable",
            "<table",
            "<pre",
        ],
        &["Release notes archive", "Edit this page", "Built with"],
    );
    assert_eq!(content.kind, PageKind::Documentation);
}

#[test]
fn a_forum_thread_keeps_every_post() {
    let content = check(
        THREAD,
        &[
            "pump makes a grinding noise",
            "checked the impeller for grit",
            "replacing the bearing fixed it",
        ],
        &["Log in to reply", "Who is online"],
    );
    assert_eq!(content.kind, PageKind::Forum);
}

#[test]
fn a_product_keeps_its_description_and_its_data() {
    let content = check(
        PRODUCT,
        &["folds flat in under ten seconds", "11.4 kg"],
        &["Subscribe to our offers", "Terms and conditions"],
    );
    assert_eq!(content.kind, PageKind::Product);
}

#[test]
fn a_listing_keeps_its_entries() {
    let content = check(
        LISTING,
        &["Lighthouses of the northern coast", "How salt was made"],
        &["Imprint and privacy"],
    );
    assert_eq!(content.kind, PageKind::Listing);
}

#[test]
fn a_service_page_keeps_its_sections() {
    check(
        SERVICE,
        &[
            "survey the roof with a drone",
            "written report within five days",
        ],
        &["We use cookies"],
    );
}

#[test]
fn a_page_with_almost_no_markup_gives_its_text() {
    check(
        "Just a line of text, no tags at all.",
        &["Just a line of text"],
        &[],
    );
    check("<p>Short.", &["Short."], &[]);
}

#[test]
fn a_page_whose_only_text_is_a_table_gives_the_table() {
    let rows: Vec<String> = (1..30)
        .map(|row| format!("<tr><td>Station {row}<td>{}.5 mm", row * 3))
        .collect();
    let rows = rows.concat();
    let page = format!("<title>Rain</title><table><tr><th>Place<th>Rain{rows}</table>");
    check(&page, &["<th>Place", "Station 17", "51.5 mm"], &[]);
}

#[test]
fn text_that_only_browsers_without_scripts_show_is_better_than_nothing() {
    let page = "<body><div id=app></div><noscript><p>The opening hours are nine to five on \
                weekdays and ten to one on Saturdays.</p></noscript>";
    check(page, &["opening hours"], &[]);
}

#[test]
fn an_empty_page_has_no_content() {
    for page in [
        "",
        " \n ",
        "<html><body></body></html>",
        "<script>x()</script>",
    ] {
        let content = extract(page);
        assert_eq!(content.strategy, Strategy::Nothing);
        assert_eq!(content.text_len, 0);
        assert_eq!(content.html, "");
    }
}
