//! A small cookie jar for sites that need one: bounded, host-only unless a cookie says otherwise,
//! never for a public suffix. No more of RFC 6265 than a crawler has use for.

mod parse;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use http::{HeaderMap, HeaderValue, header};
use parse::Cookie;
use url::{Host, Url};

const MAX_DOMAINS: usize = 4096;
const MAX_PER_DOMAIN: usize = 50;
/// Of the header that is sent.
const MAX_HEADER: usize = 8 * 1024;

/// Cookies by the domain they belong to.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    domains: Mutex<HashMap<String, Vec<Cookie>>>,
}

impl Jar {
    /// Takes the cookies of an answer.
    pub(crate) fn store(&self, url: &Url, headers: &HeaderMap) {
        self.store_at(url, headers, SystemTime::now());
    }

    /// The `Cookie` header for a request, if there is anything to send.
    pub(crate) fn header(&self, url: &Url) -> Option<HeaderValue> {
        self.header_at(url, SystemTime::now())
    }

    fn store_at(&self, url: &Url, headers: &HeaderMap, now: SystemTime) {
        let mut values = headers.get_all(header::SET_COOKIE).iter().peekable();
        if values.peek().is_none() {
            return;
        }
        let mut domains = self.domains.lock().unwrap_or_else(PoisonError::into_inner);
        for value in values.take(MAX_PER_DOMAIN) {
            let Some((domain, cookie)) = Cookie::parse(value.as_bytes(), url, now) else {
                continue;
            };
            if domains.len() >= MAX_DOMAINS && !domains.contains_key(&domain) {
                make_room(&mut domains);
            }
            keep(domains.entry(domain).or_default(), cookie, now);
        }
    }

    fn header_at(&self, url: &Url, now: SystemTime) -> Option<HeaderValue> {
        let host = url.host_str()?;
        let domains = self.domains.lock().unwrap_or_else(PoisonError::into_inner);
        if domains.is_empty() {
            return None;
        }
        let mut found: Vec<&Cookie> = parents(url, host)
            .filter_map(|domain| domains.get(domain).map(|cookies| (domain, cookies)))
            .flat_map(|(domain, cookies)| {
                let exact = domain == host;
                cookies
                    .iter()
                    .filter(move |cookie| (exact || cookie.domain_wide) && cookie.applies(url, now))
            })
            .collect();
        found.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let mut text = String::new();
        for cookie in found {
            if text.len() + cookie.pair.len() + 2 > MAX_HEADER {
                break;
            }
            if !text.is_empty() {
                text.push_str("; ");
            }
            text.push_str(&cookie.pair);
        }
        if text.is_empty() {
            return None;
        }
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// A host and the domains above it; an address has none above.
fn parents<'a>(url: &Url, host: &'a str) -> impl Iterator<Item = &'a str> {
    let is_name = matches!(url.host(), Some(Host::Domain(_)));
    std::iter::successors(Some(host), move |name| {
        is_name
            .then(|| name.split_once('.').map(|(_, parent)| parent))
            .flatten()
    })
}

/// Puts a cookie in the place of its older self, or drops both if it says that it is over.
fn keep(cookies: &mut Vec<Cookie>, cookie: Cookie, now: SystemTime) {
    cookies.retain(|old| !old.is_same(&cookie) && old.is_alive(now));
    if cookie.is_alive(now) {
        if cookies.len() >= MAX_PER_DOMAIN {
            cookies.remove(0);
        }
        cookies.push(cookie);
    }
}

/// Forgets some domain: which one matters less than that the jar does not grow.
fn make_room(domains: &mut HashMap<String, Vec<Cookie>>) {
    if let Some(domain) = domains.keys().next().cloned() {
        domains.remove(&domain);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }

    fn jar(from: &str, cookies: &[&str]) -> Jar {
        let jar = Jar::default();
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(header::SET_COOKIE, cookie.parse().unwrap());
        }
        jar.store_at(&url(from), &headers, now());
        jar
    }

    fn sent(jar: &Jar, to: &str) -> Option<String> {
        let header = jar.header_at(&url(to), now())?;
        Some(header.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_cookie_without_a_domain_goes_back_to_its_own_host_only() {
        let jar = jar("http://a.example.org/", &["id=1"]);
        assert_eq!(
            sent(&jar, "http://a.example.org/x").as_deref(),
            Some("id=1")
        );
        assert_eq!(sent(&jar, "http://b.a.example.org/"), None);
        assert_eq!(sent(&jar, "http://example.org/"), None);
    }

    #[test]
    fn a_domain_cookie_goes_to_the_hosts_below_and_never_to_a_public_suffix() {
        let jar = jar(
            "http://a.example.co.uk/",
            &[
                "good=1; Domain=.example.co.uk",
                "wide=1; Domain=co.uk",
                "other=1; Domain=example.org",
            ],
        );
        assert_eq!(
            sent(&jar, "http://b.example.co.uk/").as_deref(),
            Some("good=1")
        );
        assert_eq!(sent(&jar, "http://x.co.uk/"), None);
        assert_eq!(sent(&jar, "http://example.org/"), None);
    }

    #[test]
    fn paths_match_whole_segments_and_longer_ones_come_first() {
        let jar = jar(
            "http://a.test/docs/page",
            &["root=1; Path=/", "docs=2; Path=/docs", "own=3"],
        );
        assert_eq!(
            sent(&jar, "http://a.test/docs/x").as_deref(),
            Some("docs=2; own=3; root=1")
        );
        assert_eq!(sent(&jar, "http://a.test/docsy").as_deref(), Some("root=1"));
    }

    #[test]
    fn secure_cookies_stay_on_https_and_can_only_be_set_there() {
        let secure = jar("https://a.test/", &["s=1; Secure"]);
        assert_eq!(sent(&secure, "https://a.test/").as_deref(), Some("s=1"));
        assert_eq!(sent(&secure, "http://a.test/"), None);
        assert_eq!(
            sent(&jar("http://a.test/", &["s=1; Secure"]), "https://a.test/"),
            None
        );
    }

    #[test]
    fn cookies_end_when_they_say_so() {
        let jar = jar(
            "http://a.test/",
            &[
                "old=1; Expires=Wed, 21-Oct-2015 07:28:00 GMT",
                "gone=1",
                "gone=; Max-Age=0",
                "stays=1; Max-Age=60; Expires=Wed, 21 Oct 2015 07:28:00 GMT",
            ],
        );
        assert_eq!(sent(&jar, "http://a.test/").as_deref(), Some("stays=1"));
        let later = now() + Duration::from_secs(61);
        assert_eq!(jar.header_at(&url("http://a.test/"), later), None);
    }

    #[test]
    fn the_jar_is_bounded() {
        let many: Vec<String> = (0..200).map(|n| format!("c{n}=1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let jar = jar("http://a.test/", &many);
        let sent = sent(&jar, "http://a.test/").unwrap();
        assert_eq!(sent.split("; ").count(), MAX_PER_DOMAIN);
        let huge = format!("big={}", "x".repeat(5000));
        assert_eq!(
            super::tests::sent(&self::jar("http://b.test/", &[&huge]), "http://b.test/"),
            None
        );
    }
}
