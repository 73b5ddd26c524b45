//! Numbers, times and crawled text as people read them, and the escapes that crawled text needs in
//! Markdown, HTML and XML. Knows nothing of maps.

use std::fmt::Write as _;

use trawl_types::UnixMillis;

/// `12847` as `12,847`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `4h 15m 23s`; days are hours too.
pub(crate) fn duration(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m {seconds}s"),
        _ => format!("{hours}h {minutes}m {seconds}s"),
    }
}

/// `2025-01-15T10:30:00Z`, to the second.
pub(crate) fn iso_seconds(time: UnixMillis) -> String {
    let mut text = time.iso();
    text.replace_range(19..23, "");
    text
}

/// Characters that would not be seen, or would change how others are: controls, line breaks, marks
/// that turn the direction of text.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// At most `limit` characters of a text, on one line.
pub(crate) fn short(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut kept = 0;
    for word in text.split(|c: char| c.is_whitespace() || is_unseen(c)) {
        if word.is_empty() {
            continue;
        }
        if kept > 0 {
            line.push(' ');
            kept += 1;
        }
        for c in word.chars() {
            if kept >= limit {
                line.push('…');
                return line;
            }
            line.push(c);
            kept += 1;
        }
    }
    line
}

/// Text for Markdown, also inside a table: it stays text and stays on its line.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let after = rest.peek().copied().unwrap_or(' ');
        match c {
            _ if is_unseen(c) => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' if after == '#' || after.is_ascii_alphanumeric() => {
                let reference = rest
                    .clone()
                    .find(|c| !c.is_ascii_alphanumeric() && *c != '#');
                out.push_str(if reference == Some(';') { "&amp;" } else { "&" });
            }
            '|' | '`' | '\\' | '*' | '[' | ']' | '~' => {
                out.push('\\');
                out.push(c);
            }
            // Within a word it marks nothing, and URLs are full of them.
            '_' if !(before.is_alphanumeric() && after.is_alphanumeric()) => out.push_str("\\_"),
            _ => out.push(c),
        }
        before = c;
    }
    out
}

/// Text for HTML, also inside quoted attributes.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ if is_unseen(c) => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

/// Text for XML 1.0, also inside quoted attributes, without the characters it cannot hold.
pub(crate) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(' '),
            _ if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            _ => out.push(c),
        }
    }
    out
}

/// JSON that may stand inside `<script>`: nothing in it can end the element or begin a comment.
pub(crate) fn script_json(value: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    let plain = serde_json::to_string(value)?;
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Only inside texts do these occur in JSON, where an escape means the same.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_set_in_groups_of_three() {
        let shown = [0, 999, 1000, 12_847, 1_234_567].map(thousands);
        assert_eq!(shown, ["0", "999", "1,000", "12,847", "1,234,567"]);
    }

    #[test]
    fn times_are_iso() {
        assert_eq!(
            iso_seconds(UnixMillis(1_736_937_000_999)),
            "2025-01-15T10:30:00Z"
        );
    }

    #[test]
    fn durations_are_told_in_hours_minutes_and_seconds() {
        let shown = [15_323_000, 61_000, 999].map(duration);
        assert_eq!(shown, ["4h 15m 23s", "1m 1s", "0s"]);
    }

    #[test]
    fn markdown_keeps_common_urls_readable() {
        let url = "https://en.wikipedia.org/wiki/Web_crawler?a=1&b=2#x";
        assert_eq!(markdown(url), url);
    }

    #[test]
    fn markdown_of_hostile_text_is_text() {
        assert_eq!(
            markdown("a|b`c`\n<img src=x> [x](y) **z** &copy; __w__"),
            "a\\|b\\`c\\` &lt;img src=x&gt; \\[x\\](y) \\*\\*z\\*\\* &amp;copy; \\_\\_w\\_\\_"
        );
    }

    #[test]
    fn long_text_is_cut_and_set_on_one_line() {
        assert_eq!(short("  a\n b\u{202e}c ", 9), "a b c");
        assert_eq!(short("abcdef", 3), "abc…");
    }

    #[test]
    fn nothing_in_a_script_ends_it() {
        let text = script_json(&"</script><!-- & \u{2028}").unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(
            serde_json::from_str::<String>(&text).unwrap(),
            "</script><!-- & \u{2028}"
        );
    }

    proptest! {
        #[test]
        fn escaped_text_breaks_out_of_nothing(text in any::<String>()) {
            prop_assert!(!html(&text).contains(['<', '>', '"', '\'']));
            prop_assert!(!xml(&text).contains(['<', '>', '"', '\'', '\0', '\x0b']));
            let cell = markdown(&text);
            prop_assert!(!cell.contains(['<', '\n', '\r']));
            let bare = cell.replace("\\\\", "").replace("\\|", "");
            prop_assert!(!bare.contains('|'));
        }
    }
}
