//! Which strategy is asked, which answer is taken, and how far it can be trusted.

use url::Url;

use super::align;
use super::baseline::{Baseline, baseline};
use super::blocks::Blocks;
use super::headings::keep_headings;
use super::kind::PageKind;
use super::lean::{Reader, lean};
use super::libraries::{self, Found};
use super::tree::Tree;

/// How the content was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Strategy {
    /// The library that is best at articles.
    Article,
    /// The library that knows page kinds.
    ByKind,
    /// Everything that does not look like a frame around the content.
    Baseline,
    /// The page has no text.
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) kept: Vec<bool>,
    pub(crate) strategy: Strategy,
    pub(crate) quality: f32,
    pub(crate) panicked: bool,
}

/// One strategy's answer, in our blocks.
#[derive(Clone, Debug)]
struct Answer {
    kept: Vec<bool>,
    words: usize,
    strategy: Strategy,
    /// Whether the library holds the page for an article.
    is_article: bool,
}

/// The page, and who has been asked about it.
struct Chooser<'a> {
    tree: &'a Tree<'a>,
    blocks: &'a Blocks,
    address: Option<&'a Url>,
    max_library_bytes: usize,
    baseline: Answer,
    panicked: bool,
}

/// Asks the strategies that suit the page until one gives enough.
pub(crate) fn choose(
    tree: &Tree<'_>,
    blocks: &Blocks,
    kind: PageKind,
    address: Option<&Url>,
    max_library_bytes: usize,
) -> Choice {
    let links_are_content = matches!(kind, PageKind::Listing | PageKind::Documentation);
    let Baseline { kept, is_declared } = baseline(tree, blocks, links_are_content);
    let mut chooser = Chooser {
        tree,
        blocks,
        address,
        max_library_bytes,
        baseline: Answer {
            words: blocks.kept_words(&kept),
            kept,
            strategy: Strategy::Baseline,
            is_article: false,
        },
        panicked: false,
    };
    if blocks.list.is_empty() {
        return chooser.nothing();
    }
    let answer = match kind {
        PageKind::Article => chooser.article(),
        PageKind::Other => chooser.unknown(),
        PageKind::Documentation if is_declared => chooser.baseline.clone(),
        PageKind::Documentation => chooser.documentation(),
        _ => chooser.special(is_declared),
    };
    chooser.conclude(answer)
}

impl Chooser<'_> {
    fn nothing(self) -> Choice {
        Choice {
            kept: self.baseline.kept,
            strategy: Strategy::Nothing,
            quality: 0.0,
            panicked: false,
        }
    }

    fn in_blocks(&mut self, found: &Found, strategy: Strategy) -> Answer {
        self.panicked |= found.panicked;
        let mut kept = align::contained(self.blocks, &found.words);
        keep_headings(self.tree, self.blocks, &mut kept);
        Answer {
            words: self.blocks.kept_words(&kept),
            kept,
            strategy,
            is_article: found.is_article,
        }
    }

    /// The markup for a library; nothing if there is more of it than libraries are given.
    fn markup(&self, reader: Reader) -> Option<String> {
        Some(lean(self.tree, reader)).filter(|markup| markup.len() <= self.max_library_bytes)
    }

    fn by_kind(&mut self) -> Answer {
        let found = self
            .markup(Reader::AnyKind)
            .map(|markup| libraries::any_kind(&markup, self.address));
        self.in_blocks(&found.unwrap_or_default(), Strategy::ByKind)
    }

    /// The article strategy; with its second opinion only if the first is hard to believe.
    fn as_article(&mut self) -> Answer {
        let Some(markup) = self.markup(Reader::Article) else {
            return self.in_blocks(&Found::default(), Strategy::Article);
        };
        let quick = libraries::article(&markup, false);
        let quick = self.in_blocks(&quick, Strategy::Article);
        if self.covers(&quick, 50) {
            return quick;
        }
        let thorough = libraries::article(&markup, true);
        self.in_blocks(&thorough, Strategy::Article)
    }

    fn article(&mut self) -> Answer {
        let article = self.as_article();
        if self.covers(&article, 40) {
            return article;
        }
        let other = self.by_kind();
        let more = other.words * 2 > article.words * 3;
        let better = self.likeness(&other) > self.likeness(&article);
        if more && better { other } else { article }
    }

    /// A page without telling signs: an article if it can be read as one.
    fn unknown(&mut self) -> Answer {
        let by_kind = self.by_kind();
        let article = self.as_article();
        if self.covers(&article, if by_kind.is_article { 30 } else { 75 }) {
            article
        } else {
            by_kind
        }
    }

    /// Threads, products, listings: what the library for kinds finds, unless it is next to nothing
    /// of what the page itself declares its content.
    fn special(&mut self, is_declared: bool) -> Answer {
        let by_kind = self.by_kind();
        if is_declared && !self.covers(&by_kind, 25) {
            return self.baseline.clone();
        }
        by_kind
    }

    /// Manuals have little around their text, and all of it is wanted: a library that leaves
    /// out much of what the baseline has is wrong.
    fn documentation(&mut self) -> Answer {
        let by_kind = self.by_kind();
        if self.covers(&by_kind, 60) {
            return by_kind;
        }
        let article = self.as_article();
        if self.covers(&article, 60) {
            return article;
        }
        self.baseline.clone()
    }

    /// Whether an answer has so many per cent of the words the baseline has, and any to speak of.
    fn covers(&self, answer: &Answer, per_cent: usize) -> bool {
        answer.words * 100 >= self.baseline.words * per_cent && answer.words >= self.enough()
    }

    /// Fewer words than this are hardly the content of a page with that much text.
    fn enough(&self) -> usize {
        (self.blocks.words.len() / 12)
            .clamp(8, 60)
            .min(self.baseline.words.max(1))
    }

    /// How much an answer and the baseline have in common, from 0 to 1.
    fn likeness(&self, answer: &Answer) -> f32 {
        let pairs = answer.kept.iter().zip(&self.baseline.kept);
        let both: Vec<bool> = pairs.map(|(a, b)| *a && *b).collect();
        let all = (answer.words + self.baseline.words).max(1);
        2.0 * self.blocks.kept_words(&both) as f32 / all as f32
    }

    fn conclude(self, answer: Answer) -> Choice {
        let likeness = self.likeness(&answer);
        if answer.words >= self.enough() {
            return Choice {
                quality: 0.5 + likeness / 2.0,
                kept: answer.kept,
                strategy: answer.strategy,
                panicked: self.panicked,
            };
        }
        Choice {
            quality: 0.3,
            kept: self.baseline.kept,
            strategy: Strategy::Baseline,
            panicked: self.panicked,
        }
    }
}
