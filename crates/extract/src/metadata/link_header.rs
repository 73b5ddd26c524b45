//! `Link` headers (RFC 8288): `<address>; rel="canonical"; type="..."`.

const MAX_LINKS: usize = 64;

/// One link of a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HeaderLink<'a> {
    pub(super) href: &'a str,
    pub(super) rel: &'a str,
    pub(super) media_type: &'a str,
    pub(super) title: &'a str,
}

/// The links of one header value, malformed ones left out.
pub(super) fn parse(value: &str) -> Vec<HeaderLink<'_>> {
    let mut links = Vec::new();
    let mut rest = value;
    while links.len() < MAX_LINKS {
        let Some((_, behind)) = rest.split_once('<') else {
            break;
        };
        let Some((href, behind)) = behind.split_once('>') else {
            break;
        };
        let mut link = HeaderLink {
            href: href.trim(),
            ..HeaderLink::default()
        };
        rest = parameters(behind, &mut link);
        links.push(link);
    }
    links
}

/// Reads the parameters of a link; gives what follows its comma.
fn parameters<'a>(mut rest: &'a str, link: &mut HeaderLink<'a>) -> &'a str {
    loop {
        rest = rest.trim_start();
        let Some(behind) = rest.strip_prefix(';') else {
            return rest.strip_prefix(',').unwrap_or(rest);
        };
        let end = behind.find(['=', ';', ',']).unwrap_or(behind.len());
        let name = behind.get(..end).unwrap_or_default().trim();
        rest = behind.get(end..).unwrap_or_default();
        let Some(behind) = rest.strip_prefix('=') else {
            continue;
        };
        let (value, behind) = parameter_value(behind.trim_start());
        rest = behind;
        let slot = match name.to_ascii_lowercase().as_str() {
            "rel" => &mut link.rel,
            "type" => &mut link.media_type,
            "title" => &mut link.title,
            _ => continue,
        };
        if slot.is_empty() {
            *slot = value;
        }
    }
}

fn parameter_value(text: &str) -> (&str, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.split_once('"').unwrap_or((quoted, ""));
    }
    let end = text.find([';', ',']).unwrap_or(text.len());
    let (value, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    (value.trim(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_with_and_without_quotes() {
        let links = parse(
            r#"</a,b>; rel="canonical", <https://h/feed>;type="application/rss+xml" ; REL=alternate; title="a; b, c";x"#,
        );
        let read: Vec<_> = links
            .iter()
            .map(|l| (l.href, l.rel, l.media_type, l.title))
            .collect();
        assert_eq!(
            read,
            [
                ("/a,b", "canonical", "", ""),
                (
                    "https://h/feed",
                    "alternate",
                    "application/rss+xml",
                    "a; b, c"
                )
            ]
        );
    }

    #[test]
    fn malformed_headers_end_early() {
        assert!(parse("nonsense").is_empty());
        assert!(parse("<unclosed; rel=x").is_empty());
        assert_eq!(parse("</x> rel=y; rel=z").len(), 1);
        assert_eq!(parse(&"<a>;rel=\"b\",".repeat(1000)).len(), MAX_LINKS);
    }
}
