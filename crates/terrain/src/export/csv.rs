//! Nodes and edges as CSV, under the names that Gephi's import knows. Spreadsheets take some texts
//! for formulas; such texts get a quotation mark in front.

use std::io::{self, Write};
use trawl_types::UnixMillis;

use super::schema::{About, Column, Edge, GraphWriter, Node, Schema, Value};
use crate::{runs::Life, text::is_unseen};

pub(super) struct Nodes<'w> {
    out: csv::Writer<&'w mut dyn Write>,
}

pub(super) struct Edges<'w> {
    out: csv::Writer<&'w mut dyn Write>,
}

impl<'w> Nodes<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out: csv::Writer::from_writer(out),
        }
    }
}

impl<'w> Edges<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out: csv::Writer::from_writer(out),
        }
    }
}

impl GraphWriter for Nodes<'_> {
    fn begin(&mut self, schema: Schema, _: &About) -> io::Result<()> {
        header(
            &mut self.out,
            &["Id", "Label", "first_seen", "last_seen"],
            schema.nodes,
        )
    }

    fn wants_edges(&self) -> bool {
        false
    }

    fn node(&mut self, node: &Node<'_>) -> io::Result<()> {
        self.out.write_field(node.id.to_string())?;
        self.out.write_field(guarded(node.label))?;
        rest(&mut self.out, node.life, node.values)
    }

    fn edge(&mut self, _: &Edge<'_>) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl GraphWriter for Edges<'_> {
    fn begin(&mut self, schema: Schema, _: &About) -> io::Result<()> {
        let first = [
            "Source",
            "Target",
            "Type",
            "Weight",
            "first_seen",
            "last_seen",
        ];
        header(&mut self.out, &first, schema.edges)
    }

    fn node(&mut self, _: &Node<'_>) -> io::Result<()> {
        Ok(())
    }

    fn edge(&mut self, edge: &Edge<'_>) -> io::Result<()> {
        self.out.write_field(edge.from.to_string())?;
        self.out.write_field(edge.to.to_string())?;
        self.out.write_field("Directed")?;
        self.out.write_field(edge.weight.to_string())?;
        rest(&mut self.out, edge.life, edge.values)
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn header(
    out: &mut csv::Writer<&mut dyn Write>,
    first: &[&str],
    columns: &[Column],
) -> io::Result<()> {
    let names = columns.iter().map(|column| column.name);
    out.write_record(first.iter().copied().chain(names))?;
    Ok(())
}

/// The columns that nodes and edges share, and the end of the line.
fn rest(out: &mut csv::Writer<&mut dyn Write>, life: Life, values: &[Value<'_>]) -> io::Result<()> {
    for time in [life.start, life.end] {
        out.write_field(time.map(UnixMillis::iso).unwrap_or_default())?;
    }
    for value in values {
        match value {
            Value::Text(text) => out.write_field(guarded(text))?,
            Value::Whole(number) => out.write_field(number.to_string())?,
            Value::Nothing => out.write_field("")?,
        }
    }
    out.write_record(None::<&[u8]>)?;
    Ok(())
}

/// Text that a spreadsheet takes for text, on one line.
fn guarded(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if is_unseen(c) { ' ' } else { c })
        .collect();
    if clean.trim_start().starts_with(['=', '+', '-', '@']) {
        format!("'{clean}")
    } else {
        clean
    }
}
