//! Pages of one crawl in a compressed file, and what stands beside the files of an archive.

use std::{
    fs,
    io::{BufWriter, Write},
    path::Path,
};

use serde_json::json;
use trawl_store::contract::{read::CrawlRow, server::ServerStore};
use trawl_types::{PageRecord, Sequence, UnixMillis};

use super::packed::{self, Facts, Packed};
use crate::{
    args::{ArchiveCompression, ArchiveFormat, Format},
    commands::admin::{blocking, now},
    output::{Fields, Rows, write_record},
};

const PAGE: u32 = 500;

/// How pages are written.
#[derive(Debug, Clone)]
pub(super) struct Style {
    pub(super) format: ArchiveFormat,
    pub(super) compress: ArchiveCompression,
    pub(super) fields: Fields,
}

impl Style {
    fn file_name(&self, crawl: &CrawlRow) -> String {
        let format = match self.format {
            ArchiveFormat::Ndjson => "ndjson",
            ArchiveFormat::Csv => "csv",
        };
        let ending = match self.compress {
            ArchiveCompression::Zstd => "zst",
            ArchiveCompression::Gzip => "gz",
        };
        format!("crawl-{:06}.{format}.{ending}", crawl.id.0)
    }

    fn rows(&self, packed: &Packed) -> anyhow::Result<Rows> {
        let format = match self.format {
            ArchiveFormat::Ndjson => Format::Ndjson,
            ArchiveFormat::Csv => Format::Csv,
        };
        let out: Box<dyn Write + Send> = Box::new(packed.clone());
        Ok(Rows::new(format, self.fields.clone(), BufWriter::new(out))?)
    }
}

/// Which pages of a crawl.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// All that were visited before, wherever they stand in the log.
    All { before: Option<UnixMillis> },
    /// Those that follow a number in the log, up to the first that was not visited before.
    Next { after: Sequence, before: UnixMillis },
}

impl Part {
    fn after(self) -> Sequence {
        match self {
            Self::All { .. } => Sequence(0),
            Self::Next { after, .. } => after,
        }
    }

    /// Whether a page is one of them; nothing where none of those that follow is.
    pub(super) fn takes(self, record: &PageRecord) -> Option<bool> {
        match self {
            Self::All { before } => Some(before.is_none_or(|before| record.crawled_at < before)),
            Self::Next { before, .. } => (record.crawled_at < before).then_some(true),
        }
    }
}

/// What was written of one crawl.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) crawl: CrawlRow,
    /// There is no file where there are none.
    pub(super) rows: u64,
    /// The number in the log up to which all was looked at.
    pub(super) through: Sequence,
    pub(super) file: Facts,
}

pub(super) async fn write(
    store: &dyn ServerStore,
    crawl: CrawlRow,
    part: Part,
    style: &Style,
    folder: &Path,
) -> anyhow::Result<Written> {
    let name = style.file_name(&crawl);
    let packed = Packed::create(folder, &name, style.compress)?;
    let mut rows = style.rows(&packed)?;
    let (mut count, mut through) = (0, part.after());
    'log: loop {
        let records = store.results(crawl.id, through, PAGE).await?;
        if records.is_empty() {
            // Numbers at the end may have been removed; what is added from now on is not meant.
            through = through.max(crawl.last_seq);
            break;
        }
        for record in &records {
            let Some(taken) = part.takes(record) else {
                break 'log;
            };
            if taken {
                write_record(&mut rows, store, crawl.id, record).await?;
                count += 1;
            }
            through = record.seq;
        }
    }
    rows.finish()?;
    let file = packed.finish()?;
    if count == 0 {
        fs::remove_file(folder.join(&name))?;
    } else {
        let (folder, file) = (folder.to_owned(), file.clone());
        let (compress, format) = (style.compress, style.format);
        blocking(move || packed::must_hold(&folder, &file, compress, format, count)).await??;
    }
    Ok(Written {
        crawl,
        rows: count,
        through,
        file,
    })
}

/// What stands beside the files: checksums that `sha256sum -c` reads, and what the archive is of.
pub(super) fn finish(
    folder: &Path,
    before: Option<UnixMillis>,
    all: &[Written],
) -> anyhow::Result<()> {
    let sums = all.iter().map(|written| {
        let Facts { name, sha256, .. } = &written.file;
        format!("{sha256}  {name}\n")
    });
    packed::write_durably(folder, "SHA256SUMS", sums.collect::<String>().as_bytes())?;
    let crawls = all.iter().map(|written| {
        json!({
            "crawl": written.crawl.id.0,
            "name": written.crawl.name,
            "pages": written.rows,
            "file": written.file.name,
            "bytes": written.file.bytes,
            "sha256": written.file.sha256,
        })
    });
    let about = json!({
        "trawl": env!("CARGO_PKG_VERSION"),
        "created_at": now().iso(),
        "before": before.map(UnixMillis::iso),
        "crawls": crawls.collect::<Vec<_>>(),
    });
    packed::write_durably(folder, "archive.json", &serde_json::to_vec_pretty(&about)?)?;
    fs::File::open(folder)?.sync_all()?;
    Ok(())
}
