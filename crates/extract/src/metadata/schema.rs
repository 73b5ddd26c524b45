//! What schema.org items, from JSON-LD or microdata, say about the page they stand on.
//!
//! A listing carries an item for each of its entries; their dates and authors are not the page's.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;

use super::date::Date;
use super::text::{clean, push_unique};

type Node = Map<String, Value>;

const MAX_NODES: usize = 2000;
const MAX_NAMES: usize = 32;

/// What the items say; empty where they say nothing or do not agree on what the page is.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SchemaFacts {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) authors: Vec<String>,
    pub(super) published: Option<Date>,
    pub(super) modified: Option<Date>,
    pub(super) keywords: Vec<String>,
    pub(super) image: Option<String>,
    pub(super) site_name: Option<String>,
    pub(super) language: Option<String>,
    pub(super) license: Option<String>,
}

/// How much an item of a type says about the page it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Page,
    Thing,
    Article,
}

const ARTICLES: [&str; 6] = [
    "BlogPosting",
    "LiveBlogPosting",
    "SocialMediaPosting",
    "DiscussionForumPosting",
    "Report",
    "Review",
];
const THINGS: [&str; 16] = [
    "Recipe",
    "VideoObject",
    "PodcastEpisode",
    "Book",
    "Dataset",
    "Product",
    "Event",
    "HowTo",
    "Course",
    "SoftwareApplication",
    "SoftwareSourceCode",
    "CreativeWork",
    "Movie",
    "JobPosting",
    "Question",
    "MediaObject",
];

/// The items' facts about the page at `page`.
pub(super) fn facts(values: &[Value], page: Option<&Url>) -> SchemaFacts {
    let nodes = page_nodes(values);
    let by_id: BTreeMap<&str, &Node> = nodes
        .iter()
        .filter_map(|node| Some((node.get("@id")?.as_str()?, *node)))
        .collect();
    let reader = Reader { by_id };
    let mut facts = SchemaFacts::default();
    for rank in [Rank::Article, Rank::Thing, Rank::Page] {
        if let Some(node) = the_one(&nodes, rank, page) {
            reader.add(node, &mut facts);
        }
    }
    if facts.site_name.is_none() {
        let site = nodes
            .iter()
            .find(|node| has_type(node, |name| name == "WebSite"));
        facts.site_name = site.and_then(|site| text(site.get("name")));
    }
    facts
}

/// Items at the top, in a `@graph`, or named as the main entity: not those in lists within.
fn page_nodes(values: &[Value]) -> Vec<&Node> {
    let mut nodes = Vec::new();
    let mut waiting: Vec<&Value> = values.iter().rev().collect();
    while let Some(value) = waiting.pop() {
        if nodes.len() >= MAX_NODES {
            break;
        }
        match value {
            Value::Object(node) => {
                nodes.push(node);
                waiting.extend(node.get("mainEntity").filter(|entity| entity.is_object()));
                waiting.extend(node.get("@graph"));
            }
            Value::Array(list) => waiting.extend(list.iter().rev()),
            _ => {}
        }
    }
    nodes
}

fn has_type(node: &Node, wanted: impl Fn(&str) -> bool) -> bool {
    let local = |name: &str| wanted(name.rsplit(['/', '#', ':']).next().unwrap_or_default());
    match node.get("@type") {
        Some(Value::String(name)) => local(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(local),
        _ => false,
    }
}

fn rank(node: &Node) -> Option<Rank> {
    if has_type(node, |name| {
        name.ends_with("Article") || ARTICLES.contains(&name)
    }) {
        Some(Rank::Article)
    } else if has_type(node, |name| THINGS.contains(&name)) {
        Some(Rank::Thing)
    } else if has_type(node, |name| name.ends_with("Page")) {
        Some(Rank::Page)
    } else {
        None
    }
}

/// The only item of a rank, or the one that names the page as its own.
fn the_one<'a>(nodes: &[&'a Node], wanted: Rank, page: Option<&Url>) -> Option<&'a Node> {
    let of_rank = || {
        nodes
            .iter()
            .copied()
            .filter(|node| rank(node) == Some(wanted))
    };
    let first = of_rank().next()?;
    if of_rank().nth(1).is_none() {
        return Some(first);
    }
    of_rank().find(|node| page.is_some_and(|page| names_page(node, page)))
}

fn names_page(node: &Node, page: &Url) -> bool {
    let without_fragment = |text: &str| text.split('#').next().unwrap_or_default().to_owned();
    let wanted = without_fragment(page.as_str());
    ["url", "mainEntityOfPage", "@id"].iter().any(|key| {
        let value = match node.get(*key) {
            Some(Value::Object(inner)) => inner.get("@id").or_else(|| inner.get("url")),
            value => value,
        };
        value.and_then(Value::as_str).is_some_and(|address| {
            page.join(address)
                .is_ok_and(|url| without_fragment(url.as_str()) == wanted)
        })
    })
}

struct Reader<'a> {
    by_id: BTreeMap<&'a str, &'a Node>,
}

impl Reader<'_> {
    /// Fills what is still empty.
    fn add(&self, node: &Node, facts: &mut SchemaFacts) {
        let get = |names: &[&str]| names.iter().find_map(|name| node.get(*name));
        let date = |names: &[&str]| Date::parse(&text(get(names))?);
        or_else(&mut facts.title, || {
            text(get(&["headline", "name", "title"]))
        });
        or_else(&mut facts.description, || {
            text(get(&["description", "abstract"]))
        });
        or_else(&mut facts.published, || {
            date(&["datePublished", "uploadDate", "dateCreated"])
        });
        or_else(&mut facts.modified, || date(&["dateModified"]));
        or_else(&mut facts.image, || {
            self.address(get(&["image", "thumbnailUrl"])?)
        });
        or_else(&mut facts.license, || self.address(node.get("license")?));
        or_else(&mut facts.language, || text(get(&["inLanguage"])));
        or_else(&mut facts.site_name, || {
            let publisher = get(&["publisher", "isPartOf", "sourceOrganization"])?;
            self.names(publisher).into_iter().next()
        });
        if facts.authors.is_empty()
            && let Some(authors) = get(&["author", "creator"])
        {
            facts.authors = self.names(authors);
        }
        if facts.keywords.is_empty()
            && let Some(keywords) = node.get("keywords")
        {
            facts.keywords = self.keywords(keywords);
        }
    }

    /// The item itself, or the one it refers to.
    fn resolved<'v>(&'v self, node: &'v Node) -> &'v Node {
        let id = node.get("@id").and_then(Value::as_str);
        match id.and_then(|id| self.by_id.get(id)) {
            Some(whole) if node.len() == 1 => whole,
            _ => node,
        }
    }

    /// Names of persons or organisations.
    fn names(&self, value: &Value) -> Vec<String> {
        let mut names = Vec::new();
        for value in each(value) {
            let name = match value {
                Value::Object(node) => text(self.resolved(node).get("name")),
                value => text(Some(value)),
            };
            if let Some(name) = name.filter(|name| !super::text::is_address(name)) {
                push_unique(&mut names, name, MAX_NAMES);
            }
        }
        names
    }

    fn address(&self, value: &Value) -> Option<String> {
        each(value).find_map(|value| match value {
            Value::Object(node) => {
                let node = self.resolved(node);
                let keys = ["url", "contentUrl", "@id", "name"];
                keys.iter().find_map(|key| text(node.get(*key)))
            }
            value => text(Some(value)),
        })
    }

    fn keywords(&self, value: &Value) -> Vec<String> {
        let mut keywords = Vec::new();
        for value in each(value) {
            match value {
                Value::String(list) => super::text::split_keywords(list, &mut keywords),
                value => self
                    .names(value)
                    .into_iter()
                    .for_each(|name| push_unique(&mut keywords, name, super::text::MAX_KEYWORDS)),
            }
        }
        keywords
    }
}

/// The elements of a list, or the value itself.
fn each(value: &Value) -> impl Iterator<Item = &Value> {
    let list = value.as_array().map(Vec::as_slice);
    list.unwrap_or(std::slice::from_ref(value))
        .iter()
        .take(MAX_NAMES)
}

fn or_else<T>(slot: &mut Option<T>, value: impl FnOnce() -> Option<T>) {
    if slot.is_none() {
        *slot = value();
    }
}

/// A text, the text of an `@value`, or the first such in a list.
fn text(value: Option<&Value>) -> Option<String> {
    each(value?).find_map(|value| match value {
        Value::String(text) => clean(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(node) => clean(node.get("@value")?.as_str()?),
        _ => None,
    })
}
