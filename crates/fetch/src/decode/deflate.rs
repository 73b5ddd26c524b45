//! `Content-Encoding: deflate`, which means zlib and is sometimes raw deflate all the same.

use flate2::{Decompress, FlushDecompress, Status};

use super::{Corrupt, Decoder, Step};

#[derive(Default)]
pub(super) struct Deflate {
    inflate: Option<Inflate>,
}

impl Decoder for Deflate {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt> {
        let inflate = match (&mut self.inflate, input.first()) {
            (Some(inflate), _) => inflate,
            (slot, Some(first)) => slot.insert(Inflate::new(looks_like_zlib(*first))),
            (None, None) => return Ok(Step::default()),
        };
        inflate.step(input, output)
    }

    fn is_complete(&self) -> bool {
        self.inflate.as_ref().is_some_and(|inflate| inflate.ended)
    }
}

/// Method 8 and a window of at most 32 KiB. A raw stream would have to begin with a stored block
/// with set padding bits to look like this, which no encoder writes.
fn looks_like_zlib(first: u8) -> bool {
    first & 0x0f == 8 && first >> 4 <= 7
}

/// Deflate with or without its zlib wrapping. Ignores what follows the end of the stream.
pub(super) struct Inflate {
    state: Decompress,
    pub(super) ended: bool,
}

impl Inflate {
    pub(super) fn new(zlib: bool) -> Self {
        Self {
            state: Decompress::new(zlib),
            ended: false,
        }
    }

    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt> {
        if self.ended {
            return Ok(Step::default());
        }
        let (read, written) = (self.state.total_in(), self.state.total_out());
        let status = self
            .state
            .decompress(input, output, FlushDecompress::None)
            .map_err(|_| Corrupt)?;
        self.ended = status == Status::StreamEnd;
        Ok(Step {
            read: (self.state.total_in() - read) as usize,
            written: (self.state.total_out() - written) as usize,
        })
    }
}
