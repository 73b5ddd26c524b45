//! `name=address` entries: an answer without a question, for test webs and sites not yet in DNS.

use std::net::{IpAddr, SocketAddr};

use trawl_types::spec::SpecError;

/// An address given for a name, and the port to dial instead of the URL's where one is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub(crate) address: IpAddr,
    pub(crate) port: Option<u16>,
}

/// The operator's own names. Exact names win over wildcards, longer wildcards over shorter ones.
#[derive(Debug, Default)]
pub(crate) struct FixedNames {
    entries: Vec<(Pattern, Fixed)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Pattern {
    Exact(String),
    /// `*.test`, kept as `.test`.
    Below(String),
}

impl FixedNames {
    pub(crate) fn parse(texts: &[String]) -> Result<Self, SpecError> {
        let mut entries = texts
            .iter()
            .map(|text| parse(text))
            .collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(|(pattern, _)| match pattern {
            Pattern::Exact(_) => (0, 0),
            Pattern::Below(suffix) => (1, usize::MAX - suffix.len()),
        });
        Ok(Self { entries })
    }

    /// Every address given for a name by the best pattern that matches it.
    pub(crate) fn get(&self, name: &str) -> Vec<Fixed> {
        let Some((best, _)) = self.entries.iter().find(|(p, _)| p.matches(name)) else {
            return Vec::new();
        };
        self.entries
            .iter()
            .filter(|(pattern, _)| pattern == best)
            .map(|(_, fixed)| *fixed)
            .collect()
    }
}

impl Pattern {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exact(exact) => name.eq_ignore_ascii_case(exact),
            Self::Below(suffix) => {
                let Some(start) = name.len().checked_sub(suffix.len()) else {
                    return false;
                };
                start > 0
                    && name
                        .get(start..)
                        .is_some_and(|tail| tail.eq_ignore_ascii_case(suffix))
            }
        }
    }
}

fn parse(text: &str) -> Result<(Pattern, Fixed), SpecError> {
    let wrong = || {
        SpecError::new(
            "fetch.resolve",
            format!("{text:?} is not of the form name=address"),
        )
    };
    let (name, address) = text.split_once('=').ok_or_else(wrong)?;
    let name = name.trim().trim_end_matches('.').to_ascii_lowercase();
    let pattern = match name.strip_prefix('*') {
        Some(suffix) if suffix.starts_with('.') && suffix.len() > 1 => {
            Pattern::Below(suffix.to_owned())
        }
        Some(_) => return Err(wrong()),
        None if name.is_empty() => return Err(wrong()),
        None => Pattern::Exact(name),
    };
    let address = address.trim();
    let bare = address.trim_start_matches('[').trim_end_matches(']');
    let fixed = if let Ok(socket) = address.parse::<SocketAddr>() {
        Fixed {
            address: socket.ip(),
            port: Some(socket.port()),
        }
    } else {
        Fixed {
            address: bare.parse().map_err(|_| wrong())?,
            port: None,
        }
    };
    Ok((pattern, fixed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> FixedNames {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        FixedNames::parse(&texts).unwrap()
    }

    #[test]
    fn an_exact_name_wins_over_wildcards_and_the_longest_wildcard_over_others() {
        let names = names(&[
            "*.test=10.0.0.1",
            "*.b.test=10.0.0.2",
            "a.b.test=10.0.0.3:8080",
        ]);
        let first = |name: &str| {
            names
                .get(name)
                .first()
                .map(|fixed| fixed.address.to_string())
        };
        assert_eq!(first("A.b.test").as_deref(), Some("10.0.0.3"));
        assert_eq!(first("x.b.test").as_deref(), Some("10.0.0.2"));
        assert_eq!(first("b.test").as_deref(), Some("10.0.0.1"));
        assert_eq!(first("test"), None);
        assert_eq!(first("a.test.example"), None);
        assert_eq!(names.get("a.b.test")[0].port, Some(8080));
    }

    #[test]
    fn a_name_may_have_several_addresses() {
        assert_eq!(
            names(&["a.test=10.0.0.1", "a.test=[::1]"])
                .get("a.test")
                .len(),
            2
        );
    }

    #[test]
    fn nonsense_names_the_field() {
        for text in [
            "a.test",
            "=1.2.3.4",
            "*=1.2.3.4",
            "*.=1.2.3.4",
            "a=b",
            "a=1.2.3",
        ] {
            let error = FixedNames::parse(&[text.to_owned()]).unwrap_err();
            assert_eq!(error.field, "fetch.resolve", "{text}");
        }
    }
}
