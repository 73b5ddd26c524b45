//! Classes by which pages say what an element is to a reader. Known both to what writes markup
//! and to what reads it, so that nothing is lost in between.

/// Whether a class marks the line numbers of a code block.
pub(crate) fn is_gutter(class: &str) -> bool {
    matches!(
        class.to_ascii_lowercase().as_str(),
        "lineno"
            | "linenos"
            | "line-number"
            | "line-numbers-rows"
            | "linenumber"
            | "linenumbers"
            | "linenodiv"
            | "lineno-container"
            | "gutter"
            | "code-gutter"
            | "rouge-gutter"
            | "hljs-ln-numbers"
            | "hljs-ln-n"
            | "blob-num"
            | "react-line-number"
            | "crayon-nums"
            | "lnt"
            | "ln"
    )
}

/// Whether a class marks the link of a heading to itself.
pub(crate) fn is_permalink(class: &str) -> bool {
    class == "headerlink"
}
