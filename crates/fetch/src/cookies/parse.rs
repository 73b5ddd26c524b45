//! One `Set-Cookie` header.

use std::time::{Duration, SystemTime};

use url::{Host, Url};

const MAX_COOKIE: usize = 4096;

/// No cookie is remembered for longer, whatever it asks for.
const MAX_AGE: Duration = Duration::from_hours(400 * 24);

#[derive(Debug, Clone)]
pub(super) struct Cookie {
    /// `name=value`, as it is sent back.
    pub(super) pair: String,
    pub(super) path: String,
    /// Goes to the hosts below its domain too.
    pub(super) domain_wide: bool,
    secure: bool,
    expires: Option<SystemTime>,
}

impl Cookie {
    /// Reads a header and says to which domain it belongs; `None` where it is not acceptable.
    pub(super) fn parse(bytes: &[u8], url: &Url, now: SystemTime) -> Option<(String, Self)> {
        if bytes.len() > MAX_COOKIE {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        let mut parts = text.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() {
            return None;
        }
        let host = url.host_str()?;
        let mut domain = host.to_owned();
        let mut cookie = Self {
            pair: format!("{name}={value}"),
            path: default_path(url),
            domain_wide: false,
            secure: false,
            expires: None,
        };
        let mut max_age = None;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" if !value.is_empty() => {
                    domain = accepted_domain(value, url, host)?;
                    cookie.domain_wide = true;
                }
                "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
                "secure" => cookie.secure = true,
                "expires" => cookie.expires = date(value).or(cookie.expires),
                "max-age" => max_age = value.parse::<i64>().ok().or(max_age),
                _ => {}
            }
        }
        if let Some(seconds) = max_age {
            let age = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
            cookie.expires = Some(now + age.min(MAX_AGE));
        }
        if cookie.secure && url.scheme() != "https" {
            return None;
        }
        Some((domain, cookie))
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.name() == other.name()
            && self.path == other.path
            && self.domain_wide == other.domain_wide
    }

    pub(super) fn is_alive(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|end| end > now)
    }

    pub(super) fn applies(&self, url: &Url, now: SystemTime) -> bool {
        (!self.secure || url.scheme() == "https")
            && self.is_alive(now)
            && path_matches(url.path(), &self.path)
    }

    fn name(&self) -> &str {
        self.pair.split('=').next().unwrap_or_default()
    }
}

/// A domain is accepted if the host lies in it and it is not a suffix that strangers share.
fn accepted_domain(value: &str, url: &Url, host: &str) -> Option<String> {
    let domain = value.trim_start_matches('.').to_ascii_lowercase();
    if domain == host {
        return Some(domain);
    }
    let is_name = matches!(url.host(), Some(Host::Domain(_)));
    let below = host.strip_suffix(&domain)?.ends_with('.');
    let shared = psl::domain_str(&domain).is_none();
    (is_name && below && !shared).then_some(domain)
}

/// Dates in cookies are HTTP dates, often with dashes between day, month and year.
fn date(text: &str) -> Option<SystemTime> {
    httpdate::parse_http_date(text)
        .or_else(|_| httpdate::parse_http_date(&text.replace('-', " ")))
        .ok()
}

/// The directory of the page that set the cookie.
fn default_path(url: &Url) -> String {
    match url.path().rsplit_once('/') {
        Some(("", _)) | None => "/".to_owned(),
        Some((directory, _)) => directory.to_owned(),
    }
}

fn path_matches(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || prefix.ends_with('/') || rest.starts_with('/'))
}
