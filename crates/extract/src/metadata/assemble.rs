//! From what a page says in many places to one answer for each question, the most trusted first.

use serde_json::{Map, Value};
use url::Url;

use super::date::Date;
use super::scan::{Collected, RawLink, absolute};
use super::schema::{self, SchemaFacts};
use super::text::{author, clean, language_tag, push_unique, split_keywords};
use super::title::{self, Titles};
use super::{AiUsage, Feed, Hints, Metadata, link_header, microdata};
use crate::page::robots::is_crawler;
use crate::page::{MetaRobots, parse_x_robots_tag};
use crate::warning::{Warning, warn_once};

const MAX_AUTHORS: usize = 32;
const MAX_FEEDS: usize = 16;
const FEED_TYPES: [&str; 3] = [
    "application/rss+xml",
    "application/atom+xml",
    "application/feed+json",
];
const OPEN_GRAPH: [&str; 9] = [
    "og:", "article:", "book:", "profile:", "product:", "music:", "video:", "fb:", "place:",
];
const PUBLISHED: [&str; 17] = [
    "article:published_time",
    "datepublished",
    "citation_publication_date",
    "citation_date",
    "citation_online_date",
    "dc.date.issued",
    "dcterms.issued",
    "dc.issued",
    "dcterms.created",
    "parsely-pub-date",
    "sailthru.date",
    "pubdate",
    "publish-date",
    "publish_date",
    "publication_date",
    "dc.date",
    "date",
];
const MODIFIED: [&str; 8] = [
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "dc.date.modified",
    "last-modified",
    "lastmod",
    "revised",
];
const AUTHORS: [&str; 9] = [
    "author",
    "citation_author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "dc.creator.creator",
    "parsely-author",
    "sailthru.author",
    "byl",
];

/// Puts the answers together.
pub(super) fn assemble(mut found: Collected, page: Option<&Url>, hints: &Hints<'_>) -> Metadata {
    let mut metadata = Metadata::default();
    let base = base(&found, page, &mut metadata.warnings);
    let base = base.as_ref();
    let links = with_header_links(std::mem::take(&mut found.links), hints);
    read_links(&links, base, page, &mut metadata);

    let mut nodes = std::mem::take(&mut found.json_ld.values);
    let own = nodes.len();
    nodes.extend(found.microdata.iter().map(microdata::as_node));
    let facts = schema::facts(&nodes, metadata.canonical_url.as_ref().or(page));
    nodes.truncate(own);
    metadata.json_ld = nodes;

    read_titles(&found, &facts, &mut metadata);
    read_people_and_dates(&found, &facts, hints, &mut metadata);
    read_rest(&found, facts, base, hints, &mut metadata);
    (metadata.robots, metadata.ai_usage) = wishes(&found, hints);
    metadata.open_graph = properties(&found, |name| {
        OPEN_GRAPH.iter().any(|p| name.starts_with(p))
    });
    metadata.twitter = properties(&found, |name| name.starts_with("twitter:"));
    metadata.microdata = found.microdata;
    if found.json_ld.malformed {
        warn_once(&mut metadata.warnings, Warning::JsonLdMalformed);
    }
    if found.json_ld.too_large {
        warn_once(&mut metadata.warnings, Warning::JsonLdTooLarge);
    }
    metadata
}

fn base(found: &Collected, page: Option<&Url>, warnings: &mut Vec<Warning>) -> Option<Url> {
    let Some(declared) = &found.base else {
        return page.cloned();
    };
    let base = absolute(page, declared);
    if base.is_none() {
        warn_once(warnings, Warning::BaseIgnored);
    }
    base.or_else(|| page.cloned())
}

fn with_header_links(mut links: Vec<RawLink>, hints: &Hints<'_>) -> Vec<RawLink> {
    for link in hints
        .link
        .iter()
        .take(16)
        .flat_map(|value| link_header::parse(value))
    {
        links.push(RawLink {
            rel: link.rel.to_ascii_lowercase(),
            href: link.href.to_owned(),
            media_type: link.media_type.to_owned(),
            title: link.title.to_owned(),
        });
    }
    links
}

fn read_links(links: &[RawLink], base: Option<&Url>, page: Option<&Url>, metadata: &mut Metadata) {
    let first = |rel: &str| {
        let mut of_rel = links.iter().filter(|link| link.has_rel(rel));
        of_rel.find_map(|link| absolute(base, &link.href))
    };
    metadata.canonical_url = first("canonical");
    metadata.license = first("license").map(String::from);
    metadata.favicon = first("icon")
        .or_else(|| first("apple-touch-icon"))
        .or_else(|| page?.join("/favicon.ico").ok());
    for link in links.iter().filter(|link| link.has_rel("alternate")) {
        let essence = link.media_type.split(';').next().unwrap_or_default().trim();
        let known = FEED_TYPES
            .iter()
            .find(|kind| essence.eq_ignore_ascii_case(kind));
        if let Some(kind) = known
            && let Some(url) = absolute(base, &link.href)
            && metadata.feeds.len() < MAX_FEEDS
            && metadata.feeds.iter().all(|feed| feed.url != url)
        {
            let (title, media_type) = (clean(&link.title), (*kind).to_owned());
            metadata.feeds.push(Feed {
                url,
                title,
                media_type,
            });
        }
    }
}

fn read_titles(found: &Collected, facts: &SchemaFacts, metadata: &mut Metadata) {
    let declared = [
        found.meta(&["og:title"]),
        facts.title.as_deref(),
        found.meta(&[
            "twitter:title",
            "dc.title",
            "dcterms.title",
            "citation_title",
        ]),
    ];
    let titles = Titles {
        declared: declared.into_iter().flatten().collect(),
        tag: found.title.as_deref(),
        heading: found.heading.as_deref(),
    };
    let site = found.meta(&[
        "og:site_name",
        "application-name",
        "apple-mobile-web-app-title",
    ]);
    metadata.site_name = site
        .map(str::to_owned)
        .or_else(|| facts.site_name.clone())
        .or_else(|| title::site_beside(&titles));
    metadata.title = title::choose(&titles, metadata.site_name.as_deref());
    metadata.title_tag.clone_from(&found.title);
}

fn read_people_and_dates(
    found: &Collected,
    facts: &SchemaFacts,
    hints: &Hints<'_>,
    metadata: &mut Metadata,
) {
    for name in AUTHORS
        .iter()
        .flat_map(|name| found.all(name))
        .filter_map(author)
    {
        push_unique(&mut metadata.authors, name, MAX_AUTHORS);
    }
    // Structured data tells several authors apart, a meta element runs them together.
    if !facts.authors.is_empty() && metadata.authors.len() <= facts.authors.len() {
        metadata.authors.clone_from(&facts.authors);
    }
    if metadata.authors.is_empty() {
        metadata.authors = found
            .author_links
            .iter()
            .filter_map(|name| author(name))
            .collect();
    }
    metadata.author = metadata.authors.first().cloned();

    let date = |names: &[&str]| {
        names
            .iter()
            .flat_map(|name| found.all(name))
            .find_map(Date::parse)
    };
    let marked = |marks: &[&str]| {
        let of_mark = |text: &str| marks.iter().any(|mark| text.contains(mark));
        let mut times = found.times.iter().filter(|time| of_mark(&time.marks));
        times.find_map(|time| Date::parse(&time.datetime))
    };
    metadata.publish_date = date(&PUBLISHED[..1])
        .or(facts.published)
        .or_else(|| date(&PUBLISHED))
        .or_else(|| marked(&["pubdate", "published", "datepublished", "entry-date"]))
        .or_else(|| only_article_time(found));
    metadata.modified_date = date(&MODIFIED[..1])
        .or(facts.modified)
        .or_else(|| date(&MODIFIED))
        .or_else(|| marked(&["updated", "datemodified", "modified"]));
    metadata.last_modified = hints.last_modified.and_then(Date::parse);
}

/// The first date in the page's only article; comments and teasers are articles of their own.
fn only_article_time(found: &Collected) -> Option<Date> {
    let mut times = found.times.iter().filter(|time| time.in_article);
    let first = times.next().filter(|_| found.articles == 1)?;
    Date::parse(&first.datetime)
}

fn read_rest(
    found: &Collected,
    facts: SchemaFacts,
    base: Option<&Url>,
    hints: &Hints<'_>,
    metadata: &mut Metadata,
) {
    let descriptions = ["description", "og:description"];
    metadata.description = found
        .meta(&descriptions)
        .map(str::to_owned)
        .or(facts.description)
        .or_else(|| {
            found
                .meta(&["twitter:description", "dc.description"])
                .map(str::to_owned)
        });
    for name in [
        "keywords",
        "news_keywords",
        "parsely-tags",
        "citation_keywords",
        "dc.subject",
    ] {
        let lists = found.all(name);
        lists.for_each(|list| split_keywords(list, &mut metadata.keywords));
    }
    for tag in found
        .all("article:tag")
        .map(str::to_owned)
        .chain(facts.keywords)
    {
        push_unique(&mut metadata.keywords, tag, super::text::MAX_KEYWORDS);
    }
    let images = [
        "og:image:secure_url",
        "og:image",
        "og:image:url",
        "twitter:image",
        "twitter:image:src",
    ];
    let image = found.meta(&images).map(str::to_owned).or(facts.image);
    metadata.og_image = image.and_then(|image| absolute(base, &image));
    metadata.page_type = found.meta(&["og:type"]).map(str::to_owned);
    metadata.generator = found.meta(&["generator"]).map(str::to_owned);
    let languages = [
        found.lang.as_deref(),
        found.meta(&[
            "content-language",
            "language",
            "dc.language",
            "dcterms.language",
        ]),
        facts.language.as_deref(),
        found.meta(&["og:locale"]),
        hints.content_language,
    ];
    metadata.language = languages.into_iter().flatten().find_map(language_tag);
    let stated = [
        "dcterms.license",
        "dc.rights.license",
        "license",
        "licence",
        "dc.rights",
        "dcterms.rights",
    ];
    let license = metadata.license.take().or(facts.license);
    metadata.license = license.or_else(|| found.meta(&stated).map(str::to_owned));
}

fn wishes(found: &Collected, hints: &Hints<'_>) -> (MetaRobots, AiUsage) {
    let (mut robots, mut usage) = (MetaRobots::default(), AiUsage::default());
    for (name, value) in &found.metas {
        match name.as_str() {
            "tdm-reservation" => usage.add_reservation(value),
            "tdm-policy" => usage.tdm_policy = usage.tdm_policy.or_else(|| clean(value)),
            "content-signal" | "content-usage" => usage.add_signals(value),
            name if is_crawler(name, hints.crawler) => robots.add(value),
            _ => {}
        }
    }
    for value in hints.x_robots_tag.iter().take(32) {
        robots.merge(parse_x_robots_tag(value, hints.crawler));
    }
    for line in hints.content_signal.iter().take(32) {
        usage.add_signals(line);
    }
    if let Some(value) = hints.tdm_reservation {
        usage.add_reservation(value);
    }
    usage.tdm_policy = usage.tdm_policy.or_else(|| clean(hints.tdm_policy?));
    usage.noai = robots.noai;
    usage.noimageai = robots.noimageai;
    (robots, usage)
}

/// Properties by name; one that is repeated is a list.
fn properties(found: &Collected, wanted: impl Fn(&str) -> bool) -> Map<String, Value> {
    let mut map = Map::new();
    for (name, value) in found.metas.iter().filter(|(name, _)| wanted(name)) {
        let value = Value::from(value.as_str());
        match map.get_mut(name) {
            None => {
                map.insert(name.clone(), value);
            }
            Some(Value::Array(list)) => list.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    map
}
