//! Sentence-transformer models of the BERT family, run inside the process from a folder.
//!
//! In reading order: `weights` reads the file, `bert` is the model, `linear` and `attention` its
//! parts, `kernel`
//! and `math` what they compute with, `folder` finds the files and cuts texts into tokens.

mod attention;
mod bert;
mod folder;
mod kernel;
mod linear;
mod math;
mod weights;

use std::{fmt::Display, path::Path};

pub use folder::LocalModel;
pub use linear::Precision;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{path}: {why}")]
    File { path: String, why: String },
    #[error("the model cannot be used: {0}")]
    Weights(String),
}

impl ModelError {
    fn file(path: &Path, why: &dyn Display) -> Self {
        Self::File {
            path: path.display().to_string(),
            why: why.to_string(),
        }
    }
}
