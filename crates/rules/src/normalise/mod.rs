//! Text to [`CrawlUrl`]: the address stays as it was found, the identity is normalised
//! (003 §3.1, 004 §10). Nothing here decides whether a URL should be crawled.

mod identity;
mod tracking;
mod typed;

use trawl_types::{CrawlUrl, KeySecret, Reason, ReasonCode, Scheme, spec::NormaliseSpec};
use url::{Position, Url};

use identity::IdentityRules;
pub(crate) use identity::without_www;

/// Most of a bad URL that is repeated in a reason: crawled text is not trusted to be short.
const QUOTED: usize = 120;

/// Turns text into URLs with an identity, by one set of rules and under one secret.
#[derive(Debug, Clone)]
pub struct Normaliser {
    rules: IdentityRules,
    secret: KeySecret,
    upgrade_https: bool,
}

impl Normaliser {
    pub fn new(spec: &NormaliseSpec, secret: KeySecret) -> Self {
        Self {
            rules: IdentityRules::new(spec),
            secret,
            upgrade_https: spec.upgrade_https,
        }
    }

    /// A URL typed by a person, who may have left out the scheme: `example.org/x` and
    /// `localhost:8080/x` mean https.
    pub fn seed(&self, text: &str) -> Result<CrawlUrl, Reason> {
        let text = typed::with_scheme(text)?;
        let url = Url::parse(&text).map_err(|e| invalid(&text, &e.to_string()))?;
        self.url(url)
    }

    /// A link as it stands on the page `base`.
    pub fn join(&self, base: &Url, href: &str) -> Result<CrawlUrl, Reason> {
        let shorter = same_origin_path(base, href).unwrap_or(href);
        let url = base
            .join(shorter)
            .map_err(|e| invalid(href, &e.to_string()))?;
        self.url(url)
    }

    /// A URL that is parsed already, such as the target of a redirect.
    pub fn url(&self, mut url: Url) -> Result<CrawlUrl, Reason> {
        let Some(scheme) = Scheme::of(&url) else {
            return Err(Reason::new(
                ReasonCode::UnsupportedScheme,
                quote(url.scheme()),
            ));
        };
        if !url.username().is_empty() || url.password().is_some() {
            // The detail names the host only: what stands before it may be a password.
            let host = url.host_str().unwrap_or_default();
            return Err(Reason::new(ReasonCode::Userinfo, quote(host)));
        }
        if let Some(problem) = url.host_str().and_then(bad_host) {
            return Err(invalid(url.as_str(), problem));
        }
        if url.fragment().is_some() {
            url.set_fragment(None);
        }
        if self.upgrade_https && scheme == Scheme::Http && url.port().is_none() {
            // Cannot fail from http to https; if it did, http would simply stay.
            let _ = url.set_scheme("https");
        }
        let identity = self.rules.identity(&url);
        let key = self.secret.key(identity.host(), identity.text());
        CrawlUrl::new(url, key).ok_or_else(|| Reason::from(ReasonCode::InvalidUrl))
    }

    /// The normalised text that stands for the page, for explanations and tests.
    pub fn identity(&self, url: &Url) -> String {
        self.rules.identity(url).into_text()
    }
}

/// The path of a link that spells out the origin of its own page, which need not be parsed again:
/// a third of the time. Not where the path begins as an origin could (`//`, also with a tab in it).
fn same_origin_path<'a>(base: &Url, href: &'a str) -> Option<&'a str> {
    let path = href.strip_prefix(&base[..Position::BeforePath])?;
    match path.as_bytes() {
        [b'/'] | [b'/', b'!'..=b'.' | b'0'..=b'[' | b']'..=b'~', ..] => Some(path),
        _ => None,
    }
}

/// Names with an empty label cannot be resolved and have no single normal form.
fn bad_host(host: &str) -> Option<&'static str> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let empty_label = host.is_empty() || host.starts_with('.') || host.ends_with('.');
    (empty_label || host.contains("..")).then_some("empty label in the host name")
}

fn invalid(text: &str, problem: &str) -> Reason {
    Reason::new(
        ReasonCode::InvalidUrl,
        format!("{problem}: {}", quote(text)),
    )
}

/// The beginning of a text, in one line.
fn quote(text: &str) -> String {
    text.chars()
        .take(QUOTED)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
