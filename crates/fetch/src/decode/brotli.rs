//! Brotli (RFC 7932) in its strict form: the large-window extension would let a few bytes ask for
//! a gigabyte, and the crate's own reader and writer allow it.

use brotli::{BrotliDecompressStream, BrotliResult, BrotliState, enc::StandardAlloc};

use super::{Corrupt, Decoder, Step};

pub(super) struct Brotli {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    ended: bool,
}

impl Brotli {
    pub(super) fn new() -> Self {
        Self {
            state: Box::new(BrotliState::new_strict(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            )),
            ended: false,
        }
    }
}

impl Decoder for Brotli {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt> {
        if self.ended {
            return Ok(Step::default());
        }
        let (mut available_in, mut read) = (input.len(), 0);
        let (mut available_out, mut written, mut total) = (output.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut available_in,
            &mut read,
            input,
            &mut available_out,
            &mut written,
            output,
            &mut total,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultFailure => return Err(Corrupt),
            BrotliResult::ResultSuccess => self.ended = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(Step { read, written })
    }

    fn is_complete(&self) -> bool {
        self.ended
    }
}
