//! In what order pages are visited. A rank is one number, lower first, so that a store can keep
//! the order in an index.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    #[default]
    BreadthFirst,
    DepthFirst,
    /// By how well URL, anchor text and parent match the keywords.
    BestFirst,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StrategySpec {
    pub order: Order,
    pub keywords: Vec<String>,
    /// Links that score less are refused; 0 for none. Seeds are not asked.
    pub min_score: u8,
}

/// How much of what several crawls want at once goes to one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Somebody waits for it.
    High,
    #[default]
    Normal,
    Low,
}

impl Priority {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }

    /// Requests it gets for each one of a crawl with low priority.
    pub fn weight(self) -> u32 {
        match self {
            Self::High => 16,
            Self::Normal => 4,
            Self::Low => 1,
        }
    }
}

/// The best score a link can have.
pub const MAX_SCORE: u8 = 255;

impl Order {
    /// The place of a page in the queue: lower is earlier.
    pub fn rank(self, depth: u32, score: u8) -> i64 {
        let depth = i64::from(depth.min(1 << 24));
        let worse = i64::from(MAX_SCORE - score);
        match self {
            Self::BreadthFirst => (depth << 8) | worse,
            Self::DepthFirst => (-depth << 8) | worse,
            Self::BestFirst => (worse << 24) | depth,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breadth_first_takes_shallow_pages_first_and_the_better_of_equals() {
        assert!(Order::BreadthFirst.rank(1, 0) < Order::BreadthFirst.rank(2, 255));
        assert!(Order::BreadthFirst.rank(1, 9) < Order::BreadthFirst.rank(1, 8));
    }

    #[test]
    fn depth_first_takes_deep_pages_first() {
        assert!(Order::DepthFirst.rank(5, 0) < Order::DepthFirst.rank(4, 255));
    }

    #[test]
    fn best_first_takes_the_best_score_whatever_its_depth() {
        assert!(Order::BestFirst.rank(9, 200) < Order::BestFirst.rank(1, 100));
    }
}
