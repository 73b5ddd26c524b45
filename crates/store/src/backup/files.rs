//! Files with checksums, and a folder that is there wholly or not at all.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::{
    Output,
    error::BackupError,
    manifest::{FileFacts, MANIFEST},
};

const BUFFER: usize = 1 << 20;
/// Rows compress well at any level; higher ones cost more time than they save.
const LEVEL: i32 = 3;

/// What is read or written passes through here and is counted.
struct Hashing<T> {
    inner: T,
    hash: Sha256,
    bytes: u64,
}

impl<T> Hashing<T> {
    fn new(inner: T) -> Self {
        Self {
            inner,
            hash: Sha256::new(),
            bytes: 0,
        }
    }

    fn note(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    fn facts(self, name: &str) -> (T, FileFacts) {
        let facts = FileFacts {
            name: name.to_owned(),
            bytes: self.bytes,
            sha256: hex(&self.hash.finalize()),
        };
        (self.inner, facts)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.note(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.note(&bytes[..read]);
        Ok(read)
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Writes the first `bytes` of a file to another one, compressed if it is to be.
pub(super) fn copy_in(
    from: &Path,
    bytes: u64,
    folder: &Path,
    name: &str,
    compress: bool,
) -> Result<FileFacts, BackupError> {
    let to = folder.join(name);
    let mut source = File::open(from).map_err(BackupError::io(from))?.take(bytes);
    let mut copy = || -> io::Result<FileFacts> {
        let mut out = Hashing::new(BufWriter::with_capacity(BUFFER, File::create(&to)?));
        if compress {
            let mut encoder = zstd::Encoder::new(&mut out, LEVEL)?;
            encoder.include_checksum(true)?;
            io::copy(&mut source, &mut encoder)?;
            encoder.finish()?;
        } else {
            io::copy(&mut source, &mut out)?;
        }
        out.flush()?;
        let (file, facts) = out.facts(name);
        file.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        Ok(facts)
    };
    copy().map_err(BackupError::io(&to))
}

/// Reads a file of a backup to its end; gives what it is.
pub(super) fn facts_of(folder: &Path, name: &str) -> Result<FileFacts, BackupError> {
    let path = folder.join(name);
    let read = || -> io::Result<FileFacts> {
        let mut file = Hashing::new(File::open(&path)?);
        io::copy(
            &mut BufReader::with_capacity(BUFFER, &mut file),
            &mut io::sink(),
        )?;
        Ok(file.facts(name).1)
    };
    read().map_err(BackupError::io(&path))
}

/// Decompresses a file of a backup.
pub(super) fn unpack(from: &Path, to: &Path) -> Result<(), BackupError> {
    let file = File::open(from).map_err(BackupError::io(from))?;
    let copy = || -> io::Result<()> {
        let mut out = File::create(to)?;
        let mut decoder = zstd::Decoder::new(file)?;
        io::copy(&mut decoder, &mut out)?;
        out.sync_all()
    };
    copy().map_err(BackupError::io(to))
}

pub(super) fn sync(path: &Path) -> Result<(), BackupError> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(BackupError::io(path))
}

/// A folder under another name until it is whole. What is left of one that was not finished is removed.
#[derive(Debug)]
pub(super) struct Draft<'p> {
    output: Output<'p>,
    pub(super) folder: PathBuf,
    kept: bool,
}

impl<'p> Draft<'p> {
    pub(super) fn begin(output: Output<'p>) -> Result<Self, BackupError> {
        may_be_replaced(output)?;
        let folder = crate::sqlite::beside(output.folder, ".partial");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(BackupError::io(&folder))?;
        }
        fs::create_dir_all(&folder).map_err(BackupError::io(&folder))?;
        Ok(Self {
            output,
            folder,
            kept: false,
        })
    }

    /// The folder gets its name.
    pub(super) fn keep(mut self) -> Result<(), BackupError> {
        let to = self.output.folder;
        sync(&self.folder)?;
        may_be_replaced(self.output)?;
        let old = crate::sqlite::beside(to, ".old");
        let replaces = to.exists();
        if replaces {
            fs::rename(to, &old).map_err(BackupError::io(to))?;
        }
        fs::rename(&self.folder, to).map_err(BackupError::io(to))?;
        self.kept = true;
        let parent = to.parent().filter(|p| !p.as_os_str().is_empty());
        sync(parent.unwrap_or(Path::new(".")))?;
        if replaces {
            fs::remove_dir_all(&old).map_err(BackupError::io(&old))?;
        }
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Only a backup is ever replaced, and only if somebody says so; a folder with nothing in it is free.
fn may_be_replaced(output: Output<'_>) -> Result<(), BackupError> {
    let name = || output.folder.display().to_string();
    match fs::read_dir(output.folder).map(Iterator::count) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(BackupError::Foreign(name()))
        }
        Err(error) => Err(BackupError::io(output.folder)(error)),
        Ok(0) => Ok(()),
        Ok(_) if !output.folder.join(MANIFEST).exists() => Err(BackupError::Foreign(name())),
        Ok(_) if output.force => Ok(()),
        Ok(_) => Err(BackupError::Exists(name())),
    }
}
