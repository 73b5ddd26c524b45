//! Vectors by chunk: what is found, what is filtered, what is gone.

use proptest::prelude::*;

use super::*;

fn unit(seed: u64, dimension: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut vector: Vec<f32> = (0..dimension)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 24) as f32 - 0.5
        })
        .collect();
    let norm = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    for value in &mut vector {
        *value /= norm;
    }
    vector
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[test]
fn nearly_all_of_the_true_nearest_are_found() {
    let dimension = 384;
    let mut vectors = Vectors::new(dimension);
    let all: Vec<Vec<f32>> = (0..3000).map(|n| unit(n + 1, dimension)).collect();
    for (chunk, vector) in all.iter().enumerate() {
        vectors.set(chunk as u32, vector);
    }
    let mut met = 0;
    for n in 0..20 {
        let query = unit(1_000_000 + n, dimension);
        let mut exact: Vec<usize> = (0..all.len()).collect();
        exact.sort_by(|a, b| cosine(&all[*b], &query).total_cmp(&cosine(&all[*a], &query)));
        let found = vectors.nearest(&query, 10, &|_| true);
        met += found
            .iter()
            .filter(|s| exact[..10].contains(&(s.chunk as usize)))
            .count();
    }
    // Random vectors are the hardest case: all are about equally far.
    assert!(met >= 190, "{met} of 200");
}

#[test]
fn only_what_is_allowed_is_found() {
    let mut vectors = Vectors::new(8);
    for chunk in 0..100 {
        vectors.set(chunk, &unit(u64::from(chunk) + 1, 8));
    }
    let found = vectors.nearest(&unit(5, 8), 100, &|chunk| chunk % 10 == 0);
    assert_eq!(found.len(), 10);
    assert!(found.iter().all(|scored| scored.chunk % 10 == 0));
}

#[test]
fn storing_loses_next_to_nothing() {
    let vector = unit(3, 384);
    let back = from_stored(&to_stored(&vector));
    assert!(cosine(&vector, &back) > 0.9999);
}

proptest! {
    #[test]
    fn removed_vectors_are_never_found_and_others_stay(
        steps in prop::collection::vec((0_u32..30, any::<bool>()), 0..100)
    ) {
        let mut vectors = Vectors::new(16);
        let mut expected = std::collections::BTreeMap::new();
        for (at, (chunk, add)) in steps.into_iter().enumerate() {
            if add {
                let vector = unit(at as u64 + 7, 16);
                vectors.set(chunk, &vector);
                expected.insert(chunk, vector);
            } else {
                vectors.remove(chunk);
                expected.remove(&chunk);
            }
        }
        let query = unit(99, 16);
        let mut found = vectors.nearest(&query, 100, &|_| true);
        found.sort_by_key(|scored| scored.chunk);
        prop_assert_eq!(found.len(), expected.len());
        for (scored, (chunk, vector)) in found.iter().zip(&expected) {
            prop_assert_eq!(scored.chunk, *chunk);
            prop_assert!((scored.score - cosine(vector, &query)).abs() < 0.02);
        }
    }
}
