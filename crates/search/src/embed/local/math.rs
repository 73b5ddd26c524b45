//! What a model does between its layers, written so that the compiler can use wide registers.

// Each function is compiled twice; the wider one is called where the processor can run it.
#![allow(unsafe_code)]
// Bodies must become part of the functions that are compiled for wide registers, and formulas are
// written as the books have them. `clamp` asks whether its bounds are in order, which cannot be
// answered eight at a time.
#![allow(
    clippy::inline_always,
    clippy::many_single_char_names,
    clippy::manual_clamp
)]

/// Makes a function that runs with AVX2 where there is AVX2.
macro_rules! wide {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $kind:ty),*) $(-> $out:ty)?, $inner:ident) => {
        $(#[$doc])*
        pub(super) fn $name($($arg: $kind),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn with_avx2($($arg: $kind),*) $(-> $out)? {
                    $inner($($arg),*)
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has AVX2 and FMA.
                    return unsafe { with_avx2($($arg),*) };
                }
            }
            $inner($($arg),*)
        }
    };
}

wide!(
    /// The activation: `x · Φ(x)`.
    gelu(values: &mut [f32]), gelu_of
);
wide!(
    /// Weights that sum to one.
    softmax(scores: &mut [f32]), softmax_of
);
wide!(
    /// `values` and `more` added, shifted and stretched to mean 0 and variance 1, then as the
    /// model wants it.
    add_and_norm(values: &mut [f32], more: &[f32], weight: &[f32], bias: &[f32], epsilon: f32),
    add_and_norm_of
);
wide!(
    /// A row in 255 steps from its lowest number: the step and that number.
    to_bytes(row: &[f32], codes: &mut [u8]) -> (f32, f32), to_bytes_of
);
wide!(
    dot(a: &[f32], b: &[f32]) -> f32, dot_of
);
wide!(
    /// `sum += factor · values`
    add_scaled(sum: &mut [f32], factor: f32, values: &[f32]), add_scaled_of
);

/// Added to a number of moderate size, it leaves the nearest whole number in the lowest bits: the
/// usual conversions check for what cannot come here, and are not made for wide registers.
const ROUND: f32 = 12_582_912.0;

/// e to the power of `x`, good to 2e-7 for what can come here.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = x.max(-87.0).min(87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_2e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_6e-1;
    let p = p * r + 0.5;
    let p = p * r * r + r + 1.0;
    // The whole number becomes the exponent.
    let power = shifted
        .to_bits()
        .wrapping_sub(ROUND.to_bits())
        .wrapping_add(127);
    p * f32::from_bits(power.wrapping_shl(23))
}

/// The error function (Abramowitz and Stegun 7.1.26), good to 1.5e-7.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let a = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * a);
    let p = 1.061_405_4;
    let p = p * t - 1.453_152;
    let p = p * t + 1.421_413_7;
    let p = p * t - 0.284_496_72;
    let p = p * t + 0.254_829_6;
    let y = 1.0 - p * t * exp(-a * a);
    y.copysign(x)
}

#[inline(always)]
fn gelu_of(values: &mut [f32]) {
    for value in values {
        let x = *value;
        *value = 0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2));
    }
}

#[inline(always)]
fn softmax_of(scores: &mut [f32]) {
    let most = range_of(scores).1;
    for score in scores.iter_mut() {
        *score = exp(*score - most);
    }
    let share = 1.0 / sum_of(scores);
    for score in scores {
        *score *= share;
    }
}

#[inline(always)]
fn add_and_norm_of(values: &mut [f32], more: &[f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    for (value, more) in values.iter_mut().zip(more) {
        *value += more;
    }
    let count = values.len() as f32;
    let mean = sum_of(values) / count;
    let mut squares = [0.0_f32; 16];
    let (whole, rest) = values.as_chunks::<16>();
    for chunk in whole {
        for (square, value) in squares.iter_mut().zip(chunk) {
            *square += (value - mean) * (value - mean);
        }
    }
    let rest: f32 = rest
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    let variance = (squares.iter().sum::<f32>() + rest) / count;
    let stretch = 1.0 / (variance + epsilon).sqrt();
    for ((value, weight), bias) in values.iter_mut().zip(weight).zip(bias) {
        *value = (*value - mean) * stretch * weight + bias;
    }
}

#[inline(always)]
fn sum_of(values: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (whole, rest) = values.as_chunks::<16>();
    for chunk in whole {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value;
        }
    }
    sums.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

#[inline(always)]
fn dot_of(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (left, right) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    for (a, b) in left.0.iter().zip(right.0) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = left.1.iter().zip(right.1).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

#[inline(always)]
fn add_scaled_of(sum: &mut [f32], factor: f32, values: &[f32]) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += factor * value;
    }
}

/// The lowest and the highest number.
#[inline(always)]
fn range_of(values: &[f32]) -> (f32, f32) {
    let (mut low, mut high) = ([f32::INFINITY; 16], [f32::NEG_INFINITY; 16]);
    let (whole, rest) = values.as_chunks::<16>();
    for chunk in whole {
        for ((low, high), value) in low.iter_mut().zip(&mut high).zip(chunk) {
            *low = if *value < *low { *value } else { *low };
            *high = if *value > *high { *value } else { *high };
        }
    }
    let low = low.iter().chain(rest);
    let high = high.iter().chain(rest);
    (
        low.fold(f32::INFINITY, |low, value| low.min(*value)),
        high.fold(f32::NEG_INFINITY, |high, value| high.max(*value)),
    )
}

#[inline(always)]
fn to_bytes_of(row: &[f32], codes: &mut [u8]) -> (f32, f32) {
    let (low, high) = range_of(row);
    let step = ((high - low) / 255.0).max(1e-20);
    let scale = 1.0 / step;
    for (code, value) in codes.iter_mut().zip(row) {
        *code = ((value - low) * scale + ROUND).to_bits() as u8;
    }
    (step, low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approximations_are_good() {
        for n in -400..400 {
            let x = n as f32 / 40.0;
            assert!(
                (exp(x) / f64::from(x).exp() as f32 - 1.0).abs() < 1e-6,
                "{x}"
            );
        }
        let known = [
            (0.0, 0.0),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (-2.0, -0.995_322_3),
        ];
        for (x, y) in known {
            assert!((erf(x) - y).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn softmax_sums_to_one_and_norm_has_mean_zero() {
        let mut scores: Vec<f32> = (0..37).map(|n| n as f32 * 0.3).collect();
        softmax(&mut scores);
        assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let mut values: Vec<f32> = (0..40).map(|n| n as f32).collect();
        add_and_norm(&mut values, &[1.0; 40], &[1.0; 40], &[0.0; 40], 1e-12);
        assert!(values.iter().sum::<f32>().abs() < 1e-4);
    }
}
