//! One record in one format. Text of crawled pages is hostile: CSV cells that a spreadsheet would
//! run as a formula are quoted.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
};

use serde_json::{Value, json};
use trawl_store::contract::read::StoredLink;
use trawl_types::PageRecord;

use super::{
    besides::Besides,
    fields::{Fields, value},
};
use crate::args::Format;

type Out = BufWriter<Box<dyn Write + Send>>;

pub(crate) struct Rows {
    fields: Fields,
    to: Writer,
}

enum Writer {
    Ndjson(Out),
    Json { out: Out, first: bool },
    Csv(Box<csv::Writer<Out>>),
    Urls(Out),
}

impl Rows {
    pub(crate) fn new(format: Format, fields: Fields, mut out: Out) -> io::Result<Self> {
        let to = match format {
            // Beside Markdown files: what was found of every page, also of those without content.
            Format::Ndjson | Format::Markdown => Writer::Ndjson(out),
            Format::Json => {
                out.write_all(b"[")?;
                Writer::Json { out, first: true }
            }
            Format::Csv => {
                let mut csv = csv::WriterBuilder::new();
                csv.quote_style(csv::QuoteStyle::Always);
                let mut csv = csv.from_writer(out);
                csv.write_record(fields.names()).map_err(as_io)?;
                Writer::Csv(Box::new(csv))
            }
            Format::Urls => Writer::Urls(out),
        };
        Ok(Self { fields, to })
    }

    /// Whether any of these fields is written.
    pub(crate) fn wants(&self, names: &[&str]) -> bool {
        self.fields.wants(names) && !matches!(self.to, Writer::Urls(_))
    }

    pub(crate) fn write(&mut self, record: &PageRecord, besides: &Besides) -> io::Result<()> {
        match &mut self.to {
            Writer::Ndjson(out) => {
                serde_json::to_writer(&mut *out, &self.fields.object(record, besides))?;
                out.write_all(b"\n")
            }
            Writer::Json { out, first } => {
                out.write_all(if std::mem::take(first) { b"\n" } else { b",\n" })?;
                Ok(serde_json::to_writer(
                    out,
                    &self.fields.object(record, besides),
                )?)
            }
            Writer::Csv(csv) => {
                let names = self.fields.names().iter();
                let cells = names.map(|name| cell(&value(name, record, besides)));
                csv.write_record(cells).map_err(as_io)
            }
            Writer::Urls(out) if record.outcome.is_page() => {
                writeln!(out, "{}", record.final_url.as_ref().unwrap_or(&record.url))
            }
            Writer::Urls(_) => Ok(()),
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Writer::Ndjson(out) | Writer::Urls(out) | Writer::Json { out, .. } => out.flush(),
            Writer::Csv(csv) => csv.flush(),
        }
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        if let Writer::Json { out, .. } = &mut self.to {
            out.write_all(b"\n]\n")?;
        }
        self.flush()
    }
}

/// The error beneath, which the crate for CSV would hide: a closed pipe is told by its kind.
fn as_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Edges, one JSON object on a line.
pub(crate) struct LinkRows(BufWriter<File>);

impl LinkRows {
    pub(crate) fn new(file: File) -> Self {
        Self(BufWriter::with_capacity(1 << 16, file))
    }

    pub(crate) fn write(&mut self, from: &str, links: &[StoredLink]) -> io::Result<()> {
        for link in links {
            let mut row = json!({ "from": from, "to": link.url });
            row["anchor"] = json!(link.anchor);
            row["kind"] = json!(link.kind);
            row["rel"] = json!(link.rel.words());
            row["place"] = json!(link.place);
            serde_json::to_writer(&mut self.0, &row)?;
            self.0.write_all(b"\n")?;
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => harmless(text),
        Value::Array(items) => {
            let urls = items.iter().filter_map(|item| item.get("url")?.as_str());
            harmless(&urls.collect::<Vec<_>>().join(" "))
        }
        other => other.to_string(),
    }
}

/// A leading quote keeps spreadsheets from running a cell, also behind full-width look-alikes.
fn harmless(text: &str) -> String {
    let risky = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if text.starts_with(risky) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_would_run_as_formulas_are_quoted() {
        for text in ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "＝1"] {
            assert!(harmless(text).starts_with('\''), "{text:?}");
        }
        assert_eq!(harmless("plain = text"), "plain = text");
    }
}
