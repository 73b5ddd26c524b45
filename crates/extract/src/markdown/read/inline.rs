//! Elements within a line of text.

use super::notes::is_back_link;
use super::{Mode, Reader};
use crate::html::classes;
use crate::markdown::model::{Content, Marks, NO_LINK};
use crate::markdown::read::math::text_in;
use crate::markdown::tree::{NodeId, Tag};

const MAX_ALT_CHARS: usize = 500;
const MAX_SCRIPT_CHARS: usize = 8;

impl Reader<'_, '_> {
    pub(super) fn enter_inline(&mut self, id: NodeId, tag: Tag) -> bool {
        match tag {
            Tag::A => return self.enter_link(id),
            Tag::Strong | Tag::B => self.mark(id, Marks::STRONG),
            Tag::Em | Tag::I | Tag::Dfn | Tag::Var => self.mark(id, Marks::EMPHASIS),
            Tag::Del | Tag::S | Tag::Strike => self.mark(id, Marks::DELETED),
            Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => self.enter_code(id),
            Tag::Br => self.line_break(),
            Tag::Img => self.image(id),
            Tag::Q => self.say("\u{201c}"),
            Tag::Rt => self.say("("),
            Tag::Sup | Tag::Sub => return self.enter_script(id, tag),
            Tag::Button => return self.reads_buttons(id),
            _ if self.in_note() && is_back_link(self.tree, &self.addresses, id) => return false,
            _ => {}
        }
        true
    }

    pub(super) fn exit_inline(&mut self, id: NodeId, tag: Tag) {
        match tag {
            Tag::A => self.exit_link(id),
            Tag::Q => self.say("\u{201d}"),
            Tag::Rt => self.say(")"),
            Tag::Abbr | Tag::Acronym => self.explain(id),
            _ => {}
        }
    }

    fn say(&mut self, text: &str) {
        let look = self.current_look();
        self.spans.text(text, look);
    }

    fn mark(&mut self, id: NodeId, mark: Marks) {
        // Code shows its characters as they are: there are no marks inside it.
        if self.look.marks.has(Marks::CODE) {
            return;
        }
        let undone = self.tree.attribute(id, "style").is_some_and(|style| {
            style.contains("font-weight:normal") || style.contains("font-weight: normal")
        });
        if undone {
            return;
        }
        self.save(id);
        self.look.marks = self.look.marks.with(mark);
    }

    fn enter_code(&mut self, id: NodeId) {
        self.save(id);
        self.look.marks = self.look.marks.with(Marks::CODE);
    }

    fn line_break(&mut self) {
        match self.mode {
            Mode::Flow => {
                let look = self.current_look();
                if !self.spans.line_break(look) {
                    // Two line breaks are how some pages set paragraphs apart.
                    self.flush();
                }
            }
            _ => self.break_block(),
        }
    }

    fn reads_buttons(&self, id: NodeId) -> bool {
        self.mode == Mode::Heading
            || self
                .tree
                .parent(id)
                .is_some_and(|parent| matches!(self.tree.tag(parent), Tag::Summary | Tag::Dt))
    }

    fn enter_link(&mut self, id: NodeId) -> bool {
        if let Some(label) = self.notes.reference(id).map(str::to_owned) {
            let look = self.current_look();
            self.spans.push(Content::NoteReference(label), look);
            return false;
        }
        if self.in_note() && is_back_link(self.tree, &self.addresses, id) || self.is_permalink(id) {
            return false;
        }
        let href = self.tree.attribute(id, "href").unwrap_or_default();
        // A heading that links to itself says nothing by it.
        let is_own_anchor =
            self.mode == Mode::Heading && self.addresses.own_fragment(&href).is_some();
        if self.look.link != NO_LINK || href.is_empty() || is_own_anchor {
            return true;
        }
        let target = self.addresses.link(&href);
        if let Some(target) = target {
            self.save(id);
            self.look.link = self.links.add(target.into());
        }
        true
    }

    /// A link from a heading to itself, shown as a sign.
    fn is_permalink(&self, id: NodeId) -> bool {
        let in_heading = self.mode == Mode::Heading
            || self.look.marks.has(Marks::STRONG)
            || self.tree.has_class(id, classes::is_permalink);
        if !in_heading {
            return false;
        }
        let Some(href) = self.tree.attribute(id, "href") else {
            return false;
        };
        self.addresses.own_fragment(&href).is_some()
            && matches!(
                text_in(self.tree, id).trim(),
                "" | "#" | "\u{b6}" | "\u{a7}" | "\u{1f517}" | "\u{200b}" | "\u{f0c1}" | "link"
            )
            && !self
                .tree
                .descendants(id)
                .any(|node| self.tree.tag(node) == Tag::Img)
    }

    /// A link without text gets its label, or it is no link.
    fn exit_link(&mut self, id: NodeId) {
        let Some(saved) = self.saved.last().filter(|saved| saved.node == id) else {
            return;
        };
        let link = self.look.link;
        if link == NO_LINK || link == self.spent_link || self.spans.uses(link, saved.spans) {
            return;
        }
        let leads_elsewhere = self
            .tree
            .attribute(id, "href")
            .is_some_and(|href| self.addresses.own_fragment(&href).is_none());
        let label = ["aria-label", "title"]
            .iter()
            .find_map(|name| self.tree.attribute(id, name));
        if let Some(label) = label
            && leads_elsewhere
        {
            self.say(&label);
        }
    }

    /// Raised or lowered text: footnote references, then the characters Unicode has for it.
    fn enter_script(&mut self, id: NodeId, tag: Tag) -> bool {
        let tree = self.tree;
        let mut has_link = false;
        let mut labels = Vec::new();
        for node in tree.descendants(id) {
            has_link |= matches!(tree.tag(node), Tag::A | Tag::Img | Tag::Math);
            labels.extend(self.notes.reference(node).map(str::to_owned));
        }
        let look = self.current_look();
        if !labels.is_empty() {
            for label in labels {
                self.spans.push(Content::NoteReference(label), look);
            }
            return false;
        }
        if has_link {
            return true;
        }
        let text = text_in(tree, id);
        let text = text.trim();
        let table = if tag == Tag::Sup { RAISED } else { LOWERED };
        let in_unicode: Option<String> = text
            .chars()
            .take(MAX_SCRIPT_CHARS + 1)
            .map(|character| in_table(table, character))
            .collect();
        let fits = text.chars().nth(MAX_SCRIPT_CHARS).is_none();
        match in_unicode {
            Some(unicode) if fits && !look.marks.has(Marks::CODE) => {
                self.spans.text(&unicode, look);
            }
            _ => {
                let attached = self
                    .spans
                    .last_character()
                    .is_some_and(char::is_alphanumeric);
                if fits && attached && !is_ordinal(text) && !text.is_empty() {
                    let sign = if tag == Tag::Sup { "^" } else { "_" };
                    self.spans.text(sign, look);
                }
                return true;
            }
        }
        false
    }

    /// The long form of an abbreviation, the first time it is used.
    fn explain(&mut self, id: NodeId) {
        let Some(title) = self.tree.attribute(id, "title") else {
            return;
        };
        let short = text_in(self.tree, id);
        let title = title.trim();
        if title.is_empty()
            || title.eq_ignore_ascii_case(short.trim())
            || self.mode == Mode::Heading
        {
            return;
        }
        if self.explained.insert(title.to_owned()) {
            let look = self.current_look();
            self.spans.text(&format!(" ({title})"), look);
        }
    }

    fn image(&mut self, id: NodeId) {
        let tree = self.tree;
        let is_one = |name| {
            tree.attribute(id, name)
                .is_some_and(|size| size.trim() == "1")
        };
        if is_one("width") && is_one("height") {
            return;
        }
        let alt = tree.attribute(id, "alt").unwrap_or_default();
        let alt: String = alt.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut alt: String = alt.chars().take(MAX_ALT_CHARS).collect();
        let look = self.current_look();
        let Some(source) = self.image_source(id) else {
            self.spans.text(&alt, look);
            return;
        };
        if alt.is_empty() && look.link != NO_LINK {
            let path = source.path().trim_end_matches('/');
            path.rsplit('/')
                .next()
                .unwrap_or_default()
                .clone_into(&mut alt);
        }
        let source = source.into();
        self.spans.push(Content::Image { alt, source }, look);
    }

    /// The first usable address: lazy images have a placeholder in `src`.
    fn image_source(&self, id: NodeId) -> Option<url::Url> {
        let attribute = |name| self.tree.attribute(id, name);
        let resolve = |address: &str| {
            let address = address.trim();
            (!address.is_empty()).then(|| self.addresses.image(address))?
        };
        let first_of_set = |name| {
            let set = attribute(name)?;
            resolve(set.trim().split([' ', ',']).next()?)
        };
        ["src", "data-src", "data-original", "data-lazy-src"]
            .iter()
            .find_map(|name| resolve(&attribute(name)?))
            .or_else(|| first_of_set("srcset"))
            .or_else(|| first_of_set("data-srcset"))
    }
}

const RAISED: &[(char, char)] = &[
    ('0', '⁰'),
    ('1', '¹'),
    ('2', '²'),
    ('3', '³'),
    ('4', '⁴'),
    ('5', '⁵'),
    ('6', '⁶'),
    ('7', '⁷'),
    ('8', '⁸'),
    ('9', '⁹'),
    ('+', '⁺'),
    ('-', '⁻'),
    ('−', '⁻'),
    ('n', 'ⁿ'),
    ('i', 'ⁱ'),
];
const LOWERED: &[(char, char)] = &[
    ('0', '₀'),
    ('1', '₁'),
    ('2', '₂'),
    ('3', '₃'),
    ('4', '₄'),
    ('5', '₅'),
    ('6', '₆'),
    ('7', '₇'),
    ('8', '₈'),
    ('9', '₉'),
    ('+', '₊'),
    ('-', '₋'),
    ('−', '₋'),
];

fn in_table(table: &[(char, char)], character: char) -> Option<char> {
    let row = table.iter().find(|(plain, _)| *plain == character);
    row.map(|&(_, script)| script)
}

/// Endings of ordinal numbers and signs that are raised for looks only.
fn is_ordinal(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "st" | "nd"
            | "rd"
            | "th"
            | "tm"
            | "sm"
            | "e"
            | "er"
            | "re"
            | "o"
            | "a"
            | "ème"
            | "®"
            | "™"
            | "©"
            | "*"
    ) || text.starts_with('[')
        || text.contains(char::is_whitespace)
}
