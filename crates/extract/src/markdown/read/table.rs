//! Tables: which are data, and how spans, headers and captions fit into rows and columns.

use super::spans::Spans;
use super::{Look, Mode, Reader};
use crate::markdown::model::{Alignment, Block, Content, Span, Table};
use crate::markdown::tree::{NodeId, Step, Tag, Tree};

/// Stands where a cell had a line break or a new block.
pub(super) const SEPARATOR: &str = " / ";
/// Spanned columns are filled up to here; no table that is read has more.
const MAX_COLUMNS: usize = 64;
/// Longer cells are not repeated in the rows they span.
const MAX_REPEATED_BYTES: usize = 120;

/// As many cells are filled because of others that span them.
const MAX_FILLED_CELLS: usize = 20_000;

/// A cell and what it covers.
struct Cell {
    spans: Vec<Span>,
    columns: usize,
    rows: usize,
    is_header: bool,
    alignment: Alignment,
}

struct Row {
    cells: Vec<Cell>,
    in_head: bool,
}

impl Row {
    /// At least as many bytes the row has when it is written.
    fn bytes(&self) -> usize {
        let cell = |cell: &Cell| text_bytes(&cell.spans) + 3;
        self.cells.iter().map(cell).sum::<usize>() + 1
    }
}

fn text_bytes(spans: &[Span]) -> usize {
    let bytes = |span: &Span| match &span.content {
        Content::Text(text) | Content::Math(text) => text.len(),
        _ => 1,
    };
    spans.iter().map(bytes).sum()
}

/// The rows of a table, without those of tables inside it.
fn rows_of(tree: &Tree<'_>, table: NodeId) -> Vec<NodeId> {
    let mut rows = Vec::new();
    let mut walk = tree.walk(table);
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        match tree.tag(id) {
            Tag::Tr => {
                rows.push(id);
                walk.leave_out(id);
            }
            Tag::Table | Tag::Thead | Tag::Tbody | Tag::Tfoot => {}
            _ => walk.leave_out(id),
        }
    }
    rows
}

fn cells_of<'t>(tree: &'t Tree<'_>, row: NodeId) -> impl Iterator<Item = NodeId> + 't {
    tree.children(row)
        .filter(|&cell| matches!(tree.tag(cell), Tag::Td | Tag::Th))
}

/// Whether a table only arranges blocks on the page.
pub(super) fn is_layout(tree: &Tree<'_>, table: NodeId) -> bool {
    let role = tree.attribute(table, "role");
    if role.is_some_and(|role| matches!(&*role, "presentation" | "none")) {
        return true;
    }
    let rows = rows_of(tree, table);
    let widest = rows.iter().map(|&row| cells_of(tree, row).count()).max();
    if widest.unwrap_or(0) < 2 {
        return true;
    }
    let has_header = rows
        .iter()
        .flat_map(|&row| cells_of(tree, row))
        .any(|cell| tree.tag(cell) == Tag::Th);
    !has_header
        && tree
            .children(table)
            .all(|child| tree.tag(child) != Tag::Caption)
        && has_large_blocks(tree, table)
}

fn has_large_blocks(tree: &Tree<'_>, table: NodeId) -> bool {
    tree.descendants(table).any(|node| {
        let tag = tree.tag(node);
        tag.heading_level().is_some() || matches!(tag, Tag::Table | Tag::Pre | Tag::Blockquote)
    })
}

impl Reader<'_, '_> {
    pub(super) fn read_table(&mut self, id: NodeId) -> Table {
        self.read_caption(id);
        let mut rows = Vec::new();
        // More than this the writers will not take.
        let mut room = self.writers.max_bytes();
        for row in rows_of(self.tree, id) {
            let in_head = self
                .tree
                .parent(row)
                .is_some_and(|parent| self.tree.tag(parent) == Tag::Thead);
            let cells: Vec<NodeId> = cells_of(self.tree, row).collect();
            let cells = cells.into_iter().map(|cell| self.read_cell(cell)).collect();
            let row = Row { cells, in_head };
            room = room.saturating_sub(row.bytes());
            rows.push(row);
            if room == 0 {
                break;
            }
        }
        self.read_titles(&mut rows);
        arrange(rows)
    }

    /// A first row of one cell over all columns is a title and names no column.
    fn read_titles(&mut self, rows: &mut Vec<Row>) {
        let is_title = |row: &&Row| matches!(&row.cells[..], [cell] if cell.columns > 1);
        let titles = rows.iter().take_while(is_title).count();
        // The last row is no title: there is nothing under it.
        let titles = titles.min(rows.len().saturating_sub(1));
        for mut row in rows.drain(..titles) {
            let spans = row.cells.pop().map(|cell| cell.spans);
            if let Some(spans) = spans.filter(|spans| !spans.is_empty()) {
                self.emit(&Block::Paragraph(spans));
            }
        }
    }

    fn read_caption(&mut self, id: NodeId) {
        let tree = self.tree;
        let caption = tree
            .children(id)
            .find(|&child| tree.tag(child) == Tag::Caption);
        if let Some(caption) = caption {
            let spans = self.read_line(caption);
            if !spans.is_empty() {
                self.emit(&Block::Paragraph(spans));
            }
        }
    }

    fn read_cell(&mut self, id: NodeId) -> Cell {
        let tree = self.tree;
        let number = |name, most| {
            let value = tree.attribute(id, name);
            let value = value.and_then(|value| value.trim().parse::<usize>().ok());
            value.unwrap_or(1).clamp(1, most)
        };
        Cell {
            columns: number("colspan", MAX_COLUMNS),
            rows: number("rowspan", usize::from(u16::MAX)),
            is_header: tree.tag(id) == Tag::Th,
            alignment: alignment(tree, id),
            spans: self.read_line(id),
        }
    }

    /// Reads everything in an element as one line.
    fn read_line(&mut self, id: NodeId) -> Vec<Span> {
        let spans = std::mem::take(&mut self.spans);
        let saved = std::mem::take(&mut self.saved);
        let (look, mode) = (self.look, self.mode);
        self.look = Look {
            link: self.current_look().link,
            ..Look::default()
        };
        self.mode = Mode::Cell;
        let children: Vec<NodeId> = self.tree.children(id).collect();
        for child in children {
            self.walk(child);
        }
        self.look = look;
        self.mode = mode;
        self.saved = saved;
        let mut line: Spans = std::mem::replace(&mut self.spans, spans);
        line.trim_end(SEPARATOR);
        line.take()
    }
}

fn alignment(tree: &Tree<'_>, id: NodeId) -> Alignment {
    let style = tree.attribute(id, "style").unwrap_or_default();
    let from_style = style
        .split(';')
        .filter_map(|rule| rule.split_once(':'))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("text-align"))
        .map(|(_, value)| value.trim().to_ascii_lowercase());
    let declared = from_style.or_else(|| {
        let align = tree.attribute(id, "align")?;
        Some(align.trim().to_ascii_lowercase())
    });
    match declared.as_deref() {
        Some("left") => Alignment::Left,
        Some("center") => Alignment::Center,
        Some("right") => Alignment::Right,
        _ => Alignment::None,
    }
}

/// Lays cells out in a grid and decides on the header.
fn arrange(rows: Vec<Row>) -> Table {
    let is_head = |row: &Row| {
        row.in_head || !row.cells.is_empty() && row.cells.iter().all(|cell| cell.is_header)
    };
    let has_headers = rows
        .iter()
        .any(|row| row.cells.iter().any(|cell| cell.is_header));
    let head_rows = rows.iter().take_while(|row| is_head(row)).count();
    let alignments = rows
        .iter()
        .rev()
        .find(|row| {
            row.cells
                .iter()
                .any(|cell| cell.alignment != Alignment::None)
        })
        .map(|row| row.cells.iter().map(|cell| cell.alignment).collect());
    let mut grid = grid(rows, head_rows);
    let mut lines: Vec<Vec<Vec<Span>>> = Vec::with_capacity(grid.len() + 1);
    if head_rows > 0 {
        let rest = grid.split_off(head_rows);
        lines.push(merge_headers(grid));
        grid = rest;
    } else if has_headers {
        // Headers at the side: the columns have no names.
        lines.push(Vec::new());
    }
    lines.extend(
        grid.into_iter()
            .filter(|row| row.iter().any(|cell| !cell.is_empty())),
    );
    if lines.iter().all(|row| row.iter().all(Vec::is_empty)) {
        lines.clear();
    }
    Table {
        rows: lines,
        alignments: alignments.unwrap_or_default(),
    }
}

/// What spans rows is repeated in them, so that each row can be read alone; what spans columns
/// stands in the first of them, in headers in all of them.
fn grid(rows: Vec<Row>, head_rows: usize) -> Vec<Vec<Vec<Span>>> {
    let mut below: Vec<(usize, Vec<Span>)> = Vec::new();
    let mut grid = Vec::with_capacity(rows.len());
    let mut filled = 0;
    for (number, row) in rows.into_iter().enumerate() {
        if filled > MAX_FILLED_CELLS {
            below.clear();
        }
        let own_cells = row.cells.len();
        let is_head = number < head_rows;
        let mut line: Vec<Vec<Span>> = Vec::with_capacity(row.cells.len());
        for cell in row.cells {
            fill_from_above(&mut line, &mut below);
            let from = line.len();
            let repeated = if is_small(&cell.spans) {
                cell.spans.clone()
            } else {
                Vec::new()
            };
            line.push(cell.spans);
            let columns = if filled > MAX_FILLED_CELLS {
                1
            } else {
                cell.columns
            };
            while line.len() < (from + columns).min(MAX_COLUMNS) {
                line.push(if is_head {
                    repeated.clone()
                } else {
                    Vec::new()
                });
            }
            if cell.rows > 1 && line.len() <= MAX_COLUMNS {
                below.resize(below.len().max(line.len()), (0, Vec::new()));
                for (offset, slot) in below[from..line.len()].iter_mut().enumerate() {
                    let content = if offset == 0 || is_head {
                        repeated.clone()
                    } else {
                        Vec::new()
                    };
                    *slot = (cell.rows - 1, content);
                }
            }
        }
        fill_from_above(&mut line, &mut below);
        filled += line.len() - own_cells;
        grid.push(line);
    }
    grid
}

/// Appends the cells that reach down from the rows above.
fn fill_from_above(line: &mut Vec<Vec<Span>>, below: &mut [(usize, Vec<Span>)]) {
    while let Some((rows @ 1.., spans)) = below.get_mut(line.len()) {
        *rows -= 1;
        line.push(if *rows == 0 {
            std::mem::take(spans)
        } else {
            spans.clone()
        });
    }
}

fn is_small(spans: &[Span]) -> bool {
    let others = spans
        .iter()
        .filter(|span| !matches!(span.content, Content::Text(_)));
    text_bytes(spans) + others.count() * 30 <= MAX_REPEATED_BYTES
}

/// Several rows of headers become one: `Sales / 2024`.
fn merge_headers(rows: Vec<Vec<Vec<Span>>>) -> Vec<Vec<Span>> {
    let mut merged: Vec<Vec<Span>> = Vec::new();
    let mut last: Vec<Vec<Span>> = Vec::new();
    for row in rows {
        for (column, cell) in row.into_iter().enumerate() {
            if merged.len() <= column {
                merged.push(Vec::new());
                last.push(Vec::new());
            }
            if cell.is_empty() || last[column] == cell {
                continue;
            }
            if !merged[column].is_empty() {
                merged[column].push(Span {
                    content: Content::Text(SEPARATOR.to_owned()),
                    marks: crate::markdown::model::Marks::NONE,
                    link: crate::markdown::model::NO_LINK,
                });
            }
            last[column].clone_from(&cell);
            merged[column].extend(cell);
        }
    }
    merged
}
