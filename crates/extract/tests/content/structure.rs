//! What survives in the HTML, and what must not.

use trawl_extract::content::{ContentLimits, main_content};
use url::Url;

use crate::check;

const FILLER: &str = "<p>The harbour was built over many years, and each of the keepers wrote \
    down what the weather did, how many ships came in and what they carried with them.</p>\
    <p>The books were kept dry in the tower, and so they can still be read today by anyone who \
    takes the trouble of climbing up the two hundred steps to the reading room.</p>";

fn article(inner: &str) -> String {
    format!("<html><body><article><h1>Harbour</h1>{FILLER}{inner}{FILLER}</article></body></html>")
}

#[test]
fn links_and_pictures_are_absolute_against_the_base_element() {
    let page = article(
        "<p>Read more about it in <a href='notes.html'>the notes of the last keeper</a> in print.</p>\
         <figure><img src='/tower.jpg' alt='The tower'><figcaption>The tower in the year of its \
         completion, seen from the sea.</figcaption></figure>",
    )
    .replace("<body>", "<head><base href='/books/'></head><body>");
    check(
        &page,
        &[
            "href=\"https://example.org/books/notes.html\"",
            "src=\"https://example.org/tower.jpg\"",
            "alt=\"The tower\"",
        ],
        &[],
    );
}

#[test]
fn scripts_handlers_styles_and_script_addresses_are_gone() {
    let page = article(
        "<p onclick='evil()' style='color:red'>One must <a href=' java\nscript:evil()'>never click \
         on this</a> or <a href='JAVASCRIPT:evil()'>that link</a> here, the keeper wrote.</p>\
         <script>evil()</script><style>p{}</style><img src='x.jpg' onerror='evil()'>\
         <iframe src='https://evil.example'></iframe><svg onload='evil()'><script>evil()</script></svg>",
    );
    check(
        &page,
        &["never click"],
        &["evil", "onclick", "style", "<iframe", "<svg", "onerror"],
    );
}

#[test]
fn lists_code_quotes_and_formulas_keep_their_markup() {
    let page = article(
        "<ul><li>ropes and sails that had been mended twice</li><li>barrels of tar from the \
         north</li></ul><pre><code class='language-rust'>fn main() {\n    count(ships);\n}</code></pre>\
         <blockquote><p>No ship is ever late, said the keeper, only early for the next tide.</p>\
         </blockquote><p>The height is <math><mi>h</mi><annotation encoding='application/x-tex'>h^2\
         </annotation></math> as anyone can see, and so is <script type='math/tex'>a < b</script> too.</p>",
    );
    check(
        &page,
        &[
            "<li>ropes",
            "class=\"language-rust\"",
            "{\n    count",
            "<blockquote>",
            "<math>",
            "encoding=\"application/x-tex\"",
            "<script type=\"math/tex\">a < b</script>",
        ],
        &[],
    );
}

#[test]
fn a_formula_cannot_smuggle_a_script() {
    let page = article(
        "<p>The formula is <script type='math/tex'><!--</script><img src=x onerror=evil()> as it \
         was written down by the keeper of the harbour.</p>",
    );
    check(&page, &[], &["onerror"]);
    let page = article(
        "<p>The formula is <script type='math/tex'>a <!--<script> b</script> as it was written \
         down by the keeper of the harbour.</p>",
    );
    check(&page, &["a <\\!--<script> b"], &["<!--"]);
}

#[test]
fn footnotes_keep_their_marks_and_targets() {
    let page = article(
        "<p>The tower was finished late<sup id='ref1'><a href='#fn1'>1</a></sup> in the year, when \
         the first storms had already come over the sea.</p>",
    );
    check(
        &page,
        &[
            "<sup id=\"ref1\">",
            "href=\"https://example.org/a/page.html#fn1\"",
        ],
        &[],
    );
}

#[test]
fn hidden_text_is_not_content() {
    let page = article(
        "<p style='display: none'>This sentence is for machines only and nobody ever sees it.</p>\
         <div hidden><p>Neither is this one shown to anybody who comes to read the page.</p></div>",
    );
    check(&page, &["two hundred steps"], &["machines only", "Neither"]);
}

#[test]
fn without_an_address_relative_links_stay_as_they_are() {
    let page = article(
        "<p>Read more about it in <a href='notes.html'>the notes of the last keeper</a>.</p>",
    );
    let content = main_content(&page, None::<&Url>, &ContentLimits::default());
    assert!(content.html.contains("href=\"notes.html\""), "{content:#?}");
}

#[test]
fn a_heading_stays_with_the_text_below_it() {
    let page = article(
        "<section><h2>Keepers</h2><h3>Work</h3><p>They lit the lamp at dusk and put it out at \
         dawn, wrote the log and wound the clock, every day of the year.</p></section>",
    );
    check(&page, &["<h2>Keepers</h2>", "<h3>Work</h3>"], &[]);
}
