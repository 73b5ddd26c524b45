//! Posting lists as bytes: which chunks a term occurs in, how often, and where. Pure.
//!
//! Numbers are written seven bits to a byte. A list has two parts, so that places are read only
//! for phrases: chunks (distance to the chunk before, doubled, plus one if the term occurs once;
//! otherwise the count follows) and places (distances inside of each chunk).

/// A list of one term in the chunks of one segment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostingList {
    pub chunks: Vec<u8>,
    pub places: Vec<u8>,
    /// How many chunks it names.
    pub count: u32,
    last: u32,
}

impl PostingList {
    /// Adds a chunk; numbers must ascend.
    pub fn push(&mut self, chunk: u32, places: &[u32]) {
        let distance = u64::from(chunk - self.last);
        self.last = chunk;
        self.count += 1;
        if places.len() == 1 {
            write_number(&mut self.chunks, distance << 1 | 1);
        } else {
            write_number(&mut self.chunks, distance << 1);
            write_number(&mut self.chunks, places.len() as u64);
        }
        let mut before = 0;
        for place in places {
            write_number(&mut self.places, u64::from(place - before));
            before = *place;
        }
    }
}

/// Calls with each chunk of a list and how often the term occurs in it.
pub fn each_chunk(mut chunks: &[u8], mut call: impl FnMut(u32, u32)) {
    let mut chunk = 0_u64;
    while let Some(number) = read_number(&mut chunks) {
        chunk += number >> 1;
        let times = if number & 1 == 1 {
            1
        } else {
            read_number(&mut chunks).unwrap_or(1)
        };
        call(chunk as u32, times as u32);
    }
}

/// Calls with each chunk of a list and the places of the term in it.
pub fn each_place(chunks: &[u8], mut places: &[u8], mut call: impl FnMut(u32, &[u32])) {
    let mut found = Vec::new();
    each_chunk(chunks, |chunk, times| {
        found.clear();
        let mut at = 0;
        for _ in 0..times {
            let Some(distance) = read_number(&mut places) else {
                break;
            };
            at += distance as u32;
            found.push(at);
        }
        call(chunk, &found);
    });
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[inline]
fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    let mut number = u64::from(first & 0x7f);
    let mut shift = 7;
    while shift < 64 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_written_is_read(
            input in prop::collection::btree_map(
                any::<u32>(), prop::collection::btree_set(0_u32..5000, 1..8), 0..50)
        ) {
            let mut list = PostingList::default();
            for (chunk, places) in &input {
                list.push(*chunk, &places.iter().copied().collect::<Vec<_>>());
            }
            let mut read = Vec::new();
            each_place(&list.chunks, &list.places, |c, p| read.push((c, p.to_vec())));
            let expected: Vec<(u32, Vec<u32>)> =
                input.into_iter().map(|(c, p)| (c, p.into_iter().collect())).collect();
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn damaged_lists_end_instead_of_breaking(
            chunks in prop::collection::vec(any::<u8>(), 0..64),
            places in prop::collection::vec(any::<u8>(), 0..8),
        ) {
            let mut seen = 0;
            each_chunk(&chunks, |_, _| seen += 1);
            prop_assert!(seen <= chunks.len());
            if chunks.len() < 4 {
                each_place(&chunks, &places, |_, _| ());
            }
        }
    }
}
