//! A layer of weights: `out = x · weightsᵀ + bias`, in 32-bit floats or in eight-bit numbers.

use super::kernel::{self, Level, PANEL};

/// Rows that are worked on together: with them, one panel stays in the nearest caches.
const BLOCK: usize = 96;

/// How a model computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// As it was trained.
    Float,
    /// Weights and inputs of layers in eight bits; several times as fast where the processor has
    /// instructions for it, and less than a hundredth off.
    EightBit,
}

#[derive(Debug)]
pub(super) struct Linear {
    inner: usize,
    outer: usize,
    bias: Vec<f32>,
    level: Level,
    weights: Weights,
}

#[derive(Debug)]
enum Weights {
    Float(Vec<f32>),
    EightBit {
        codes: Vec<i8>,
        /// What a step of each column is worth.
        scales: Vec<f32>,
        /// The sum of each column, for inputs that begin above or below zero.
        sums: Vec<f32>,
    },
}

impl Linear {
    /// `weights` has a row for each output.
    pub(super) fn new(weights: &[f32], bias: Vec<f32>, inner: usize, precision: Precision) -> Self {
        let outer = bias.len();
        let padded = outer.next_multiple_of(PANEL);
        let at = |column: usize, k: usize| {
            if column < outer {
                weights[column * inner + k]
            } else {
                0.0
            }
        };
        let fits = inner.is_multiple_of(4) && kernel::has_eight_bit();
        let weights = if precision == Precision::EightBit && fits {
            eight_bit(inner, padded, at)
        } else {
            let mut panels = Vec::with_capacity(inner * padded);
            for first in (0..padded).step_by(PANEL) {
                for k in 0..inner {
                    panels.extend((first..first + PANEL).map(|column| at(column, k)));
                }
            }
            Weights::Float(panels)
        };
        Self {
            inner,
            outer,
            bias,
            level: kernel::level(),
            weights,
        }
    }

    pub(super) fn apply(&self, x: &[f32], out: &mut Vec<f32>) {
        let rows = x.len() / self.inner;
        out.clear();
        out.resize(rows * self.outer, 0.0);
        let blocks = x
            .chunks(BLOCK * self.inner)
            .zip(out.chunks_mut(BLOCK * self.outer));
        match &self.weights {
            Weights::Float(panels) => {
                let mut block = vec![0.0; BLOCK * PANEL];
                for (x, out) in blocks {
                    self.float(panels, x, out, &mut block);
                }
            }
            Weights::EightBit {
                codes,
                scales,
                sums,
            } => {
                let mut block = vec![0; BLOCK * PANEL];
                let mut input = Input::default();
                for (x, out) in blocks {
                    input.read(x, self.inner);
                    self.eight_bit(codes, scales, sums, &input, out, &mut block);
                }
            }
        }
    }

    fn float(&self, panels: &[f32], x: &[f32], out: &mut [f32], block: &mut [f32]) {
        for (number, panel) in panels.chunks_exact(self.inner * PANEL).enumerate() {
            kernel::panel(self.level, x, self.inner, panel, block);
            let first = number * PANEL;
            let width = PANEL.min(self.outer - first);
            let bias = &self.bias[first..first + width];
            for (out, sums) in out
                .chunks_exact_mut(self.outer)
                .zip(block.chunks_exact(PANEL))
            {
                let out = &mut out[first..first + width];
                for ((out, sum), bias) in out.iter_mut().zip(sums).zip(bias) {
                    *out = sum + bias;
                }
            }
        }
    }

    fn eight_bit(
        &self,
        codes: &[i8],
        scales: &[f32],
        column_sums: &[f32],
        input: &Input,
        out: &mut [f32],
        block: &mut [i32],
    ) {
        for (number, panel) in codes.chunks_exact(self.inner * PANEL).enumerate() {
            kernel::panel_eight_bit(&input.codes, self.inner, panel, block);
            let first = number * PANEL;
            let width = PANEL.min(self.outer - first);
            let columns = first..first + width;
            let (bias, scales) = (&self.bias[columns.clone()], &scales[columns.clone()]);
            let column_sums = &column_sums[columns];
            let rows = out
                .chunks_exact_mut(self.outer)
                .zip(block.chunks_exact(PANEL));
            for ((out, sums), (step, low)) in rows.zip(&input.ranges) {
                let out = &mut out[first..first + width];
                for column in 0..width {
                    out[column] = sums[column] as f32 * (step * scales[column])
                        + (low * column_sums[column] + bias[column]);
                }
            }
        }
    }
}

fn eight_bit(inner: usize, padded: usize, at: impl Fn(usize, usize) -> f32) -> Weights {
    let largest = |column: usize| (0..inner).fold(0.0_f32, |most, k| most.max(at(column, k).abs()));
    let scales: Vec<f32> = (0..padded)
        .map(|column| (largest(column) / 127.0).max(1e-12))
        .collect();
    let code = |column: usize, k: usize| (at(column, k) / scales[column]).round() as i8;
    let mut codes = Vec::with_capacity(inner * padded);
    for first in (0..padded).step_by(PANEL) {
        for k in (0..inner).step_by(4) {
            for column in first..first + PANEL {
                codes.extend((k..k + 4).map(|k| code(column, k)));
            }
        }
    }
    let sum = |column: usize| (0..inner).map(|k| i32::from(code(column, k))).sum::<i32>();
    let sums = (0..padded)
        .map(|column| sum(column) as f32 * scales[column])
        .collect();
    Weights::EightBit {
        codes,
        scales,
        sums,
    }
}

/// Rows in eight bits: each from its lowest number in 255 steps.
#[derive(Debug, Default)]
struct Input {
    codes: Vec<u8>,
    /// Step and lowest number of each row.
    ranges: Vec<(f32, f32)>,
}

impl Input {
    fn read(&mut self, x: &[f32], inner: usize) {
        self.codes.clear();
        self.codes.resize(x.len(), 0);
        self.ranges.clear();
        for (row, codes) in x
            .chunks_exact(inner)
            .zip(self.codes.chunks_exact_mut(inner))
        {
            self.ranges.push(super::math::to_bytes(row, codes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(precision: Precision) -> (Linear, Vec<f32>) {
        let (inner, outer) = (48, 40);
        let wave = |n: usize| ((n * 7919) % 1000) as f32 / 1000.0 - 0.5;
        let weights: Vec<f32> = (0..inner * outer).map(wave).collect();
        let bias: Vec<f32> = (0..outer).map(wave).collect();
        let x: Vec<f32> = (0..inner * 100).map(|n| wave(n + 3) * 2.0).collect();
        (Linear::new(&weights, bias, inner, precision), x)
    }

    #[test]
    fn eight_bits_are_near_to_floats() {
        let (mut exact, mut near) = (Vec::new(), Vec::new());
        let (float, x) = layer(Precision::Float);
        float.apply(&x, &mut exact);
        layer(Precision::EightBit).0.apply(&x, &mut near);
        assert_eq!(exact.len(), 100 * 40);
        for (a, b) in exact.iter().zip(&near) {
            assert!((a - b).abs() < 0.1, "{a} {b}");
        }
    }

    #[test]
    fn a_layer_is_a_product_with_its_weights() {
        let linear = Linear::new(&[1.0, 2.0, 3.0, 4.0], vec![0.5, -0.5], 2, Precision::Float);
        let mut out = Vec::new();
        linear.apply(&[1.0, 1.0, 2.0, 0.0], &mut out);
        assert_eq!(out, [3.5, 6.5, 2.5, 5.5]);
    }
}
