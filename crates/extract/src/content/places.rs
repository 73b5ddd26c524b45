//! Where runs of words stand in a text. Sorted, not hashed: nobody can make it slow.

/// How many places of a run are looked at.
const MAX_PLACES: usize = 40;

#[derive(Debug)]
pub(crate) struct Places<'a> {
    text: &'a [u32],
    run: usize,
    sorted: Vec<(u64, usize)>,
}

impl<'a> Places<'a> {
    /// The places of all runs of `run` words.
    pub(crate) fn new(text: &'a [u32], run: usize) -> Self {
        let runs = text.windows(run).enumerate();
        let mut sorted: Vec<(u64, usize)> = runs.map(|(at, words)| (fold(words), at)).collect();
        sorted.sort_unstable();
        Places { text, run, sorted }
    }

    fn of(&self, words: &[u32], from: usize) -> impl Iterator<Item = usize> + '_ {
        let hash = fold(words);
        let start = self.sorted.partition_point(|&place| place < (hash, from));
        let behind = self.sorted.get(start..).unwrap_or_default();
        behind
            .iter()
            .take(MAX_PLACES)
            .take_while(move |&&(other, _)| other == hash)
            .map(|&(_, at)| at)
    }

    /// Where all of `words` stands between `from` and `to`.
    pub(crate) fn find(
        &self,
        words: &'a [u32],
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = usize> {
        let start = words.get(..self.run).unwrap_or_default();
        self.of(start, from)
            .take_while(move |at| at + words.len() <= to)
            .filter(move |&at| self.text.get(at..at + words.len()) == Some(words))
    }

    /// Where `words` starts if at least half of its runs are in the text, counting only places
    /// that are `allowed`.
    pub(crate) fn mostly_contains(
        &self,
        words: &[u32],
        allowed: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let runs = words.windows(self.run);
        let total = runs.len();
        let mut found = 0;
        let mut first = None;
        for (offset, run) in runs.enumerate() {
            if let Some(at) = self.of(run, 0).find(|&at| allowed(at)) {
                found += 1;
                first = first.or(Some(at.saturating_sub(offset)));
            }
        }
        first.filter(|_| found * 2 >= total)
    }
}

fn fold(words: &[u32]) -> u64 {
    words.iter().fold(0, |hash: u64, &word| {
        (hash.rotate_left(23) ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// The longest part of `values`, as positions, in which each is greater than the one before.
pub(crate) fn longest_rising(values: &[usize]) -> Vec<usize> {
    // `ends[n]` is where the best run of n + 1 values ends; `before` leads back along it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(values.len());
    for (at, value) in values.iter().enumerate() {
        let length = ends.partition_point(|&end| values[end] < *value);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut chain: Vec<usize> =
        std::iter::successors(ends.last().copied(), |&at| before[at]).collect();
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::longest_rising;

    #[test]
    fn the_longest_rising_part_leaves_out_what_is_out_of_order() {
        assert_eq!(longest_rising(&[9, 1, 2, 8, 3, 4]), [1, 2, 4, 5]);
        assert_eq!(longest_rising(&[5, 5, 5]).len(), 1);
        assert!(longest_rising(&[]).is_empty());
    }
}
