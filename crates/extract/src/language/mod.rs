//! Which language a text is in, how many words it has, and how long it takes to read.
//!
//! Looks at the text alone; what a page or header declares is handed in and handed back.

mod codes;
mod words;

use std::borrow::Cow;

use serde::Serialize;

use crate::metadata::text::language_tag;

pub use words::{TextSize, text_size};
pub(crate) use words::{Word, words};

/// The detector looks at no more than this: more text does not change its mind.
const SAMPLE_BYTES: usize = 6000;
/// Below this many letters the detector is a guess.
const MIN_LETTERS: usize = 40;
/// East Asian scripts say more with each character.
const MIN_DENSE_LETTERS: usize = 12;

/// From here on the better detector is believed alone, where the other one is not sure.
const MIN_LONE_BYTES: usize = 250;

/// The language of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LanguageGuess {
    /// What the page or its headers say, as a BCP 47 tag.
    pub declared: Option<String>,
    /// What the text looks like: an ISO 639-1 code, or the three-letter one where there is none.
    pub detected: Option<&'static str>,
    /// From 0 to 1.
    pub confidence: f32,
    /// Whether the detection can be relied on.
    pub reliable: bool,
}

impl LanguageGuess {
    /// The best answer: what was detected reliably, else what is declared, else the guess. Where
    /// both name the same language the declared tag is more exact (`en-GB`).
    pub fn best(&self) -> Option<&str> {
        let declared = self.declared.as_deref();
        match (declared, self.detected) {
            (Some(tag), Some(code)) if self.reliable && !same_language(tag, code) => Some(code),
            (Some(tag), _) => Some(tag),
            (None, code) => code,
        }
    }
}

/// Guesses the language of a text.
pub fn language(text: &str, declared: Option<&str>) -> LanguageGuess {
    let declared = declared.and_then(language_tag);
    let sample = sample(text);
    let Some(info) = whatlang::detect(&sample) else {
        return LanguageGuess {
            declared,
            ..LanguageGuess::default()
        };
    };
    let (code, sure) = decide(&sample, &info);
    let detected = codes::short(code);
    let agrees = declared
        .as_deref()
        .is_some_and(|tag| same_language(tag, detected));
    LanguageGuess {
        declared,
        detected: Some(detected),
        confidence: if sure {
            info.confidence().max(0.9)
        } else {
            info.confidence().min(0.6)
        } as f32,
        reliable: is_long_enough(&sample) && (sure || agrees),
    }
}

/// Two detectors: one knows 70 languages, the other 16 and those much better. In Latin script the
/// second decides among its own; elsewhere the script decides most of it and the first is right.
/// Also says whether the answer is sure: both agree, or one has no say in it.
fn decide(sample: &str, info: &whatlang::Info) -> (&'static str, bool) {
    let first = info.lang().code();
    match info.script() {
        whatlang::Script::Latin => {}
        whatlang::Script::Cyrillic if !info.is_reliable() && is_spelt_as_russian(sample) => {
            return ("rus", sample.len() >= MIN_LONE_BYTES);
        }
        _ => return (first, info.is_reliable()),
    }
    let second = whichlang::detect_language(sample).three_letter_code();
    let known = whichlang::LANGUAGES
        .iter()
        .any(|lang| lang.three_letter_code() == first);
    if first == second {
        (first, true)
    } else if known || !info.is_reliable() {
        (
            second,
            !info.is_reliable() && sample.len() >= MIN_LONE_BYTES,
        )
    } else {
        (first, true)
    }
}

/// No other large language in Cyrillic has these letters and lacks those.
fn is_spelt_as_russian(sample: &str) -> bool {
    sample.contains(['ы', 'э']) && !sample.contains(['і', 'ў', 'ї', 'є', 'ң', 'ү', 'ө'])
}

/// Whether a tag and a code name one language; the two written forms of Norwegian count as one, as
/// do Serbian, Croatian and Bosnian, which no detector tells apart by trigrams.
fn same_language(tag: &str, code: &str) -> bool {
    let primary = tag.split('-').next().unwrap_or_default();
    let family = |code: &str| match code {
        "nb" | "nn" | "no" => "no".to_owned(),
        "hr" | "bs" | "sr" | "sh" => "sh".to_owned(),
        "ms" | "id" => "id".to_owned(),
        "fil" | "tl" => "tl".to_owned(),
        other => other.to_owned(),
    };
    family(primary) == family(code)
}

fn is_long_enough(sample: &str) -> bool {
    let letters = sample.chars().filter(|c| c.is_alphabetic());
    let (mut all, mut dense) = (0, 0);
    for letter in letters {
        all += 1;
        dense += usize::from(words::is_dense(letter));
    }
    all >= MIN_LETTERS || dense >= MIN_DENSE_LETTERS
}

/// The text, or three pieces of a long one: pages often begin in another language than they go on
/// in.
fn sample(text: &str) -> Cow<'_, str> {
    if text.len() <= SAMPLE_BYTES {
        return Cow::Borrowed(text);
    }
    let piece = SAMPLE_BYTES / 3;
    let starts = [0, text.len() / 2 - piece / 2, text.len() - piece];
    let mut sample = String::with_capacity(SAMPLE_BYTES + 16);
    for start in starts {
        let from = text.ceil_char_boundary(start);
        let to = text.floor_char_boundary((start + piece).max(from));
        sample.push_str(text.get(from..to).unwrap_or_default());
        sample.push('\n');
    }
    Cow::Owned(sample)
}
