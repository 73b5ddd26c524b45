//! How many tokens a text has.

/// Counts tokens as the model in use does.
pub trait TokenCounter {
    /// The number of tokens of `text`, without the special ones a model puts around it.
    fn count(&self, text: &str) -> usize;
}

/// Counts tokens without any model, a little too many rather than too few: a short word is one
/// token, a long one several, a punctuation mark one, an ideograph one.
#[derive(Clone, Copy, Debug, Default)]
pub struct EstimatedTokens;

/// What a character belongs to, as far as tokenizers care.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Latin,
    Digit,
    /// Letters of other alphabets, of which a token holds fewer.
    Letter,
    /// Ideographs, syllables, emoji: a token each or more.
    Wide,
    Mark,
}

impl TokenCounter for EstimatedTokens {
    fn count(&self, text: &str) -> usize {
        let mut total = 0;
        let mut last = Class::Space;
        let mut run = 0;
        let mut last_mark = None;
        for character in text.chars() {
            let class = class_of(character);
            if class == last && (class != Class::Mark || last_mark == Some(character)) {
                run += 1;
            } else {
                total += cost(last, run);
                last = class;
                run = 1;
            }
            last_mark = Some(character);
        }
        total + cost(last, run)
    }
}

fn class_of(character: char) -> Class {
    match character {
        'a'..='z' | 'A'..='Z' => Class::Latin,
        '0'..='9' => Class::Digit,
        _ if character.is_ascii() && !character.is_ascii_whitespace() => Class::Mark,
        _ if character.is_whitespace() => Class::Space,
        '\u{c0}'..='\u{24f}' => Class::Latin,
        '\u{1100}'..='\u{11ff}'
        | '\u{2e80}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}'
        | '\u{1f000}'..='\u{3ffff}' => Class::Wide,
        _ if character.is_alphanumeric() => Class::Letter,
        _ => Class::Mark,
    }
}

/// The tokens of a run of characters of one class.
fn cost(class: Class, run: usize) -> usize {
    match class {
        Class::Space => 0,
        // Words up to eight letters are in every vocabulary, longer ones come in parts.
        Class::Latin if run <= 8 => 1,
        Class::Latin => 1 + (run - 4) / 5,
        Class::Digit | Class::Letter => run.div_ceil(3),
        Class::Wide => run,
        // Rows of dashes and the like are one token for several.
        Class::Mark => run.div_ceil(4),
    }
}
