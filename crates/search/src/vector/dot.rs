//! The inner product of eight-bit vectors, with whatever the processor has for it.

// The kernels use the processor's vector instructions, which the compiler cannot prove present.
#![allow(unsafe_code)]

use super::Quantised;

/// Rows are filled up to a multiple of so many bytes: one register of the widest kernel.
pub(super) const WIDTH: usize = 64;

/// A query, ready to be multiplied with many rows.
#[derive(Debug)]
pub(super) struct Dot {
    query: Quantised,
    /// The same without signs, shifted by 128, for the widest kernel.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    shifted: Vec<u8>,
    kernel: Kernel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Vnni,
}

impl Dot {
    pub(super) fn new(query: Quantised) -> Self {
        Self {
            shifted: query
                .codes
                .iter()
                .map(|code| (*code as u8) ^ 0x80)
                .collect(),
            kernel: kernel(),
            query,
        }
    }

    /// The product with a row, in the query's scale. `sum` is the sum of the row's codes.
    #[inline]
    pub(super) fn with(&self, row: &[i8], sum: i32) -> f32 {
        assert_eq!(row.len(), self.query.codes.len(), "rows have one length");
        let product = match self.kernel {
            Kernel::Plain => plain(&self.query.codes, row),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `kernel()` saw that the processor has AVX2; lengths are equal.
            Kernel::Avx2 => unsafe { avx2(&self.query.codes, row) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `kernel()` saw that the processor has AVX-512 VNNI; lengths are equal.
            Kernel::Vnni => unsafe { vnni(&self.shifted, row) - 128 * sum },
        };
        let _ = sum;
        product as f32 * self.query.scale
    }
}

fn kernel() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512f") {
            return Kernel::Vnni;
        }
        if is_x86_feature_detected!("avx2") {
            return Kernel::Avx2;
        }
    }
    Kernel::Plain
}

fn plain(a: &[i8], b: &[i8]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(x, y)| i32::from(*x) * i32::from(*y))
        .sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(a: &[i8], b: &[i8]) -> i32 {
    // The compiler makes good code of this once it may use the wider registers.
    a.iter()
        .zip(b)
        .map(|(x, y)| i32::from(i16::from(*x) * i16::from(*y)))
        .sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn vnni(a: &[u8], b: &[i8]) -> i32 {
    use std::arch::x86_64::{
        _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_reduce_add_epi32, _mm512_setzero_si512,
    };
    let mut sum = _mm512_setzero_si512();
    for at in (0..a.len() / WIDTH * WIDTH).step_by(WIDTH) {
        // SAFETY: both slices have at least `at + WIDTH` bytes: the caller saw that they are
        // equally long, and `at` stays below the last whole register.
        let (x, y) = unsafe {
            (
                _mm512_loadu_si512(a.as_ptr().add(at).cast()),
                _mm512_loadu_si512(b.as_ptr().add(at).cast()),
            )
        };
        sum = _mm512_dpbusd_epi32(sum, x, y);
    }
    _mm512_reduce_add_epi32(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kernels_agree() {
        let a: Vec<i8> = (0..384).map(|n| ((n * 37) % 255 - 127) as i8).collect();
        let b: Vec<i8> = (0..384).map(|n| ((n * 91) % 255 - 127) as i8).collect();
        let expected = plain(&a, &b);
        let sum = b.iter().map(|code| i32::from(*code)).sum();
        let dot = Dot::new(Quantised {
            codes: a.clone(),
            scale: 1.0,
        });
        assert_eq!(dot.with(&b, sum) as i32, expected);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has it.
            assert_eq!(unsafe { avx2(&a, &b) }, expected);
        }
    }
}
