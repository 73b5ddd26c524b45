//! GEXF 1.3 for Gephi. Nodes and edges live from the run they were first seen in to the run they
//! were last seen in, so that Gephi's timeline shows how a map grew.

use std::io::{self, Write};

use super::schema::{About, Column, Edge, GraphWriter, Kind, Node, Schema, Value};
use crate::{runs::Life, text::xml};

pub(super) struct Gexf<'w> {
    out: &'w mut dyn Write,
    edges: u64,
}

impl<'w> Gexf<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> Self {
        Self { out, edges: 0 }
    }

    fn attributes(&mut self, of: &str, columns: &[Column]) -> io::Result<()> {
        if columns.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "<attributes class=\"{of}\" mode=\"static\">")?;
        for (place, column) in columns.iter().enumerate() {
            let kind = match column.kind {
                Kind::Text => "string",
                Kind::Whole => "long",
            };
            writeln!(
                self.out,
                "<attribute id=\"{place}\" title=\"{}\" type=\"{kind}\"/>",
                column.name
            )?;
        }
        self.out.write_all(b"</attributes>\n")
    }

    fn life(&mut self, life: Life) -> io::Result<()> {
        for (name, time) in [("start", life.start), ("end", life.end)] {
            if let Some(time) = time {
                write!(self.out, " {name}=\"{}\"", time.iso())?;
            }
        }
        Ok(())
    }

    fn values(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        self.out.write_all(b"<attvalues>")?;
        for (place, value) in values.iter().enumerate() {
            let text = match value {
                Value::Text(text) => xml(text),
                Value::Whole(number) => number.to_string(),
                Value::Nothing => continue,
            };
            write!(self.out, "<attvalue for=\"{place}\" value=\"{text}\"/>")?;
        }
        self.out.write_all(b"</attvalues>")
    }
}

impl GraphWriter for Gexf<'_> {
    fn begin(&mut self, schema: Schema, about: &About) -> io::Result<()> {
        self.out.write_all(
            b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
              <gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n",
        )?;
        let day = about.date.get(..10).unwrap_or_default();
        writeln!(
            self.out,
            "<meta lastmodifieddate=\"{day}\"><creator>Trawl</creator><description>{}\
             </description></meta>",
            xml(&about.title)
        )?;
        // Called "date" although the values have hours: Gephi reads both alike, and networkx knows
        // no other name for times that are not numbers.
        self.out.write_all(
            b"<graph defaultedgetype=\"directed\" mode=\"dynamic\" timeformat=\"date\" \
              timerepresentation=\"interval\">\n",
        )?;
        self.attributes("node", schema.nodes)?;
        self.attributes("edge", schema.edges)?;
        self.out.write_all(b"<nodes>\n")
    }

    fn node(&mut self, node: &Node<'_>) -> io::Result<()> {
        let (id, label) = (node.id, xml(node.label));
        write!(self.out, "<node id=\"{id}\" label=\"{label}\"")?;
        self.life(node.life)?;
        self.out.write_all(b">")?;
        self.values(node.values)?;
        self.out.write_all(b"</node>\n")
    }

    fn edge(&mut self, edge: &Edge<'_>) -> io::Result<()> {
        if self.edges == 0 {
            self.out.write_all(b"</nodes>\n<edges>\n")?;
        }
        self.edges += 1;
        let (id, from, to, weight) = (self.edges, edge.from, edge.to, edge.weight);
        write!(
            self.out,
            "<edge id=\"{id}\" source=\"{from}\" target=\"{to}\" weight=\"{weight}\""
        )?;
        self.life(edge.life)?;
        self.out.write_all(b">")?;
        self.values(edge.values)?;
        self.out.write_all(b"</edge>\n")
    }

    fn end(&mut self) -> io::Result<()> {
        if self.edges == 0 {
            self.out.write_all(b"</nodes>\n<edges>\n")?;
        }
        self.out.write_all(b"</edges>\n</graph>\n</gexf>\n")?;
        self.out.flush()
    }
}
