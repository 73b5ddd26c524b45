//! Code blocks: their text as it stands, without line numbers, and their language.

use crate::html::{classes, entities};
use crate::markdown::read::spans::is_invisible;
use crate::markdown::tree::{Data, NodeId, Step, Tag, Tree};

/// The classes around a code block are searched for its language this far up.
const MAX_WRAPPERS: usize = 3;
const MAX_LANGUAGE_BYTES: usize = 30;

/// The language and the text of a code block.
pub(super) fn code_block(tree: &Tree<'_>, id: NodeId) -> (String, String) {
    (language(tree, id), code_text(tree, id))
}

/// The text in an element with its line breaks.
pub(super) fn code_text(tree: &Tree<'_>, id: NodeId) -> String {
    let mut text = String::new();
    let mut walk = tree.walk(id);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(node) if node == id => {}
            Step::Enter(node) => match tree.data(node) {
                Data::Text(raw) => push_clean(&mut text, &entities::text(raw)),
                Data::Raw(raw) if !tree.tag(parent_or(tree, node, id)).is_unread() => {
                    push_clean(&mut text, raw);
                }
                Data::Raw(_) => {}
                Data::Element(_) => {
                    if is_beside_code(tree, node) {
                        walk.leave_out(node);
                    } else if tree.tag(node) == Tag::Br {
                        text.push('\n');
                    } else if starts_line(tree.tag(node)) {
                        line_break(&mut text);
                    }
                }
            },
            Step::Exit(node) => {
                if node != id && starts_line(tree.tag(node)) {
                    line_break(&mut text);
                }
            }
        }
    }
    trim_lines(&text).to_owned()
}

fn parent_or(tree: &Tree<'_>, node: NodeId, fallback: NodeId) -> NodeId {
    tree.parent(node).unwrap_or(fallback)
}

fn push_clean(text: &mut String, piece: &str) {
    if piece
        .bytes()
        .all(|byte| byte.is_ascii_graphic() || byte == b' ')
    {
        text.push_str(piece);
        return;
    }
    for character in piece.chars() {
        match character {
            '\u{a0}' => text.push(' '),
            '\r' => text.push('\n'),
            '\n' | '\t' => text.push(character),
            _ if is_invisible(character) => {}
            _ => text.push(character),
        }
    }
}

/// Line numbers, copy buttons and other things beside the code.
fn is_beside_code(tree: &Tree<'_>, id: NodeId) -> bool {
    let tag = tree.tag(id);
    tag == Tag::Button || tag.is_unread() || is_gutter(tree, id)
}

/// Whether an element holds the line numbers of a code block.
pub(super) fn is_gutter(tree: &Tree<'_>, id: NodeId) -> bool {
    tree.has_class(id, classes::is_gutter)
}

fn starts_line(tag: Tag) -> bool {
    tag.is_block() && !matches!(tag, Tag::Td | Tag::Th | Tag::Caption)
}

fn line_break(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Without the blank lines at both ends; indentation stays.
fn trim_lines(text: &str) -> &str {
    let start = text
        .find(|character: char| !character.is_whitespace())
        .map_or(text.len(), |first| {
            text[..first].rfind('\n').map_or(0, |newline| newline + 1)
        });
    text[start..].trim_end()
}

fn language(tree: &Tree<'_>, id: NodeId) -> String {
    let own = language_of(tree, id);
    let inner = || {
        let code = tree.descendants(id).take(8);
        let mut code = code.filter(|&node| tree.tag(node) == Tag::Code);
        code.find_map(|node| language_of(tree, node))
    };
    let outer = || {
        std::iter::successors(tree.parent(id), |&parent| tree.parent(parent))
            .take(MAX_WRAPPERS)
            .find_map(|wrapper| wrapper_language(tree, wrapper))
    };
    own.or_else(inner).or_else(outer).unwrap_or_default()
}

fn language_of(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    let classes = tree.attribute(id, "class").unwrap_or_default();
    from_attributes(tree, id)
        .or_else(|| from_prefix(&classes))
        .or_else(|| from_brush(&classes))
        .or_else(|| from_companion(&classes))
}

fn wrapper_language(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    let classes = tree.attribute(id, "class").unwrap_or_default();
    from_attributes(tree, id)
        .or_else(|| from_prefix(&classes))
        .or_else(|| from_companion(&classes))
}

fn from_attributes(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    ["data-lang", "data-language", "data-code-language"]
        .iter()
        .find_map(|name| clean_language(&tree.attribute(id, name)?))
}

fn from_prefix(classes: &str) -> Option<String> {
    const PREFIXES: [&str; 6] = [
        "language-",
        "lang-",
        "highlight-source-",
        "highlight-text-",
        "highlight-",
        "src-",
    ];
    classes.split_ascii_whitespace().find_map(|class| {
        let language = PREFIXES
            .iter()
            .find_map(|prefix| strip_prefix_ignoring_case(class, prefix))?;
        clean_language(language)
    })
}

fn strip_prefix_ignoring_case<'c>(class: &'c str, prefix: &str) -> Option<&'c str> {
    let head = class.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| class.get(prefix.len()..))?
}

/// `brush: python; gutter: true`
fn from_brush(classes: &str) -> Option<String> {
    let (_, behind) = classes.split_once("brush:")?;
    clean_language(behind.split([';', ' ']).find(|word| !word.is_empty())?)
}

/// `sourceCode python`, `hljs python`: the language is the class beside a well-known one.
fn from_companion(classes: &str) -> Option<String> {
    let known = |class: &str| {
        matches!(
            class,
            "sourceCode" | "hljs" | "src" | "prettyprint" | "code"
        )
    };
    if !classes.split_ascii_whitespace().any(known) {
        return None;
    }
    let other = |class: &&str| {
        !known(class)
            && !class.contains("line")
            && !matches!(
                *class,
                "numberLines" | "copyable" | "wrap" | "notranslate" | "linenums"
            )
            && class.len() <= 12
    };
    let mut others = classes.split_ascii_whitespace().filter(other);
    let language = clean_language(others.next()?);
    // Of several nobody can tell which is the language.
    if others.next().is_some() {
        None
    } else {
        language
    }
}

fn clean_language(name: &str) -> Option<String> {
    let name = name.trim().to_ascii_lowercase();
    let fits = !name.is_empty() && name.len() <= MAX_LANGUAGE_BYTES;
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'#' | b'.' | b'_' | b'-');
    let says_nothing = matches!(
        name.as_str(),
        "none"
            | "text"
            | "plain"
            | "plaintext"
            | "txt"
            | "nohighlight"
            | "default"
            | "auto"
            | "undefined"
    );
    (fits && name.bytes().all(plain) && !says_nothing).then_some(name)
}
