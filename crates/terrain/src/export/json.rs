//! Nodes and links as JSON, one to a line, in the shape of networkx's `node_link_graph`. Written piece
//! by piece: a value tree for each of millions of edges would take most of the time.

use std::io::{self, Write};

use serde_json::json;

use super::schema::{About, Column, Edge, GraphWriter, Node, Schema, Value};
use crate::runs::Life;

pub(super) struct Json<'w> {
    out: &'w mut dyn Write,
    schema: Schema,
    nodes: u64,
    edges: u64,
}

impl<'w> Json<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> Self {
        let schema = Schema {
            nodes: &[],
            edges: &[],
        };
        Self {
            out,
            schema,
            nodes: 0,
            edges: 0,
        }
    }

    fn begin_edges(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n],\n\"edges\":[")
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        Ok(serde_json::to_writer(&mut *self.out, text)?)
    }

    fn rest(&mut self, columns: &[Column], life: Life, values: &[Value<'_>]) -> io::Result<()> {
        for (name, time) in [("first_seen", life.start), ("last_seen", life.end)] {
            match time {
                Some(time) => write!(self.out, ",\"{name}\":\"{}\"", time.iso())?,
                None => write!(self.out, ",\"{name}\":null")?,
            }
        }
        for (column, value) in columns.iter().zip(values) {
            write!(self.out, ",\"{}\":", column.name)?;
            match value {
                Value::Text(text) => self.text(text)?,
                Value::Whole(number) => write!(self.out, "{number}")?,
                Value::Nothing => self.out.write_all(b"null")?,
            }
        }
        self.out.write_all(b"}")
    }
}

impl GraphWriter for Json<'_> {
    fn begin(&mut self, schema: Schema, about: &About) -> io::Result<()> {
        self.schema = schema;
        let graph = json!({ "title": about.title, "date": about.date });
        write!(
            self.out,
            "{{\"directed\":true,\"multigraph\":false,\"graph\":{graph},\n\"nodes\":["
        )
    }

    fn node(&mut self, node: &Node<'_>) -> io::Result<()> {
        let comma = if self.nodes == 0 { "" } else { "," };
        self.nodes += 1;
        write!(self.out, "{comma}\n{{\"id\":{},\"label\":", node.id)?;
        self.text(node.label)?;
        self.rest(self.schema.nodes, node.life, node.values)
    }

    fn edge(&mut self, edge: &Edge<'_>) -> io::Result<()> {
        if self.edges == 0 {
            self.begin_edges()?;
        }
        let comma = if self.edges == 0 { "" } else { "," };
        self.edges += 1;
        let (from, to, weight) = (edge.from, edge.to, edge.weight);
        write!(
            self.out,
            "{comma}\n{{\"source\":{from},\"target\":{to},\"weight\":{weight}"
        )?;
        self.rest(self.schema.edges, edge.life, edge.values)
    }

    fn end(&mut self) -> io::Result<()> {
        if self.edges == 0 {
            self.begin_edges()?;
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}
