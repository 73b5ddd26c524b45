//! Which of two links is the better one, as a number from 0 to 255: by what kind of page the URL
//! looks like (004 §5), or by keywords where the crawl has some.

mod keywords;
mod kind;

use trawl_types::{
    CrawlUrl,
    spec::{MAX_SCORE, StrategySpec},
};

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

    /// The score of a link: `anchor` is its text, `parent_score` that of the page it stands on,
    /// `depth_hint` its distance from the seeds where that is known. Seeds score highest.
    pub fn score(
        &self,
        url: &CrawlUrl,
        anchor: &str,
        parent_score: u8,
        depth_hint: Option<u32>,
        is_seed: bool,
    ) -> u8 {
        if is_seed {
            return MAX_SCORE;
        }
        let page = by_kind(PageKind::of(url.address()), depth_hint);
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
}

/// Three levels with room between them; shallow pages stand a little above deep ones.
fn by_kind(kind: PageKind, depth: Option<u32>) -> u8 {
    let level: u8 = match kind {
        PageKind::Home => 216,
        PageKind::Landmark => 160,
        PageKind::Content => 136,
        PageKind::Listing => 56,
    };
    match depth {
        Some(depth @ 0..=2) => level + 24 - 8 * depth as u8,
        Some(depth) => level - depth.min(16) as u8,
        None => level,
    }
}
