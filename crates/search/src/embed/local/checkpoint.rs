//! For tests, also of the command: a cross-encoder in a folder as its makers publish them, but tiny
//! and with weights from a seed. Its tokens are single letters, so that it reads any text.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};

pub(crate) const HIDDEN: usize = 32;
pub(crate) const HEADS: usize = 4;
pub(crate) const LAYERS: usize = 2;
const WIDE: usize = 64;
const PLACES: usize = 512;
pub(crate) const EPSILON: f64 = 1e-12;
const SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789";

/// Tensors by name: their shapes and their numbers.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl Checkpoint {
    pub(crate) fn cross_encoder() -> Self {
        let mut made = Self {
            tensors: BTreeMap::new(),
        };
        let words = SPECIAL.len() + 2 * LETTERS.len();
        made.tensor(
            "bert.embeddings.word_embeddings.weight",
            &[words, HIDDEN],
            1.0,
        );
        made.tensor(
            "bert.embeddings.position_embeddings.weight",
            &[PLACES, HIDDEN],
            0.3,
        );
        made.tensor(
            "bert.embeddings.token_type_embeddings.weight",
            &[2, HIDDEN],
            0.5,
        );
        made.norm("bert.embeddings.LayerNorm");
        for layer in 0..LAYERS {
            let name = |part: &str| format!("bert.encoder.layer.{layer}.{part}");
            for part in ["self.query", "self.key", "self.value", "output.dense"] {
                made.linear(&name(&format!("attention.{part}")), HIDDEN, HIDDEN);
            }
            made.norm(&name("attention.output.LayerNorm"));
            made.linear(&name("intermediate.dense"), HIDDEN, WIDE);
            made.linear(&name("output.dense"), WIDE, HIDDEN);
            made.norm(&name("output.LayerNorm"));
        }
        made.linear("bert.pooler.dense", HIDDEN, HIDDEN);
        made.linear("classifier", HIDDEN, 1);
        made
    }

    /// Puts a folder's three files in place.
    pub(crate) fn write(&self, folder: &Path) {
        let put = |name: &str, value: &Value| {
            fs::write(folder.join(name), value.to_string()).unwrap();
        };
        put("config.json", &config());
        put("tokenizer.json", &tokenizer());
        let (mut table, mut numbers) = (serde_json::Map::new(), Vec::new());
        for (name, (shape, values)) in &self.tensors {
            let start = numbers.len();
            numbers.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            let entry =
                json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, numbers.len()] });
            table.insert(name.clone(), entry);
        }
        let table = Value::Object(table).to_string();
        let length = (table.len() as u64).to_le_bytes();
        let whole = [&length[..], table.as_bytes(), &numbers].concat();
        fs::write(folder.join("model.safetensors"), whole).unwrap();
    }

    fn linear(&mut self, name: &str, inner: usize, outer: usize) {
        self.tensor(&format!("{name}.weight"), &[outer, inner], 0.4);
        self.tensor(&format!("{name}.bias"), &[outer], 0.2);
    }

    fn norm(&mut self, name: &str) {
        self.tensor(&format!("{name}.weight"), &[HIDDEN], 0.2);
        self.tensor(&format!("{name}.bias"), &[HIDDEN], 0.2);
        if let Some((_, values)) = self.tensors.get_mut(&format!("{name}.weight")) {
            for value in values {
                *value += 1.0;
            }
        }
    }

    /// Numbers between `-reach` and `reach`, always the same ones for a name.
    fn tensor(&mut self, name: &str, shape: &[usize], reach: f32) {
        let mut state = name.bytes().fold(7_u64, |state, byte| {
            state.wrapping_mul(1_099_511_628_211) ^ u64::from(byte)
        });
        let values = (0..shape.iter().product()).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0) * reach
        });
        let values = values.collect();
        self.tensors
            .insert(name.to_owned(), (shape.to_vec(), values));
    }
}

fn config() -> Value {
    json!({
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": HIDDEN,
        "id2label": { "0": "LABEL_0" },
        "intermediate_size": WIDE,
        "layer_norm_eps": EPSILON,
        "max_position_embeddings": PLACES,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "type_vocab_size": 2,
        "vocab_size": SPECIAL.len() + 2 * LETTERS.len(),
    })
}

/// Special tokens, letters that begin a word, letters that go on with one.
fn tokenizer() -> Value {
    let letters = LETTERS.chars().map(String::from);
    let inside = LETTERS.chars().map(|letter| format!("##{letter}"));
    let words = SPECIAL.iter().map(ToString::to_string);
    let words = words.chain(letters).chain(inside);
    let vocabulary: serde_json::Map<String, Value> = words
        .enumerate()
        .map(|(id, word)| (word, json!(id)))
        .collect();
    let special = |(id, word): (usize, &&str)| {
        json!({ "id": id, "content": word, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true })
    };
    let added: Vec<Value> = SPECIAL.iter().enumerate().map(special).collect();
    let token = |word: &str, kind: u8| json!({ "SpecialToken": { "id": word, "type_id": kind } });
    let text = |name: &str, kind: u8| json!({ "Sequence": { "id": name, "type_id": kind } });
    let first = [token("[CLS]", 0), text("A", 0), token("[SEP]", 0)];
    let pair = [&first[..], &[text("B", 1), token("[SEP]", 1)]].concat();
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                        "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": {
            "type": "TemplateProcessing", "single": first, "pair": pair,
            "special_tokens": {
                "[CLS]": { "id": "[CLS]", "ids": [2], "tokens": ["[CLS]"] },
                "[SEP]": { "id": "[SEP]", "ids": [3], "tokens": ["[SEP]"] },
            },
        },
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                   "max_input_chars_per_word": 100, "vocab": vocabulary },
    })
}
