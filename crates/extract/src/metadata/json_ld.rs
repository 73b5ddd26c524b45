//! `<script type="application/ld+json">` to JSON values, as forgiving as those who write it need.
//!
//! Bounded in bytes, number and (by the JSON reader itself) depth. Knows no vocabulary.

use std::borrow::Cow;

use serde_json::{Deserializer, Value};

use crate::html::entities;

const MAX_SCRIPT_BYTES: usize = 512 * 1024;
const MAX_TOTAL_BYTES: usize = 1024 * 1024;
const MAX_VALUES: usize = 256;

/// The values read so far, and whether some could not be.
#[derive(Debug, Default)]
pub(super) struct JsonLd {
    pub(super) values: Vec<Value>,
    pub(super) malformed: bool,
    pub(super) too_large: bool,
    bytes: usize,
}

impl JsonLd {
    /// Adds one script's text. A top-level list counts as its elements.
    pub(super) fn add(&mut self, script: &str) {
        let text = unwrapped(script);
        if text.is_empty() {
            return;
        }
        self.bytes = self.bytes.saturating_add(text.len());
        if text.len() > MAX_SCRIPT_BYTES || self.bytes > MAX_TOTAL_BYTES {
            self.too_large = true;
            return;
        }
        let values = strict(text).or_else(|| strict(&mended(text))).or_else(|| {
            let decoded = text.contains("&quot;").then(|| entities::text(text))?;
            strict(&mended(&decoded))
        });
        let Some(values) = values else {
            self.malformed = true;
            return;
        };
        for value in values {
            match value {
                Value::Array(list) => self.take(list),
                Value::Object(_) => self.take(vec![value]),
                _ => {}
            }
        }
    }

    fn take(&mut self, values: Vec<Value>) {
        let room = MAX_VALUES.saturating_sub(self.values.len());
        self.too_large |= values.len() > room;
        self.values.extend(values.into_iter().take(room));
    }
}

/// One or more JSON texts after another, or nothing if they are not JSON.
fn strict(text: &str) -> Option<Vec<Value>> {
    let values = Deserializer::from_str(text).into_iter::<Value>();
    values.collect::<Result<Vec<_>, _>>().ok()
}

/// The text without the wrappers that were once needed in XHTML.
fn unwrapped(script: &str) -> &str {
    let mut text = script.trim();
    loop {
        let before = text.len();
        for start in ["\u{feff}", "<!--", "//", "/*", "*/", "<![CDATA["] {
            text = text.strip_prefix(start).unwrap_or(text).trim_start();
        }
        for end in ["-->", "]]>", "//", "/*", "*/", ";"] {
            text = text.strip_suffix(end).unwrap_or(text).trim_end();
        }
        if text.len() == before {
            return text;
        }
    }
}

/// The text with the usual mistakes mended: comments, commas before a closing bracket, and control
/// characters in strings.
fn mended(text: &str) -> Cow<'_, str> {
    let mut mended = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    let mut in_string = false;
    while let Some(c) = characters.next() {
        match c {
            '\\' if in_string => {
                mended.push(c);
                mended.extend(characters.next());
            }
            '"' => {
                in_string = !in_string;
                mended.push(c);
            }
            '\n' if in_string => mended.push_str("\\n"),
            '\t' if in_string => mended.push_str("\\t"),
            c if in_string && c < ' ' => {}
            c if in_string => mended.push(c),
            '/' if characters.peek() == Some(&'/') => {
                characters.by_ref().find(|c| *c == '\n');
            }
            '/' if characters.peek() == Some(&'*') => {
                let mut last = ' ';
                characters
                    .by_ref()
                    .find(|c| std::mem::replace(&mut last, *c) == '*' && *c == '/');
            }
            '}' | ']' => {
                let end = mended.trim_end().trim_end_matches(',').len();
                mended.truncate(end);
                mended.push(c);
            }
            c => mended.push(c),
        }
    }
    Cow::Owned(mended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> JsonLd {
        let mut read = JsonLd::default();
        read.add(text);
        read
    }

    #[test]
    fn the_usual_mistakes_are_mended() {
        for text in [
            r#"{"a": "b"}"#,
            "\u{feff} {\"a\":\"b\"};",
            "<!-- {\"a\":\"b\"} -->",
            "//<![CDATA[\n{\"a\":\"b\"}\n//]]>",
            "/*<![CDATA[*/{\"a\":\"b\"}/*]]>*/",
            r#"{"a":"b",}"#,
            "{\"a\":\"b\" , \n}",
            "{ // the letter\n \"a\": /* is */ \"b\"}",
            "{&quot;a&quot;: &quot;b&quot;}",
        ] {
            let read = read(text);
            assert_eq!(read.values, [json!({"a": "b"})], "{text}");
            assert!(!read.malformed);
        }
        assert_eq!(
            read("{\"a\":\"x\ny//z\"}").values,
            [json!({"a": "x\ny//z"})]
        );
    }

    #[test]
    fn lists_and_several_texts_count_as_their_elements() {
        let read = read(r#"[{"a":1},{"b":2}]{"c":3}"#);
        assert_eq!(
            read.values,
            [json!({"a":1}), json!({"b":2}), json!({"c":3})]
        );
    }

    #[test]
    fn what_cannot_be_read_is_said_and_bounded() {
        assert!(read("{\"a\": b}").malformed);
        assert!(read("{\"a").malformed);
        assert!(read(&"[".repeat(100_000)).malformed);
        assert!(read(&format!("{{\"a\":\"{}\"}}", "x".repeat(600_000))).too_large);
        let many = read(&"{}".repeat(1000));
        assert!(many.values.len() <= MAX_VALUES && many.too_large);
        assert!(read("").values.is_empty() && !read("").malformed);
        assert!(read("\"text\"").values.is_empty());
    }
}
