//! Attention inside of one text, head by head, as products of small matrices.

use super::{
    kernel::{self, Level, PANEL},
    math,
};

/// Works on one text after another; memory is used again.
#[derive(Debug)]
pub(super) struct Heads {
    level: Level,
    queries: Vec<f32>,
    panel: Vec<f32>,
    block: Vec<f32>,
    scores: Vec<f32>,
}

impl Default for Heads {
    fn default() -> Self {
        Self {
            level: kernel::level(),
            queries: Vec::new(),
            panel: Vec::new(),
            block: Vec::new(),
            scores: Vec::new(),
        }
    }
}

impl Heads {
    /// Rows of query, key and value, `hidden` numbers each, to rows of context.
    pub(super) fn attend(
        &mut self,
        rows: &[f32],
        context: &mut [f32],
        hidden: usize,
        heads: usize,
    ) {
        let size = hidden / heads;
        for first in (0..hidden).step_by(size) {
            self.score(rows, hidden, first, size);
            for offset in (0..size).step_by(PANEL) {
                let width = PANEL.min(size - offset);
                let at = first + offset..first + offset + width;
                self.mix(rows, context, hidden, at);
            }
        }
    }

    /// How much each token (a row) looks at each other (a column); columns are filled up to whole
    /// panels with nothing.
    fn score(&mut self, rows: &[f32], hidden: usize, first: usize, size: usize) {
        let count = rows.len() / (3 * hidden);
        let padded = count.next_multiple_of(PANEL);
        let scale = 1.0 / (size as f32).sqrt();
        self.queries.clear();
        for row in rows.chunks_exact(3 * hidden) {
            let query = &row[first..first + size];
            self.queries.extend(query.iter().map(|value| value * scale));
        }
        self.scores.clear();
        self.scores.resize(count * padded, 0.0);
        self.block.resize(count * PANEL, 0.0);
        for start in (0..count).step_by(PANEL) {
            let width = PANEL.min(count - start);
            self.panel.clear();
            self.panel.resize(size * PANEL, 0.0);
            for column in 0..width {
                let at = (start + column) * 3 * hidden + hidden + first;
                for (k, value) in rows[at..at + size].iter().enumerate() {
                    self.panel[k * PANEL + column] = *value;
                }
            }
            kernel::panel(
                self.level,
                &self.queries,
                size,
                &self.panel,
                &mut self.block,
            );
            let blocks = self.block.chunks_exact(PANEL);
            for (scores, block) in self.scores.chunks_exact_mut(padded).zip(blocks) {
                scores[start..start + width].copy_from_slice(&block[..width]);
            }
        }
        for scores in self.scores.chunks_exact_mut(padded) {
            math::softmax(&mut scores[..count]);
        }
    }

    /// The values of all tokens, each as much as it is looked at, into columns of the context.
    fn mix(
        &mut self,
        rows: &[f32],
        context: &mut [f32],
        hidden: usize,
        at: std::ops::Range<usize>,
    ) {
        let count = rows.len() / (3 * hidden);
        let padded = count.next_multiple_of(PANEL);
        self.panel.clear();
        self.panel.resize(padded * PANEL, 0.0);
        let panel = self.panel.chunks_exact_mut(PANEL);
        for (panel, row) in panel.zip(rows.chunks_exact(3 * hidden)) {
            panel[..at.len()].copy_from_slice(&row[2 * hidden + at.start..2 * hidden + at.end]);
        }
        kernel::panel(
            self.level,
            &self.scores,
            padded,
            &self.panel,
            &mut self.block,
        );
        let blocks = self.block.chunks_exact(PANEL);
        for (context, block) in context.chunks_exact_mut(hidden).zip(blocks) {
            context[at.clone()].copy_from_slice(&block[..at.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_is_the_mean_of_values_weighted_by_how_alike_tokens_are() {
        let (hidden, heads, count) = (8, 2, 37);
        let size = hidden / heads;
        let number = |n: usize| ((n * 7919) % 100) as f32 / 50.0 - 1.0;
        let rows: Vec<f32> = (0..count * 3 * hidden).map(number).collect();
        let mut context = vec![0.0; count * hidden];
        Heads::default().attend(&rows, &mut context, hidden, heads);
        let part = |token: usize, which: usize, head: usize| {
            let at = token * 3 * hidden + which * hidden + head * size;
            &rows[at..at + size]
        };
        for token in 0..count {
            for head in 0..heads {
                let alike = |other: usize| {
                    let pairs = part(token, 0, head).iter().zip(part(other, 1, head));
                    (pairs.map(|(a, b)| a * b).sum::<f32>() / (size as f32).sqrt()).exp()
                };
                let weights: Vec<f32> = (0..count).map(alike).collect();
                let total: f32 = weights.iter().sum();
                for k in 0..size {
                    let value = |other: usize| weights[other] * part(other, 2, head)[k];
                    let expected = (0..count).map(value).sum::<f32>() / total;
                    let found = context[token * hidden + head * size + k];
                    assert!((found - expected).abs() < 1e-4);
                }
            }
        }
    }
}
