//! Two ranked lists to one. Pure.
//!
//! By scores, which is the usual way: keyword scores as shares of the best one, vector scores as
//! their place between the least and the best of the list. Or by ranks (reciprocal rank fusion),
//! which asks for less and forgets how much better the first is than the second.

use rustc_hash::FxHashMap;

use crate::lexical::Scored;

/// How lists become one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fusion {
    /// A weighted mean of scores, each made to reach from 0 to 1.
    Scores,
    /// `weight / (k + rank)` from each list, added.
    Ranks {
        /// How soon ranks stop to differ.
        k: f32,
    },
}

/// How much each list counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    pub fusion: Fusion,
    pub vector: f32,
    pub keyword: f32,
}

impl Default for Weights {
    /// Measured in `bench/search`: by scores, meaning counts half as much again as words.
    fn default() -> Self {
        Self {
            fusion: Fusion::Scores,
            vector: 1.5,
            keyword: 1.0,
        }
    }
}

impl Weights {
    /// Reciprocal rank fusion.
    pub fn ranks(k: f32, vector: f32, keyword: f32) -> Self {
        Self {
            fusion: Fusion::Ranks { k },
            vector,
            keyword,
        }
    }
}

/// A chunk of either list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fused {
    pub chunk: u32,
    pub score: f32,
    pub vector_score: Option<f32>,
    pub keyword_score: Option<f32>,
}

/// Both lists, the best first.
pub fn fuse(keyword: &[Scored], vector: &[Scored], weights: Weights) -> Vec<Fused> {
    let mut found: FxHashMap<u32, Fused> = FxHashMap::default();
    for (share, scored) in shares(vector, weights.vector, weights, true) {
        let fused = found.entry(scored.chunk).or_insert(empty(scored.chunk));
        fused.score += share;
        fused.vector_score = Some(scored.score);
    }
    for (share, scored) in shares(keyword, weights.keyword, weights, false) {
        let fused = found.entry(scored.chunk).or_insert(empty(scored.chunk));
        fused.score += share;
        fused.keyword_score = Some(scored.score);
    }
    let mut all: Vec<Fused> = found.into_values().collect();
    let closeness = |fused: &Fused| fused.vector_score.unwrap_or(-1.0);
    all.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(closeness(b).total_cmp(&closeness(a)))
            .then(a.chunk.cmp(&b.chunk))
    });
    all
}

fn empty(chunk: u32) -> Fused {
    Fused {
        chunk,
        score: 0.0,
        vector_score: None,
        keyword_score: None,
    }
}

/// What a list gives to each of its chunks.
fn shares(
    list: &[Scored],
    weight: f32,
    weights: Weights,
    from_least: bool,
) -> impl Iterator<Item = (f32, &Scored)> {
    let best = list.first().map_or(1.0, |scored| scored.score);
    let least = list.last().map_or(0.0, |scored| scored.score);
    // No vector is wholly unlike another, so theirs begin at the least of the list; a list of one
    // has no range to speak of.
    let low = if from_least && best > least {
        least
    } else {
        0.0
    };
    let range = (best - low).max(f32::MIN_POSITIVE);
    let sum = (weights.vector + weights.keyword).max(f32::MIN_POSITIVE);
    list.iter().enumerate().map(move |(place, scored)| {
        let share = match weights.fusion {
            Fusion::Scores => weight / sum * (scored.score - low) / range,
            Fusion::Ranks { k } => weight / (k + place as f32 + 1.0),
        };
        (share, scored)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(chunks: &[(u32, f32)]) -> Vec<Scored> {
        let scored = |(chunk, score): &(u32, f32)| Scored {
            chunk: *chunk,
            score: *score,
        };
        chunks.iter().map(scored).collect()
    }

    #[test]
    fn by_ranks_what_both_lists_know_comes_first() {
        let keyword = list(&[(1, 9.0), (2, 5.0), (3, 4.0)]);
        let vector = list(&[(4, 0.9), (3, 0.8), (5, 0.7)]);
        let fused = fuse(&keyword, &vector, Weights::ranks(60.0, 1.0, 1.0));
        assert_eq!(fused[0].chunk, 3);
        assert!((fused[0].score - (1.0 / 63.0 + 1.0 / 62.0)).abs() < 1e-6);
        assert!(fused[0].vector_score.is_some() && fused[0].keyword_score.is_some());
        assert_eq!(fused.len(), 5);
    }

    #[test]
    fn by_scores_it_counts_how_much_better_one_is() {
        let keyword = list(&[(1, 20.0), (2, 5.0), (3, 4.9)]);
        let vector = list(&[(2, 0.51), (3, 0.505), (1, 0.50)]);
        let equal = Weights {
            vector: 1.0,
            ..Weights::default()
        };
        let fused = fuse(&keyword, &vector, equal);
        assert_eq!(fused[0].chunk, 2);
        assert!((fused[0].score - (0.5 + 0.5 * 0.25)).abs() < 1e-6);
        assert_eq!(fused[1].chunk, 1);
    }

    #[test]
    fn a_list_without_weight_decides_nothing() {
        let weights = Weights::ranks(60.0, 0.0, 1.0);
        let fused = fuse(
            &list(&[(1, 2.0), (2, 1.0)]),
            &list(&[(2, 0.9), (9, 0.1)]),
            weights,
        );
        assert_eq!(fused[0].chunk, 1);
    }

    #[test]
    fn one_list_alone_keeps_its_order() {
        let keyword = list(&[(1, 2.0), (2, 1.0)]);
        for weights in [Weights::default(), Weights::ranks(60.0, 1.0, 1.0)] {
            let order: Vec<u32> = fuse(&keyword, &[], weights)
                .iter()
                .map(|f| f.chunk)
                .collect();
            assert_eq!(order, [1, 2]);
        }
        assert_eq!(
            fuse(&[], &list(&[(7, 0.3)]), Weights::default())[0].chunk,
            7
        );
    }
}
