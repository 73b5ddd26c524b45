//! One record by its reference. Bytes that are not those that were written count as missing.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use super::{BodyRef, file_name, warc};

/// The body a reference means; `None` where it was lost.
pub(crate) fn body(folder: &Path, reference: BodyRef) -> io::Result<Option<Vec<u8>>> {
    let record = record(folder, reference)?;
    record.map(|record| warc::decode_body(&record)).transpose()
}

/// The content a reference means; `None` where it was lost.
pub(crate) fn content(folder: &Path, reference: BodyRef) -> io::Result<Option<Vec<u8>>> {
    let record = record(folder, reference)?;
    record
        .map(|record| warc::decode_content(&record))
        .transpose()
}

pub(crate) fn record(folder: &Path, reference: BodyRef) -> io::Result<Option<Vec<u8>>> {
    let mut file = match File::open(folder.join(file_name(reference.segment))) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let end = reference.offset.saturating_add(reference.length);
    if file.metadata()?.len() < end {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(reference.offset))?;
    let mut record = Vec::new();
    file.take(reference.length).read_to_end(&mut record)?;
    Ok((crc32fast::hash(&record) == reference.crc).then_some(record))
}
