//! Comments, doctypes, CDATA sections and the other things that begin with `<!`, `<?` or `</`.
//!
//! Nothing in them is ever wanted, so these functions only say where they end.

use memchr::{memchr, memmem};

/// The end of the declaration or comment whose `<` is at `at` (next byte `!` or `?`).
pub(crate) fn skip_declaration(bytes: &[u8], at: usize, foreign: bool) -> usize {
    let rest = &bytes[at..];
    if rest.starts_with(b"<!--") {
        skip_comment(bytes, at + 4)
    } else if foreign && rest.starts_with(b"<![CDATA[") {
        memmem::find(rest, b"]]>").map_or(bytes.len(), |offset| at + offset + 3)
    } else {
        skip_bogus_comment(bytes, at)
    }
}

/// Bogus comments and doctypes end at the first `>`, whatever quotes they contain.
pub(crate) fn skip_bogus_comment(bytes: &[u8], at: usize) -> usize {
    memchr(b'>', &bytes[at..]).map_or(bytes.len(), |offset| at + offset + 1)
}

/// The end of a comment whose text starts at `start`.
fn skip_comment(bytes: &[u8], start: usize) -> usize {
    let text = &bytes[start..];
    if text.starts_with(b">") {
        return start + 1;
    }
    if text.starts_with(b"->") {
        return start + 2;
    }
    let mut at = start;
    while let Some(offset) = memmem::find(&bytes[at..], b"--") {
        let mut behind = at + offset + 2;
        while bytes.get(behind) == Some(&b'-') {
            behind += 1;
        }
        match &bytes[behind..] {
            [b'>', ..] => return behind + 1,
            [b'!', b'>', ..] => return behind + 2,
            _ => at = behind,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::skip_declaration;

    #[test]
    fn comments_end_where_the_standard_says() {
        for (source, rest) in [
            ("<!-->x", "x"),
            ("<!--->x", "x"),
            ("<!---->x", "x"),
            ("<!-- a -- b -->x", "x"),
            ("<!-- a --!>x", "x"),
            ("<!----!>x", "x"),
            ("<!--!>-->x", "x"),
            ("<!-- <!-- -->x", "x"),
            ("<!-- > ------->x", "x"),
            ("<!-- never closed", ""),
            ("<!-", ""),
            ("<!doctype html \"a>b\">x", "b\">x"),
            ("<?php echo '>x", "x"),
            ("<![CDATA[ a>b ]]>", "b ]]>"),
        ] {
            let end = skip_declaration(source.as_bytes(), 0, false);
            assert_eq!(&source[end..], rest, "{source}");
        }
    }

    #[test]
    fn cdata_sections_exist_only_in_foreign_content() {
        let source = "<![CDATA[ <a href=x> ]]>rest";
        assert_eq!(
            &source[skip_declaration(source.as_bytes(), 0, true)..],
            "rest"
        );
    }
}
