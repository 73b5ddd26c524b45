//! The tokenizer gives the same tags as an independent one that passes the html5lib suite.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use html5gum::{State, Token as Reference};
use proptest::prelude::*;
use trawl_extract::html::{StartTag, Token, Tokenizer};

#[derive(Debug, PartialEq, Eq)]
enum Tag {
    Start {
        name: String,
        attributes: BTreeMap<String, String>,
        self_closing: bool,
    },
    End(String),
}

fn lower(name: &str) -> String {
    name.to_ascii_lowercase().replace('\0', "\u{fffd}")
}

fn start(tag: &StartTag<'_>) -> Tag {
    let mut attributes = BTreeMap::new();
    for attribute in tag.attributes() {
        attributes
            .entry(lower(attribute.name))
            .or_insert_with(|| attribute.value().into_owned());
    }
    Tag::Start {
        name: lower(tag.name),
        attributes,
        self_closing: tag.self_closing,
    }
}

fn ours(html: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut tokenizer = Tokenizer::new(html);
    let mut before = 0;
    while let Some(token) = tokenizer.next() {
        assert!(
            tokenizer.position() > before || html.is_empty(),
            "every token consumes input"
        );
        before = tokenizer.position();
        match token {
            Token::Start(tag) => tags.push(start(&tag)),
            Token::End(tag) => tags.push(Tag::End(lower(tag.name))),
            Token::Text(text) | Token::RawText(text) => assert!(!text.is_empty()),
        }
    }
    tags
}

/// The states the tree builder would switch to with scripting off.
fn state_after(name: &[u8]) -> Option<State> {
    Some(match name {
        b"title" | b"textarea" => State::RcData,
        b"style" | b"xmp" | b"iframe" | b"noembed" | b"noframes" => State::RawText,
        b"script" => State::ScriptData,
        b"plaintext" => State::PlainText,
        _ => return None,
    })
}

fn theirs(html: &str) -> Vec<Tag> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut tags = Vec::new();
    let mut tokenizer = html5gum::Tokenizer::new(html);
    while let Some(Ok(token)) = tokenizer.next() {
        match token {
            Reference::StartTag(tag) => {
                if let Some(state) = state_after(&tag.name) {
                    tokenizer.set_state(state);
                }
                let attributes = tag
                    .attributes
                    .iter()
                    .map(|(name, value)| (text(name), text(value)))
                    .collect();
                let (name, self_closing) = (text(&tag.name), tag.self_closing);
                tags.push(Tag::Start {
                    name,
                    attributes,
                    self_closing,
                });
            }
            Reference::EndTag(tag) => tags.push(Tag::End(text(&tag.name))),
            _ => {}
        }
    }
    tags
}

const PIECES: &[&str] = &[
    "<",
    ">",
    "/",
    "</",
    "/>",
    "=",
    "\"",
    "'",
    " ",
    "\n",
    "\t",
    "\r\n",
    "\r",
    "\u{c}",
    "\0",
    "!",
    "?",
    "-",
    "--",
    "<!--",
    "-->",
    "--!>",
    "<!-->",
    "<!--->",
    "<!",
    "<?",
    "</>",
    "<!doctype html>",
    "<!DOCTYPE",
    "<![CDATA[",
    "]]>",
    "<a",
    "<A ",
    "<a href=",
    "<a href=\"",
    "<a href='",
    "</a>",
    "</a ",
    "a",
    "href",
    "HREF",
    "href=",
    "x=y",
    "x='y'",
    "x=\"y\"",
    "x=\"1\" x=\"2\"",
    "<div>",
    "<div ",
    "<br/>",
    "<p/ x>",
    "<script>",
    "<script ",
    "</script>",
    "</script",
    "</SCRIPT >",
    "</script/>",
    "script",
    "<style>",
    "</style>",
    "</style",
    "<title>",
    "</title>",
    "</titlex>",
    "<textarea>",
    "</textarea>",
    "<xmp>",
    "</xmp>",
    "<iframe>",
    "</iframe>",
    "<noframes>",
    "</noframes>",
    "<noembed>",
    "</noembed>",
    "<noscript>",
    "</noscript>",
    "<svg>",
    "</svg>",
    "<h1>",
    "text",
    "ü",
    "日本",
    "&amp;",
    "&copy",
    "&copy=",
    "&copy;",
    "&notit;",
    "&#x41;",
    "&#65",
    "&#0;",
    "&#x110000;",
    "&",
    "&#",
    "&#x",
    "&lang=en",
    "&times;",
    "?a=1&b=2",
    "<1",
    "</1>",
    "`",
    "<a=b>",
    "<a/=b>",
    "<a b = c >",
    "<a b= >",
    "<averylongtagnamethatgoeson>",
    "<\u{17f}cript>",
    "<plaintex>",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tag_soup_gives_the_same_tags(html in soup()) {
        prop_assert_eq!(ours(&html), theirs(&html));
    }

    #[test]
    fn arbitrary_markup_characters_give_the_same_tags(html in "[<>/=\"' a-c!?&;#x\\-\\[\\]\0\r\n]{0,60}") {
        prop_assert_eq!(ours(&html), theirs(&html));
    }

    #[test]
    fn scripts_end_at_the_same_place(html in "(<script>)(<!--|-->|<script>|</script>|<script |</script |-|>|a|<|!|/){0,14}<a>") {
        prop_assert_eq!(ours(&html), theirs(&html));
    }

    #[test]
    fn comments_end_at_the_same_place(html in "<!--[->!<a ]{0,12}<a>") {
        prop_assert_eq!(ours(&html), theirs(&html));
    }
}

#[test]
fn plaintext_never_ends() {
    assert_eq!(
        ours("<plaintext></plaintext><a>"),
        theirs("<plaintext></plaintext><a>")
    );
}
