//! What pages say about themselves, in all the places they say it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{Value, json};
use trawl_extract::Warning;
use trawl_extract::metadata::{Hints, Metadata, metadata};
use url::Url;

fn read(html: &str) -> Metadata {
    let base = Url::parse("https://example.org/news/rain.html?x=1").unwrap();
    metadata(html, Some(&base), &Hints::default())
}

const NEWS: &str = r#"<!doctype html><html lang="en_gb"><head>
<title>Rain in May | The Daily</title>
<meta name="description" content="It&nbsp;rains &amp; pours.">
<meta property="og:title" content="Rain in May">
<meta property="og:site_name" content="The Daily">
<meta property="og:type" content="article">
<meta property="og:image" content="/i/rain.jpg">
<meta property="article:published_time" content="2026-05-01T08:00:00+02:00">
<meta property="article:modified_time" content="2026-05-02">
<meta property="article:tag" content="rain"><meta property="article:tag" content="May">
<meta name="keywords" content="weather, Rain ,, umbrellas">
<meta name="author" content="By Ann Lee">
<meta name="twitter:card" content="summary">
<meta name="robots" content="noarchive, noai">
<meta name="tdm-reservation" content="1"><meta name="tdm-policy" content="https://example.org/tdm.json">
<link rel="canonical" href="rain">
<link rel="alternate" type="application/rss+xml" title="All news" href="/feed.xml">
<link rel="alternate" type="application/feed+json" href="/feed.json">
<link rel="alternate" hreflang="de" href="/de/">
<link rel="shortcut icon" href="/icon.png">
</head><body><h1>Rain in <b>May</b></h1><p>Text of 5 June 2020.</p>
<a rel="license" href="https://creativecommons.org/licenses/by/4.0/">CC BY</a></body></html>"#;

#[test]
fn a_news_page_gives_all_its_metadata() {
    let page = read(NEWS);
    assert_eq!(page.title.as_deref(), Some("Rain in May"));
    assert_eq!(page.title_tag.as_deref(), Some("Rain in May | The Daily"));
    assert_eq!(page.description.as_deref(), Some("It rains & pours."));
    assert_eq!(page.author.as_deref(), Some("Ann Lee"));
    assert_eq!(
        page.publish_date.unwrap().to_string(),
        "2026-05-01T08:00:00+02:00"
    );
    assert_eq!(page.modified_date.unwrap().to_string(), "2026-05-02");
    assert_eq!(page.keywords, ["weather", "Rain", "umbrellas", "May"]);
    assert_eq!(
        page.canonical_url.unwrap().as_str(),
        "https://example.org/news/rain"
    );
    assert_eq!(
        page.og_image.unwrap().as_str(),
        "https://example.org/i/rain.jpg"
    );
    assert_eq!(page.site_name.as_deref(), Some("The Daily"));
    assert_eq!(page.page_type.as_deref(), Some("article"));
    assert_eq!(page.language.as_deref(), Some("en-GB"));
    assert_eq!(
        page.license.as_deref(),
        Some("https://creativecommons.org/licenses/by/4.0/")
    );
    let feeds: Vec<_> = page
        .feeds
        .iter()
        .map(|feed| (feed.url.path(), feed.title.as_deref()))
        .collect();
    assert_eq!(
        feeds,
        [("/feed.xml", Some("All news")), ("/feed.json", None)]
    );
    assert_eq!(page.favicon.unwrap().path(), "/icon.png");
    assert!(page.robots.noarchive && page.robots.noai);
    assert!(page.ai_usage.noai && page.ai_usage.refuses_training());
    assert_eq!(page.ai_usage.tdm_reservation, Some(true));
    assert_eq!(page.open_graph["og:title"], "Rain in May");
    assert_eq!(page.open_graph["article:tag"], json!(["rain", "May"]));
    assert_eq!(page.twitter["twitter:card"], "summary");
    assert!(page.warnings.is_empty());
}

#[test]
fn an_empty_page_gives_nothing_but_the_usual_icon() {
    let page = read("");
    let expected = Metadata {
        favicon: Url::parse("https://example.org/favicon.ico").ok(),
        ..Metadata::default()
    };
    assert_eq!(page, expected);
    assert_eq!(
        metadata("<p>5 May 2026</p>", None, &Hints::default()),
        Metadata::default()
    );
}

fn with_json_ld(json: &Value) -> Metadata {
    read(&format!(
        "<script type='Application/LD+JSON; x'>{json}</script>"
    ))
}

#[test]
fn a_json_ld_graph_is_walked_and_its_references_followed() {
    let page = with_json_ld(&json!({"@context": "https://schema.org", "@graph": [
        {"@type": "WebSite", "@id": "#site", "name": "The Daily"},
        {"@type": "Person", "@id": "#ann", "name": "Ann &amp; Lee"},
        {"@type": ["NewsArticle"], "headline": "Rain", "author": [{"@id": "#ann"}, {"name": "Bo"}],
         "publisher": {"@id": "#site"}, "datePublished": "2026-05-01", "dateModified": "2026-05-03T10:00Z",
         "image": [{"url": "/r.png"}], "keywords": ["a", "b, c"], "inLanguage": "fr",
         "license": "https://l.example/", "description": "D"},
        {"@type": "WebPage", "name": "not this"},
    ]}));
    assert_eq!(page.title.as_deref(), Some("Rain"));
    assert_eq!(page.authors, ["Ann & Lee", "Bo"]);
    assert_eq!(page.site_name.as_deref(), Some("The Daily"));
    assert_eq!(page.publish_date.unwrap().to_string(), "2026-05-01");
    assert_eq!(
        page.modified_date.unwrap().to_string(),
        "2026-05-03T10:00:00Z"
    );
    assert_eq!(page.keywords, ["a", "b", "c"]);
    assert_eq!(page.og_image.unwrap().path(), "/r.png");
    assert_eq!(
        (page.language.as_deref(), page.license.as_deref()),
        (Some("fr"), Some("https://l.example/"))
    );
    assert_eq!(page.json_ld.len(), 1);
}

#[test]
fn a_listings_entries_do_not_lend_the_page_their_dates() {
    let entry = |url: &str| json!({"@type": "BlogPosting", "url": url, "headline": "H", "datePublished": "2026-05-01", "author": "A"});
    let page = with_json_ld(&json!([entry("/1"), entry("/2")]));
    assert_eq!((page.publish_date, page.author), (None, None));
    assert_eq!(page.json_ld.len(), 2);
    let page = with_json_ld(&json!([entry("/1"), entry("/news/rain.html?x=1#top")]));
    assert!(page.publish_date.is_some(), "one names the page as its own");
    let list = json!({"@type": "ItemList", "itemListElement": [entry("/1")]});
    assert_eq!(with_json_ld(&list).publish_date, None);
}

#[test]
fn broken_json_ld_is_a_warning_and_the_rest_is_read() {
    let page = read(
        "<script type=application/ld+json>{oops</script><title>T</title>\
        <script type=application/ld+json>{\"@type\":\"Article\",\"author\":\"A\",}</script>",
    );
    assert_eq!(page.warnings, [Warning::JsonLdMalformed]);
    assert_eq!(
        (page.title.as_deref(), page.author.as_deref()),
        (Some("T"), Some("A"))
    );
}

#[test]
fn microdata_becomes_json_and_counts_as_structured_data() {
    let page = read(
        r#"<article itemscope itemtype="https://schema.org/BlogPosting">
        <h1 itemprop="headline">Rain <i>now</i></h1><br>
        <p itemprop="author" itemscope itemtype="https://schema.org/Person"><span itemprop=name>Ann</span>
        <p>by the way<time itemprop="datePublished" datetime="2026-05-01">1 May</time>
        <a itemprop="url sameAs" href="/rain">x</a><meta itemprop="wordCount" content="7">
        </article><div itemscope><b itemprop=a></b></div>"#,
    );
    assert_eq!(
        page.microdata,
        [
            json!({"type": ["https://schema.org/BlogPosting"], "properties": {
                "headline": ["Rain now"],
                "author": [{"type": ["https://schema.org/Person"], "properties": {"name": ["Ann"]}}],
                "datePublished": ["2026-05-01"], "url": ["/rain"], "sameAs": ["/rain"], "wordCount": ["7"]}}),
            json!({"type": [], "properties": {}})
        ]
    );
    assert_eq!(page.title.as_deref(), Some("Rain now"));
    assert_eq!(page.authors, ["Ann"]);
    assert_eq!(page.publish_date.unwrap().to_string(), "2026-05-01");
    assert!(page.json_ld.is_empty());
}

#[test]
fn items_take_over_what_they_refer_to() {
    let page = read(
        r#"<p id=name itemprop=name>The <b>lamp</b></p>
        <div itemscope itemtype=https://schema.org/Product itemref="name missing offer extra"></div>
        <div id=offer itemprop=offers itemscope><meta itemprop=price content=7></div>
        <ul id=extra><li itemprop=color>red<li itemprop=color>blue</ul>
        <p itemscope id=loop itemref=loop><i itemprop=a>x</i></p>"#,
    );
    assert_eq!(
        page.microdata,
        [
            json!({"type": ["https://schema.org/Product"], "properties": {
                "name": ["The lamp"],
                "offers": [{"type": [], "properties": {"price": ["7"]}}],
                "color": ["red", "blue"]}}),
            json!({"type": [], "properties": {"price": ["7"]}}),
            json!({"type": [], "properties": {"a": ["x"]}}),
        ]
    );
    let many = format!(
        "<div id=a>{}</div>{}",
        "<p itemprop=x>text</p>".repeat(1900),
        "<div itemscope itemref='a a a a'></div>".repeat(300)
    );
    assert!(serde_json::to_string(&read(&many)).unwrap().len() < 200_000);
}

#[test]
fn a_time_element_counts_where_it_is_marked_or_in_the_only_article() {
    let date = |html: &str| read(html).publish_date.map(|date| date.to_string());
    let may = Some("2026-05-01".to_owned());
    assert_eq!(
        date("<time class='entry-date published' datetime=2026-05-01>x</time>"),
        may
    );
    assert_eq!(
        date("<article><time datetime=2026-05-01>x</time></article>"),
        may
    );
    assert_eq!(date("<time datetime=2026-05-01>x</time>"), None);
    let comments = "<article><time datetime=2026-05-01></time></article>".repeat(2);
    assert_eq!(date(&comments), None);
    let updated = read("<time class=updated datetime='2026-05-01 10:00'>");
    assert_eq!(
        updated.modified_date.unwrap().to_string(),
        "2026-05-01T10:00:00Z"
    );
    assert_eq!(updated.publish_date, None);
}

#[test]
fn headers_add_to_what_the_page_says() {
    let hints = Hints {
        crawler: "trawl/1.0",
        x_robots_tag: vec!["noindex", "other: none"],
        content_signal: vec!["search=yes, ai-train=no"],
        link: vec!["</c>; rel=canonical, </f>; rel=alternate; type=application/atom+xml"],
        content_language: Some("nl, en"),
        last_modified: Some("Fri, 01 May 2026 08:00:00 GMT"),
        tdm_reservation: Some("0"),
        tdm_policy: Some("https://example.org/p"),
    };
    let base = Url::parse("https://example.org/a/b").unwrap();
    let page = metadata(
        "<base href='https://cdn.example/x/'><meta name=trawl content=nofollow>",
        Some(&base),
        &hints,
    );
    assert!(page.robots.noindex && page.robots.nofollow && !page.robots.none);
    assert!(page.ai_usage.refuses_training());
    assert!(page.ai_usage.content_signals["search"]);
    assert_eq!(page.ai_usage.tdm_reservation, Some(false));
    assert_eq!(
        page.ai_usage.tdm_policy.as_deref(),
        Some("https://example.org/p")
    );
    assert_eq!(
        page.canonical_url.unwrap().as_str(),
        "https://cdn.example/c"
    );
    assert_eq!(page.feeds[0].url.path(), "/f");
    assert_eq!(page.language.as_deref(), Some("nl"));
    assert_eq!(page.last_modified.unwrap().unix_seconds(), 1_777_622_400);
    assert_eq!((page.publish_date, page.modified_date), (None, None));
}

#[test]
fn authors_stand_in_many_places() {
    for (html, authors) in [
        (
            "<meta name=citation_author content='Lee, A.'><meta name=citation_author content='Bo, B.'>",
            vec!["Lee, A.", "Bo, B."],
        ),
        ("<meta name=DC.creator content=Ann>", vec!["Ann"]),
        (
            "<meta property=article:author content='https://facebook.com/ann'><a rel=author href=/ann>Ann <b>L</b></a>",
            vec!["Ann L"],
        ),
        (
            "<a rel='nofollow author'>One</a><a rel=author>Two</a>",
            vec!["One", "Two"],
        ),
        ("<meta name=author content=''>", vec![]),
    ] {
        assert_eq!(read(html).authors, authors, "{html}");
    }
}

#[test]
fn what_is_in_a_template_or_svg_is_not_the_pages() {
    let page = read(
        "<template><title>no</title><meta name=author content=no><h1>no</h1></template>\
        <svg><title>no</title></svg><title>yes</title>",
    );
    assert_eq!((page.title.as_deref(), page.author), (Some("yes"), None));
}

#[test]
fn metadata_serialises_with_plain_dates_and_directives() {
    let json = serde_json::to_value(read(NEWS)).unwrap();
    assert_eq!(json["publish_date"], "2026-05-01T08:00:00+02:00");
    assert_eq!(json["canonical_url"], "https://example.org/news/rain");
    assert_eq!(json["robots"], "noarchive, noai");
}

#[test]
fn hostile_pages_give_bounded_metadata() {
    let many = "<meta name=author content=a><meta property=og:x content=y><link rel=icon href=/i>\
        <div itemscope itemprop='a b c d e f g h'><time datetime=2026><h1>x"
        .repeat(20_000);
    let page = read(&many);
    assert!(
        page.authors.len() <= 32 && page.open_graph.len() <= 400 && page.microdata.len() <= 200
    );
    assert!(serde_json::to_string(&page).unwrap().len() < 200_000);
    let long = format!(
        "<title>{0}</title><meta name=description content='{0}'>",
        "word ".repeat(100_000)
    );
    let page = read(&long);
    assert!(page.title.unwrap().len() <= 1000 && page.description.unwrap().len() <= 2000);
    let nested = format!(
        "<script type=application/ld+json>{}</script>",
        "{\"@graph\":[".repeat(20_000)
    );
    assert_eq!(read(&nested).warnings, [Warning::JsonLdMalformed]);
}
