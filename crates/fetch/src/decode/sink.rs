//! Where decoded bytes end up. Nothing gets past its caps, whatever a decoder produces.

/// A decoded body smaller than this is no bomb, however small it was on the wire.
const RATIO_FLOOR: u64 = 1024 * 1024;

/// An announced length is believed up to here when memory is reserved.
const MAX_RESERVE: u64 = 512 * 1024;

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
    bytes: Vec<u8>,
    full: bool,
}

impl Sink {
    pub(super) fn new(caps: Caps, expected: u64) -> Self {
        let reserve = expected.min(caps.body).min(MAX_RESERVE);
        Self {
            caps,
            bytes: Vec::with_capacity(reserve as usize),
            full: false,
        }
    }

    pub(super) fn caps(&self) -> Caps {
        self.caps
    }

    /// Takes bytes that were not compressed.
    pub(super) fn accept(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let room = self.caps.body.saturating_sub(self.bytes.len() as u64);
        if bytes.len() as u64 <= room {
            self.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        self.bytes.extend_from_slice(&bytes[..room as usize]);
        self.overflow()
    }

    /// Takes bytes that came out of `wire` compressed ones.
    pub(super) fn accept_decoded(&mut self, bytes: &[u8], wire: u64) -> Result<(), Stop> {
        let decoded = self.bytes.len() as u64 + bytes.len() as u64;
        if decoded > RATIO_FLOOR && decoded / self.caps.ratio.max(1) > wire {
            return Err(Stop::Bomb);
        }
        self.accept(bytes)
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

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
