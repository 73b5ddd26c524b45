//! The only source of chance: splitmix64, so that a seed means the same web for ever.
//! Knows nothing of pages; not for anything that must be secret.

/// A small deterministic generator.
#[derive(Debug, Clone)]
pub(crate) struct Prng(u64);

impl Prng {
    /// A generator for one `stream` of a `seed`; different streams are independent.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut start = Self(seed);
        let salt = start.next();
        Self(salt ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`; 0 where the bound is 0.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u32
    }

    /// True with the given probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Prng;

    #[test]
    fn equal_seeds_give_equal_streams_and_different_streams_differ() {
        let take = |seed, stream| {
            let mut prng = Prng::new(seed, stream);
            [prng.next(), prng.next(), prng.next()]
        };
        assert_eq!(take(7, 3), take(7, 3));
        assert_ne!(take(7, 3), take(7, 4));
        assert_ne!(take(7, 3), take(8, 3));
    }

    #[test]
    fn below_stays_below_its_bound() {
        let mut prng = Prng::new(1, 1);
        assert!((0..10_000).all(|_| prng.below(7) < 7));
        assert_eq!(prng.below(0), 0);
    }
}
