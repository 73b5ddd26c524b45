//! Which of two links is the better one, as a number from 0 to 255: by what kind of page the URL
//! looks like (004 §5), or by keywords where the crawl has some.

mod keywords;
mod kind;

use trawl_types::{CrawlUrl, spec::StrategySpec};

use keywords::Keywords;
use kind::PageKind;

/// Scores links for one crawl.
#[derive(Debug, Clone)]
pub struct Scorer {
    keywords: Keywords,
}

impl Scorer {
    pub fn new(spec: &StrategySpec) -> Self {
        Self {
            keywords: Keywords::new(&spec.keywords),
        }
    }

    /// The score of a link wherever it is found: `anchor` is its text, `parent_score` that of the
    /// page it stands on.
    pub fn score(&self, url: &CrawlUrl, anchor: &str, parent_score: u8) -> u8 {
        let page = by_kind(PageKind::of(url.address()));
        if self.keywords.is_empty() {
            return page;
        }
        let hits = self.keywords.hits(url.address(), anchor);
        // One hit outweighs the best parent and the best kind of page together (63 + 30).
        let own = match hits {
            0 => 0,
            hits => 64 + 96 - (96 >> hits.min(6)),
        };
        own + parent_score / 4 + page / 8
    }

    /// A score at a distance from the seeds: shallow pages stand a little above deep ones, within
    /// their level. Apart from [`Scorer::score`], because the same link may stand on pages of any
    /// depth.
    pub fn at_depth(&self, score: u8, depth: u32) -> u8 {
        let step: i8 = match depth {
            0..=2 => 24 - 8 * depth as i8,
            _ => -(depth.min(16) as i8),
        };
        let step = if self.keywords.is_empty() {
            step
        } else {
            step / 8
        };
        score.saturating_add_signed(step)
    }
}

/// Three levels with room between them for depth.
fn by_kind(kind: PageKind) -> u8 {
    match kind {
        PageKind::Home => 216,
        PageKind::Landmark => 160,
        PageKind::Content => 136,
        PageKind::Listing => 56,
    }
}
