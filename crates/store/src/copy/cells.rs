//! Rows on their way from one store to another, and sums over them that do not depend on their order. Pure.

use sha2::{Digest, Sha256};

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

pub(crate) type Row = Vec<Cell>;

impl Cell {
    /// About how much memory it takes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) | Self::Int(_) => 16,
            Self::Text(text) => text.len() + 24,
            Self::Bytes(bytes) => bytes.len() + 24,
        }
    }

    fn feed(&self, hash: &mut Sha256) {
        let mut say = |tag: u8, bytes: &[u8]| {
            hash.update([tag]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        match self {
            Self::Null => say(0, &[]),
            Self::Bool(value) => say(1, &[u8::from(*value)]),
            Self::Int(value) => say(2, &value.to_le_bytes()),
            Self::Text(text) => say(3, text.as_bytes()),
            Self::Bytes(bytes) => say(4, bytes),
        }
    }
}

impl From<Option<i64>> for Cell {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::Null, Self::Int)
    }
}

/// How many rows, and what they add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sum {
    pub(crate) rows: u64,
    halves: (u64, u64),
}

impl Sum {
    pub(crate) fn add(&mut self, row: &[Cell]) {
        let mut hash = Sha256::new();
        for cell in row {
            cell.feed(&mut hash);
        }
        let hash = hash.finalize();
        let half = |at: usize| {
            let bytes = hash.get(at..at + 8).and_then(|b| b.try_into().ok());
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        self.rows += 1;
        self.halves.0 = self.halves.0.wrapping_add(half(0));
        self.halves.1 = self.halves.1.wrapping_add(half(8));
    }

    /// Of two sets of rows together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            halves: (
                self.halves.0.wrapping_add(other.halves.0),
                self.halves.1.wrapping_add(other.halves.1),
            ),
        }
    }

    /// As it is stored: the sum alone.
    pub(crate) fn to_stored(self) -> (i64, i64) {
        (self.halves.0.cast_signed(), self.halves.1.cast_signed())
    }

    pub(crate) fn from_stored(rows: u64, halves: (i64, i64)) -> Self {
        let halves = (halves.0.cast_unsigned(), halves.1.cast_unsigned());
        Self { rows, halves }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: i64, text: &str) -> Row {
        vec![Cell::Int(number), Cell::Text(text.into()), Cell::Null]
    }

    #[test]
    fn a_sum_does_not_depend_on_the_order_and_does_on_everything_else() {
        let sum = |rows: &[Row]| {
            let mut sum = Sum::default();
            for row in rows {
                sum.add(row);
            }
            sum
        };
        let (a, b) = (row(1, "a"), row(2, "b"));
        let both = sum(&[a.clone(), b.clone()]);
        assert_eq!(both, sum(&[b.clone(), a.clone()]));
        assert_eq!(both, sum(std::slice::from_ref(&a)).and(sum(&[b])));
        assert_ne!(both, sum(&[a.clone(), row(2, "c")]));
        assert_ne!(both, sum(&[a.clone(), a]), "twice the same is not both");
        let (rows, stored) = (both.rows, both.to_stored());
        assert_eq!(Sum::from_stored(rows, stored), both);
    }

    #[test]
    fn values_of_different_kinds_differ() {
        let cells = [
            Cell::Null,
            Cell::Bool(false),
            Cell::Int(0),
            Cell::Text(String::new()),
            Cell::Bytes(Vec::new()),
        ];
        for (at, one) in cells.iter().enumerate() {
            for other in &cells[at + 1..] {
                let (mut a, mut b) = (Sum::default(), Sum::default());
                a.add(std::slice::from_ref(one));
                b.add(std::slice::from_ref(other));
                assert_ne!(a, b, "{one:?} {other:?}");
            }
        }
    }
}
