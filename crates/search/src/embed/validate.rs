//! Whether a vector may be used. Pure.

/// What is wrong with a vector.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum BadVector {
    #[error("it has {found} numbers instead of {expected}")]
    Dimension { found: usize, expected: usize },
    #[error("number {0} is not finite")]
    NotFinite(usize),
    #[error("all its numbers are zero")]
    Zero,
    #[error("its length is {0}")]
    TooShort(f32),
}

/// Checks dimension, numbers and length.
pub fn validate(vector: &[f32], dimension: usize) -> Result<(), BadVector> {
    if vector.len() != dimension {
        return Err(BadVector::Dimension {
            found: vector.len(),
            expected: dimension,
        });
    }
    if let Some(at) = vector.iter().position(|value| !value.is_finite()) {
        return Err(BadVector::NotFinite(at));
    }
    if vector.iter().all(|value| *value == 0.0) {
        return Err(BadVector::Zero);
    }
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length < 0.1 {
        return Err(BadVector::TooShort(length));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_vectors_that_mean_something_pass() {
        assert_eq!(validate(&[0.6, 0.8], 2), Ok(()));
        let wrong = BadVector::Dimension {
            found: 1,
            expected: 2,
        };
        assert_eq!(validate(&[1.0], 2), Err(wrong));
        assert_eq!(validate(&[1.0, f32::NAN], 2), Err(BadVector::NotFinite(1)));
        assert_eq!(
            validate(&[f32::INFINITY, 1.0], 2),
            Err(BadVector::NotFinite(0))
        );
        assert_eq!(validate(&[0.0, 0.0], 2), Err(BadVector::Zero));
        assert!(matches!(
            validate(&[0.05, 0.0], 2),
            Err(BadVector::TooShort(_))
        ));
    }
}
