//! The units of a section to chunks: filled up to the limit, blocks whole where they fit, each
//! chunk beginning with the end of the one before it.

use super::units::Unit;
use super::{ChunkKind, ChunkSettings, TokenCounter};

/// A chunk's range and what is in it.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) token_count: usize,
    pub(super) kind: ChunkKind,
}

/// Units from `first` to `end`, of which those before `fresh` stand in the chunk before too.
#[derive(Clone, Copy, Debug)]
struct Draft {
    first: usize,
    fresh: usize,
    end: usize,
}

/// Packs one section.
pub(super) fn pack(
    text: &str,
    units: &[Unit],
    settings: &ChunkSettings,
    tokens: &dyn TokenCounter,
) -> Vec<Piece> {
    let packer = Packer {
        text,
        units,
        settings,
        tokens,
    };
    let mut drafts = packer.drafts();
    packer.merge_small(&mut drafts);
    drafts
        .into_iter()
        .map(|draft| packer.piece(draft))
        .collect()
}

struct Packer<'t> {
    text: &'t str,
    units: &'t [Unit],
    settings: &'t ChunkSettings,
    tokens: &'t dyn TokenCounter,
}

impl Packer<'_> {
    fn drafts(&self) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = Vec::new();
        let mut next = 0;
        while next < self.units.len() {
            let first = match drafts.last() {
                Some(last) => self.overlap_start(*last),
                None => next,
            };
            let draft = self.fill(first, next);
            next = draft.end;
            drafts.push(draft);
        }
        drafts
    }

    /// Takes blocks while they fit, and parts of one where that is better than a small chunk.
    fn fill(&self, first: usize, fresh: usize) -> Draft {
        let max = self.settings.max_tokens;
        let mut draft = Draft {
            first,
            fresh,
            end: fresh,
        };
        let mut total = self.sum(first, fresh);
        while draft.end < self.units.len() {
            let block_end = self.block_end(draft.end);
            let size = self.sum(draft.end, block_end);
            if total + size <= max {
                draft.end = block_end;
                total += size;
                continue;
            }
            let fits_alone = size <= max && self.is_kept_whole(draft.end);
            if draft.end == fresh && fits_alone {
                // It would fit without the overlap.
                draft.first = fresh;
                draft.end = block_end;
                total = size;
                continue;
            }
            if draft.end == fresh || self.is_better_cut(&draft, total, fits_alone) {
                self.take_units(&mut draft, total, block_end);
            }
            break;
        }
        self.shrink(&mut draft);
        draft
    }

    /// Whether to fill up with a part of the next block instead of leaving it whole.
    fn is_better_cut(&self, draft: &Draft, total: usize, fits_alone: bool) -> bool {
        let only_headings = self.units[draft.fresh..draft.end]
            .iter()
            .all(|unit| unit.is_heading);
        let half_empty = total < self.settings.max_tokens / 2;
        only_headings || half_empty && !fits_alone
    }

    /// Code and tables lose more by a cut than prose and lists.
    fn is_kept_whole(&self, unit: usize) -> bool {
        matches!(self.units[unit].kind, ChunkKind::Code | ChunkKind::Table)
    }

    fn take_units(&self, draft: &mut Draft, mut total: usize, block_end: usize) {
        while draft.end < block_end {
            let tokens = self.units[draft.end].tokens;
            if total + tokens > self.settings.max_tokens {
                if draft.end > draft.fresh {
                    return;
                }
                // A unit always fits alone.
                draft.first = draft.fresh;
                total = 0;
            }
            total += tokens;
            draft.end += 1;
        }
    }

    /// Counts are sums so far; where the whole counts more than its parts, the end is given back.
    fn shrink(&self, draft: &mut Draft) {
        while self.count(draft.first, draft.end) > self.settings.max_tokens {
            if draft.first < draft.fresh {
                draft.first += 1;
            } else if draft.end - draft.fresh > 1 {
                draft.end -= 1;
            } else {
                return;
            }
        }
    }

    /// Where the chunk after `last` begins: back over whole units of what can be read alone.
    fn overlap_start(&self, last: Draft) -> usize {
        let ends_block = self
            .units
            .get(last.end)
            .is_none_or(|next| next.block != self.units[last.end - 1].block);
        let mut start = last.end;
        let mut total = 0;
        while start > last.fresh {
            let unit = &self.units[start - 1];
            let is_part = matches!(unit.kind, ChunkKind::Code | ChunkKind::Table);
            let continues = !ends_block && unit.block == self.units[last.end - 1].block;
            total += unit.tokens;
            if total > self.settings.overlap || unit.is_heading || is_part && !continues {
                break;
            }
            start -= 1;
        }
        if self.count(start, last.end) > self.settings.overlap {
            return last.end;
        }
        start
    }

    /// Chunks with too little in them join a neighbour, if both fit into one.
    fn merge_small(&self, drafts: &mut Vec<Draft>) {
        let mut merged: Vec<Draft> = Vec::with_capacity(drafts.len());
        for draft in drafts.drain(..) {
            if let Some(last) = merged.last_mut() {
                let small = self.is_small(*last) || self.is_small(draft);
                if small && self.count(last.first, draft.end) <= self.settings.max_tokens {
                    last.end = draft.end;
                    continue;
                }
            }
            merged.push(draft);
        }
        *drafts = merged;
    }

    fn is_small(&self, draft: Draft) -> bool {
        self.sum(draft.first, draft.end) < self.settings.min_tokens
    }

    /// Where the block of the unit ends.
    fn block_end(&self, from: usize) -> usize {
        let block = self.units[from].block;
        let rest = &self.units[from..];
        let mut total = 0;
        let mut length = 0;
        // Of a block that cannot fit, no more is looked at than could.
        for unit in rest.iter().take_while(|unit| unit.block == block) {
            total += unit.tokens;
            length += 1;
            if total > self.settings.max_tokens {
                break;
            }
        }
        from + length
    }

    fn sum(&self, from: usize, to: usize) -> usize {
        self.units[from..to].iter().map(|unit| unit.tokens).sum()
    }

    /// The range of the text that units cover, without the whitespace behind the last.
    fn range(&self, from: usize, to: usize) -> (usize, usize) {
        if from >= to {
            return (0, 0);
        }
        let start = self.units[from].start;
        let text = &self.text[start..self.units[to - 1].end];
        (start, start + text.trim_end().len())
    }

    fn count(&self, from: usize, to: usize) -> usize {
        let (start, end) = self.range(from, to);
        self.tokens.count(&self.text[start..end])
    }

    fn piece(&self, draft: Draft) -> Piece {
        let (start, end) = self.range(draft.first, draft.end);
        Piece {
            start,
            end,
            token_count: self.tokens.count(&self.text[start..end]),
            kind: self.kind(draft),
        }
    }

    /// What most of the chunk is; headings do not count unless there is nothing else.
    fn kind(&self, draft: Draft) -> ChunkKind {
        let kinds = [
            ChunkKind::Prose,
            ChunkKind::Code,
            ChunkKind::Table,
            ChunkKind::List,
        ];
        let size = |kind: ChunkKind| -> usize {
            let units = self.units[draft.first..draft.end].iter();
            let units = units.filter(|unit| unit.kind == kind && !unit.is_heading);
            units.map(|unit| unit.tokens).sum()
        };
        let mut best = (ChunkKind::Prose, 0);
        for kind in kinds {
            let size = size(kind);
            if size > best.1 {
                best = (kind, size);
            }
        }
        best.0
    }
}
