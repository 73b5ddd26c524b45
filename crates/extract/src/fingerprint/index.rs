//! Finds the fingerprint nearest to a given one among millions.
//!
//! Four tables, one for each quarter of the bits. Fingerprints that differ in at most three bits
//! have a quarter in common; those that differ in at most seven have one in which at most one bit
//! differs. So one bucket of each table, or seventeen, hold all that can be near.

use super::Fingerprint;
use super::buckets::Buckets;

/// Up to here looking at all is as quick, and the tables' six megabytes are saved.
const SMALL: usize = 4096;
const DEFAULT_DISTANCE: u32 = 3;
const MAX_DISTANCE: u32 = 6;

/// Fingerprints with the ids of their texts. Insert one for each cluster of near-duplicates
/// ([`NearIndex::find_or_insert`] does): a million near each other are a million to look at.
#[derive(Debug)]
pub struct NearIndex {
    entries: Vec<(Fingerprint, u64)>,
    tables: Vec<Buckets>,
    distance: u32,
}

impl Default for NearIndex {
    fn default() -> Self {
        NearIndex::new(DEFAULT_DISTANCE)
    }
}

impl NearIndex {
    /// An index in which near means at most `distance` differing bits; more than 6 counts as 6.
    pub fn new(distance: u32) -> Self {
        NearIndex {
            entries: Vec::new(),
            tables: Vec::new(),
            distance: distance.min(MAX_DISTANCE),
        }
    }

    /// How many fingerprints are held.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a fingerprint; says whether it was, which it is not if an equal one is held already.
    pub fn insert(&mut self, id: u64, print: Fingerprint) -> bool {
        let full = u32::try_from(self.entries.len()).is_err();
        if full || self.search(print, 0).is_some() {
            return false;
        }
        self.push(id, print);
        true
    }

    /// The nearest fingerprint's id and in how many bits it differs, if one is near enough; of
    /// several at the same distance the first inserted.
    pub fn nearest(&self, print: Fingerprint) -> Option<(u64, u32)> {
        self.search(print, self.distance)
    }

    /// The nearest if one is near enough; else the fingerprint is added.
    pub fn find_or_insert(&mut self, id: u64, print: Fingerprint) -> Option<(u64, u32)> {
        let nearest = self.nearest(print);
        if nearest.is_none() {
            self.insert(id, print);
        }
        nearest
    }

    /// Bytes held, for reports.
    pub fn memory(&self) -> usize {
        let entries = self.entries.capacity() * size_of::<(Fingerprint, u64)>();
        entries + self.tables.iter().map(Buckets::memory).sum::<usize>()
    }

    fn push(&mut self, id: u64, print: Fingerprint) {
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(self.entries.len() / 8 + 16);
        }
        self.entries.push((print, id));
        if self.tables.is_empty() && self.entries.len() > SMALL {
            self.tables = (0..4).map(Buckets::new).collect();
            for position in 0..self.entries.len() {
                self.file(position);
            }
        } else if !self.tables.is_empty() {
            self.file(self.entries.len() - 1);
        }
    }

    fn file(&mut self, position: usize) {
        let Some(&(print, _)) = self.entries.get(position) else {
            return;
        };
        for table in &mut self.tables {
            table.insert(position as u32, print);
        }
    }

    fn search(&self, print: Fingerprint, distance: u32) -> Option<(u64, u32)> {
        let mut best = Best {
            distance: distance + 1,
            position: None,
        };
        if self.tables.is_empty() {
            for (position, (held, _)) in self.entries.iter().enumerate() {
                best.offer(position, print.distance(*held));
            }
        } else {
            self.search_tables(print, distance, &mut best);
        }
        let (_, id) = self.entries.get(best.position?)?;
        Some((*id, best.distance))
    }

    fn search_tables(&self, print: Fingerprint, distance: u32, best: &mut Best) {
        let one_bit = (0..16).map(|bit| 1_u16 << bit);
        let keys = std::iter::once(0).chain(one_bit);
        let keys = keys.take(if distance > 3 { 17 } else { 1 });
        // Equal ones are in every table.
        let tables = self.tables.iter().take(if distance == 0 { 1 } else { 4 });
        for flipped in keys {
            for table in tables.clone() {
                for position in table.candidates(print, flipped, distance) {
                    if let Some((held, _)) = self.entries.get(position) {
                        best.offer(position, print.distance(*held));
                    }
                }
                if best.distance == 0 {
                    // Equal ones are in every table, and there is only one of them.
                    return;
                }
            }
        }
    }
}

/// The nearest so far.
struct Best {
    distance: u32,
    position: Option<usize>,
}

impl Best {
    fn offer(&mut self, position: usize, distance: u32) {
        let earlier = self.position.is_some_and(|held| position < held);
        if distance < self.distance || (distance == self.distance && earlier) {
            self.distance = distance;
            self.position = Some(position);
        }
    }
}
