//! The best of many. Pure.

use std::{cmp::Ordering, collections::BinaryHeap};

/// A chunk and how well it fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    pub chunk: u32,
    pub score: f32,
}

impl Eq for Scored {}

impl Ord for Scored {
    /// The worse is the greater, so that a heap gives it away first.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(self.chunk.cmp(&other.chunk))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps the best; of equals those with the lowest numbers.
#[derive(Debug)]
pub struct Top {
    limit: usize,
    heap: BinaryHeap<Scored>,
}

impl Top {
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::with_capacity(limit.min(4096) + 1),
        }
    }

    /// What a score must exceed to be kept.
    #[inline]
    pub fn bar(&self) -> f32 {
        if self.heap.len() < self.limit {
            return f32::NEG_INFINITY;
        }
        self.heap.peek().map_or(f32::INFINITY, |worst| worst.score)
    }

    #[inline]
    pub fn offer(&mut self, scored: Scored) {
        if self.heap.len() < self.limit {
            self.heap.push(scored);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && scored < *worst
        {
            *worst = scored;
        }
    }

    /// The best first.
    pub fn into_sorted(self) -> Vec<Scored> {
        self.heap.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_and_of_equals_the_first() {
        let mut top = Top::new(3);
        for (chunk, score) in [(5, 1.0), (4, 2.0), (3, 1.0), (2, 3.0), (1, 0.5)] {
            top.offer(Scored { chunk, score });
        }
        let chunks: Vec<u32> = top.into_sorted().iter().map(|s| s.chunk).collect();
        assert_eq!(chunks, [2, 4, 3]);
    }
}
