//! Elements that stand on lines of their own.

use super::math::{Meaning, meaning};
use super::{Mode, Reader, code, table};
use crate::markdown::model::{Block, Container, Content, Marks};
use crate::markdown::read::spans::BULLET;
use crate::markdown::tree::{NodeId, Tag};

impl Reader<'_, '_> {
    pub(super) fn enter_block(&mut self, id: NodeId, tag: Tag) -> bool {
        if self.mode != Mode::Flow {
            return self.enter_block_in_line(id, tag);
        }
        if self.joins_term && matches!(tag, Tag::P | Tag::Div) {
            self.joins_term = false;
            return true;
        }
        match tag {
            Tag::Dt => self.enter_term(id),
            Tag::Dd => self.open_definition(id),
            Tag::Li => self.open_item(id),
            _ if tag.is_list() => self.open_list(id, tag),
            Tag::Dl => self.open(id, Container::List { loose: false }),
            Tag::Blockquote => self.open(id, Container::Quote),
            Tag::Pre | Tag::Xmp | Tag::Listing | Tag::Plaintext => return self.code_block(id),
            Tag::Table => return self.enter_table(id),
            Tag::Td | Tag::Th if code::is_gutter(self.tree, id) => return false,
            Tag::Hr => self.rule(id),
            Tag::Summary => self.enter_marked_block(id, Marks::STRONG),
            Tag::Figcaption => self.enter_marked_block(id, Marks::EMPHASIS),
            _ if tag.heading_level().is_some() => {
                self.flush();
                self.save(id);
                self.mode = Mode::Heading;
            }
            _ => self.enter_plain_block(id),
        }
        true
    }

    fn enter_plain_block(&mut self, id: NodeId) {
        self.flush();
        if let Some(label) = self.notes.note(id).map(str::to_owned) {
            self.open(id, Container::Note { label });
        }
    }

    fn enter_marked_block(&mut self, id: NodeId, marks: Marks) {
        self.flush();
        self.save(id);
        self.look.marks = self.look.marks.with(marks);
    }

    fn enter_term(&mut self, id: NodeId) {
        self.open_term(id);
        self.save(id);
        self.look.marks = self.look.marks.with(Marks::STRONG);
    }

    /// Blocks inside of headings and cells, where there is only one line for all of them.
    fn enter_block_in_line(&mut self, id: NodeId, tag: Tag) -> bool {
        match tag {
            Tag::Li if self.mode == Mode::Cell => {
                self.spans.trim_end(table::SEPARATOR);
                self.spans.space();
                self.spans.text(&BULLET.to_string(), super::Look::default());
                self.spans.space();
            }
            Tag::Td | Tag::Th => self.spans.separator(", "),
            Tag::Pre | Tag::Xmp | Tag::Listing | Tag::Plaintext => {
                self.break_block();
                let text = code::code_text(self.tree, id);
                let mut look = self.current_look();
                look.marks = Marks::CODE;
                self.spans.text(&text, look);
                self.break_block();
                return false;
            }
            _ if is_frame(tag) => self.spans.space(),
            _ => self.break_block(),
        }
        true
    }

    pub(super) fn exit_block(&mut self, id: NodeId, tag: Tag) {
        if let Some(level) = tag.heading_level()
            && self.mode == Mode::Heading
            && self.saved.last().is_some_and(|saved| saved.node == id)
        {
            self.mode = Mode::Flow;
            let spans = self.take_spans();
            if !spans.is_empty() {
                self.emit(&Block::Heading(level, spans));
            }
            return;
        }
        if self.mode == Mode::Cell && (is_frame(tag) || tag == Tag::Li) {
            self.spans.space();
            return;
        }
        let term_goes_on = tag == Tag::Dt
            && self.mode == Mode::Flow
            && self
                .tree
                .next_element(id)
                .is_some_and(|next| matches!(self.tree.tag(next), Tag::Dd | Tag::Dt));
        if !term_goes_on {
            self.break_block();
        }
    }

    fn rule(&mut self, id: NodeId) {
        self.flush();
        let in_notes = |id| {
            self.tree
                .has_class(id, |class| class.starts_with("footnotes"))
        };
        if in_notes(id) || !self.notes.is_empty() && self.tree.parent(id).is_some_and(in_notes) {
            return;
        }
        self.emit(&Block::Rule);
    }

    fn code_block(&mut self, id: NodeId) -> bool {
        self.flush();
        let (language, text) = code::code_block(self.tree, id);
        if !text.is_empty() {
            self.emit(&Block::Code { language, text });
        }
        false
    }

    /// A data table is read as one; in a layout table the cells are blocks.
    fn enter_table(&mut self, id: NodeId) -> bool {
        self.flush();
        if table::is_layout(self.tree, id) {
            return true;
        }
        let table = self.read_table(id);
        if !table.rows.is_empty() {
            self.emit(&Block::Table(table));
        }
        false
    }

    /// Formulas and what stands for them; nothing if the element is something else.
    pub(super) fn enter_formula(&mut self, id: NodeId, tag: Tag) -> Option<bool> {
        if !matches!(
            tag,
            Tag::Math | Tag::Script | Tag::Img | Tag::Span | Tag::Div
        ) {
            return None;
        }
        match meaning(self.tree, id) {
            Meaning::Nothing => return None,
            Meaning::Shadow => {}
            Meaning::Formula(formula) if formula.display && self.mode == Mode::Flow => {
                self.flush();
                self.emit(&Block::Math(formula.tex));
            }
            Meaning::Formula(formula) => {
                let look = self.current_look();
                self.spans.push(Content::Math(formula.tex), look);
            }
        }
        Some(false)
    }
}

/// Parts of lists and tables that say nothing by themselves.
fn is_frame(tag: Tag) -> bool {
    tag.is_list()
        || matches!(
            tag,
            Tag::Thead | Tag::Tbody | Tag::Tfoot | Tag::Td | Tag::Th | Tag::Dl
        )
}
