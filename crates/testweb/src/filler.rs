//! Text that costs nothing: one block of paragraphs made once, of which pages take slices, and another
//! whose paragraphs are marked up as those of real pages are. Knows nothing of links.

use std::sync::OnceLock;

use crate::prng::Prng;

const WORDS: &[&str] = &[
    "harbour",
    "river",
    "winter",
    "garden",
    "letter",
    "market",
    "bridge",
    "village",
    "window",
    "mountain",
    "library",
    "journey",
    "weather",
    "station",
    "kitchen",
    "forest",
    "island",
    "evening",
    "morning",
    "history",
    "science",
    "language",
    "picture",
    "machine",
    "paper",
    "engine",
    "signal",
    "copper",
    "silver",
    "meadow",
    "orchard",
    "lantern",
    "compass",
    "current",
    "measure",
    "pattern",
    "balance",
    "council",
    "teacher",
    "captain",
    "farmer",
    "builder",
    "reader",
    "traveller",
    "neighbour",
    "question",
    "answer",
    "problem",
    "method",
    "result",
    "record",
    "archive",
    "chapter",
    "section",
    "table",
    "figure",
    "number",
    "system",
    "network",
    "surface",
    "distance",
    "pressure",
    "colour",
    "shadow",
    "quarter",
    "century",
    "season",
    "harvest",
    "festival",
    "concert",
    "theatre",
    "museum",
    "gallery",
    "school",
    "hospital",
    "railway",
    "airport",
    "factory",
    "workshop",
    "cottage",
    "castle",
    "temple",
    "tower",
    "quiet",
    "narrow",
    "early",
    "modern",
    "ancient",
    "common",
    "careful",
    "simple",
    "strong",
    "gentle",
    "distant",
    "famous",
    "hidden",
    "open",
    "slow",
    "steady",
    "bright",
    "cold",
    "warm",
    "opens",
    "follows",
    "carries",
    "describes",
    "remembers",
    "connects",
    "measures",
    "crosses",
    "begins",
    "returns",
    "and",
    "with",
    "near",
    "under",
    "beyond",
    "before",
    "after",
    "the",
    "of",
    "a",
    "in",
    "to",
    "from",
    "between",
];

/// A few words for a title or an anchor, always the same for the same number.
pub(crate) fn push_words(out: &mut String, number: u64, count: usize) {
    let mut prng = Prng::new(0x0077_6f72_6473, number);
    for n in 0..count {
        if n > 0 {
            out.push(' ');
        }
        out.push_str(word(&mut prng));
    }
}

fn word(prng: &mut Prng) -> &'static str {
    WORDS
        .get(prng.below(WORDS.len() as u32) as usize)
        .copied()
        .unwrap_or("word")
}

/// The shared block with the end of each of its paragraphs.
#[derive(Debug)]
pub(crate) struct Filler {
    text: String,
    ends: Vec<usize>,
}

impl Filler {
    /// The block of this process.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Filler> = OnceLock::new();
        SHARED.get_or_init(|| Self::of(push_paragraph))
    }

    /// The block with dense markup. Of twelve sets of real pages (manuals, references, news) the median
    /// has a tag for each 51 bytes and 220 attributes on 20 KB.
    pub(crate) fn rich() -> &'static Self {
        static RICH: OnceLock<Filler> = OnceLock::new();
        RICH.get_or_init(|| Self::of(push_marked_up))
    }

    fn of(push: fn(&mut String, &mut Prng)) -> Self {
        let bytes = 256 * 1024;
        let mut prng = Prng::new(0x0066_696c_6c65_7200, 0);
        let mut filler = Self {
            text: String::with_capacity(bytes + 2048),
            ends: Vec::new(),
        };
        while filler.text.len() < bytes {
            push(&mut filler.text, &mut prng);
            filler.ends.push(filler.text.len());
        }
        filler
    }

    /// A reader that begins at a place chosen by `number` and goes round for ever.
    pub(crate) fn reader(&'static self, number: u64) -> FillerReader {
        let at = Prng::new(2, number).below(self.ends.len() as u32) as usize;
        FillerReader { filler: self, at }
    }

    fn paragraph(&self, n: usize) -> &str {
        let start = n
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .copied();
        let end = self.ends.get(n).copied().unwrap_or(0);
        self.text.get(start.unwrap_or(0)..end).unwrap_or("")
    }
}

fn push_paragraph(text: &mut String, prng: &mut Prng) {
    text.push_str("<p>");
    for _ in 0..3 + prng.below(5) {
        let first = word(prng);
        text.extend(first.chars().next().map(|c| c.to_ascii_uppercase()));
        text.push_str(first.get(1..).unwrap_or(""));
        for _ in 0..6 + prng.below(10) {
            text.push(' ');
            text.push_str(word(prng));
        }
        text.push_str(". ");
    }
    text.push_str("</p>\n");
}

/// What stands around a few words within a paragraph.
const INLINE: &[(&str, &str)] = &[
    ("<em class=\"tone\">", "</em>"),
    ("<code class=\"name\">", "</code>"),
    ("<span class=\"term\" title=\"see below\">", "</span>"),
    ("<strong class=\"key\">", "</strong>"),
];

/// A headline, a paragraph and a list, with as many elements as such have.
fn push_marked_up(text: &mut String, prng: &mut Prng) {
    text.push_str("<div class=\"block wide\" id=\"b\"><h3 class=\"head\">");
    push_some(text, prng, 3);
    text.push_str("</h3>\n<p class=\"text\">");
    for _ in 0..3 {
        push_some(text, prng, 28);
        let (open, close) = INLINE[prng.below(INLINE.len() as u32) as usize];
        text.push(' ');
        text.push_str(open);
        push_some(text, prng, 2);
        text.push_str(close);
        text.push(' ');
    }
    text.push_str("</p>\n<ul class=\"list\">\n");
    for _ in 0..2 {
        text.push_str("<li class=\"item\" data-kind=\"entry\">");
        push_some(text, prng, 9);
        text.push_str("</li>\n");
    }
    text.push_str("</ul></div>\n");
}

fn push_some(text: &mut String, prng: &mut Prng, words: usize) {
    for n in 0..words {
        if n > 0 {
            text.push(' ');
        }
        text.push_str(word(prng));
    }
}

/// Hands out paragraphs one after the other.
#[derive(Debug)]
pub(crate) struct FillerReader {
    filler: &'static Filler,
    at: usize,
}

impl FillerReader {
    /// Appends whole paragraphs while they fit into `budget`; returns the bytes used.
    pub(crate) fn push_upto(&mut self, out: &mut String, budget: usize) -> usize {
        let start = out.len();
        loop {
            let paragraph = self.filler.paragraph(self.at);
            let used = out.len() - start;
            if paragraph.is_empty() || used + paragraph.len() > budget {
                return used;
            }
            out.push_str(paragraph);
            self.at = (self.at + 1) % self.filler.ends.len();
        }
    }
}

/// Appends exactly `count` bytes of harmless text.
pub(crate) fn push_padding(out: &mut String, count: usize) {
    const FRAME: usize = "<p></p>\n".len();
    if count < FRAME {
        out.extend(std::iter::repeat_n('\n', count));
        return;
    }
    out.push_str("<p>");
    out.extend("so it goes on ".chars().cycle().take(count - FRAME));
    out.push_str("</p>\n");
}

#[cfg(test)]
mod tests {
    use super::{Filler, push_padding};

    #[test]
    fn readers_give_whole_paragraphs_within_their_budget() {
        let mut out = String::new();
        let used = Filler::shared().reader(3).push_upto(&mut out, 20_000);
        assert_eq!(used, out.len());
        assert!((18_000..=20_000).contains(&used));
        assert!(out.starts_with("<p>") && out.ends_with("</p>\n"));
    }

    #[test]
    fn padding_is_exact() {
        for count in [0, 1, 7, 8, 9, 500] {
            let mut out = String::new();
            push_padding(&mut out, count);
            assert_eq!(out.len(), count);
        }
    }
}
