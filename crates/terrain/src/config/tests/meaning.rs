//! What becomes of a configuration: its spec, its hash, and what is said when it changes.

use trawl_types::spec::{HeadPolicy, HostScope, RateLimitPolicy, RobotsPolicy};

use super::{DOCUMENTED, QUALITY};
use crate::config::{explain_change, parse};

#[test]
fn the_spec_is_what_the_document_fixes() {
    let config = parse("map.toml", DOCUMENTED).unwrap();
    let spec = config.to_spec(vec!["PEM".into()]);
    assert_eq!(spec.validate(), Ok(()));
    assert_eq!(spec.scope.hosts, HostScope::Anywhere);
    assert_eq!(spec.scope.max_depth, Some(3));
    assert_eq!(spec.scope.max_requests_per_host, Some(500));
    assert!(spec.scope.follow_nofollow && spec.normalise.upgrade_https);
    assert_eq!(spec.politeness.on_rate_limit, RateLimitPolicy::SuspendHost);
    assert_eq!(
        (spec.politeness.delay_ms, spec.politeness.concurrency),
        (1000, 10)
    );
    assert_eq!(spec.politeness.per_host, 1);
    let retry = &spec.politeness.retry;
    assert_eq!(
        (retry.attempts, retry.base_ms, retry.max_ms),
        (4, 5000, 5000)
    );
    assert_eq!(spec.politeness.robots, RobotsPolicy::Strict);
    assert_eq!(spec.fetch.head, HeadPolicy::Auto);
    assert_eq!(spec.fetch.max_redirects, 10);
    assert_eq!(
        (spec.fetch.total_timeout_ms, spec.fetch.connect_timeout_ms),
        (30_000, 10_000)
    );
    assert_eq!(spec.fetch.extra_roots, ["PEM"]);
    let terrain = spec.terrain.unwrap();
    assert_eq!(terrain.quality, ["example.com", "*.another-site.org"]);
    assert_eq!(terrain.config_hash.len(), 64);
}

#[test]
fn the_hash_is_of_the_meaning_not_of_the_spelling() {
    let hash = |text: &str| parse("map.toml", text).unwrap().hash();
    let plain = hash(QUALITY);
    assert_eq!(
        plain,
        hash(&format!(
            "# a comment\n\n[output]\nsummary-path = \"x\"\n{QUALITY}"
        ))
    );
    assert_eq!(plain, hash(&format!("[crawler]\nmax-depth = 3\n{QUALITY}")));
    assert_eq!(plain, hash(&QUALITY.replace("\"a.org\"", "\"WWW.A.org\"")));
    assert_ne!(plain, hash(&format!("[crawler]\nmax-depth = 2\n{QUALITY}")));
    assert_ne!(
        plain,
        hash(&format!("{QUALITY}[[stub]]\ndomain = \"b.org\"\n"))
    );
}

#[test]
fn a_changed_configuration_is_explained_field_by_field() {
    let spec = |text: &str| parse("map.toml", text).unwrap().to_spec(Vec::new());
    let old = spec(&format!("{QUALITY}[[stub]]\ndomain = \"b.org\"\n"));
    let new = spec(&format!(
        "{QUALITY}[[stub]]\ndomain = \"c.org\"\n[crawler]\nmax-depth = 2\nhead = \"never\"\n"
    ));
    assert_eq!(
        explain_change(&old, &new),
        [
            "max-depth was 3, is now 2",
            "head was auto, is now never",
            "stub: + c.org, - b.org"
        ]
    );
    assert!(explain_change(&old, &old).is_empty());
}

#[test]
fn a_password_of_a_proxy_is_not_told_when_it_changes() {
    let spec = |proxy: &str| {
        let text = format!("{QUALITY}[network]\nproxy = \"{proxy}\"\n");
        parse("map.toml", &text).unwrap().to_spec(Vec::new())
    };
    let said = explain_change(&spec("http://a:one@p"), &spec("http://a:two@p"));
    assert_eq!(said, ["proxy is another"]);
}
