//! Vector search inside the process: every vector is looked at, as eight-bit numbers. Exact up to
//! the rounding of those, and filters cost nothing in recall. Knows no file and no model.

mod dot;
mod quantise;

use half::{f16, slice::HalfFloatSliceExt};

use crate::lexical::{Scored, Top};
use dot::Dot;
pub use quantise::Quantised;

/// Above so many vectors a search is worth a second thread.
const WORTH_A_THREAD: usize = 20_000;

/// Vectors by number of their chunk.
#[derive(Debug, Default)]
pub struct Vectors {
    dimension: usize,
    /// Bytes of a row: the dimension, filled up to whole registers.
    stride: usize,
    codes: Vec<i8>,
    scales: Vec<f32>,
    /// Sum of each row's codes, for kernels that want one side without signs.
    sums: Vec<i32>,
    /// The chunk of each row.
    chunks: Vec<u32>,
    /// The row of each chunk, plus one.
    rows: Vec<u32>,
}

impl Vectors {
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            stride: dimension.next_multiple_of(dot::WIDTH),
            ..Self::default()
        }
    }

    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Adds a vector or replaces it; one of another dimension is left out.
    pub fn set(&mut self, chunk: u32, vector: &[f32]) {
        if vector.len() != self.dimension {
            return;
        }
        let row = self.row_for(chunk);
        let quantised = Quantised::of(vector, self.stride);
        self.codes[row * self.stride..][..self.stride].copy_from_slice(&quantised.codes);
        self.scales[row] = quantised.scale;
        self.sums[row] = quantised.codes.iter().map(|code| i32::from(*code)).sum();
    }

    /// The same, from the bytes that [`to_stored`] gave.
    pub fn set_stored(&mut self, chunk: u32, bytes: &[u8]) {
        self.set(chunk, &from_stored(bytes));
    }

    pub fn remove(&mut self, chunk: u32) {
        let Some(row) = self.row_of(chunk) else {
            return;
        };
        let last = self.chunks.len() - 1;
        self.codes.copy_within(
            last * self.stride..(last + 1) * self.stride,
            row * self.stride,
        );
        self.codes.truncate(last * self.stride);
        self.scales.swap_remove(row);
        self.sums.swap_remove(row);
        self.chunks.swap_remove(row);
        self.rows[chunk as usize] = 0;
        if row != last {
            self.rows[self.chunks[row] as usize] = row as u32 + 1;
        }
    }

    pub fn has(&self, chunk: u32) -> bool {
        self.row_of(chunk).is_some()
    }

    fn row_of(&self, chunk: u32) -> Option<usize> {
        let row = *self.rows.get(chunk as usize)?;
        (row > 0).then(|| row as usize - 1)
    }

    fn row_for(&mut self, chunk: u32) -> usize {
        if let Some(row) = self.row_of(chunk) {
            return row;
        }
        let row = self.chunks.len();
        if chunk as usize >= self.rows.len() {
            self.rows.resize(chunk as usize + 1, 0);
        }
        self.rows[chunk as usize] = row as u32 + 1;
        self.chunks.push(chunk);
        self.codes.resize((row + 1) * self.stride, 0);
        self.scales.push(0.0);
        self.sums.push(0);
        row
    }

    /// The nearest chunks among those allowed, by the cosine of normalised vectors.
    pub fn nearest(
        &self,
        query: &[f32],
        limit: usize,
        allowed: &(dyn Fn(u32) -> bool + Sync),
    ) -> Vec<Scored> {
        if query.len() != self.dimension || self.is_empty() {
            return Vec::new();
        }
        let query = Dot::new(Quantised::of(query, self.stride));
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.len() < WORTH_A_THREAD {
            1
        } else {
            threads.min(8)
        };
        let share = self.len().div_ceil(threads);
        let parts: Vec<Vec<Scored>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads)
                .map(|n| {
                    let (query, range) = (&query, n * share..((n + 1) * share).min(self.len()));
                    scope.spawn(move || self.scan(query, range, limit, allowed))
                })
                .collect();
            let mut parts = vec![self.scan(&query, 0..share.min(self.len()), limit, allowed)];
            parts.extend(others.into_iter().filter_map(|part| part.join().ok()));
            parts
        });
        let mut top = Top::new(limit);
        for scored in parts.into_iter().flatten() {
            top.offer(scored);
        }
        top.into_sorted()
    }

    fn scan(
        &self,
        query: &Dot,
        rows: std::ops::Range<usize>,
        limit: usize,
        allowed: &dyn Fn(u32) -> bool,
    ) -> Vec<Scored> {
        let mut top = Top::new(limit);
        for row in rows {
            let chunk = self.chunks[row];
            if !allowed(chunk) {
                continue;
            }
            let codes = &self.codes[row * self.stride..(row + 1) * self.stride];
            let score = query.with(codes, self.sums[row]) * self.scales[row];
            if score >= top.bar() {
                top.offer(Scored { chunk, score });
            }
        }
        top.into_sorted()
    }
}

/// A vector as it is stored: 16-bit floats, little endian.
pub fn to_stored(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|value| f16::from_f32(*value).to_le_bytes())
        .collect()
}

/// The vector that was stored.
pub fn from_stored(bytes: &[u8]) -> Vec<f32> {
    let halves: Vec<f16> = bytes
        .chunks_exact(2)
        .map(|pair| f16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    let mut vector = vec![0.0; halves.len()];
    halves.convert_to_f32_slice(&mut vector);
    vector
}

#[cfg(test)]
mod tests;
