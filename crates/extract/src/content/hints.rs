//! What class, id and role say about a part of a page.
//!
//! Words, never sites: a name is cut at `-`, `_`, spaces and capitals, and its pieces are looked
//! up. Knows nothing of the text inside.

use crate::html::Attributes;

use super::tree::{Node, NodeId, Tree};

const BOILERPLATE: &[&str] = &[
    "nav",
    "navbar",
    "navigation",
    "menu",
    "breadcrumb",
    "breadcrumbs",
    "sidebar",
    "footer",
    "cookie",
    "cookies",
    "consent",
    "gdpr",
    "share",
    "sharing",
    "social",
    "related",
    "recommended",
    "recommendations",
    "newsletter",
    "subscribe",
    "signup",
    "promo",
    "advert",
    "advertisement",
    "ads",
    "sponsored",
    "popup",
    "modal",
    "pagination",
    "pager",
    "toolbar",
    "masthead",
    "skip",
    "outbrain",
    "taboola",
    "paywall",
    "trending",
    "disqus",
    "banner",
];

const COMMENTS: &[&str] = &["comments", "comment", "commentlist", "respond", "disqus"];

/// The pieces of a class or id: `post-footer MainNav` has post, footer, main, nav.
pub(crate) fn pieces(value: &str) -> impl Iterator<Item = String> + '_ {
    let is_cut = |character: char| !character.is_ascii_alphanumeric();
    value.split(is_cut).flat_map(|part| {
        let capital = part
            .char_indices()
            .skip(1)
            .find(|&(at, character)| {
                character.is_ascii_uppercase()
                    && part
                        .as_bytes()
                        .get(at - 1)
                        .is_some_and(u8::is_ascii_lowercase)
            })
            .map_or(part.len(), |(at, _)| at);
        let (first, second) = part.split_at(capital);
        [first, second]
            .into_iter()
            .filter(|piece| !piece.is_empty())
            .map(str::to_ascii_lowercase)
    })
}

fn names_one_of(node: &Node<'_>, list: &[&str]) -> bool {
    ["class", "id"].into_iter().any(|attribute| {
        node.attribute(attribute)
            .is_some_and(|value| pieces(&value).any(|piece| list.contains(&piece.as_str())))
    })
}

/// Whether an element frames the page rather than being its content.
pub(crate) fn is_boilerplate(node: &Node<'_>) -> bool {
    match node.name() {
        "nav" | "footer" | "aside" | "menu" | "button" | "dialog" => true,
        "div" | "section" | "ul" | "ol" | "header" | "form" | "p" | "table" | "span" => {
            let role = node.attribute("role");
            matches!(
                role.as_deref(),
                Some(
                    "navigation"
                        | "banner"
                        | "contentinfo"
                        | "complementary"
                        | "search"
                        | "dialog"
                        | "alertdialog"
                )
            ) || names_one_of(node, BOILERPLATE)
        }
        _ => false,
    }
}

/// Whether an element holds what readers wrote below a page.
pub(crate) fn is_comments(node: &Node<'_>) -> bool {
    matches!(
        node.name(),
        "div" | "section" | "ol" | "ul" | "article" | "aside"
    ) && names_one_of(node, COMMENTS)
}

/// Whether browsers do not show an element with these attributes.
pub(crate) fn is_hidden(attributes: &Attributes<'_>) -> bool {
    attributes.clone().any(|attribute| {
        if attribute.is("hidden") {
            return attribute.raw_value != "until-found";
        }
        attribute.is("style") && attribute.raw_value.len() >= 12 && {
            let mut style = attribute.raw_value.to_ascii_lowercase();
            style.retain(|character| !character.is_ascii_whitespace());
            style.contains("display:none") || style.contains("visibility:hidden")
        }
    })
}

/// For each node whether it or something around it passes `test`.
pub(crate) fn inside(tree: &Tree<'_>, test: impl Fn(&Node<'_>) -> bool) -> Vec<bool> {
    let mut marked: Vec<bool> = Vec::with_capacity(tree.nodes.len());
    for (id, node) in tree.nodes.iter().enumerate() {
        let around: NodeId = node.parent;
        marked.push((id != around && marked[around]) || test(node));
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn names_are_cut_at_dashes_and_capitals() {
        let cut: Vec<String> = pieces("post-footer MainNav a_b").collect();
        assert_eq!(cut, ["post", "footer", "main", "nav", "a", "b"]);
    }
}
