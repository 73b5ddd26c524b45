//! Products of small blocks with the processor's vector instructions; everything else of the model
//! is safe code. Chosen once at start by what the processor has.
//!
//! Weights lie in panels of [`PANEL`] columns, so that a block of the result stays in registers
//! while both sides are read from front to back.

// Vector instructions, which the compiler cannot prove present, on slices whose lengths the one
// caller (`linear`) has checked.
#![allow(unsafe_code)]

/// Columns of a panel.
pub(super) const PANEL: usize = 32;

/// What the processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

pub(super) fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return Level::Avx512;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Level::Avx2;
        }
    }
    Level::Plain
}

/// Whether eight-bit products are a single instruction.
pub(super) fn has_eight_bit() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512bw")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// `out[r][..PANEL] = x[r] · panel` for all rows of `x` (`inner` numbers each).
pub(super) fn panel(level: Level, x: &[f32], inner: usize, panel: &[f32], out: &mut [f32]) {
    let rows = x.len() / inner;
    assert!(panel.len() >= inner * PANEL && out.len() >= rows * PANEL && x.len() >= rows * inner);
    match level {
        Level::Plain => plain(x, inner, panel, out),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level()` saw AVX2 and FMA; lengths were checked above.
        Level::Avx2 => unsafe { x86::rows_avx2(x, inner, panel, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level()` saw AVX-512; lengths were checked above.
        Level::Avx512 => unsafe { x86::rows_avx512(x, inner, panel, out) },
    }
}

/// The same with eight-bit numbers: `x` without signs, the panel with them, four of a column side
/// by side. `inner` is a multiple of four.
pub(super) fn panel_eight_bit(x: &[u8], inner: usize, panel: &[i8], out: &mut [i32]) {
    let rows = x.len() / inner;
    assert!(inner.is_multiple_of(4) && panel.len() >= inner * PANEL && out.len() >= rows * PANEL);
    #[cfg(target_arch = "x86_64")]
    if has_eight_bit() {
        // SAFETY: the processor has VNNI; lengths were checked above.
        unsafe { x86::rows_vnni(x, inner, panel, out) };
        return;
    }
    for (x, out) in x.chunks_exact(inner).zip(out.chunks_exact_mut(PANEL)) {
        out.fill(0);
        for (four, block) in x.chunks_exact(4).zip(panel.chunks_exact(4 * PANEL)) {
            for (sum, weights) in out.iter_mut().zip(block.chunks_exact(4)) {
                *sum += four
                    .iter()
                    .zip(weights)
                    .map(|(a, b)| i32::from(*a) * i32::from(*b))
                    .sum::<i32>();
            }
        }
    }
}

fn plain(x: &[f32], inner: usize, panel: &[f32], out: &mut [f32]) {
    for (x, out) in x.chunks_exact(inner).zip(out.chunks_exact_mut(PANEL)) {
        let mut sums = [0.0_f32; PANEL];
        for (value, weights) in x.iter().zip(panel.chunks_exact(PANEL)) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += value * weight;
            }
        }
        out.copy_from_slice(&sums);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm256_broadcast_ss, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_setzero_ps, _mm256_storeu_ps,
        _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512,
        _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_setzero_si512,
        _mm512_storeu_ps, _mm512_storeu_si512,
    };

    use super::PANEL;

    /// A function that goes through rows in blocks as large as the registers allow, then in smaller ones.
    macro_rules! rows_in_blocks {
        ($name:ident, $features:literal, $block:ident, [$($size:literal),*], $x:ty, $panel:ty, $out:ty) => {
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name(x: &[$x], inner: usize, panel: &[$panel], out: &mut [$out]) {
                let rows = x.len() / inner;
                let mut row = 0;
                $(while rows - row >= $size {
                    // SAFETY: `row` and the rows of the block lie inside of `x` and `out`.
                    unsafe {
                        $block::<$size>(
                            x.as_ptr().add(row * inner),
                            inner,
                            panel.as_ptr(),
                            out.as_mut_ptr().add(row * PANEL),
                        );
                    }
                    row += $size;
                })*
            }
        };
    }

    rows_in_blocks!(
        rows_avx512,
        "avx512f",
        block_avx512,
        [12, 4, 1],
        f32,
        f32,
        f32
    );
    rows_in_blocks!(rows_avx2, "avx2,fma", block_avx2, [3, 1], f32, f32, f32);
    rows_in_blocks!(
        rows_vnni,
        "avx512f,avx512bw,avx512vnni",
        block_vnni,
        [12, 4, 1],
        u8,
        i8,
        i32
    );

    #[target_feature(enable = "avx512f")]
    unsafe fn block_avx512<const ROWS: usize>(
        x: *const f32,
        inner: usize,
        panel: *const f32,
        out: *mut f32,
    ) {
        let mut sums = [[_mm512_setzero_ps(); 2]; ROWS];
        for k in 0..inner {
            // SAFETY: the panel has `inner` times 32 numbers, each row of `x` has `inner`.
            unsafe {
                let low = _mm512_loadu_ps(panel.add(k * PANEL));
                let high = _mm512_loadu_ps(panel.add(k * PANEL + 16));
                for (row, sum) in sums.iter_mut().enumerate() {
                    let value = _mm512_set1_ps(*x.add(row * inner + k));
                    sum[0] = _mm512_fmadd_ps(value, low, sum[0]);
                    sum[1] = _mm512_fmadd_ps(value, high, sum[1]);
                }
            }
        }
        for (row, sum) in sums.iter().enumerate() {
            // SAFETY: `out` has 32 numbers for each row.
            unsafe {
                _mm512_storeu_ps(out.add(row * PANEL), sum[0]);
                _mm512_storeu_ps(out.add(row * PANEL + 16), sum[1]);
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn block_avx2<const ROWS: usize>(
        x: *const f32,
        inner: usize,
        panel: *const f32,
        out: *mut f32,
    ) {
        let mut sums = [[_mm256_setzero_ps(); 4]; ROWS];
        for k in 0..inner {
            // SAFETY: the panel has `inner` times 32 numbers, each row of `x` has `inner`.
            unsafe {
                let mut weights = [_mm256_setzero_ps(); 4];
                for (part, weight) in weights.iter_mut().enumerate() {
                    *weight = _mm256_loadu_ps(panel.add(k * PANEL + part * 8));
                }
                for (row, sum) in sums.iter_mut().enumerate() {
                    let value = _mm256_broadcast_ss(&*x.add(row * inner + k));
                    for (sum, weight) in sum.iter_mut().zip(weights) {
                        *sum = _mm256_fmadd_ps(value, weight, *sum);
                    }
                }
            }
        }
        for (row, sum) in sums.iter().enumerate() {
            for (part, sum) in sum.iter().enumerate() {
                // SAFETY: `out` has 32 numbers for each row.
                unsafe { _mm256_storeu_ps(out.add(row * PANEL + part * 8), *sum) };
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    unsafe fn block_vnni<const ROWS: usize>(
        x: *const u8,
        inner: usize,
        panel: *const i8,
        out: *mut i32,
    ) {
        let mut sums = [[_mm512_setzero_si512(); 2]; ROWS];
        for k in (0..inner).step_by(4) {
            // SAFETY: the panel has `inner` times 32 bytes, each row of `x` has `inner`.
            unsafe {
                let low = _mm512_loadu_si512(panel.add(k * PANEL).cast());
                let high = _mm512_loadu_si512(panel.add(k * PANEL + 64).cast());
                for (row, sum) in sums.iter_mut().enumerate() {
                    let four = x.add(row * inner + k).cast::<i32>().read_unaligned();
                    let four = _mm512_set1_epi32(four);
                    sum[0] = _mm512_dpbusd_epi32(sum[0], four, low);
                    sum[1] = _mm512_dpbusd_epi32(sum[1], four, high);
                }
            }
        }
        for (row, sum) in sums.iter().enumerate() {
            // SAFETY: `out` has 32 numbers for each row.
            unsafe {
                _mm512_storeu_si512(out.add(row * PANEL).cast(), sum[0]);
                _mm512_storeu_si512(out.add(row * PANEL + 16).cast(), sum[1]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_levels_compute_the_same() {
        let (rows, inner) = (29, 40);
        let x: Vec<f32> = (0..rows * inner).map(|n| (n % 13) as f32 - 6.0).collect();
        let weights: Vec<f32> = (0..inner * PANEL).map(|n| (n % 7) as f32 - 3.0).collect();
        let mut expected = vec![0.0; rows * PANEL];
        plain(&x, inner, &weights, &mut expected);
        let mut found = vec![0.0; rows * PANEL];
        panel(level(), &x, inner, &weights, &mut found);
        assert_eq!(found, expected);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            panel(Level::Avx2, &x, inner, &weights, &mut found);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn eight_bit_products_are_exact() {
        let (rows, inner) = (17, 24);
        let x: Vec<u8> = (0..rows * inner).map(|n| (n * 31 % 256) as u8).collect();
        let weights: Vec<i8> = (0..inner * PANEL)
            .map(|n| (n as i32 * 17 % 255 - 127) as i8)
            .collect();
        let mut found = vec![0; rows * PANEL];
        panel_eight_bit(&x, inner, &weights, &mut found);
        for row in 0..rows {
            for column in 0..PANEL {
                let at = |k: usize| i32::from(weights[k / 4 * 4 * PANEL + column * 4 + k % 4]);
                let sum: i32 = (0..inner)
                    .map(|k| i32::from(x[row * inner + k]) * at(k))
                    .sum();
                assert_eq!(found[row * PANEL + column], sum);
            }
        }
    }
}
