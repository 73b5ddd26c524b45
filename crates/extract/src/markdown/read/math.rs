//! Mathematics as TeX, wherever the page still has the TeX it was made from.

use crate::html::entities;
use crate::markdown::tree::{Data, NodeId, Tag, Tree};

/// A formula.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Formula {
    pub(super) tex: String,
    /// On lines of its own.
    pub(super) display: bool,
}

/// What an element means to somebody who looks for formulas.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Formula(Formula),
    /// A picture of a formula whose TeX stands beside it.
    Shadow,
    Nothing,
}

/// Whether the page has formulas, so that a dollar sign in its text must be escaped.
pub(super) fn page_has_formulas(tree: &Tree<'_>) -> bool {
    tree.ids().any(|id| match tree.tag(id) {
        Tag::Math => true,
        Tag::Script => script(tree, id).is_some(),
        Tag::Img => image(tree, id).is_some(),
        Tag::Span | Tag::Div => tree.has_class(id, |class| matches!(class, "math" | "arithmatex")),
        _ => false,
    })
}

/// What the element means.
pub(super) fn meaning(tree: &Tree<'_>, id: NodeId) -> Meaning {
    let formula = match tree.tag(id) {
        Tag::Math => math_element(tree, id),
        Tag::Script => script(tree, id),
        Tag::Img => image(tree, id),
        Tag::Span | Tag::Div => return classed(tree, id),
        _ => None,
    };
    formula.map_or(Meaning::Nothing, Meaning::Formula)
}

fn math_element(tree: &Tree<'_>, id: NodeId) -> Option<Formula> {
    let annotation = tree.descendants(id).find(|&node| {
        tree.tag(node) == Tag::Annotation
            && tree
                .attribute(node, "encoding")
                .is_some_and(|encoding| encoding.to_ascii_lowercase().contains("tex"))
    });
    let tex = annotation.map(|node| text_in(tree, node)).or_else(|| {
        tree.attribute(id, "alttext")
            .map(std::borrow::Cow::into_owned)
    })?;
    let display = tree
        .attribute(id, "display")
        .is_some_and(|display| display.eq_ignore_ascii_case("block"));
    formula(&tex, display || is_displayed_by_parent(tree, id))
}

fn is_displayed_by_parent(tree: &Tree<'_>, id: NodeId) -> bool {
    std::iter::successors(tree.parent(id), |&parent| tree.parent(parent))
        .take(4)
        .any(|parent| tree.has_class(parent, |class| class == "katex-display"))
}

fn script(tree: &Tree<'_>, id: NodeId) -> Option<Formula> {
    let kind = tree.attribute(id, "type")?.to_ascii_lowercase();
    let tex = kind.starts_with("math/tex").then(|| text_in(tree, id))?;
    formula(&tex, kind.contains("mode=display"))
}

fn image(tree: &Tree<'_>, id: NodeId) -> Option<Formula> {
    let is_tex = tree.has_class(id, |class| {
        matches!(
            class,
            "tex" | "latex" | "math" | "mwe-math-fallback-image-inline"
        )
    });
    let alt = is_tex.then(|| tree.attribute(id, "alt"))??;
    formula(&alt, false)
}

fn classed(tree: &Tree<'_>, id: NodeId) -> Meaning {
    let Some(classes) = tree.attribute(id, "class") else {
        return Meaning::Nothing;
    };
    let has = |wanted: &str| {
        classes
            .split_ascii_whitespace()
            .any(|class| class == wanted)
    };
    if has("katex-html")
        || has("MathJax_Preview")
        || classes.contains("MathJax") && has_script(tree, id)
    {
        return Meaning::Shadow;
    }
    if has("math") && (has("inline") || has("display")) || has("arithmatex") {
        let tex = text_in(tree, id);
        let display = has("display") || tex.trim_start().starts_with("\\[");
        return formula(&tex, display).map_or(Meaning::Nothing, Meaning::Formula);
    }
    Meaning::Nothing
}

/// MathJax leaves the TeX in a script behind what it draws.
fn has_script(tree: &Tree<'_>, id: NodeId) -> bool {
    tree.next_element(id)
        .is_some_and(|next| script(tree, next).is_some())
}

/// The text in an element as it stands.
pub(super) fn text_in(tree: &Tree<'_>, id: NodeId) -> String {
    let mut text = String::new();
    for node in tree.descendants(id) {
        match tree.data(node) {
            Data::Text(raw) => text.push_str(&entities::text(raw)),
            Data::Raw(raw) => text.push_str(raw),
            Data::Element(_) => {}
        }
    }
    text
}

/// A formula without the delimiters and wrappers that tools put around it.
fn formula(tex: &str, display: bool) -> Option<Formula> {
    let mut tex = tex.trim();
    for (open, close) in [
        ("\\(", "\\)"),
        ("\\[", "\\]"),
        ("$$", "$$"),
        ("$", "$"),
        ("{\\displaystyle", "}"),
    ] {
        if let Some(inner) = tex
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
        {
            tex = inner.trim();
        }
    }
    let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
    // A dollar sign inside would end the formula, an open brace or a backslash would not let it.
    (!tex.is_empty() && is_closed(&tex)).then_some(Formula {
        tex: apart_from_html(&tex),
        display,
    })
}

/// `a<b` could be taken for a tag where formulas are not known; a space changes nothing in TeX.
fn apart_from_html(tex: &str) -> String {
    let mut apart = String::with_capacity(tex.len());
    let mut after_less = false;
    for character in tex.chars() {
        if after_less && !character.is_whitespace() {
            apart.push(' ');
        }
        after_less = character == '<';
        apart.push(character);
    }
    apart
}

/// Whether the formula ends where it ends: braces in pairs, no bare dollar sign.
fn is_closed(tex: &str) -> bool {
    let mut escaped = false;
    let mut depth = 0_i32;
    for byte in tex.bytes() {
        match byte {
            b'$' | b'`' if !escaped => return false,
            b'{' if !escaped => depth += 1,
            b'}' if !escaped => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
        escaped = byte == b'\\' && !escaped;
    }
    depth == 0 && !escaped
}
