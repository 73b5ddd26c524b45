//! The `content` of `<meta http-equiv="refresh">`, by the standard's steps for it.

/// The address a refresh leads to; nothing if it only reloads the page.
pub(crate) fn address(content: &str) -> Option<&str> {
    let rest = content.trim_start();
    let behind_time = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if behind_time.len() == rest.len() {
        return None;
    }
    let separated = behind_time.trim_start();
    if separated.len() == behind_time.len() && !separated.starts_with([';', ',']) {
        return None;
    }
    let address = separated
        .strip_prefix([';', ','])
        .unwrap_or(separated)
        .trim_start();
    let address = without_url_prefix(address);
    let address = match address.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let quoted = address.get(1..).unwrap_or_default();
            quoted.split(quote).next().unwrap_or_default()
        }
        _ => address,
    };
    (!address.trim().is_empty()).then_some(address)
}

/// Drops `url =`; without the equals sign the word is the beginning of the address.
fn without_url_prefix(address: &str) -> &str {
    let is_prefixed = address
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case("url"));
    let behind = is_prefixed.then(|| address.get(3..)).flatten();
    let behind = behind.and_then(|rest| rest.trim_start().strip_prefix('='));
    behind.map_or(address, str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn refresh_addresses_are_found_in_every_spelling() {
        for (content, expected) in [
            ("0; url=/next", Some("/next")),
            ("5;URL='/next'", Some("/next")),
            ("5 , url = \"/a b\" junk", Some("/a b")),
            ("0;/next", Some("/next")),
            ("0 /next", Some("/next")),
            ("0.5; url=/x", Some("/x")),
            ("0; urlaub.html", Some("urlaub.html")),
            ("5", None),
            ("5;", None),
            ("5; url=", None),
            ("5; url=''", None),
            ("url=/x", None),
            ("5x; url=/x", None),
            ("", None),
            ("0;ürl", Some("ürl")),
        ] {
            assert_eq!(address(content), expected, "{content}");
        }
    }
}
