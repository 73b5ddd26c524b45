//! The rows of a dump without a server: PostgreSQL's own program writes them as text, table by table, and
//! they are counted and read one at a time.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use super::{error::BackupError, manifest::TableFacts, postgres::DUMP, tools::Tool};
use crate::segment::{frame, warc};

/// Tables that lie in parts, whose names are numbered.
const IN_PARTS: [&str; 3] = ["hosts", "urls", "crawl_pages"];

#[derive(Debug, Default)]
struct Seen {
    tables: BTreeMap<String, TableFacts>,
    records: u64,
    broken: u64,
}

pub(super) fn look_through(
    folder: &Path,
) -> Result<(BTreeMap<String, TableFacts>, u64, u64), BackupError> {
    let tool = Tool::new("pg_restore");
    let file = folder.join(DUMP);
    let mut command = tool.command();
    command.args(["--data-only", "--file=-"]).arg(&file);
    let mut child = tool.start(command)?;
    let errors = child.stderr.take().map(|stream| {
        std::thread::spawn(move || {
            let mut said = Vec::new();
            let _ = stream.take(64 * 1024).read_to_end(&mut said);
            said
        })
    });
    let mut seen = Seen::default();
    if let Some(stream) = child.stdout.take() {
        let lines = BufReader::with_capacity(1 << 20, stream);
        seen.read(lines).map_err(BackupError::io(&file))?;
    }
    let ended = child.wait().map_err(|error| tool.missing(&error))?;
    let said = errors.and_then(|thread| thread.join().ok());
    if !ended.success() {
        return Err(tool.failed(&said.unwrap_or_default()));
    }
    Ok((seen.tables, seen.records, seen.broken))
}

impl Seen {
    fn read(&mut self, mut lines: impl BufRead) -> std::io::Result<()> {
        let mut line = Vec::new();
        let mut table: Option<String> = None;
        loop {
            line.clear();
            if lines.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            match &table {
                Some(_) if text == b"\\." => table = None,
                Some(name) => {
                    if name == "records" {
                        self.record(text);
                    }
                    if let Some(facts) = self.tables.get_mut(name) {
                        facts.rows += 1;
                    }
                }
                None => table = begun(text).map(|name| self.begin(name)),
            }
        }
    }

    fn begin(&mut self, name: String) -> String {
        let facts = TableFacts {
            rows: 0,
            checksum: None,
        };
        self.tables.entry(name.clone()).or_insert(facts);
        name
    }

    /// A row of `records`: crawl, number, kind, and the record in hexadecimal digits.
    fn record(&mut self, row: &[u8]) {
        self.records += 1;
        let mut cells = row.split(|byte| *byte == b'\t');
        let (kind, record) = (cells.nth(2), cells.next());
        let record = record
            .and_then(bytes_of)
            .and_then(|frame| frame::expand(&frame).ok());
        let decoded = record.is_some_and(|record| match kind {
            Some(b"0") => warc::body(&record).is_ok(),
            _ => warc::content(&record).is_ok(),
        });
        self.broken += u64::from(!decoded);
    }
}

/// The table whose rows follow: `COPY public.urls_3 (page, …) FROM stdin;`.
fn begun(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let rest = line.strip_prefix("COPY ")?;
    if !rest.ends_with(" FROM stdin;") {
        return None;
    }
    let name = rest.split(' ').next()?;
    let name = name.rsplit('.').next()?.trim_matches('"');
    let whole = IN_PARTS.iter().find(|whole| {
        let part = name.strip_prefix(**whole).and_then(|p| p.strip_prefix('_'));
        part.is_some_and(|part| part.parse::<u8>().is_ok())
    });
    Some((*whole.unwrap_or(&name)).to_owned())
}

/// `\\x0a…`, as rows of a dump have it.
fn bytes_of(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(b"\\\\x")?;
    let value = |digit: &u8| (*digit as char).to_digit(16);
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some((value(high)? << 4 | value(low)?) as u8),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_table_whatever_parts_it_has() {
        let text = "SET x = 1;\nCOPY public.urls_0 (page, url) FROM stdin;\n1\ta\n\\.\n\n\
                    COPY public.urls_15 (page, url) FROM stdin;\n2\tCOPY x FROM stdin;\n3\tc\n\\.\n\
                    COPY public.crawl_hosts (crawl, host) FROM stdin;\n\\.\n";
        let mut seen = Seen::default();
        seen.read(text.as_bytes()).unwrap();
        assert_eq!(seen.tables["urls"].rows, 3);
        assert_eq!(seen.tables["crawl_hosts"].rows, 0);
        assert_eq!(seen.tables.len(), 2);
    }

    #[test]
    fn a_record_that_cannot_be_read_is_noticed() {
        let record = crate::segment::encode_content(
            "http://a.test/",
            trawl_types::UnixMillis(0),
            b"{}".to_vec(),
        );
        let hex = super::super::files::hex(&frame::compress(&record.bytes()).unwrap());
        let text = format!(
            "COPY public.records (crawl, seq, kind, record) FROM stdin;\n\
             1\t1\t1\t\\\\x{hex}\n1\t2\t1\t\\\\x{}\n\\.\n",
            &hex[..hex.len() - 8]
        );
        let mut seen = Seen::default();
        seen.read(text.as_bytes()).unwrap();
        assert_eq!((seen.records, seen.broken), (2, 1));
    }
}
