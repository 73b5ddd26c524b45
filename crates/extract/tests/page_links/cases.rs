//! Small documents and the addresses of their links.

/// What the case is about, the document, the addresses of its links.
pub(crate) type Case = (&'static str, &'static str, &'static [&'static str]);

pub(crate) const CASES: &[Case] = &[
    // Plain links
    ("double quotes", r#"<a href="/a">x</a>"#, &["/a"]),
    ("single quotes", "<a href='/a'>x</a>", &["/a"]),
    ("no quotes", "<a href=/a>x</a>", &["/a"]),
    (
        "unquoted with trailing slash",
        "<a href=/a/>x</a>",
        &["/a/"],
    ),
    (
        "unquoted up to whitespace",
        "<a href=/a class=b>x</a>",
        &["/a"],
    ),
    (
        "quotes inside an unquoted value",
        "<a href=a\"b'c>x</a>",
        &["a\"b'c"],
    ),
    ("upper case", r#"<A HREF="/A">x</A>"#, &["/A"]),
    ("spaces around equals", "<a href = \n '/a' >x</a>", &["/a"]),
    (
        "no space between attributes",
        r#"<a class="b"href="/a">x</a>"#,
        &["/a"],
    ),
    (
        "slashes between attributes",
        r#"<a/href="/a"/>x</a>"#,
        &["/a"],
    ),
    (
        "first of two hrefs counts",
        r#"<a href="/1" href="/2">x</a>"#,
        &["/1"],
    ),
    (
        "tag over several lines",
        "<a\n\thref='/a'\r\n\tclass='b'\n>x</a>",
        &["/a"],
    ),
    ("no end tag", "<a href=/a>x<p><a href=/b>y", &["/a", "/b"]),
    (
        "nested anchors",
        "<a href=/a>x<a href=/b>y</a></a>",
        &["/a", "/b"],
    ),
    (
        "document order",
        "<a href=c>1</a><a href=a>2</a><a href=b>3</a>",
        &["c", "a", "b"],
    ),
    ("no href", "<a name=x>x</a><a>y</a>", &[]),
    (
        "another attribute's name ends in href",
        "<a data-href=/no ahref=/no>x</a>",
        &[],
    ),
    (
        "another element's name starts with a",
        "<abbr href=/no>x</abbr><address href=/no>",
        &[],
    ),
    (
        "greater-than in a quoted value",
        r#"<a title="a > b" href="/a">x</a>"#,
        &["/a"],
    ),
    (
        "tag in an attribute",
        r#"<a title="<a href=/no>" href="/a">x</a>"#,
        &["/a"],
    ),
    ("area", r#"<map><area href="/a" alt="x"></map>"#, &["/a"]),
    ("frame", r#"<frameset><frame src="/f"></frameset>"#, &["/f"]),
    // What is not a link
    (
        "download",
        "<a href=/f.zip download>x</a><a DOWNLOAD='n' href=/g>y</a>",
        &[],
    ),
    ("download area", "<area href=/f download>", &[]),
    ("javascript", r#"<a href="javascript:void(0)">x</a>"#, &[]),
    (
        "javascript in disguise",
        "<a href=\" \u{1}Java\nScript:x()\">x</a>",
        &[],
    ),
    (
        "javascript by entities",
        "<a href='&#106;avascript&colon;x()'>x</a>",
        &[],
    ),
    (
        "mail and telephone",
        "<a href=mailto:a@b.c>x</a><a href='TEL:1'>y</a>",
        &[],
    ),
    ("data", "<a href='data:text/html,<a href=/no>'>x</a>", &[]),
    (
        "other schemes",
        "<a href=ftp://h/>a</a><a href=file:///x>b</a><a href=blob:x>c</a>",
        &[],
    ),
    (
        "within the page",
        "<a href='#top'>x</a><a href=''>y</a><a href=' '>z</a>",
        &[],
    ),
    (
        "resources",
        "<link rel=stylesheet href=/s><script src=/j></script><img src=/i>",
        &[],
    ),
    (
        "iframe and its content",
        "<iframe src=/no><a href=/no></a></iframe>",
        &[],
    ),
    (
        "forms",
        "<form action=/no><button formaction=/no>x</button></form>",
        &[],
    ),
    // Addresses
    (
        "surrounding whitespace",
        "<a href=' \n/a\t '>x</a>",
        &["/a"],
    ),
    (
        "newlines and tabs inside",
        "<a href='/a\n/b\tc'>x</a>",
        &["/a/bc"],
    ),
    ("inner space is kept", "<a href='/a b'>x</a>", &["/a b"]),
    (
        "ampersand entity",
        r#"<a href="?a=1&amp;b=2">x</a>"#,
        &["?a=1&b=2"],
    ),
    (
        "plain ampersand",
        r#"<a href="?a=1&b=2">x</a>"#,
        &["?a=1&b=2"],
    ),
    (
        "ambiguous ampersand",
        r#"<a href="?a=1&copy=2&lang=en">x</a>"#,
        &["?a=1&copy=2&lang=en"],
    ),
    (
        "entity without semicolon at the end",
        r#"<a href="/x&copy">x</a>"#,
        &["/x©"],
    ),
    (
        "numeric entities",
        "<a href='&#47;a&#x2F;b'>x</a>",
        &["/a/b"],
    ),
    (
        "entity in an unquoted value",
        "<a href=?a&amp;b>x</a>",
        &["?a&b"],
    ),
    ("non-ASCII", "<a href='/ü/日本'>x</a>", &["/ü/日本"]),
    ("NUL", "<a href='/a\0b'>x</a>", &["/a\u{fffd}b"]),
    (
        "scheme in any case",
        "<a href='HTTPS://EXAMPLE.org/'>x</a>",
        &["HTTPS://EXAMPLE.org/"],
    ),
    (
        "colon in a query",
        "<a href='?u=mailto:x'>x</a>",
        &["?u=mailto:x"],
    ),
    (
        "repeated address",
        "<a href=/a>1</a><a href=/b>2</a><a href=/a>3</a>",
        &["/a", "/b"],
    ),
    (
        "same page by fragment",
        "<a href=/a#1>1</a><a href=/a#2>2</a>",
        &["/a#1"],
    ),
    // Where there is no markup
    (
        "comment",
        "<!-- <a href=/no>x</a> --><a href=/a>y</a>",
        &["/a"],
    ),
    ("empty comment", "<!--><a href=/a>x</a>", &["/a"]),
    (
        "comment ended with a bang",
        "<!-- x --!><a href=/a>x</a>",
        &["/a"],
    ),
    (
        "comment with dashes",
        "<!-- a -- b > --><a href=/a>x</a>",
        &["/a"],
    ),
    (
        "comment that never ends",
        "<a href=/a>x</a><!-- <a href=/no>",
        &["/a"],
    ),
    (
        "bogus comments",
        "<!x <a href=/no><?php <a href=/no2>?></ a href=/no><a href=/a>",
        &["/a"],
    ),
    (
        "CDATA is a comment in HTML",
        "<![CDATA[<a href=/no>]]><a href=/a>x</a>",
        &["/a"],
    ),
    (
        "script",
        "<script>'<a href=/no></a>'</script><a href=/a>x</a>",
        &["/a"],
    ),
    (
        "script with an end tag of another kind",
        "<script>'</a></scriptx>'</script ><a href=/a>",
        &["/a"],
    ),
    (
        "escaped script",
        "<script><!-- <script> </script> <a href=/no> --></script><a href=/a>",
        &["/a"],
    ),
    (
        "style",
        "<style>a:after{content:'<a href=/no>'}</style><a href=/a>x</a>",
        &["/a"],
    ),
    (
        "textarea and title",
        "<title><a href=/no></title><textarea><a href=/no></TEXTAREA><a href=/a>",
        &["/a"],
    ),
    (
        "xmp and noembed",
        "<xmp><a href=/no></xmp><noembed><a href=/no></noembed><a href=/a>",
        &["/a"],
    ),
    (
        "script that never ends",
        "<a href=/a>x</a><script><a href=/no>",
        &["/a"],
    ),
    (
        "plaintext",
        "<a href=/a>x</a><plaintext><a href=/no></plaintext>",
        &["/a"],
    ),
    (
        "template",
        "<template><a href=/no><template></template><a href=/no></template><a href=/a>",
        &["/a"],
    ),
    (
        "declarative shadow root",
        "<template shadowrootmode=open><a href=/a></a></template><a href=/b>",
        &["/a", "/b"],
    ),
    (
        "noscript is markup",
        "<noscript><a href=/a>x</a></noscript>",
        &["/a"],
    ),
    // Broken markup
    (
        "unterminated quote",
        "<a href=/a>x</a><a href=\"/no>y</a><b>",
        &["/a"],
    ),
    (
        "quote closed by a later one",
        "<a href=\"/a>x</a><a class=\"b\" href=/c>",
        &["/a>x</a><a class="],
    ),
    (
        "tag cut at the end",
        "<a href=/a>x</a><a href='/no'",
        &["/a"],
    ),
    ("tag in a tag", "<a <b href=/a>x</a>", &["/a"]),
    (
        "lonely less-than signs",
        "1 < 2 <<a href=/a>x</a> <",
        &["/a"],
    ),
    (
        "equals before the name",
        "<a =href=/no href=/a>x</a>",
        &["/a"],
    ),
    ("empty end tag", "</><a href=/a>x</a>", &["/a"]),
    (
        "end tag with attributes",
        "</p class='>'><a href=/a>x</a>",
        &["/a"],
    ),
    // SVG and MathML
    (
        "svg link",
        "<svg><a xlink:href=/a><text>x</text></a></svg>",
        &["/a"],
    ),
    ("svg link by href", "<svg><a href=/a /></svg>", &["/a"]),
    ("xlink outside svg", "<a xlink:href=/no>x</a>", &[]),
    (
        "style in svg is markup",
        "<svg><style><a href=/a></style></svg>",
        &["/a"],
    ),
    (
        "self-closing script in svg",
        "<svg><script/><a href=/a></svg>",
        &["/a"],
    ),
    (
        "CDATA in svg",
        "<svg><![CDATA[<a href=/no>]]></svg><a href=/a>",
        &["/a"],
    ),
    (
        "HTML ends svg",
        "<svg><p><style><a href=/no></style><a href=/a>",
        &["/a"],
    ),
    (
        "foreign object",
        "<svg><foreignObject><style><a href=/no></style></foreignObject><a href=/a></svg>",
        &["/a"],
    ),
    ("math", "<math><mi><a href=/a>x</a></mi></math>", &["/a"]),
    // Other sources of links
    ("canonical", r#"<link rel="canonical" href="/c">"#, &["/c"]),
    (
        "canonical among other link types",
        "<link href=/c REL='Foo Canonical'>",
        &["/c"],
    ),
    (
        "meta refresh",
        r#"<meta http-equiv="Refresh" content="0; URL='/r'">"#,
        &["/r"],
    ),
    (
        "meta refresh to a script",
        "<meta http-equiv=refresh content='0;url=javascript:x'>",
        &[],
    ),
    (
        "fragment with a base",
        "<base href=/other><a href='#x'>x</a>",
        &["#x"],
    ),
];
