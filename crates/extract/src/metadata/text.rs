//! Small texts of metadata: cleaned, cut and told apart.

use crate::html::entities;
use crate::page::text::collapse;

/// More characters than this are not a title, a description or a name.
pub(super) const MAX_VALUE_CHARS: usize = 2000;
pub(super) const MAX_KEYWORDS: usize = 64;
const MAX_KEYWORD_CHARS: usize = 100;

/// Text with whitespace collapsed and references decoded that were encoded once too often; nothing
/// if nothing is left.
pub(crate) fn clean(text: &str) -> Option<String> {
    let decoded = entities::text(text);
    let short = collapse(&decoded, MAX_VALUE_CHARS);
    (!short.is_empty()).then(|| short.into_string())
}

/// Whether a text that should be a name is an address.
pub(super) fn is_address(text: &str) -> bool {
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    lower.starts_with("http://") || lower.starts_with("https://") || text.starts_with('/')
}

/// Appends unless it is there already in any case, up to a number.
pub(crate) fn push_unique(list: &mut Vec<String>, text: String, most: usize) {
    let lower = text.to_lowercase();
    if list.len() < most && !list.iter().any(|held| held.to_lowercase() == lower) {
        list.push(text);
    }
}

/// Keywords of a comma- or semicolon-separated list.
pub(crate) fn split_keywords(list: &str, keywords: &mut Vec<String>) {
    let separators = [',', ';', '、', '，', '؛', '،'];
    for keyword in list.split(separators).take(4 * MAX_KEYWORDS) {
        let keyword = collapse(keyword, MAX_KEYWORD_CHARS);
        if !keyword.is_empty() {
            push_unique(keywords, keyword.into_string(), MAX_KEYWORDS);
        }
    }
}

/// A name without the "By" of a by-line.
pub(crate) fn author(text: &str) -> Option<String> {
    let text = clean(text)?;
    let name = match text.get(..3) {
        Some(start) if start.eq_ignore_ascii_case("by ") => text.get(3..)?.trim(),
        _ => &text,
    };
    let is_name = !name.is_empty() && !name.eq_ignore_ascii_case("by") && !is_address(name);
    is_name.then(|| name.to_owned())
}

/// A language tag in its usual case: `en_us` is `en-US`; nothing if it is none.
pub(crate) fn language_tag(text: &str) -> Option<String> {
    let first = text.split(',').next()?.trim();
    let mut tag = String::new();
    for (index, part) in first.split(['-', '_']).enumerate() {
        let usable =
            (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
        if !usable || index > 4 || (index == 0 && !(2..=3).contains(&part.len())) {
            // What follows the language may be broken and is left out; without one there is none.
            break;
        }
        if index > 0 {
            tag.push('-');
        }
        let part = part.to_ascii_lowercase();
        match (index, part.len()) {
            (1.., 2) => tag.push_str(&part.to_ascii_uppercase()),
            (1.., 4) if part.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                let mut letters = part.chars();
                tag.extend(letters.next().map(|c| c.to_ascii_uppercase()));
                tag.push_str(letters.as_str());
            }
            _ => tag.push_str(&part),
        }
    }
    (!tag.is_empty() && tag.bytes().take(2).all(|b| b.is_ascii_alphabetic())).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_tags_get_their_usual_case() {
        for (text, tag) in [
            ("en", Some("en")),
            ("EN_us", Some("en-US")),
            ("zh-hant-tw", Some("zh-Hant-TW")),
            ("de-CH-1996", Some("de-CH-1996")),
            ("en, fr", Some("en")),
            ("en-", Some("en")),
            ("x", None),
            ("", None),
            ("english", None),
            ("12", None),
            ("{{lang}}", None),
        ] {
            assert_eq!(language_tag(text).as_deref(), tag, "{text}");
        }
    }

    #[test]
    fn by_lines_and_addresses_are_told_from_names() {
        assert_eq!(author(" By  Ann\nLee ").as_deref(), Some("Ann Lee"));
        assert_eq!(author("Byron").as_deref(), Some("Byron"));
        assert_eq!(author("https://h/ann"), None);
        assert_eq!(author("by "), None);
    }
}
