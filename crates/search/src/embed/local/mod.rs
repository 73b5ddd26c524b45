//! Models of the BERT family, run inside the process from a folder: sentence transformers, which
//! embed texts, and cross-encoders, which rank them.
//!
//! In reading order: `folder` finds the files, `weights` reads them, `tokens` cuts texts, `bert` is
//! the model, `linear` and `attention` its parts, `kernel` and `math` what they compute with;
//! `sentence` makes vectors of its states, `cross` makes scores.

mod attention;
mod bert;
#[cfg(test)]
pub(crate) mod checkpoint;
mod cross;
mod folder;
mod kernel;
mod linear;
mod math;
mod sentence;
mod tokens;
mod weights;

use std::{fmt::Display, path::Path};

pub use cross::CrossEncoder;
pub use linear::Precision;
pub use sentence::LocalModel;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{path}: {why}")]
    File { path: String, why: String },
    #[error("the model cannot be used: {0}")]
    Weights(String),
}

/// Whether a folder holds a model that can be run, of either kind.
pub fn check(folder: &Path) -> Result<(), ModelError> {
    let precision = Precision::EightBit;
    if folder::Folder::open(folder)?.weights.has_classifier() {
        return CrossEncoder::load(folder, precision).map(drop);
    }
    LocalModel::load(folder, precision).map(drop)
}

impl ModelError {
    fn file(path: &Path, why: &dyn Display) -> Self {
        Self::File {
            path: path.display().to_string(),
            why: why.to_string(),
        }
    }
}
