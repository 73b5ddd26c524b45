//! What to type next. Commands are whole, so that they can be copied: they name the crawl and the
//! database, and a shell reads them as they are meant.

use std::path::Path;

use trawl_rules::AddressRefusal;
use trawl_types::{CrawlId, OutcomeKind, PageRecord, Reason, ReasonCode};
use url::Url;

/// The command that goes on with a crawl. Without the number it might be another one that goes on.
pub(crate) fn resume(crawl: CrawlId, database: &Path) -> String {
    format!("trawl resume {crawl} --database {}", quoted(database))
}

/// A path as a shell takes it for one word.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The flag that allows what a rule refused, where there is one.
pub(crate) fn allowing(reason: &Reason, url: &str) -> Option<String> {
    (reason.code == ReasonCode::ForbiddenAddress).then(|| flag_for(&reason.detail, url))
}

/// The same for a visit whose connection was refused.
pub(crate) fn allowing_visit(record: &PageRecord) -> Option<String> {
    let refused = record.outcome == OutcomeKind::AddressRefused;
    let why = record.error.as_deref().unwrap_or_default();
    refused.then(|| flag_for(why, &record.url))
}

fn flag_for(why: &str, url: &str) -> String {
    let port = Url::parse(url)
        .ok()
        .and_then(|url| url.port_or_known_default());
    match port {
        Some(port) if why.contains(&AddressRefusal::Port(port).to_string()) => {
            format!("--allow-port {port}")
        }
        _ => ANY_ADDRESS.to_owned(),
    }
}

/// For addresses that are not public.
pub(crate) const ANY_ADDRESS: &str =
    "--allow-network CIDR, such as 192.168.0.0/16, or 127.0.0.0/8 for this machine";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_for_a_shell() {
        for (path, word) in [
            ("trawl.db", "trawl.db"),
            ("/data/2026-11/a_b.db", "/data/2026-11/a_b.db"),
            ("my crawls/c.db", "'my crawls/c.db'"),
            ("it's.db", r"'it'\''s.db'"),
            ("$HOME.db", "'$HOME.db'"),
            ("~/c.db", "'~/c.db'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }

    #[test]
    fn a_port_and_an_address_are_allowed_by_flags_of_their_own() {
        let refused = |detail: &str| Reason::new(ReasonCode::ForbiddenAddress, detail);
        let port = refused("port 81 is not contacted");
        let flag = allowing(&port, "http://example.org:81/");
        assert_eq!(flag.as_deref(), Some("--allow-port 81"));
        let name = refused("localhost is not a public name");
        let flag = allowing(&name, "http://localhost/").unwrap_or_default();
        assert!(flag.starts_with("--allow-network"), "{flag}");
        assert_eq!(allowing(&ReasonCode::Excluded.into(), "http://a/"), None);
    }
}
