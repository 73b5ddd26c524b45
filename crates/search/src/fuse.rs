//! Two ranked lists to one: reciprocal rank fusion. Pure.

use rustc_hash::FxHashMap;

use crate::lexical::Scored;

/// How much each list counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// How soon ranks stop to differ.
    pub rrf_k: f32,
    pub vector: f32,
    pub keyword: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            rrf_k: 60.0,
            vector: 1.0,
            keyword: 1.0,
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

/// Each list gives a chunk `weight / (k + rank)`; sums decide, the best first.
pub fn fuse(keyword: &[Scored], vector: &[Scored], weights: Weights) -> Vec<Fused> {
    let mut found: FxHashMap<u32, Fused> = FxHashMap::default();
    let mut take = |list: &[Scored], weight: f32, keyword: bool| {
        for (place, scored) in list.iter().enumerate() {
            let share = weight / (weights.rrf_k + place as f32 + 1.0);
            let fused = found.entry(scored.chunk).or_insert(Fused {
                chunk: scored.chunk,
                score: 0.0,
                vector_score: None,
                keyword_score: None,
            });
            fused.score += share;
            let own = if keyword {
                &mut fused.keyword_score
            } else {
                &mut fused.vector_score
            };
            *own = Some(scored.score);
        }
    };
    take(vector, weights.vector, false);
    take(keyword, weights.keyword, true);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn list(chunks: &[u32]) -> Vec<Scored> {
        let scored = |chunk: &u32| Scored {
            chunk: *chunk,
            score: 1.0,
        };
        chunks.iter().map(scored).collect()
    }

    #[test]
    fn what_both_lists_know_comes_first() {
        let fused = fuse(&list(&[1, 2, 3]), &list(&[4, 3, 5]), Weights::default());
        assert_eq!(fused[0].chunk, 3);
        assert!((fused[0].score - (1.0 / 63.0 + 1.0 / 62.0)).abs() < 1e-6);
        assert!(fused[0].vector_score.is_some() && fused[0].keyword_score.is_some());
        assert_eq!(fused.len(), 5);
    }

    #[test]
    fn a_list_without_weight_decides_nothing() {
        let weights = Weights {
            vector: 0.0,
            ..Weights::default()
        };
        let fused = fuse(&list(&[1, 2]), &list(&[2, 9]), weights);
        assert_eq!(fused[0].chunk, 1);
    }
}
