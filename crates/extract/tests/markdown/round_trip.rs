//! The Markdown of every case, read by a CommonMark parser: what was written is what is read.

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::{cases, rendered};

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    headings: usize,
    links: usize,
    images: usize,
    code_blocks: usize,
    inline_code: usize,
    tables: usize,
    cells: usize,
    items: usize,
    rules: usize,
    strong: usize,
    emphasis: usize,
    deleted: usize,
    notes: usize,
    formulas: usize,
    html: usize,
}

/// What the parser has to know to read the Markdown of a page: only pages with formulas escape
/// dollar signs, which a sign put before the page tells.
pub(crate) fn options(html: &str) -> Options {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM;
    let probe = rendered(&format!("<p>$</p>{html}")).markdown;
    if probe.starts_with("\\$") {
        options | Options::ENABLE_MATH
    } else {
        options
    }
}

fn counts(markdown: &str, options: Options) -> Counts {
    let mut counts = Counts::default();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(tag) => count_tag(&mut counts, &tag),
            Event::Code(_) => counts.inline_code += 1,
            Event::Rule => counts.rules += 1,
            Event::InlineMath(_) | Event::DisplayMath(_) => counts.formulas += 1,
            Event::Html(_) | Event::InlineHtml(_) => counts.html += 1,
            _ => {}
        }
    }
    counts
}

fn count_tag(counts: &mut Counts, tag: &Tag<'_>) {
    match tag {
        Tag::Heading { .. } => counts.headings += 1,
        Tag::Link { .. } => counts.links += 1,
        Tag::Image { .. } => counts.images += 1,
        Tag::CodeBlock(_) => counts.code_blocks += 1,
        Tag::Table(_) => counts.tables += 1,
        Tag::TableCell => counts.cells += 1,
        Tag::Item => counts.items += 1,
        Tag::Strong => counts.strong += 1,
        Tag::Emphasis => counts.emphasis += 1,
        Tag::Strikethrough => counts.deleted += 1,
        Tag::FootnoteDefinition(_) => counts.notes += 1,
        _ => {}
    }
}

/// The text a reader of the rendered Markdown sees, without any whitespace or punctuation.
fn visible(markdown: &str, options: Options) -> String {
    let mut text = String::new();
    for event in Parser::new_ext(markdown, options) {
        if let Event::Text(piece)
        | Event::Code(piece)
        | Event::InlineMath(piece)
        | Event::DisplayMath(piece) = event
        {
            text.push_str(&piece);
        }
    }
    text.chars().filter(|c| c.is_alphabetic()).collect()
}

#[test]
fn a_parser_finds_what_the_html_had() {
    for (html, expected) in [
        (
            "<h1>a</h1><h2>b <a href=/c>c</a></h2><p><b>d</b> <i>e</i> <del>f</del> <code>g</code></p><hr>",
            Counts {
                headings: 2,
                links: 1,
                strong: 1,
                emphasis: 1,
                deleted: 1,
                inline_code: 1,
                rules: 1,
                ..Counts::default()
            },
        ),
        (
            "<ul><li>a<ol><li>b<li>c</ol><li><pre>d</pre></ul><table><tr><th>a<th>b<tr><td>c|d<td><code>|</code></table>",
            Counts {
                items: 4,
                code_blocks: 1,
                tables: 1,
                cells: 4,
                inline_code: 1,
                ..Counts::default()
            },
        ),
        (
            "<p>a<sup><a href=#fn1>1</a></sup> <img src=/i alt='x]('></p><ol><li id=fn1>n</ol><p><script type=math/tex>x</script>",
            Counts {
                notes: 1,
                images: 1,
                formulas: 1,
                ..Counts::default()
            },
        ),
        (
            "<p>*a* _b_ `c` [d](e) &lt;f&gt; ~~g~~ <p># h<p>1. i<p>- j<p>---<p>a<br>---<p>a | b<br>--- | ---",
            Counts::default(),
        ),
    ] {
        let markdown = rendered(html).markdown;
        assert_eq!(
            counts(&markdown, options(html)),
            expected,
            "{html}\n{markdown}"
        );
    }
}

#[test]
fn no_case_gives_html() {
    for case in cases::all() {
        let markdown = rendered(case.html).markdown;
        assert_eq!(
            counts(&markdown, options(case.html)).html,
            0,
            "{}:\n{markdown}",
            case.name
        );
    }
}

#[test]
fn the_letters_of_every_case_survive_the_round_trip() {
    for case in cases::all() {
        let rendered = rendered(case.html);
        // The box of a task is an event of its own to the parser.
        let text = rendered.text.replace("- [x] ", "");
        let plain: String = text.chars().filter(|c| c.is_alphabetic()).collect();
        assert_eq!(
            visible(&rendered.markdown, options(case.html)),
            plain,
            "{}",
            case.name
        );
    }
}

#[test]
fn rendering_the_parsed_markdown_again_changes_nothing() {
    for case in cases::all() {
        let first = rendered(case.html).markdown;
        let options = options(case.html);
        let mut html = String::new();
        pulldown_cmark::html::push_html(&mut html, Parser::new_ext(&first, options));
        let second = counts(&rendered(&html).markdown, options);
        let mut first = counts(&first, options);
        // The parser's HTML has its own idea of notes and formulas.
        if first.notes > 0 || first.formulas > 0 {
            continue;
        }
        first.html = 0;
        assert_eq!(second, first, "{}", case.name);
    }
}
