//! Positions of fingerprints by one quarter of their bits: 65,536 buckets of six bytes an entry.

use super::Fingerprint;

/// Where a fingerprint stands, and the quarter of its bits after the one it is sorted by: enough
/// to pass over nearly all others without looking them up.
#[derive(Clone, Copy, Debug)]
struct Packed {
    /// A 32-bit position in two halves, so that an entry takes six bytes and not eight.
    low: u16,
    high: u16,
    check: u16,
}

/// The fingerprints sorted by one of their quarters.
#[derive(Debug)]
pub(super) struct Buckets {
    quarter: u32,
    buckets: Vec<Vec<Packed>>,
}

fn quarter(print: Fingerprint, number: u32) -> u16 {
    print.0.rotate_right(16 * number) as u16
}

impl Buckets {
    pub(super) fn new(quarter: u32) -> Self {
        let buckets = vec![Vec::new(); 1 << 16];
        Buckets { quarter, buckets }
    }

    pub(super) fn insert(&mut self, position: u32, print: Fingerprint) {
        let bucket = self
            .buckets
            .get_mut(usize::from(quarter(print, self.quarter)));
        let Some(bucket) = bucket else { return };
        if bucket.len() == bucket.capacity() {
            // Doubling would leave a third of the memory unused.
            bucket.reserve_exact(bucket.len() / 8 + 4);
        }
        bucket.push(Packed {
            low: position as u16,
            high: (position >> 16) as u16,
            check: quarter(print, self.quarter + 1),
        });
    }

    /// Positions in the bucket whose key is that of `print` with the bits of `flipped` changed,
    /// as far as the next quarter does not use up the `distance` that is left.
    pub(super) fn candidates(
        &self,
        print: Fingerprint,
        flipped: u16,
        distance: u32,
    ) -> impl Iterator<Item = usize> {
        let key = usize::from(quarter(print, self.quarter) ^ flipped);
        let check = quarter(print, self.quarter + 1);
        let room = distance.saturating_sub(flipped.count_ones());
        let bucket = self.buckets.get(key).map(Vec::as_slice).unwrap_or_default();
        bucket
            .iter()
            .filter(move |entry| (entry.check ^ check).count_ones() <= room)
            .map(|entry| usize::from(entry.high) << 16 | usize::from(entry.low))
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        let entries: usize = self.buckets.iter().map(Vec::capacity).sum();
        entries * size_of::<Packed>() + self.buckets.capacity() * size_of::<Vec<Packed>>()
    }
}
