//! A compressed file with its checksum. What writes into it may not know when it ends, so it is shared
//! with whoever finishes it.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sha2::{Digest, Sha256};

use super::signature::hex;
use crate::{
    args::{ArchiveCompression, ArchiveFormat},
    exit::BadInput,
};

/// A file as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

#[derive(Clone)]
pub(super) struct Packed {
    name: String,
    encoder: Arc<Mutex<Option<Encoder>>>,
}

enum Encoder {
    Zstd(zstd::Encoder<'static, Hashed>),
    Gzip(flate2::write::GzEncoder<Hashed>),
}

/// Counts what reaches the file.
struct Hashed {
    file: File,
    hash: Sha256,
    bytes: u64,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Packed {
    pub(super) fn create(
        folder: &Path,
        name: &str,
        compression: ArchiveCompression,
    ) -> anyhow::Result<Self> {
        let path = folder.join(name);
        let file = File::create_new(&path)
            .map_err(|error| BadInput(format!("cannot write {}: {error}", path.display())))?;
        let hashed = Hashed {
            file,
            hash: Sha256::new(),
            bytes: 0,
        };
        let encoder = match compression {
            ArchiveCompression::Zstd => {
                let mut encoder = zstd::Encoder::new(hashed, 9)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            ArchiveCompression::Gzip => Encoder::Gzip(flate2::write::GzEncoder::new(
                hashed,
                flate2::Compression::default(),
            )),
        };
        Ok(Self {
            name: name.to_owned(),
            encoder: Arc::new(Mutex::new(Some(encoder))),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Encoder>> {
        self.encoder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the file durable.
    pub(super) fn finish(self) -> anyhow::Result<Facts> {
        let encoder = self.lock().take();
        let hashed = match encoder {
            Some(Encoder::Zstd(encoder)) => encoder.finish()?,
            Some(Encoder::Gzip(encoder)) => encoder.finish()?,
            None => anyhow::bail!("{} was finished before", self.name),
        };
        hashed.file.sync_all()?;
        Ok(Facts {
            name: self.name,
            bytes: hashed.bytes,
            sha256: hex(&hashed.hash.finalize()),
        })
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.lock() {
            Some(Encoder::Zstd(encoder)) => encoder.write(bytes),
            Some(Encoder::Gzip(encoder)) => encoder.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Blocks are not cut short for those who only empty their buffers.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads a file back from disk: it must have its checksum, and hold so many pages.
pub(super) fn must_hold(
    folder: &Path,
    facts: &Facts,
    compression: ArchiveCompression,
    format: ArchiveFormat,
    rows: u64,
) -> anyhow::Result<()> {
    let path = folder.join(&facts.name);
    let found = facts_of(&path, &facts.name)?;
    anyhow::ensure!(
        found == *facts,
        "{} does not hold what was written to it: nothing was removed",
        path.display()
    );
    let file = BufReader::new(File::open(&path)?);
    let plain: Box<dyn Read> = match compression {
        ArchiveCompression::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
        ArchiveCompression::Gzip => Box::new(flate2::bufread::GzDecoder::new(file)),
    };
    let held = match format {
        ArchiveFormat::Ndjson => lines(BufReader::new(plain))?,
        ArchiveFormat::Csv => records(plain)?,
    };
    anyhow::ensure!(
        held == rows,
        "{} holds {held} pages instead of {rows}: nothing was removed",
        path.display()
    );
    Ok(())
}

pub(super) fn facts_of(path: &Path, name: &str) -> io::Result<Facts> {
    let mut hashed = (Sha256::new(), 0);
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    loop {
        let some = file.fill_buf()?;
        if some.is_empty() {
            break;
        }
        hashed.0.update(some);
        hashed.1 += some.len() as u64;
        let length = some.len();
        file.consume(length);
    }
    Ok(Facts {
        name: name.to_owned(),
        bytes: hashed.1,
        sha256: hex(&hashed.0.finalize()),
    })
}

/// Every line must be JSON.
fn lines(mut text: impl BufRead) -> anyhow::Result<u64> {
    let (mut count, mut line) = (0, Vec::new());
    while text.read_until(b'\n', &mut line)? > 0 {
        serde_json::from_slice::<serde::de::IgnoredAny>(&line)?;
        count += 1;
        line.clear();
    }
    Ok(count)
}

fn records(text: impl Read) -> anyhow::Result<u64> {
    let mut reader = csv::Reader::from_reader(text);
    let (mut count, mut record) = (0, csv::ByteRecord::new());
    while reader.read_byte_record(&mut record)? {
        count += 1;
    }
    Ok(count)
}

pub(super) fn write_durably(folder: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let path = folder.join(name);
    fs::write(&path, bytes)?;
    File::open(&path)?.sync_all()?;
    Ok(())
}
