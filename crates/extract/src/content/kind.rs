//! What kind of page it is, from cheap signs: structured data, meta tags, the address, class
//! names and how the text is spread.
//!
//! A guess that picks the strategy and is shown to users; never the reason to leave a page empty.

use url::Url;

use super::blocks::Blocks;
use super::hints::pieces;
use super::names;
use super::tree::{ROOT, Tree};

/// The kind of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PageKind {
    /// News, blog posts, essays.
    Article,
    /// Manuals, references, wikis.
    Documentation,
    /// Threads, questions and answers.
    Forum,
    /// One thing for sale.
    Product,
    /// An index of other pages.
    Listing,
    /// What an organisation offers, and everything else.
    Other,
}

#[derive(Default)]
struct Votes([u32; 5]);

impl Votes {
    fn add(&mut self, kind: PageKind, weight: u32) {
        if let Some(votes) = self.0.get_mut(kind as usize) {
            *votes += weight;
        }
    }

    fn winner(&self) -> PageKind {
        use PageKind::{Article, Documentation, Forum, Listing, Product};
        let kinds = [Forum, Documentation, Product, Article, Listing];
        let best = kinds
            .into_iter()
            .rev()
            .max_by_key(|&kind| self.0[kind as usize]);
        best.filter(|&kind| self.0[kind as usize] >= 2)
            .unwrap_or(PageKind::Other)
    }
}

/// Guesses the kind of a page.
pub(crate) fn kind(tree: &Tree<'_>, blocks: &Blocks, address: Option<&Url>) -> PageKind {
    let mut votes = Votes::default();
    structured_data(tree, &mut votes);
    meta_tags(tree, &mut votes);
    if let Some(address) = address {
        by_address(address, &mut votes);
    }
    by_classes(tree, &mut votes);
    by_text(tree, blocks, &mut votes);
    votes.winner()
}

fn by_type(name: &str) -> Option<(PageKind, u32)> {
    Some(match name {
        "NewsArticle"
        | "Article"
        | "BlogPosting"
        | "ReportageNewsArticle"
        | "AnalysisNewsArticle"
        | "OpinionNewsArticle"
        | "LiveBlogPosting"
        | "Recipe" => (PageKind::Article, 3),
        "DiscussionForumPosting" | "QAPage" | "Question" => (PageKind::Forum, 4),
        "Product" | "ProductGroup" | "SoftwareApplication" => (PageKind::Product, 3),
        "TechArticle" | "APIReference" => (PageKind::Documentation, 3),
        "CollectionPage" | "SearchResultsPage" | "ItemList" => (PageKind::Listing, 2),
        _ => return None,
    })
}

fn structured_data(tree: &Tree<'_>, votes: &mut Votes) {
    let mut seen: Vec<&str> = Vec::new();
    for script in tree.json_ld.iter().take(8) {
        for behind in script.split("\"@type\"").skip(1).take(50) {
            let name = behind.split('"').nth(1).unwrap_or_default();
            if let Some((kind, weight)) = by_type(name)
                && !seen.contains(&name)
            {
                seen.push(name);
                votes.add(kind, weight);
            }
        }
    }
}

fn meta_tags(tree: &Tree<'_>, votes: &mut Votes) {
    for tag in tree.head.iter().filter(|tag| tag.name == "meta") {
        let name = tag.attribute("property").or_else(|| tag.attribute("name"));
        let (Some(name), Some(content)) = (name, tag.attribute("content")) else {
            continue;
        };
        let content = content.to_ascii_lowercase();
        match name.to_ascii_lowercase().as_str() {
            "og:type" if content.starts_with("article") => votes.add(PageKind::Article, 2),
            "og:type" if content.contains("product") => votes.add(PageKind::Product, 3),
            "article:published_time" => votes.add(PageKind::Article, 2),
            "product:price:amount" => votes.add(PageKind::Product, 2),
            "generator" => generator(&content, votes),
            _ => {}
        }
    }
}

fn generator(content: &str, votes: &mut Votes) {
    const MANUALS: [&str; 13] = [
        "sphinx",
        "mkdocs",
        "docusaurus",
        "mdbook",
        "doxygen",
        "gitbook",
        "javadoc",
        "asciidoctor",
        "docbook",
        "rustdoc",
        "mediawiki",
        "vitepress",
        "texi2any",
    ];
    const BOARDS: [&str; 6] = [
        "discourse",
        "phpbb",
        "vbulletin",
        "xenforo",
        "flarum",
        "mybb",
    ];
    if MANUALS.iter().any(|name| content.contains(name)) {
        votes.add(PageKind::Documentation, 4);
    }
    if BOARDS.iter().any(|name| content.contains(name)) {
        votes.add(PageKind::Forum, 4);
    }
}

fn by_address(address: &Url, votes: &mut Votes) {
    let host = address.host_str().unwrap_or_default();
    let label = host.split('.').next().unwrap_or_default();
    match label {
        "docs" | "doc" | "wiki" | "developer" | "devdocs" | "man" => {
            votes.add(PageKind::Documentation, 2);
        }
        "forum" | "forums" | "community" | "discuss" | "bbs" => votes.add(PageKind::Forum, 3),
        "shop" | "store" => votes.add(PageKind::Product, 1),
        _ => {}
    }
    let segments: Vec<&str> = address
        .path_segments()
        .map(Iterator::collect)
        .unwrap_or_default();
    let last = segments
        .iter()
        .rev()
        .find(|segment| !segment.is_empty())
        .copied();
    for segment in segments {
        let is_last = Some(segment) == last;
        match segment {
            "docs" | "doc" | "documentation" | "reference" | "manual" | "handbook" | "wiki"
            | "api" | "man" | "tutorial" | "guide" => votes.add(PageKind::Documentation, 2),
            "forum" | "forums" | "thread" | "threads" | "topic" | "t" | "questions"
            | "viewtopic.php" | "showthread.php" => votes.add(PageKind::Forum, 2),
            "product" | "products" | "dp" | "item" if !is_last => votes.add(PageKind::Product, 2),
            "collections" | "category" | "categories" | "tag" | "tags" | "search" | "browse" => {
                votes.add(PageKind::Listing, 2);
            }
            "blog" | "news" | "article" | "articles" | "story" | "post" | "posts" if !is_last => {
                votes.add(PageKind::Article, 2);
            }
            _ => {}
        }
    }
}

fn by_classes(tree: &Tree<'_>, votes: &mut Votes) {
    let (mut posts, mut articles, mut code) = (0, 0, 0);
    let (mut cart, mut manual, mut product) = (false, false, false);
    for node in &tree.nodes {
        match node.name() {
            "" => continue,
            "article" => articles += 1,
            "pre" => code += 1,
            _ => {}
        }
        if let Some(class) = node.attribute("class") {
            const MANUALS: [&str; 5] = [
                "sphinxsidebar",
                "mw-parser-output",
                "rst-content",
                "theme-doc-markdown",
                "toctree",
            ];
            manual |= MANUALS.iter().any(|name| class.contains(name));
            let mut is_post = false;
            for piece in pieces(&class) {
                is_post |= matches!(piece.as_str(), "post" | "message" | "reply" | "postbody");
                cart |= piece == "cart" || piece == "addtocart";
            }
            posts +=
                usize::from(is_post && matches!(node.name(), "div" | "article" | "li" | "table"));
        }
        product |= node
            .attribute("itemtype")
            .is_some_and(|kind| kind.ends_with("/Product"));
    }
    votes.add(PageKind::Forum, u32::from(posts >= 6 && articles < 4));
    votes.add(PageKind::Listing, u32::from(articles >= 5));
    votes.add(PageKind::Article, u32::from(articles == 1));
    votes.add(
        PageKind::Documentation,
        u32::from(code >= 3) + 2 * u32::from(manual),
    );
    votes.add(PageKind::Product, u32::from(cart) + 2 * u32::from(product));
}

fn by_text(tree: &Tree<'_>, blocks: &Blocks, votes: &mut Votes) {
    let is_prose = |parent: usize| parent == ROOT || !names::is_heading(tree.nodes[parent].name());
    let prose = blocks
        .list
        .iter()
        .filter(|block| {
            block.len() >= 25 && block.linked * 3 < block.len() && is_prose(block.parent)
        })
        .count();
    let linked: usize = blocks.list.iter().map(|block| block.linked).sum();
    votes.add(PageKind::Article, u32::from(prose >= 4));
    votes.add(
        PageKind::Listing,
        2 * u32::from(prose <= 2 && linked * 2 > blocks.words.len()),
    );
}
