//! Domains as people write them: checked, in lower case, in Punycode, without `www.`, which no
//! domain of a map carries. Patterns may begin with `*.` (003 §2.3).

use url::Host;

/// The stored spelling of a domain or `*.` pattern, or what is allowed instead.
pub(super) fn pattern(text: &str) -> Result<String, String> {
    const ALLOWED: &str = "a domain such as example.org, *.example.org or an IP address";
    let text = text.trim();
    let (prefix, name) = match text.strip_prefix("*.") {
        Some(rest) => ("*.", rest),
        None => ("", text),
    };
    if name.contains("//") {
        return Err(format!("{ALLOWED}, without a scheme"));
    }
    if name.contains('*') {
        return Err(format!("{ALLOWED}: a star only as the whole first part"));
    }
    match host(name) {
        Some(Host::Domain(name)) => Ok(format!("{prefix}{}", without_www(&name))),
        Some(address) if prefix.is_empty() => Ok(address.to_string()),
        Some(_) => Err("an IP address without a star".to_owned()),
        None if name.contains(['/', ':']) => Err(format!("{ALLOWED}, without path and port")),
        None => Err(ALLOWED.to_owned()),
    }
}

/// A name in its ASCII spelling, or an address; IPv6 with or without brackets.
fn host(name: &str) -> Option<Host<String>> {
    if let Ok(address) = name.parse() {
        return Some(Host::Ipv6(address));
    }
    match Host::parse(name).ok()? {
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(&name);
            let fits = name.len() <= 253 && name.split('.').all(is_label);
            fits.then(|| Host::Domain(name.to_owned()))
        }
        address => Some(address),
    }
}

fn is_label(label: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    (1..=63).contains(&label.len())
        && label.chars().all(inner)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// `www.com` keeps its name: what would be left is no domain.
pub(super) fn without_www(mut name: &str) -> &str {
    while let Some(rest) = name.strip_prefix("www.").filter(|rest| rest.contains('.')) {
        name = rest;
    }
    name
}

/// Whether a domain (as a map names it) lies in a pattern (003 §2.3).
pub(super) fn matches(pattern: &str, domain: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(base) => domain
            .strip_suffix(base)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.')),
        None => pattern == domain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_are_kept_in_one_spelling() {
        for (given, kept) in [
            ("Example.ORG", "example.org"),
            ("*.Example.org", "*.example.org"),
            ("www.example.org", "example.org"),
            ("www.com", "www.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("example.org.", "example.org"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("::1", "[::1]"),
            ("localhost", "localhost"),
            ("*.ru", "*.ru"),
        ] {
            assert_eq!(pattern(given).as_deref(), Ok(kept), "{given}");
        }
    }

    #[test]
    fn what_is_no_domain_is_refused() {
        for given in [
            "",
            "*",
            "*.",
            "a.*.org",
            "*example.org",
            "https://example.org",
            "example.org/",
            "example.org:8080",
            "exa mple.org",
            "-a.org",
            "a..org",
            "*.127.0.0.1",
            "..",
            ".",
        ] {
            assert!(pattern(given).is_err(), "{given}");
        }
    }

    #[test]
    fn a_wildcard_stands_for_the_domain_and_all_below_it() {
        for domain in ["example.com", "blog.example.com", "api.v2.example.com"] {
            assert!(matches("*.example.com", domain), "{domain}");
        }
        for domain in ["notexample.com", "example.com.org", "com"] {
            assert!(!matches("*.example.com", domain), "{domain}");
        }
        assert!(!matches("example.com", "blog.example.com"));
    }
}
