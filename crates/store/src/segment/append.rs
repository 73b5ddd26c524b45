//! The end of the newest segment file. Owned by the writer; others only learn which files have to
//! be made durable before the rows that refer to them.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use trawl_types::UnixMillis;

use super::{BodyRef, file_name, frame, numbers, warc};

/// A new file is begun after this many bytes.
const SEGMENT_BYTES: u64 = 1 << 30;

/// Files with bytes that may not have reached the disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unsynced(Arc<Mutex<Vec<Arc<File>>>>);

impl Unsynced {
    fn note(&self, file: &Arc<File>) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !files.iter().any(|known| Arc::ptr_eq(known, file)) {
            files.push(Arc::clone(file));
        }
    }

    /// Makes everything appended so far durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let files = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        files.iter().try_for_each(|file| file.sync_data())
    }
}

/// Where the newest file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct End {
    pub(crate) segment: u32,
    pub(crate) offset: u64,
}

#[derive(Debug)]
pub(crate) struct Appender {
    folder: PathBuf,
    end: End,
    file: Option<Arc<File>>,
    unsynced: Unsynced,
}

impl Appender {
    /// Goes on after the last record that the database refers to; whatever lies behind it was
    /// never committed and is cut off.
    pub(crate) fn open(folder: PathBuf, referenced: Option<End>) -> io::Result<Self> {
        let mut end = referenced.unwrap_or_default();
        if folder.is_dir() {
            end.offset = end.offset.max(info_length(&folder, end.segment)?);
            remove_newer(&folder, end.segment)?;
            trim(&folder, &mut end)?;
        }
        Ok(Self {
            folder,
            end,
            file: None,
            unsynced: Unsynced::default(),
        })
    }

    pub(crate) fn unsynced(&self) -> Unsynced {
        self.unsynced.clone()
    }

    pub(crate) fn end(&self) -> End {
        self.end
    }

    /// Appends a frame; gives a reference to its first record.
    pub(crate) fn append(&mut self, frame: &[u8], now: UnixMillis) -> io::Result<BodyRef> {
        let file = self.file_for(frame.len() as u64, now)?;
        let reference = BodyRef {
            segment: self.end.segment,
            offset: self.end.offset,
            length: frame.len() as u64,
            crc: crc32fast::hash(frame),
            within: 0,
        };
        write_all(&file, frame)?;
        self.end.offset += reference.length;
        Ok(reference)
    }

    /// Takes back what a failed transaction appended.
    pub(crate) fn rewind(&mut self, to: End) -> io::Result<()> {
        if self.end == to && self.file.is_none() {
            return Ok(());
        }
        self.file = None;
        self.end = to;
        if self.folder.is_dir() {
            remove_newer(&self.folder, to.segment)?;
            trim(&self.folder, &mut self.end)?;
        }
        Ok(())
    }

    /// Nothing more goes into the newest file; gives the beginning of the next.
    pub(crate) fn leave_segment(&mut self) -> End {
        self.file = None;
        self.end = End {
            segment: self.end.segment + 1,
            offset: 0,
        };
        self.end
    }

    fn file_for(&mut self, more: u64, now: UnixMillis) -> io::Result<Arc<File>> {
        let full = self.end.offset > 0 && self.end.offset + more > SEGMENT_BYTES;
        if self.end.segment == 0 || full {
            self.file = None;
            self.end = End {
                segment: self.end.segment + 1,
                offset: 0,
            };
        }
        if let Some(file) = &self.file {
            self.unsynced.note(file);
            return Ok(Arc::clone(file));
        }
        fs::create_dir_all(&self.folder)?;
        let path = self.folder.join(file_name(self.end.segment));
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let file = Arc::new(file);
        if self.end.offset == 0 {
            file.set_len(0)?;
            let info = frame::compress(&warc::info(self.end.segment, now))?;
            write_all(&file, &info)?;
            self.end.offset = info.len() as u64;
            // The file's name must be as durable as its content.
            File::open(&self.folder)?.sync_all()?;
        }
        self.unsynced.note(&file);
        self.file = Some(Arc::clone(&file));
        Ok(file)
    }
}

fn write_all(file: &File, bytes: &[u8]) -> io::Result<()> {
    let mut file = file;
    file.write_all(bytes)
}

/// Length of the record that opens a file, so that a file with nothing else is not cut to nothing.
fn info_length(folder: &Path, segment: u32) -> io::Result<u64> {
    let mut head = Vec::new();
    match File::open(folder.join(file_name(segment))) {
        Ok(file) => io::Read::read_to_end(&mut io::Read::take(file, 4096), &mut head)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    Ok(zstd::zstd_safe::find_frame_compressed_size(&head).unwrap_or(0) as u64)
}

/// Files after the last one that is referred to hold nothing.
fn remove_newer(folder: &Path, segment: u32) -> io::Result<()> {
    for number in numbers(folder)? {
        if number > segment {
            fs::remove_file(folder.join(file_name(number)))?;
        }
    }
    Ok(())
}

/// Cuts the newest file at its end. Where it is shorter, bytes were lost with the power: it stays
/// as it is, and the next record begins a new file, so that no reference ever means other bytes.
fn trim(folder: &Path, end: &mut End) -> io::Result<()> {
    if end.segment == 0 {
        return Ok(());
    }
    let path = folder.join(file_name(end.segment));
    match OpenOptions::new().write(true).open(&path) {
        Ok(file) if file.metadata()?.len() > end.offset => file.set_len(end.offset),
        Ok(file) if file.metadata()?.len() < end.offset => {
            end.offset = SEGMENT_BYTES;
            Ok(())
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            end.offset = SEGMENT_BYTES;
            Ok(())
        }
        Err(error) => Err(error),
    }
}
