//! One record by its reference. Bytes that are not those that were written count as missing.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{BodyRef, file_name, frame, pack::FRAME_BYTES, warc};

/// Frames that are kept when they have been read: records are mostly asked for one after the other.
const RECENT: usize = 3;

/// The records of a folder.
#[derive(Debug)]
pub(crate) struct Records {
    folder: PathBuf,
    recent: Mutex<VecDeque<Recent>>,
}

#[derive(Debug)]
struct Recent {
    of: Frame,
    plain: Arc<Vec<u8>>,
}

/// A frame by its place and checksum, so that no place can come to mean other bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame {
    segment: u32,
    offset: u64,
    crc: u32,
}

impl Records {
    pub(crate) fn of(folder: PathBuf) -> Self {
        Self {
            folder,
            recent: Mutex::default(),
        }
    }

    /// The body a reference means; `None` where it was lost.
    pub(crate) fn body(&self, reference: BodyRef) -> io::Result<Option<Vec<u8>>> {
        self.part(reference, warc::body)
    }

    /// The content a reference means; `None` where it was lost.
    pub(crate) fn content(&self, reference: BodyRef) -> io::Result<Option<Vec<u8>>> {
        self.part(reference, warc::content)
    }

    /// The whole record; `None` where it was lost.
    pub(crate) fn record(&self, reference: BodyRef) -> io::Result<Option<Vec<u8>>> {
        self.part(reference, warc::alone)
    }

    fn part(
        &self,
        reference: BodyRef,
        part: fn(&[u8]) -> io::Result<&[u8]>,
    ) -> io::Result<Option<Vec<u8>>> {
        let Some(frame) = self.frame(reference)? else {
            return Ok(None);
        };
        let record = frame.get(reference.within as usize..).unwrap_or_default();
        part(record).map(|part| Some(part.to_vec()))
    }

    fn frame(&self, reference: BodyRef) -> io::Result<Option<Arc<Vec<u8>>>> {
        let of = Frame {
            segment: reference.segment,
            offset: reference.offset,
            crc: reference.crc,
        };
        let known = self
            .recent()
            .iter()
            .find(|recent| recent.of == of)
            .map(|recent| Arc::clone(&recent.plain));
        if known.is_some() {
            return Ok(known);
        }
        let Some(bytes) = read(&self.folder, reference)? else {
            return Ok(None);
        };
        let plain = Arc::new(frame::expand(&bytes)?);
        if plain.len() <= FRAME_BYTES {
            let mut recent = self.recent();
            recent.truncate(RECENT - 1);
            let plain = Arc::clone(&plain);
            recent.push_front(Recent { of, plain });
        }
        Ok(Some(plain))
    }

    /// Whatever a thread that panicked has left is whole.
    fn recent(&self) -> std::sync::MutexGuard<'_, VecDeque<Recent>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(folder: &Path, reference: BodyRef) -> io::Result<Option<Vec<u8>>> {
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
    let mut frame = Vec::new();
    file.take(reference.length).read_to_end(&mut frame)?;
    Ok((crc32fast::hash(&frame) == reference.crc).then_some(frame))
}
