//! Through the whole extraction: what pages say by attributes reaches the Markdown.

use trawl_extract::{Source, extract_page};
use url::Url;

const FILLER: &str = "<p>The harbour was built over many years, and each of the keepers wrote \
    down what the weather did, how many ships came in and what they carried with them.</p>\
    <p>The books were kept dry in the tower, and so they can still be read today by anyone who \
    takes the trouble of climbing up the two hundred steps to the reading room.</p>";

/// The Markdown of a page of a manual with this inside.
fn markdown(inner: &str) -> String {
    let page = format!(
        "<html><head><title>Harbour</title><meta name='generator' content='Sphinx 7'></head>\
         <body><nav><a href='/'>Home</a></nav><main><h1>Harbour</h1>{FILLER}{inner}{FILLER}</main>\
         </body></html>"
    );
    let url = Url::parse("https://example.org/a/page.html").unwrap();
    let source = Source {
        url: Some(&url),
        ..Source::default()
    };
    extract_page(page.as_bytes(), &source).markdown
}

#[test]
fn line_numbers_of_code_are_left_out_wherever_they_stand() {
    let table = "<div class='highlight'><table><tr><td class='linenos'><pre>1\n2\n3</pre></td>\
                 <td class='code'><pre><code class='language-py'>import tide\n\
                 count = tide.ships('harbour')\nprint(count)</code></pre></td></tr></table></div>";
    let spans = "<pre><code class='language-py'><span class='lineno'>1 </span>import tide\n\
                 <span class='ln'>2 </span>count = tide.ships('harbour')\n\
                 <span class='lineno'>3 </span>print(count)</code></pre>";
    let rows = "<table class='highlight'><tr><td class='blob-num'>1</td><td><pre>import tide</pre>\
                </td></tr></table>";
    let code = "```py\nimport tide\ncount = tide.ships('harbour')\nprint(count)\n```";
    for inner in [table, spans] {
        let found = markdown(inner);
        assert!(found.contains(code), "{found}");
    }
    let found = markdown(rows);
    assert!(
        found.contains("import tide") && !found.contains('1'),
        "{found}"
    );
}

#[test]
fn boxes_of_tasks_are_ticked_or_not() {
    let list = "<ul><li><input type='checkbox' checked> mend the nets on the quay</li>\
                <li><input type=checkbox disabled> light the lamp in the tower</li>\
                <li><label><input type='checkbox' checked=''> wind the clock of the \
                tower</label></li></ul><p><input type='text' value='x'> as the keeper said</p>";
    let found = markdown(list);
    for line in [
        "- [x] mend the nets on the quay",
        "- [ ] light the lamp in the tower",
        "- [x] wind the clock of the tower",
    ] {
        assert!(found.contains(line), "{found}");
    }
}

#[test]
fn a_table_that_arranges_the_page_is_none_and_others_keep_their_sides() {
    let layout = "<table role='presentation'><tr><th>The keeper of the harbour wrote this long \
                  sentence.</th><td>And his wife wrote that one in the book.</td></tr></table>";
    let found = markdown(layout);
    assert!(!found.contains('|'), "{found}");
    let sides = "<table><tr><th align='left'>Ship</th><th style='color: red; text-align: right'>\
                 Tons</th><th align=CENTER>Flag</th></tr><tr><td>Anna of the north</td><td>120</td>\
                 <td>blue and white</td></tr></table>";
    let found = markdown(sides);
    assert!(found.contains("| :--- | ---: | :---: |"), "{found}");
    assert!(!found.contains("style"), "{found}");
}

#[test]
fn links_of_headings_to_themselves_are_left_out() {
    let section = "<h2 id='lamp'>The lamp<a class='headerlink' href='#lamp' \
                   title='Link to this heading'>\u{b6}</a></h2><p>It was lit at dusk and put out \
                   at dawn, every day of the year.</p>\
                   <dl><dt id='oil'>Oil<a class='headerlink' href='#oil'>\u{b6}</a></dt><dd>It came \
                   from the north in barrels of oak.</dd></dl>";
    let found = markdown(section);
    assert!(found.contains("## The lamp\n"), "{found}");
    assert!(!found.contains('\u{b6}'), "{found}");
}
