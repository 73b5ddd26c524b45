//! Zstandard (RFC 8878) with the window that RFC 9659 allows on the web.

use std::io;

use zstd::stream::raw::{DParameter, Decoder as RawDecoder, InBuffer, Operation, OutBuffer};

use super::{Corrupt, Decoder, Step};

/// 8 MiB.
const MAX_WINDOW_LOG: u32 = 23;

pub(super) struct Zstd {
    state: RawDecoder<'static>,
    at_frame_end: bool,
}

impl Zstd {
    pub(super) fn new() -> io::Result<Self> {
        let mut state = RawDecoder::new()?;
        state.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG))?;
        Ok(Self {
            state,
            at_frame_end: false,
        })
    }
}

impl Decoder for Zstd {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt> {
        // Asking for more at the end of a frame would begin another one.
        if self.at_frame_end && input.is_empty() {
            return Ok(Step::default());
        }
        let mut input = InBuffer::around(input);
        let mut output = OutBuffer::around(output);
        let hint = self
            .state
            .run(&mut input, &mut output)
            .map_err(|_| Corrupt)?;
        self.at_frame_end = hint == 0;
        Ok(Step {
            read: input.pos(),
            written: output.pos(),
        })
    }

    fn is_complete(&self) -> bool {
        self.at_frame_end
    }
}
