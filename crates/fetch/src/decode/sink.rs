//! Where decoded bytes end up. Nothing gets past its caps, whatever a decoder produces.

use bytes::Bytes;

/// A decoded body smaller than this is no bomb, however small it was on the wire.
const RATIO_FLOOR: u64 = 1024 * 1024;

/// An announced length is believed up to here when memory is reserved.
const MAX_RESERVE: u64 = 512 * 1024;

/// A body that came in one piece is kept as it came. A shorter one is copied: the piece may be part of a
/// buffer that is much larger, and would hold all of it.
const WORTH_HOLDING: usize = 8 * 1024;

/// The limits of one body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caps {
    /// Bytes kept, after decompression.
    pub(crate) body: u64,
    /// A larger body is refused rather than cut.
    pub(crate) refuse: bool,
    /// Decoded bytes allowed for each byte on the wire.
    pub(crate) ratio: u64,
}

impl Caps {
    /// Compressed bytes that are read at most: an honest stream is no larger than what it holds,
    /// but one of empty blocks could go on for ever without giving anything.
    pub(super) fn wire(&self) -> u64 {
        self.body.saturating_add(64 * 1024)
    }
}

/// Why the sink takes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Full,
    TooLarge,
    Bomb,
    Corrupt,
}

#[derive(Debug)]
pub(super) struct Sink {
    caps: Caps,
    /// All that came so far, if it came in one piece.
    piece: Bytes,
    bytes: Vec<u8>,
    reserve: usize,
    full: bool,
}

impl Sink {
    pub(super) fn new(caps: Caps, expected: u64) -> Self {
        let reserve = expected.min(caps.body).min(MAX_RESERVE);
        Self {
            caps,
            piece: Bytes::new(),
            bytes: Vec::new(),
            reserve: reserve as usize,
            full: false,
        }
    }

    pub(super) fn caps(&self) -> Caps {
        self.caps
    }

    fn len(&self) -> u64 {
        (self.piece.len() + self.bytes.len()) as u64
    }

    /// Takes bytes that were not compressed.
    pub(super) fn accept(&mut self, bytes: Bytes) -> Result<(), Stop> {
        let room = self.caps.body.saturating_sub(self.len());
        if self.len() == 0 && bytes.len() >= WORTH_HOLDING && bytes.len() as u64 <= room {
            self.piece = bytes;
            return Ok(());
        }
        self.copy(&bytes)
    }

    fn copy(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let room = self.caps.body.saturating_sub(self.len());
        if self.bytes.capacity() == 0 {
            self.bytes.reserve_exact(self.reserve);
        }
        self.bytes
            .extend_from_slice(&std::mem::take(&mut self.piece));
        if bytes.len() as u64 <= room {
            self.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        self.bytes.extend_from_slice(&bytes[..room as usize]);
        self.overflow()
    }

    /// Takes bytes that came out of `wire` compressed ones.
    pub(super) fn accept_decoded(&mut self, bytes: &[u8], wire: u64) -> Result<(), Stop> {
        let decoded = self.len() + bytes.len() as u64;
        if decoded > RATIO_FLOOR && decoded / self.caps.ratio.max(1) > wire {
            return Err(Stop::Bomb);
        }
        self.copy(bytes)
    }

    /// The body is longer than its cap.
    pub(super) fn overflow(&mut self) -> Result<(), Stop> {
        self.full = true;
        Err(if self.caps.refuse {
            Stop::TooLarge
        } else {
            Stop::Full
        })
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn into_bytes(self) -> Bytes {
        if self.bytes.is_empty() {
            return self.piece;
        }
        self.bytes.into()
    }
}
