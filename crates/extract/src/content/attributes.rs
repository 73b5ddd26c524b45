//! Which attributes of an element survive, and as what.
//!
//! Never event handlers, styles or addresses with schemes other than those a reader can follow.

use std::borrow::Cow;

use url::Url;

use super::escape::push_attribute;
use super::tree::Node;
use crate::html::classes;

const MAX_ADDRESS: usize = 4096;

/// Appends the attributes of an element that may be written.
pub(crate) fn write(out: &mut String, node: &Node<'_>, base: Option<&Url>) {
    let mut copy = |name: &str| {
        if let Some(value) = node.attribute(name) {
            push_attribute(out, name, &value);
        }
    };
    copy("id");
    copy("dir");
    copy("lang");
    match node.name() {
        "td" | "th" => {
            ["colspan", "rowspan", "scope"].into_iter().for_each(copy);
            if let Some(side) = alignment(node) {
                push_attribute(out, "align", side);
            }
            telling_class(out, node);
        }
        // Whoever reads the text ticks nothing.
        "input" => {
            push_attribute(out, "type", "checkbox");
            push_attribute(out, "disabled", "");
            if node.attribute("checked").is_some() {
                push_attribute(out, "checked", "");
            }
        }
        "ol" => ["start", "reversed", "type"].into_iter().for_each(copy),
        "li" => copy("value"),
        "time" | "del" | "ins" => copy("datetime"),
        "abbr" | "dfn" => copy("title"),
        "math" => ["display", "alttext"].into_iter().for_each(copy),
        "annotation" | "annotation-xml" => copy("encoding"),
        "script" => copy("type"),
        "pre" | "code" => ["class", "data-lang", "data-language"]
            .into_iter()
            .for_each(copy),
        "a" => link(out, node, base),
        "img" => image(out, node, base),
        _ => telling_class(out, node),
    }
    if let Some(role) = node.attribute("role")
        && (role.starts_with("doc-") || arranges(node.name(), &role))
    {
        push_attribute(out, "role", &role);
    }
}

/// A table that only arranges what is on the page says so.
fn arranges(name: &str, role: &str) -> bool {
    name == "table" && matches!(role, "presentation" | "none")
}

/// To which side a cell is set, by style or attribute.
fn alignment(node: &Node<'_>) -> Option<&'static str> {
    let style = node.attribute("style").unwrap_or_default();
    let mut rules = style.split(';').filter_map(|rule| rule.split_once(':'));
    let styled = rules.find(|(name, _)| name.trim().eq_ignore_ascii_case("text-align"));
    let declared = match styled {
        Some((_, value)) => value.to_owned(),
        None => node.attribute("align")?.into_owned(),
    };
    let sides = ["left", "center", "right"];
    sides
        .into_iter()
        .find(|side| declared.trim().eq_ignore_ascii_case(side))
}

fn telling_class(out: &mut String, node: &Node<'_>) {
    if let Some(class) = node.attribute("class")
        && says_what_it_holds(&class)
    {
        push_attribute(out, "class", &class);
    }
}

/// Classes renderers read: the language of code, its line numbers, formulas, footnotes, links of
/// headings to themselves.
fn says_what_it_holds(class: &str) -> bool {
    const TELLING: [&str; 9] = [
        "language-",
        "lang-",
        "highlight",
        "sourceCode",
        "brush",
        "math",
        "katex",
        "MathJax",
        "footnote",
    ];
    let mut names = class.split_ascii_whitespace();
    TELLING.iter().any(|word| class.contains(word))
        || names.any(|name| classes::is_gutter(name) || classes::is_permalink(name))
}

fn link(out: &mut String, node: &Node<'_>, base: Option<&Url>) {
    if let Some(href) = node.attribute("href")
        && let Some(address) = absolute(&href, base, &["http", "https", "mailto", "tel", "ftp"])
    {
        push_attribute(out, "href", &address);
    }
    for name in ["title", "rel", "name", "class"] {
        if let Some(value) = node.attribute(name)
            && (name != "class" || says_what_it_holds(&value))
        {
            push_attribute(out, name, &value);
        }
    }
}

fn image(out: &mut String, node: &Node<'_>, base: Option<&Url>) {
    // Pages that load pictures late keep the address elsewhere and a placeholder in `src`.
    let sources = [
        "data-src",
        "data-original",
        "data-lazy-src",
        "src",
        "data-srcset",
        "srcset",
    ];
    let address = sources.into_iter().find_map(|name| {
        let value = node.attribute(name)?;
        let value = if name.ends_with("srcset") {
            value
                .split_ascii_whitespace()
                .next()?
                .trim_end_matches(',')
                .to_owned()
        } else {
            value.into_owned()
        };
        absolute(&value, base, &["http", "https"]).map(Cow::into_owned)
    });
    if let Some(address) = address {
        push_attribute(out, "src", &address);
        for name in ["alt", "title", "width", "height"] {
            if let Some(value) = node.attribute(name) {
                push_attribute(out, name, &value);
            }
        }
    }
}

/// The address made absolute; without a base a relative one stays as it is.
fn absolute<'a>(value: &'a str, base: Option<&Url>, schemes: &[&str]) -> Option<Cow<'a, str>> {
    let value = value.trim_matches(|character: char| character <= ' ');
    if value.is_empty() || value.len() > MAX_ADDRESS {
        return None;
    }
    let parsed = base.map_or_else(|| Url::parse(value), |base| base.join(value));
    match parsed {
        Ok(address) => schemes
            .contains(&address.scheme())
            .then(|| Cow::Owned(address.into())),
        Err(url::ParseError::RelativeUrlWithoutBase) => Some(Cow::Borrowed(value)),
        Err(_) => None,
    }
}
