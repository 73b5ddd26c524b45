//! Vectors as eight-bit numbers with one scale each.

/// A vector in steps of a 127th of its largest number.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantised {
    pub codes: Vec<i8>,
    /// What a step is worth.
    pub scale: f32,
}

impl Quantised {
    /// `stride` codes, zeros behind the vector's own.
    pub fn of(vector: &[f32], stride: usize) -> Self {
        let largest = vector
            .iter()
            .fold(0.0_f32, |most, value| most.max(value.abs()));
        let scale = largest / 127.0;
        let step = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        let mut codes: Vec<i8> = vector
            .iter()
            .map(|value| (value * step).round() as i8)
            .collect();
        codes.resize(stride.max(vector.len()), 0);
        Self { codes, scale }
    }
}
