//! Where words follow each other. Pure.

use std::collections::BTreeMap;

use super::{Field, Lengths, PostingSource, each_place};

/// Chunks in which the stems follow each other in one of the fields, and how often, in ascending
/// order.
pub(super) fn chunks_with<S: PostingSource>(
    source: &S,
    lengths: &Lengths,
    stems: &[String],
) -> Result<Vec<(u32, u32)>, S::Error> {
    let mut found = BTreeMap::<u32, u32>::new();
    for field in [Field::Body, Field::Title] {
        for (chunk, starts) in starts(source, lengths, stems, field)? {
            *found.entry(chunk).or_default() += starts.len() as u32;
        }
    }
    Ok(found.into_iter().collect())
}

/// Where the sequence begins in each chunk that has it.
fn starts<S: PostingSource>(
    source: &S,
    lengths: &Lengths,
    stems: &[String],
    field: Field,
) -> Result<BTreeMap<u32, Vec<u32>>, S::Error> {
    let mut candidates: Option<BTreeMap<u32, Vec<u32>>> = None;
    for (offset, stem) in stems.iter().enumerate() {
        let offset = offset as u32;
        let mut next = BTreeMap::new();
        let mut take = |chunk: u32, places: &[u32]| {
            let fits = |start: &u32| places.binary_search(&(start + offset)).is_ok();
            let kept: Vec<u32> = match &candidates {
                None if lengths.lives(chunk) => places.to_vec(),
                None => return,
                Some(before) => match before.get(&chunk) {
                    Some(starts) => starts.iter().copied().filter(fits).collect(),
                    None => return,
                },
            };
            if !kept.is_empty() {
                next.insert(chunk, kept);
            }
        };
        source.each_list(field, stem, true, &mut |chunks, places| {
            each_place(chunks, places, &mut take);
        })?;
        let done = next.is_empty();
        candidates = Some(next);
        if done {
            break;
        }
    }
    Ok(candidates.unwrap_or_default())
}
