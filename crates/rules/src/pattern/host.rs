//! `example.com` and `*.example.com` (003 §2.3).

use std::fmt;

use url::Host;

use super::PatternError;

/// One host by its name, or a domain with all that is below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPattern {
    base: String,
    subtree: bool,
}

impl HostPattern {
    /// Reads `name` or `*.name`; unicode names become their ASCII form. Schemes, ports, paths and
    /// other wildcards are errors.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let fail = |problem: &str| PatternError::new(text, problem);
        let trimmed = text.trim();
        let (name, subtree) = match trimmed.strip_prefix("*.") {
            Some(rest) => (rest, true),
            None => (trimmed, false),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        if name.is_empty() {
            return Err(fail("no host name"));
        }
        if name.contains('*') {
            return Err(fail("`*` is only understood as a leading `*.`"));
        }
        if name.contains("//") || name.contains(['/', '?', '#', '@']) {
            return Err(fail("give a host name only, without scheme or path"));
        }
        if name.contains(':') && !name.starts_with('[') {
            return Err(fail("give a host name only, without a port"));
        }
        let host = Host::parse(name).map_err(|e| fail(&e.to_string()))?;
        if subtree && !matches!(host, Host::Domain(_)) {
            return Err(fail("an address has nothing below it"));
        }
        let base = host.to_string();
        if base.split('.').any(str::is_empty) && !base.starts_with('[') {
            return Err(fail("empty label in the host name"));
        }
        Ok(Self { base, subtree })
    }

    /// True if `host` (a parsed host name, without port) is the name or, for `*.`, below it.
    pub fn matches(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host).as_bytes();
        let base = self.base.as_bytes();
        let Some(above) = host.len().checked_sub(base.len()) else {
            return false;
        };
        let (below, tail) = host.split_at(above);
        tail.eq_ignore_ascii_case(base)
            && (below.is_empty() || self.subtree && below.ends_with(b"."))
    }

    /// The name without `*.`, in lower-case ASCII.
    pub fn base(&self) -> &str {
        &self.base
    }

    pub fn covers_subdomains(&self) -> bool {
        self.subtree
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.subtree { "*." } else { "" };
        write!(f, "{star}{}", self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_matches_the_bare_domain_and_everything_below_it() {
        for (pattern, host, expected) in [
            ("*.example.com", "example.com", true),
            ("*.example.com", "blog.example.com", true),
            ("*.example.com", "api.v2.example.com", true),
            ("*.example.com", "notexample.com", false),
            ("*.example.com", "example.com.evil.test", false),
            ("*.example.com", "example.completely.different", false),
            ("*.example.com", "com", false),
            ("*.example.com", "BLOG.Example.COM", true),
            ("*.example.com", "blog.example.com.", true),
            ("example.com", "example.com", true),
            ("example.com", "EXAMPLE.com", true),
            ("example.com", "example.com.", true),
            ("example.com", "www.example.com", false),
            ("example.com", "example.completely.different", false),
            ("example.com", "example.com.evil.test", false),
            ("example.com", "notexample.com", false),
            ("example.com", "xample.com", false),
            ("example.com", "", false),
            ("Example.COM.", "example.com", true),
            ("bücher.example", "xn--bcher-kva.example", true),
            ("*.bücher.example", "shop.xn--bcher-kva.example", true),
            ("127.0.0.1", "127.0.0.1", true),
            ("0x7f.1", "127.0.0.1", true),
            ("[::1]", "[::1]", true),
            ("[::1]", "[::2]", false),
        ] {
            let parsed = HostPattern::parse(pattern).unwrap();
            assert_eq!(parsed.matches(host), expected, "{pattern} on {host:?}");
        }
    }

    #[test]
    fn what_is_no_host_pattern_is_an_error_that_names_it() {
        for pattern in [
            "",
            "*.",
            "*",
            "a.*.com",
            "*foo.com",
            "https://example.com",
            "example.com/path",
            "example.com:8080",
            "user@example.com",
            "exa mple.com",
            "a..b",
            ".example.com",
            "*.127.0.0.1",
            "*.[::1]",
            "[::1",
        ] {
            let error = HostPattern::parse(pattern).unwrap_err();
            assert_eq!(error.pattern, pattern);
            assert!(!error.problem.is_empty(), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_is_shown_as_it_is_understood() {
        let shown = HostPattern::parse(" *.Example.com ").unwrap().to_string();
        assert_eq!(shown, "*.example.com");
    }
}
