//! What kinds of values there are, and whether a text is one. Knows no setting.

use std::net::SocketAddr;

use ipnet::IpNet;

use crate::units;

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Address,
    Text,
    Switch,
    Word(&'static [&'static str]),
    /// A whole number from … to ….
    Number(u64, u64),
    /// Any time that a crawl can wait.
    Duration,
    /// A time from … to … seconds.
    Span(u64, u64),
    /// From … to … bytes.
    Size(u64, u64),
    Texts,
    Networks,
    Ports,
}

const A_DAY: u64 = 86_400;

impl Kind {
    /// Whether there may be several of it.
    pub(crate) fn is_list(self) -> bool {
        matches!(self, Self::Texts | Self::Networks | Self::Ports)
    }

    /// What may be written, in words.
    pub(crate) fn allowed(self) -> String {
        match self {
            Self::Address => "an address with a port, such as 127.0.0.1:8080 or [::1]:8080".into(),
            Self::Text => "a text".into(),
            Self::Switch => "true or false".into(),
            Self::Word(words) => words.join(", "),
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::Duration => "a time such as 500ms, 2s, 3m or 1h, a year at most".into(),
            Self::Span(least, most) => {
                let days = most / A_DAY;
                format!("a time such as 30m or 2h, from {least} s to {days} days")
            }
            Self::Size(least, most) => {
                format!("a size such as 500KB or 10MiB, from {least} to {most} bytes")
            }
            Self::Texts => "a list of texts".into(),
            Self::Networks => "a list of addresses and networks, such as 192.168.0.0/16".into(),
            Self::Ports => "a list of ports from 1 to 65535".into(),
        }
    }

    /// Whether a text, or one of a list, is such a value.
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Address => text.parse::<SocketAddr>().is_ok(),
            Self::Text | Self::Texts => !text.trim().is_empty(),
            Self::Switch => text.parse::<bool>().is_ok(),
            Self::Word(words) => words.contains(&text),
            Self::Number(least, most) => {
                let number = text.parse::<u64>();
                number.is_ok_and(|number| (least..=most).contains(&number))
            }
            Self::Duration => units::duration(text).is_ok_and(|time| time.as_secs() <= 366 * A_DAY),
            Self::Span(least, most) => {
                let time = units::duration(text);
                time.is_ok_and(|time| (least..=most).contains(&time.as_secs()))
            }
            Self::Size(least, most) => {
                units::bytes(text).is_ok_and(|size| (least..=most).contains(&size))
            }
            Self::Networks => network(text).is_some(),
            Self::Ports => text.parse::<u16>().is_ok_and(|port| port > 0),
        }
    }

    /// Whether a file says it with quotation marks.
    pub(crate) fn is_quoted(self) -> bool {
        !matches!(self, Self::Switch | Self::Number(..) | Self::Ports)
    }
}

/// A network, or a single address as one.
pub(crate) fn network(text: &str) -> Option<IpNet> {
    let single = || text.parse::<std::net::IpAddr>().ok().map(IpNet::from);
    text.parse().ok().or_else(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_held_against_what_is_allowed() {
        for (kind, good, bad) in [
            (Kind::Address, "[::1]:80", "localhost"),
            (Kind::Switch, "true", "yes"),
            (Kind::Word(&["a", "b"]), "b", "c"),
            (Kind::Number(1, 5), "5", "0"),
            (Kind::Duration, "0", "soon"),
            (Kind::Span(60, 3600), "1h", "59s"),
            (Kind::Size(1, 100), "100", "1KB"),
            (Kind::Text, "x", " "),
            (Kind::Networks, "10.0.0.0/8", "10/8"),
            (Kind::Networks, "::1", "x"),
            (Kind::Ports, "65535", "0"),
        ] {
            assert!(kind.accepts(good), "{kind:?} {good}");
            assert!(!kind.accepts(bad), "{kind:?} {bad}");
            assert!(!kind.allowed().is_empty());
        }
    }
}
