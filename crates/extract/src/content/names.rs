//! What element names mean for the structure of a page: void, block, implied ends, noise.
//!
//! Knows names only, neither attributes nor trees.

/// Elements that never have content.
pub(crate) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
            | "frame"
            | "keygen"
            | "bgsound"
            | "basefont"
    )
}

/// Elements that start on a line of their own, so that their text is a block of its own.
pub(crate) fn is_block(name: &str) -> bool {
    closes_paragraph(name)
        || matches!(
            name,
            "td" | "th"
                | "tr"
                | "thead"
                | "tbody"
                | "tfoot"
                | "caption"
                | "li"
                | "dt"
                | "dd"
                | "br"
                | "body"
                | "option"
                | "legend"
                | "button"
        )
}

/// Start tags that end an open paragraph.
pub(crate) fn closes_paragraph(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "center"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "listing"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "search"
            | "section"
            | "summary"
            | "table"
            | "ul"
            | "xmp"
    )
}

/// Headings, `h1` to `h6`.
pub(crate) fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Elements whose content is never read: code, styling, embedded documents, form fields.
pub(crate) fn is_noise(name: &str) -> bool {
    matches!(
        name,
        "style"
            | "template"
            | "svg"
            | "iframe"
            | "object"
            | "applet"
            | "canvas"
            | "audio"
            | "video"
            | "select"
            | "datalist"
            | "textarea"
            | "noembed"
            | "noframes"
            | "map"
            | "progress"
            | "meter"
            | "dialog"
    )
}

/// Which open elements a start tag ends, and which open element shields the ones below it.
pub(crate) fn implied_end(
    name: &str,
) -> Option<(&'static [&'static str], &'static [&'static str])> {
    const LISTS: &[&str] = &[
        "ul", "ol", "menu", "dir", "table", "div", "section", "article",
    ];
    const TABLE: &[&str] = &["table"];
    Some(match name {
        "li" => (&["li"], LISTS),
        "dt" | "dd" => (&["dt", "dd"], &["dl", "table"]),
        "tr" => (&["tr"], TABLE),
        "td" | "th" => (&["td", "th"], &["table", "tr"]),
        "thead" | "tbody" | "tfoot" => (&["thead", "tbody", "tfoot", "caption"], TABLE),
        "option" => (&["option"], &["select", "datalist"]),
        "a" => (&["a"], &["table", "td", "th"]),
        _ => return None,
    })
}

/// Elements an end tag of another element does not reach through.
pub(crate) fn is_scope(name: &str) -> bool {
    matches!(name, "table" | "td" | "th" | "caption" | "button" | "math")
}
