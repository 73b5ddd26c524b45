//! Weights from a `.safetensors` file: a length, a table in JSON, numbers.

use std::{collections::HashMap, path::Path};

use half::{bf16, f16};
use serde::Deserialize;

use super::ModelError;

/// A table that is longer is none.
const LONGEST_TABLE: usize = 16 << 20;

/// Where cross-encoders have what makes scores.
const CLASSIFIER: &str = "classifier.weight";

#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// The tensors of a file, by name.
#[derive(Debug)]
pub(super) struct Weights {
    bytes: Vec<u8>,
    table: HashMap<String, Entry>,
    data: usize,
    /// What all names begin with, such as `bert.`.
    prefix: String,
}

impl Weights {
    /// Reads a file; `probe` is a name that must be in it, behind whatever prefix.
    pub(super) fn read(path: &Path, probe: &str) -> Result<Self, ModelError> {
        let bytes = std::fs::read(path).map_err(|error| ModelError::file(path, &error))?;
        let bad = |why: &str| ModelError::file(path, &why);
        let length = bytes
            .first_chunk::<8>()
            .ok_or_else(|| bad("it is no safetensors file"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let table = (length < LONGEST_TABLE)
            .then(|| bytes.get(8..8 + length))
            .flatten();
        let table = table.ok_or_else(|| bad("it is no safetensors file"))?;
        let raw: HashMap<String, serde_json::Value> =
            serde_json::from_slice(table).map_err(|error| ModelError::file(path, &error))?;
        let table: HashMap<String, Entry> = raw
            .into_iter()
            .filter_map(|(name, entry)| Some((name, serde_json::from_value(entry).ok()?)))
            .collect();
        let whole = table.keys().find(|name| name.ends_with(probe));
        let whole = whole.ok_or_else(|| bad("it holds no BERT model"))?;
        let prefix = whole[..whole.len() - probe.len()].to_owned();
        Ok(Self {
            data: 8 + length,
            bytes,
            table,
            prefix,
        })
    }

    /// Whether there is one behind the model itself.
    pub(super) fn has_classifier(&self) -> bool {
        self.table.contains_key(CLASSIFIER)
    }

    /// The weights and the bias of a classifier with a single label.
    pub(super) fn classifier(&self, hidden: usize) -> Result<(Vec<f32>, f32), ModelError> {
        let labels = self.table.get(CLASSIFIER).and_then(|t| t.shape.first());
        if labels.is_some_and(|labels| *labels != 1) {
            return Err(ModelError::Weights(format!(
                "it is a classifier of {} labels, and one that ranks has a single one",
                labels.copied().unwrap_or_default()
            )));
        }
        let bias = self.take_whole("classifier.bias", 1)?;
        let weights = self.take_whole(CLASSIFIER, hidden)?;
        Ok((weights, bias.first().copied().unwrap_or_default()))
    }

    /// A tensor of the model, of exactly so many numbers, as floats.
    pub(super) fn take(&self, name: &str, count: usize) -> Result<Vec<f32>, ModelError> {
        self.take_whole(&format!("{}{name}", self.prefix), count)
    }

    /// The same by its whole name.
    fn take_whole(&self, full: &str, count: usize) -> Result<Vec<f32>, ModelError> {
        let bad = |why: &str| ModelError::Weights(format!("{full}: {why}"));
        let entry = self.table.get(full).ok_or_else(|| bad("it is missing"))?;
        if entry.shape.iter().product::<usize>() != count {
            return Err(bad(&format!("its shape is {:?}", entry.shape)));
        }
        let (start, end) = entry.data_offsets;
        let place = self.data.checked_add(start).zip(self.data.checked_add(end));
        let bytes = place.and_then(|(start, end)| self.bytes.get(start..end));
        let bytes = bytes.ok_or_else(|| bad("the file ends before it"))?;
        let halves = || bytes.chunks_exact(2).map(|b| [b[0], b[1]]);
        let numbers: Vec<f32> = match entry.dtype.as_str() {
            "F32" => bytes
                .as_chunks::<4>()
                .0
                .iter()
                .map(|b| f32::from_le_bytes(*b))
                .collect(),
            "F16" => halves().map(|b| f16::from_le_bytes(b).to_f32()).collect(),
            "BF16" => halves().map(|b| bf16::from_le_bytes(b).to_f32()).collect(),
            other => return Err(bad(&format!("numbers of type {other} are not read"))),
        };
        if numbers.len() != count {
            return Err(bad("it is cut"));
        }
        // One such number would make all results worthless, far from here.
        if let Some(at) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(bad(&format!(
                "number {at} is not finite: the file is broken"
            )));
        }
        Ok(numbers)
    }
}
