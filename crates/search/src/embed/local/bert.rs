//! The forward pass of a BERT encoder over texts of any lengths at once. No padding: layers see
//! all tokens of a batch as rows of one matrix, attention sees each text by itself.

use serde::Deserialize;

use super::{
    ModelError,
    attention::Heads,
    linear::{Linear, Precision},
    math,
    tokens::Tokens,
    weights::Weights,
};

/// No model reads less.
pub(super) const FEWEST_PLACES: usize = 8;

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Config {
    pub(super) hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    pub(super) max_position_embeddings: usize,
    vocab_size: usize,
    type_vocab_size: usize,
    layer_norm_eps: f32,
    #[serde(default)]
    model_type: String,
    #[serde(default)]
    hidden_act: String,
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        let whole = self.num_attention_heads > 0
            && self.hidden_size.is_multiple_of(self.num_attention_heads)
            && self.hidden_size > 0
            && self.vocab_size > 0
            && self.type_vocab_size > 0
            && self.max_position_embeddings >= FEWEST_PLACES;
        let known = self.model_type == "bert" && matches!(self.hidden_act.as_str(), "gelu" | "");
        if whole && known {
            return Ok(());
        }
        Err(ModelError::Weights(format!(
            "a model of type {:?} with {:?} is not run here; serve it over HTTP instead",
            self.model_type, self.hidden_act
        )))
    }
}

#[derive(Debug)]
struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct Layer {
    /// Query, key and value in one.
    attention_in: Linear,
    attention_out: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

#[derive(Debug)]
pub(super) struct Bert {
    pub(super) config: Config,
    words: Vec<f32>,
    places: Vec<f32>,
    /// For the first text of a pair and for the second.
    kinds: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

/// Memory that is used again from layer to layer.
#[derive(Debug, Default)]
struct Scratch {
    attention: Vec<f32>,
    heads: Heads,
    context: Vec<f32>,
    wide: Vec<f32>,
    out: Vec<f32>,
}

impl Bert {
    pub(super) fn load(
        config: Config,
        file: &Weights,
        precision: Precision,
    ) -> Result<Self, ModelError> {
        let hidden = config.hidden_size;
        let norm = |name: &str| -> Result<Norm, ModelError> {
            Ok(Norm {
                weight: file.take(&format!("{name}.weight"), hidden)?,
                bias: file.take(&format!("{name}.bias"), hidden)?,
            })
        };
        let layers = (0..config.num_hidden_layers)
            .map(|number| Layer::load(file, number, &config, precision, &norm))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            words: file.take(
                "embeddings.word_embeddings.weight",
                config.vocab_size * hidden,
            )?,
            places: file.take(
                "embeddings.position_embeddings.weight",
                config.max_position_embeddings * hidden,
            )?,
            kinds: file.take(
                "embeddings.token_type_embeddings.weight",
                config.type_vocab_size * hidden,
            )?,
            norm: norm("embeddings.LayerNorm")?,
            layers,
            config,
        })
    }

    /// The mean of each text's last states, normalised.
    pub(super) fn embed(&self, texts: &[&Tokens]) -> Vec<Vec<f32>> {
        let hidden = self.config.hidden_size;
        let x = self.last_states(texts);
        let mut at = 0;
        let pooled = texts.iter().map(|text| {
            let states = &x[at * hidden..(at + text.len()) * hidden];
            at += text.len();
            mean(states, hidden)
        });
        pooled.collect()
    }

    /// The last state of each text's first token, one after the other.
    pub(super) fn first_of_each(&self, texts: &[&Tokens]) -> Vec<f32> {
        let hidden = self.config.hidden_size;
        let x = self.last_states(texts);
        let mut at = 0;
        let mut first = Vec::with_capacity(texts.len() * hidden);
        for text in texts {
            first.extend_from_slice(&x[at * hidden..(at + 1) * hidden]);
            at += text.len();
        }
        first
    }

    fn last_states(&self, texts: &[&Tokens]) -> Vec<f32> {
        let mut x = self.first_states(texts);
        let mut scratch = Scratch::default();
        for layer in &self.layers {
            layer.apply(&mut x, texts, &self.config, &mut scratch);
        }
        x
    }

    fn first_states(&self, texts: &[&Tokens]) -> Vec<f32> {
        let hidden = self.config.hidden_size;
        let tokens: usize = texts.iter().map(|text| text.len()).sum();
        let mut x = Vec::with_capacity(tokens * hidden);
        for text in texts {
            for (place, token) in text.ids.iter().enumerate() {
                let kind = usize::from(place >= text.second) * hidden;
                // A model without a second kind knows no difference.
                let kind = self.kinds.get(kind..kind + hidden);
                let kind = kind.unwrap_or(&self.kinds[..hidden]);
                let word = (*token as usize).min(self.config.vocab_size - 1) * hidden;
                let start = x.len();
                x.extend_from_slice(&self.words[word..word + hidden]);
                let state = &mut x[start..];
                math::add_scaled(state, 1.0, kind);
                let place = &self.places[place * hidden..(place + 1) * hidden];
                let Norm { weight, bias } = &self.norm;
                math::add_and_norm(state, place, weight, bias, self.config.layer_norm_eps);
            }
        }
        x
    }
}

fn mean(states: &[f32], hidden: usize) -> Vec<f32> {
    let mut sum = vec![0.0; hidden];
    for state in states.chunks_exact(hidden) {
        math::add_scaled(&mut sum, 1.0, state);
    }
    let norm = math::dot(&sum, &sum).sqrt();
    if norm > 0.0 {
        for value in &mut sum {
            *value /= norm;
        }
    }
    sum
}

impl Layer {
    fn load(
        file: &Weights,
        number: usize,
        config: &Config,
        precision: Precision,
        norm: &dyn Fn(&str) -> Result<Norm, ModelError>,
    ) -> Result<Self, ModelError> {
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        let read = |part: &str, inner: usize, outer: usize| -> Result<_, ModelError> {
            let weights = file.take(&format!("{}.weight", name(part)), inner * outer)?;
            Ok((weights, file.take(&format!("{}.bias", name(part)), outer)?))
        };
        let linear = |part: &str, inner: usize, outer: usize| -> Result<Linear, ModelError> {
            let (weights, bias) = read(part, inner, outer)?;
            Ok(Linear::new(&weights, bias, inner, precision))
        };
        let (mut weights, mut bias) = read("attention.self.query", hidden, hidden)?;
        for part in ["attention.self.key", "attention.self.value"] {
            let (more, more_bias) = read(part, hidden, hidden)?;
            weights.extend(more);
            bias.extend(more_bias);
        }
        Ok(Self {
            attention_in: Linear::new(&weights, bias, hidden, precision),
            attention_out: linear("attention.output.dense", hidden, hidden)?,
            attention_norm: norm(&name("attention.output.LayerNorm"))?,
            up: linear("intermediate.dense", hidden, wide)?,
            down: linear("output.dense", wide, hidden)?,
            norm: norm(&name("output.LayerNorm"))?,
        })
    }

    fn apply(&self, x: &mut [f32], texts: &[&Tokens], config: &Config, scratch: &mut Scratch) {
        let hidden = config.hidden_size;
        self.attention_in.apply(x, &mut scratch.attention);
        scratch.context.clear();
        scratch.context.resize(x.len(), 0.0);
        let mut at = 0;
        for text in texts {
            let rows = at..at + text.len();
            at += text.len();
            scratch.heads.attend(
                &scratch.attention[rows.start * 3 * hidden..rows.end * 3 * hidden],
                &mut scratch.context[rows.start * hidden..rows.end * hidden],
                hidden,
                config.num_attention_heads,
            );
        }
        self.attention_out.apply(&scratch.context, &mut scratch.out);
        add_and_norm(x, &scratch.out, &self.attention_norm, config);
        self.up.apply(x, &mut scratch.wide);
        math::gelu(&mut scratch.wide);
        self.down.apply(&scratch.wide, &mut scratch.out);
        add_and_norm(x, &scratch.out, &self.norm, config);
    }
}

fn add_and_norm(x: &mut [f32], more: &[f32], norm: &Norm, config: &Config) {
    let hidden = config.hidden_size;
    for (x, more) in x.chunks_exact_mut(hidden).zip(more.chunks_exact(hidden)) {
        math::add_and_norm(x, more, &norm.weight, &norm.bias, config.layer_norm_eps);
    }
}
