//! Scores of a made-up model against a computation that follows the books: in 64-bit floats, one
//! number after the other, with nothing of the code under test.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::*;
use crate::embed::local::checkpoint::{Checkpoint, EPSILON, HEADS, HIDDEN, LAYERS};

const QUERY: &str = "mending nets";
const TEXTS: [&str; 5] = [
    "nets are mended by hand",
    "the tide turns twice a day",
    "",
    "storms come from the west in autumn when the lantern on the mast is red 42",
    "Nets",
];

type Rows = Vec<Vec<f64>>;

/// The model by the books.
struct Books<'a>(&'a Checkpoint);

impl Books<'_> {
    fn tensor(&self, name: &str) -> Vec<f64> {
        let (_, values) = &self.0.tensors[name];
        values.iter().map(|value| f64::from(*value)).collect()
    }

    fn row(&self, name: &str, row: usize) -> Vec<f64> {
        self.tensor(name)[row * HIDDEN..(row + 1) * HIDDEN].to_vec()
    }

    fn linear(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let weights = self.tensor(&format!("{name}.weight"));
        let bias = self.tensor(&format!("{name}.bias"));
        let sum = |row: &[f64]| row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        let rows = weights.chunks(x.len()).map(sum);
        rows.zip(&bias).map(|(sum, bias)| sum + bias).collect()
    }

    fn norm(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
        let weight = self.tensor(&format!("{name}.weight"));
        let bias = self.tensor(&format!("{name}.bias"));
        let norm =
            |((x, w), b): ((&f64, &f64), &f64)| (x - mean) / (variance + EPSILON).sqrt() * w + b;
        x.iter().zip(&weight).zip(&bias).map(norm).collect()
    }

    fn embeddings(&self, tokens: &[(usize, usize)]) -> Rows {
        let state = |(place, (token, kind)): (usize, &(usize, usize))| {
            let word = self.row("bert.embeddings.word_embeddings.weight", *token);
            let place = self.row("bert.embeddings.position_embeddings.weight", place);
            let kind = self.row("bert.embeddings.token_type_embeddings.weight", *kind);
            let sum: Vec<f64> = (0..HIDDEN).map(|n| word[n] + place[n] + kind[n]).collect();
            self.norm("bert.embeddings.LayerNorm", &sum)
        };
        tokens.iter().enumerate().map(state).collect()
    }

    fn attention(&self, layer: usize, x: &Rows) -> Rows {
        let part = |name: &str| -> Rows {
            let name = format!("bert.encoder.layer.{layer}.attention.self.{name}");
            x.iter().map(|x| self.linear(&name, x)).collect()
        };
        let (queries, keys, values) = (part("query"), part("key"), part("value"));
        let size = HIDDEN / HEADS;
        let mut context = vec![vec![0.0; HIDDEN]; x.len()];
        for head in (0..HIDDEN).step_by(size) {
            let at = head..head + size;
            for (query, context) in queries.iter().zip(&mut context) {
                let alike = |key: &Vec<f64>| {
                    let products = at.clone().map(|n| query[n] * key[n]);
                    (products.sum::<f64>() / (size as f64).sqrt()).exp()
                };
                let weights: Vec<f64> = keys.iter().map(alike).collect();
                let total: f64 = weights.iter().sum();
                for n in at.clone() {
                    let sum = weights.iter().zip(&values).map(|(w, value)| w * value[n]);
                    context[n] = sum.sum::<f64>() / total;
                }
            }
        }
        context
    }

    fn layer(&self, layer: usize, x: &Rows) -> Rows {
        let name = |part: &str| format!("bert.encoder.layer.{layer}.{part}");
        let add =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + b).collect() };
        let context = self.attention(layer, x);
        let step = |(x, context): (&Vec<f64>, &Vec<f64>)| {
            let out = self.linear(&name("attention.output.dense"), context);
            let x = self.norm(&name("attention.output.LayerNorm"), &add(x, &out));
            let wide = self.linear(&name("intermediate.dense"), &x);
            let wide: Vec<f64> = wide.into_iter().map(gelu).collect();
            let out = self.linear(&name("output.dense"), &wide);
            self.norm(&name("output.LayerNorm"), &add(&x, &out))
        };
        x.iter().zip(&context).map(step).collect()
    }

    fn score(&self, query: &str, text: &str) -> f64 {
        let mut x = self.embeddings(&tokens(query, text));
        for layer in 0..LAYERS {
            x = self.layer(layer, &x);
        }
        let pooled = self.linear("bert.pooler.dense", &x[0]);
        let pooled: Vec<f64> = pooled.into_iter().map(f64::tanh).collect();
        self.linear("classifier", &pooled)[0]
    }
}

/// `x · Φ(x)`, with the error function as its series.
fn gelu(x: f64) -> f64 {
    let z = x * FRAC_1_SQRT_2;
    let (mut term, mut sum) = (z, z);
    for n in 1..200 {
        let n = f64::from(n);
        term *= -z * z / n;
        sum += term / (2.0 * n + 1.0);
    }
    0.5 * x * (1.0 + 2.0 / PI.sqrt() * sum)
}

/// Tokens and their kinds: `[CLS] query [SEP]` of the first, `text [SEP]` of the second.
fn tokens(query: &str, text: &str) -> Vec<(usize, usize)> {
    let letters = |text: &str, kind: usize| -> Vec<(usize, usize)> {
        let word = |word: &str| -> Vec<(usize, usize)> {
            let place = |letter: char| {
                let digit = letter.to_digit(36).unwrap() as usize;
                if digit < 10 { digit + 26 } else { digit - 10 }
            };
            let id = |(n, letter): (usize, char)| 5 + place(letter) + if n > 0 { 36 } else { 0 };
            word.chars().enumerate().map(|at| (id(at), kind)).collect()
        };
        text.to_lowercase()
            .split_whitespace()
            .flat_map(word)
            .collect()
    };
    let mut tokens = vec![(2, 0)];
    tokens.extend(letters(query, 0));
    tokens.push((3, 0));
    tokens.extend(letters(text, 1));
    tokens.push((3, 1));
    tokens
}

fn loaded(checkpoint: &Checkpoint, precision: Precision) -> Result<CrossEncoder, ModelError> {
    let folder = tempfile::tempdir().unwrap();
    checkpoint.write(folder.path());
    CrossEncoder::load(folder.path(), precision)
}

fn scores<T: AsRef<str>>(model: &CrossEncoder, query: &str, texts: &[T]) -> Vec<f32> {
    model.score(query, texts, &|| true).unwrap()
}

#[test]
fn scores_are_those_of_the_books() {
    let checkpoint = Checkpoint::cross_encoder();
    let exact = loaded(&checkpoint, Precision::Float).unwrap();
    let near = loaded(&checkpoint, Precision::EightBit).unwrap();
    let exact = scores(&exact, QUERY, &TEXTS);
    let near = scores(&near, QUERY, &TEXTS);
    let expected = TEXTS.map(|text| Books(&checkpoint).score(QUERY, text));
    for ((found, near), expected) in exact.iter().zip(&near).zip(expected) {
        assert!(
            (f64::from(*found) - expected).abs() < 1e-4,
            "{found} {expected}"
        );
        assert!((near - found).abs() < 0.2, "{near} {found}");
    }
    let range = exact
        .iter()
        .fold((f32::MAX, f32::MIN), |r, x| (r.0.min(*x), r.1.max(*x)));
    assert!(
        range.1 - range.0 > 0.3,
        "a model that says the same of all tests nothing: {exact:?}"
    );
}

#[test]
fn scores_do_not_depend_on_what_else_is_ranked() {
    let model = loaded(&Checkpoint::cross_encoder(), Precision::Float).unwrap();
    // More than one batch, so that all threads take part.
    let texts: Vec<String> = (0..60)
        .map(|n| format!("{} {n}", "net ".repeat(n)))
        .collect();
    let together = scores(&model, QUERY, &texts);
    for (text, score) in texts.iter().zip(together).step_by(7) {
        assert!((scores(&model, QUERY, &[text])[0] - score).abs() < 1e-4);
    }
}

#[test]
fn of_a_pair_that_is_too_long_the_end_of_the_text_is_left_out() {
    let model = loaded(&Checkpoint::cross_encoder(), Precision::Float).unwrap();
    assert_eq!(model.longest(), 512);
    // With three special tokens and eleven letters of the query, 498 of the text are read.
    let fits = "a ".repeat(498);
    let longer = format!("{fits} and much more that nobody reads");
    assert!(model.reads_whole(QUERY, &fits) && !model.reads_whole(QUERY, &longer));
    let found = scores(&model, QUERY, &[fits.as_str(), &longer, &"a ".repeat(497)]);
    assert!((found[0] - found[1]).abs() < 1e-5, "{found:?}");
    assert!((found[0] - found[2]).abs() > 1e-5, "{found:?}");
}

#[test]
fn who_is_not_waited_for_stops() {
    let model = loaded(&Checkpoint::cross_encoder(), Precision::Float).unwrap();
    assert_eq!(model.score(QUERY, &TEXTS, &|| false), None);
    assert_eq!(scores::<&str>(&model, QUERY, &[]), Vec::<f32>::new());
}

#[test]
fn broken_weights_and_other_models_are_refused_with_what_is_wrong() {
    let refused = |change: &dyn Fn(&mut Checkpoint)| {
        let mut checkpoint = Checkpoint::cross_encoder();
        change(&mut checkpoint);
        loaded(&checkpoint, Precision::EightBit)
            .unwrap_err()
            .to_string()
    };
    for (name, number) in [
        ("bert.encoder.layer.1.output.dense.weight", f32::NAN),
        ("classifier.weight", f32::INFINITY),
    ] {
        let said = refused(&|made| made.tensors.get_mut(name).unwrap().1[5] = number);
        assert!(
            said.contains(name) && said.contains("number 5 is not finite"),
            "{said}"
        );
    }
    let said = refused(&|made| {
        made.tensors.remove("classifier.weight");
    });
    assert!(said.contains("a cross-encoder is needed"), "{said}");
    let said = refused(&|made| {
        made.tensors.remove("bert.pooler.dense.weight");
    });
    assert!(
        said.contains("bert.pooler.dense.weight: it is missing"),
        "{said}"
    );
    let said = refused(&|made| {
        let labels = (vec![3, HIDDEN], vec![0.5; 3 * HIDDEN]);
        made.tensors.insert("classifier.weight".into(), labels);
    });
    assert!(said.contains("a classifier of 3 labels"), "{said}");
}

#[test]
fn a_cross_encoder_is_no_embedder() {
    let folder = tempfile::tempdir().unwrap();
    Checkpoint::cross_encoder().write(folder.path());
    let error = crate::embed::LocalModel::load(folder.path(), Precision::Float).unwrap_err();
    assert!(error.to_string().contains("--rerank-model"), "{error}");
}
