//! GraphML: keys, then nodes and edges with their data. Read by networkx, Gephi, igraph, yEd.

use std::io::{self, Write};

use super::schema::{About, Column, Edge, GraphWriter, Kind, Node, Schema, Value};
use crate::{runs::Life, text::xml};

pub(super) struct GraphMl<'w> {
    out: &'w mut dyn Write,
}

impl<'w> GraphMl<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> Self {
        Self { out }
    }

    fn key(&mut self, id: &str, of: &str, name: &str, kind: Kind) -> io::Result<()> {
        let kind = match kind {
            Kind::Text => "string",
            Kind::Whole => "long",
        };
        writeln!(
            self.out,
            "<key id=\"{id}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
        )
    }

    fn keys(&mut self, of: &str, columns: &[Column]) -> io::Result<()> {
        let initial = &of[..1];
        self.key(&format!("{initial}s"), of, "first_seen", Kind::Text)?;
        self.key(&format!("{initial}e"), of, "last_seen", Kind::Text)?;
        for (place, column) in columns.iter().enumerate() {
            self.key(&format!("{initial}{place}"), of, column.name, column.kind)?;
        }
        Ok(())
    }

    fn data(&mut self, initial: char, life: Life, values: &[Value<'_>]) -> io::Result<()> {
        for (mark, time) in [('s', life.start), ('e', life.end)] {
            if let Some(time) = time {
                write!(
                    self.out,
                    "<data key=\"{initial}{mark}\">{}</data>",
                    time.iso()
                )?;
            }
        }
        for (place, value) in values.iter().enumerate() {
            let text = match value {
                Value::Text(text) => xml(text),
                Value::Whole(number) => number.to_string(),
                Value::Nothing => continue,
            };
            write!(self.out, "<data key=\"{initial}{place}\">{text}</data>")?;
        }
        Ok(())
    }
}

impl GraphWriter for GraphMl<'_> {
    fn begin(&mut self, schema: Schema, about: &About) -> io::Result<()> {
        self.out
            .write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
        self.out
            .write_all(b"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n")?;
        writeln!(self.out, "<desc>{}</desc>", xml(&about.title))?;
        self.key("nl", "node", "label", Kind::Text)?;
        self.keys("node", schema.nodes)?;
        self.key("ew", "edge", "weight", Kind::Whole)?;
        self.keys("edge", schema.edges)?;
        self.out
            .write_all(b"<graph id=\"terrain\" edgedefault=\"directed\">\n")
    }

    fn node(&mut self, node: &Node<'_>) -> io::Result<()> {
        let label = xml(node.label);
        write!(
            self.out,
            "<node id=\"n{}\"><data key=\"nl\">{label}</data>",
            node.id
        )?;
        self.data('n', node.life, node.values)?;
        self.out.write_all(b"</node>\n")
    }

    fn edge(&mut self, edge: &Edge<'_>) -> io::Result<()> {
        let (from, to, weight) = (edge.from, edge.to, edge.weight);
        // An identifier of its own would make networkx think of parallel edges.
        write!(
            self.out,
            "<edge source=\"n{from}\" target=\"n{to}\"><data key=\"ew\">{weight}</data>"
        )?;
        self.data('e', edge.life, edge.values)?;
        self.out.write_all(b"</edge>\n")
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.write_all(b"</graph>\n</graphml>\n")?;
        self.out.flush()
    }
}
