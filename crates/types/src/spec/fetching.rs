//! How requests are made and answers read.

use serde::{Deserialize, Serialize};

use super::{SpecError, within};

/// When HEAD is sent before GET.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadPolicy {
    /// Only where the path suggests something other than HTML.
    #[default]
    Auto,
    Always,
    Never,
}

/// What happens to a body above the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Oversize {
    #[default]
    Truncate,
    Refuse,
}

/// Who we say we are (003 §2.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UserAgent {
    /// The product name, which robots.txt groups are matched against.
    pub name: String,
    pub version: String,
    pub contact_url: Option<String>,
    pub contact_email: Option<String>,
    /// Sent instead of the text built from the parts above.
    pub full: Option<String>,
}

impl Default for UserAgent {
    fn default() -> Self {
        Self {
            name: "Trawl".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            contact_url: None,
            contact_email: None,
            full: None,
        }
    }
}

impl UserAgent {
    /// The header's text: `Name/1.0 (+https://contact; mail@example.org)`.
    pub fn header(&self) -> String {
        if let Some(full) = &self.full {
            return full.clone();
        }
        let contact: Vec<String> = [
            self.contact_url.as_ref().map(|url| format!("+{url}")),
            self.contact_email.clone(),
        ]
        .into_iter()
        .flatten()
        .collect();
        let product = format!("{}/{}", self.name, self.version);
        if contact.is_empty() {
            product
        } else {
            format!("{product} ({})", contact.join("; "))
        }
    }

    /// The name robots.txt is read for: the product token of whatever is sent.
    pub fn robots_name(&self) -> &str {
        let source = self.full.as_deref().unwrap_or(&self.name);
        let end = source
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
            .unwrap_or(source.len());
        &source[..end]
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FetchSpec {
    pub user_agent: UserAgent,
    /// Sent with every request to a seed's host; may hold secrets.
    pub headers: Vec<(String, String)>,
    pub cookies: bool,
    /// `http://user:password@host:port`, `socks5://…` or `socks5h://…`.
    pub proxy: Option<String>,
    pub connect_timeout_ms: u64,
    pub headers_timeout_ms: u64,
    /// Longest silence while a body arrives.
    pub idle_timeout_ms: u64,
    pub total_timeout_ms: u64,
    pub max_body_bytes: u64,
    pub oversize: Oversize,
    /// Decompressed bytes allowed for each byte on the wire.
    pub max_ratio: u32,
    pub head: HeadPolicy,
    pub max_redirects: u32,
    pub http2: bool,
    /// PEM text of certificates to trust besides the usual roots.
    pub extra_roots: Vec<String>,
    /// Networks in CIDR form that may be contacted although they are not public.
    pub allow_networks: Vec<String>,
    /// Ports that may be contacted besides 80, 443, 8080 and 8443.
    pub allow_ports: Vec<u16>,
    /// Fixed addresses for host names: `name=address`, where a name may begin with `*.`.
    pub resolve: Vec<String>,
}

// Headers and proxies may carry credentials, which must not reach a log.
impl std::fmt::Debug for FetchSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("FetchSpec")
            .field("user_agent", &self.user_agent)
            .field("headers", &names)
            .field("proxy", &self.proxy.as_ref().map(|_| ".."))
            .field("max_body_bytes", &self.max_body_bytes)
            .field("allow_networks", &self.allow_networks)
            .finish_non_exhaustive()
    }
}

impl Default for FetchSpec {
    fn default() -> Self {
        Self {
            user_agent: UserAgent::default(),
            headers: Vec::new(),
            cookies: false,
            proxy: None,
            connect_timeout_ms: 10_000,
            headers_timeout_ms: 20_000,
            idle_timeout_ms: 15_000,
            total_timeout_ms: 60_000,
            max_body_bytes: 10 * 1024 * 1024,
            oversize: Oversize::default(),
            max_ratio: 200,
            head: HeadPolicy::default(),
            max_redirects: 10,
            http2: true,
            extra_roots: Vec::new(),
            allow_networks: Vec::new(),
            allow_ports: Vec::new(),
            resolve: Vec::new(),
        }
    }
}

impl FetchSpec {
    pub fn validate(&self) -> Result<(), SpecError> {
        let timeouts = [
            ("fetch.connect_timeout_ms", self.connect_timeout_ms),
            ("fetch.headers_timeout_ms", self.headers_timeout_ms),
            ("fetch.idle_timeout_ms", self.idle_timeout_ms),
            ("fetch.total_timeout_ms", self.total_timeout_ms),
        ];
        for (field, value) in timeouts {
            within(field, value, 1, 3_600_000)?;
        }
        within("fetch.max_body_bytes", self.max_body_bytes, 1, 1 << 32)?;
        within("fetch.max_ratio", u64::from(self.max_ratio), 1, 1_000_000)?;
        within("fetch.max_redirects", u64::from(self.max_redirects), 0, 50)?;
        self.validate_headers()?;
        if self.user_agent.robots_name().is_empty() {
            return Err(SpecError::new(
                "fetch.user_agent.name",
                "must begin with a letter or digit: robots.txt is matched against it",
            ));
        }
        let printable = |c: char| c.is_ascii_graphic() || c == ' ';
        if !self.user_agent.header().chars().all(printable) {
            return Err(SpecError::new(
                "fetch.user_agent",
                "must be printable ASCII",
            ));
        }
        Ok(())
    }

    fn validate_headers(&self) -> Result<(), SpecError> {
        for (at, (name, _)) in self.headers.iter().enumerate() {
            let wrong = |problem: &str| SpecError::new(format!("fetch.headers.{name}"), problem);
            // Rules would be read for one name, and another be sent.
            if name.eq_ignore_ascii_case("user-agent") {
                return Err(wrong(
                    "is set by fetch.user_agent: robots.txt is read for the name that is sent",
                ));
            }
            let before = &self.headers[..at];
            if before.iter().any(|(n, _)| n.eq_ignore_ascii_case(name)) {
                return Err(wrong("is given twice: only one would be sent"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_agent_says_whom_to_contact() {
        let agent = UserAgent {
            name: "SumiRipple".into(),
            version: "1.0".into(),
            contact_url: Some("https://example.com/about-our-crawler".into()),
            contact_email: Some("crawler-admin@example.com".into()),
            full: None,
        };
        assert_eq!(
            agent.header(),
            "SumiRipple/1.0 (+https://example.com/about-our-crawler; crawler-admin@example.com)"
        );
        assert_eq!(agent.robots_name(), "SumiRipple");
    }

    #[test]
    fn a_full_user_agent_is_matched_by_its_first_product() {
        let agent = UserAgent {
            full: Some("My-Bot/2 (+x)".into()),
            ..UserAgent::default()
        };
        assert_eq!(agent.robots_name(), "My-Bot");
    }

    #[test]
    fn no_header_hides_who_asks_and_none_is_given_twice() {
        let headers = |names: &[&str]| FetchSpec {
            headers: names.iter().map(|n| ((*n).into(), "x".into())).collect(),
            ..FetchSpec::default()
        };
        assert_eq!(headers(&["X-A", "X-B"]).validate(), Ok(()));
        for names in [&["user-AGENT"][..], &["X-A", "x-a"]] {
            let error = headers(names).validate().unwrap_err();
            assert!(error.field.starts_with("fetch.headers."), "{error}");
        }
    }

    #[test]
    fn secrets_do_not_reach_debug_output() {
        let spec = FetchSpec {
            headers: vec![("Authorization".into(), "Bearer hush".into())],
            proxy: Some("http://me:hush@proxy.test:1".into()),
            ..FetchSpec::default()
        };
        assert!(!format!("{spec:?}").contains("hush"));
    }
}
