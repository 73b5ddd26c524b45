//! Decoders in a row, last encoding first. Each gives at most one buffer's worth before the next
//! one works on it, so memory does not grow with what a stream expands to.

use trawl_types::OutcomeKind;

use super::{
    Corrupt, Decoder, MAX_ENCODINGS, brotli::Brotli, deflate::Deflate, gzip::Gzip, sink::Sink,
    sink::Stop, zstd::Zstd,
};
use crate::ended::End;

const BUFFER: usize = 16 * 1024;

/// Input is fed in slices of this size so that the ratio is judged on what was really used and
/// not on how much one read happened to bring.
const SLICE: usize = 4 * 1024;

pub(super) struct Pipeline {
    stages: Vec<Stage>,
    wire: u64,
}

struct Stage {
    decoder: Box<dyn Decoder>,
    buffer: Vec<u8>,
    /// What it may still give to another decoder: bounds the work of bombs within bombs.
    allowance: u64,
}

impl Pipeline {
    /// Reads a `Content-Encoding` list; `None` where it changes nothing.
    pub(super) fn of(list: &str, body_cap: u64) -> Result<Option<Self>, End> {
        let names: Vec<&str> = list
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
            .collect();
        if names.len() > MAX_ENCODINGS {
            return Err(End::new(
                OutcomeKind::BadEncoding,
                format!("the body is encoded {} times over", names.len()),
            ));
        }
        let stages = names
            .iter()
            .rev()
            .map(|name| Stage::of(name, body_cap))
            .collect::<Result<Vec<_>, _>>()?;
        Ok((!stages.is_empty()).then_some(Self { stages, wire: 0 }))
    }

    pub(super) fn push(&mut self, chunk: &[u8], sink: &mut Sink) -> Result<(), Stop> {
        for slice in chunk.chunks(SLICE) {
            self.wire += slice.len() as u64;
            run(&mut self.stages, slice, sink, self.wire)?;
        }
        Ok(())
    }

    pub(super) fn is_complete(&self) -> bool {
        self.stages.iter().all(|stage| stage.decoder.is_complete())
    }
}

impl Stage {
    fn of(name: &str, body_cap: u64) -> Result<Self, End> {
        let decoder: Box<dyn Decoder> = match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Box::new(Gzip::default()),
            "deflate" => Box::new(Deflate::default()),
            "br" => Box::new(Brotli::new()),
            "zstd" => Box::new(Zstd::new().map_err(|_| cannot_decode(name))?),
            _ => return Err(cannot_decode(name)),
        };
        Ok(Self {
            decoder,
            buffer: vec![0; BUFFER],
            allowance: body_cap.saturating_mul(2).saturating_add(1024 * 1024),
        })
    }
}

/// Runs one slice through all stages; the recursion is as deep as there are stages.
fn run(stages: &mut [Stage], input: &[u8], sink: &mut Sink, wire: u64) -> Result<(), Stop> {
    let Some((stage, rest)) = stages.split_first_mut() else {
        return sink.accept_decoded(input, wire);
    };
    let mut input = input;
    loop {
        let step = stage
            .decoder
            .step(input, &mut stage.buffer)
            .map_err(|Corrupt| Stop::Corrupt)?;
        input = input.get(step.read..).unwrap_or_default();
        let output = stage.buffer.get(..step.written).unwrap_or_default();
        if !rest.is_empty() {
            stage.allowance = stage
                .allowance
                .checked_sub(output.len() as u64)
                .ok_or(Stop::Bomb)?;
        }
        if !output.is_empty() {
            run(rest, output, sink, wire)?;
        }
        if step.read == 0 && step.written == 0 {
            return Ok(());
        }
    }
}

fn cannot_decode(name: &str) -> End {
    let name: String = name.chars().take(40).collect();
    End::new(
        OutcomeKind::BadEncoding,
        format!("the body's encoding {name:?} is not known"),
    )
}
