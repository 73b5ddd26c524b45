//! Promises for any input: no panic, no HTML, absolute links, marks that close.

use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag};
use trawl_extract::markdown::{RenderLimits, render};
use url::Url;

use crate::rendered;
use crate::round_trip::options;

/// Pieces that meet in odd ways.
fn piece() -> impl Strategy<Value = String> {
    let tags = prop::sample::select(vec![
        "p",
        "div",
        "b",
        "i",
        "s",
        "em",
        "code",
        "pre",
        "a",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "tr",
        "td",
        "th",
        "caption",
        "thead",
        "blockquote",
        "h1",
        "h3",
        "sup",
        "sub",
        "math",
        "svg",
        "script",
        "style",
        "span",
        "ruby",
        "rt",
        "q",
        "br",
        "hr",
        "img",
        "details",
        "summary",
        "figure",
        "title",
        "textarea",
        "xmp",
        "template",
        "select",
        "base",
    ]);
    let attributes = prop::sample::select(vec![
        "",
        " href=x",
        " href='#fn1'",
        " href='javascript:x'",
        " href='//h/(a'",
        " id=fn1",
        " src='data:x'",
        " src=i.png alt='a]b'",
        " colspan=9",
        " rowspan=3",
        " start=7",
        " class=lineno",
        " class='math inline'",
        " class='language-x'",
        " hidden",
        " type=math/tex",
        " title='t|t'",
        " href='mailto:<script>'",
    ]);
    prop_oneof![
        4 => (tags.clone(), attributes).prop_map(|(tag, attributes)| format!("<{tag}{attributes}>")),
        3 => tags.prop_map(|tag| format!("</{tag}>")),
        3 => "[a-z ]{0,6}",
        2 => "[-*_`~#>|+=.:0-9\\[\\]()!<&;$\\\\ \n\t]{1,6}",
        1 => "\\PC{0,4}",
        1 => Just("&lt;script&gt;".to_owned()),
        1 => Just("&amp;lt;".to_owned()),
    ]
}

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..40).prop_map(|pieces| pieces.concat())
}

fn assert_clean(markdown: &str, html: &str) {
    for event in Parser::new_ext(markdown, options(html)) {
        match event {
            Event::Html(found) | Event::InlineHtml(found) => {
                panic!("HTML {found:?} from {html:?} in\n{markdown}")
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                assert!(
                    Url::parse(&dest_url).is_ok(),
                    "{dest_url:?} from {html:?} in\n{markdown}"
                );
                assert!(!dest_url.starts_with("javascript:"));
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn tag_soup_gives_clean_markdown(html in soup()) {
        assert_clean(&rendered(&html).markdown, &html);
    }

    #[test]
    fn any_text_gives_clean_markdown(html in "\\PC{0,200}") {
        assert_clean(&rendered(&html).markdown, &html);
    }

    #[test]
    fn any_limit_holds(html in soup(), limit in 0_usize..200) {
        let limits = RenderLimits { max_content_bytes: limit };
        let cut = render(&html, None, &limits);
        prop_assert!(cut.markdown.len() <= limit);
        prop_assert!(cut.text.len() <= limit);
        let whole = render(&html, None, &RenderLimits::default());
        prop_assert_eq!(cut.truncated, whole.markdown.len() > limit);
    }

    #[test]
    fn text_reads_as_it_stands(words in "[-*_`~#>|+=.:0-9a-c\\[\\]()!<&;\\\\ ]{1,30}") {
        let escaped = words.replace('&', "&amp;").replace('<', "&lt;");
        let markdown = rendered(&format!("<p>{escaped}</p>")).markdown;
        let mut seen = String::new();
        for event in Parser::new_ext(&markdown, options(&escaped)) {
            if let Event::Text(text) | Event::Code(text) = event {
                seen.push_str(&text);
            }
        }
        let collapsed = words.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(seen, collapsed, "{}", markdown);
    }
}
