//! Bytes to zstd frames and back. Pure: no files, no clock, no randomness.

use std::{cell::RefCell, io};

use zstd::zstd_safe::CParameter;

use super::Record;

/// The quickest level that looks at every byte. Pages of a site repeat each other, so that most of a
/// frame is long matches.
const LEVEL: i32 = 1;
/// Finds what was said anywhere in a frame of [`super::pack::FRAME_BYTES`], of which level 1
/// forgets most.
const WINDOW_LOG: u32 = 22;
const HASH_LOG: u32 = 16;
/// What is compressed, and what into, is kept on each thread up to this size: that of a frame which
/// nothing can be taken from, and a little.
const MOST_ROOM: usize = super::pack::FRAME_BYTES * 5 / 4;

thread_local! {
    // A compressor holds hundreds of kilobytes that are worth keeping from frame to frame.
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static PLAIN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// One frame of all of them. Each is given back as soon as it is copied: a batch is many megabytes.
pub(crate) fn compress_together(records: Vec<Record>) -> io::Result<Vec<u8>> {
    PLAIN.with_borrow_mut(|plain| {
        make_room(plain, records.iter().map(Record::len).sum());
        for record in records {
            record.append_to(plain);
        }
        let frame = compress(plain);
        keep_little(plain);
        frame
    })
}

/// As long as it has to be and no longer: frames wait in memory until they are written.
pub(crate) fn compress(plain: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => slot.insert(compressor()?),
        };
        ROOM.with_borrow_mut(|room| {
            make_room(room, zstd::zstd_safe::compress_bound(plain.len()));
            compressor.compress_to_buffer(plain, room)?;
            let frame = room.as_slice().to_vec();
            keep_little(room);
            Ok(frame)
        })
    })
}

/// Empty room. Where there is too little, as much as is ever kept is taken at once: what is not used
/// costs nothing, but what was in a smaller one would be copied.
fn make_room(room: &mut Vec<u8>, bytes: usize) {
    room.clear();
    if room.capacity() < bytes {
        *room = Vec::with_capacity(bytes.max(MOST_ROOM));
    }
}

fn keep_little(room: &mut Vec<u8>) {
    if room.capacity() > MOST_ROOM {
        *room = Vec::new();
    }
}

fn compressor() -> io::Result<zstd::bulk::Compressor<'static>> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
    compressor.set_parameter(CParameter::HashLog(HASH_LOG))?;
    Ok(compressor)
}

/// All of a frame.
pub(crate) fn expand(frame: &[u8]) -> io::Result<Vec<u8>> {
    zstd::stream::decode_all(frame)
}
