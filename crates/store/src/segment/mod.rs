//! Bodies, kept beside the database in append-only files that other tools can read.
//!
//! Each zstd frame holds a few WARC/1.1 records, so `zstdcat 000001.warc.zst` is a WARC file and
//! every frame can be read alone. The database refers to records by segment, by offset, length and
//! checksum of their frame, and by their place within it; whatever it does not refer to does not
//! exist. Modules in the order of the data:
//!
//! * [`warc`]: one answer as a record, and back
//! * [`pack`]: which records go into a frame together
//! * [`packing`]: what a batch keeps, taken out of it and packed
//! * [`frame`]: bytes to frames, and back
//! * [`append`]: the end of the newest file, owned by the writer
//! * [`fetch`]: one record by its reference

pub(crate) mod append;
pub(crate) mod fetch;
pub(crate) mod frame;
pub(crate) mod pack;
pub(crate) mod packing;
pub(crate) mod warc;

pub use warc::{Record, encode, encode_content, split_answer};

use std::path::{Path, PathBuf};

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BodyRef {
    pub(crate) segment: u32,
    /// Of the frame, as are length and checksum.
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) crc: u32,
    /// Where the record begins in what the frame holds.
    pub(crate) within: u32,
}

/// The folder of a database's segments.
pub(crate) fn folder(database: &Path) -> PathBuf {
    crate::sqlite::beside(database, "-bodies")
}

/// Numbers of the files that are there.
pub(crate) fn numbers(folder: &Path) -> std::io::Result<Vec<u32>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let stem = name
            .to_str()
            .and_then(|name| name.strip_suffix(".warc.zst"));
        numbers.extend(stem.and_then(|stem| stem.parse::<u32>().ok()));
    }
    Ok(numbers)
}

pub(crate) fn file_name(segment: u32) -> String {
    format!("{segment:06}.warc.zst")
}
