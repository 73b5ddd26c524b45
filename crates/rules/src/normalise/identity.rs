//! The normal form in which two spellings of one page become equal. It is hashed and shown, never
//! requested. Applying it twice changes nothing: several small decisions below exist for that.

use trawl_types::spec::NormaliseSpec;
use url::{Position, Url};

use super::tracking::TrackingNames;
use crate::encoding::normal_escapes;

#[derive(Debug, Clone)]
pub(super) struct IdentityRules {
    strip_www: bool,
    strip_trailing_slash: bool,
    ignore_scheme: bool,
    tracking: TrackingNames,
}

/// A normalised URL; knows which part of it is the host with its port.
pub(super) struct Identity {
    text: String,
    host_start: usize,
    host_end: usize,
}

impl Identity {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn host(&self) -> &str {
        &self.text[self.host_start..self.host_end]
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

impl IdentityRules {
    pub(super) fn new(spec: &NormaliseSpec) -> Self {
        Self {
            strip_www: spec.strip_www,
            strip_trailing_slash: spec.strip_trailing_slash,
            ignore_scheme: spec.ignore_scheme,
            tracking: TrackingNames::new(&spec.tracking_params),
        }
    }

    pub(super) fn identity(&self, url: &Url) -> Identity {
        let mut text = String::with_capacity(url.as_str().len() + 2);
        text.push_str(if self.ignore_scheme {
            "https"
        } else {
            url.scheme()
        });
        text.push_str("://");
        let host_start = text.len();
        text.push_str(self.host(url.host_str().unwrap_or_default()));
        if self.has_port(url) {
            text.push(':');
            text.push_str(&url[Position::BeforePort..Position::AfterPort]);
        }
        let host_end = text.len();
        self.push_path(&mut text, url.path());
        if let Some(query) = url.query() {
            self.push_query(&mut text, query);
        }
        Identity {
            text,
            host_start,
            host_end,
        }
    }

    fn host<'a>(&self, host: &'a str) -> &'a str {
        let host = match host.strip_suffix('.') {
            Some(rest) if !rest.is_empty() && !rest.ends_with('.') => rest,
            _ => host,
        };
        if self.strip_www {
            without_www(host)
        } else {
            host
        }
    }

    /// Both default ports count as none where the scheme is ignored, as they do for politeness.
    fn has_port(&self, url: &Url) -> bool {
        match url.port() {
            None => false,
            Some(80 | 443) => !self.ignore_scheme,
            Some(_) => true,
        }
    }

    fn push_path(&self, text: &mut String, path: &str) {
        let path = normal_escapes(path);
        let kept = if self.strip_trailing_slash {
            path.trim_end_matches('/')
        } else {
            &path
        };
        text.push_str(if kept.is_empty() { "/" } else { kept });
    }

    fn push_query(&self, text: &mut String, query: &str) {
        let query = normal_escapes(query);
        let mut parts: Vec<(&str, &str)> = query
            .split('&')
            .filter(|part| !part.is_empty())
            .map(|part| (part.split('=').next().unwrap_or(part), part))
            .filter(|(name, _)| !self.tracking.contains(name))
            .collect();
        // Stable: the order of equal names may matter to the site.
        parts.sort_by_key(|(name, _)| *name);
        for (index, (_, part)) in parts.iter().enumerate() {
            text.push(if index == 0 { '?' } else { '&' });
            text.push_str(part);
        }
    }
}

/// Repeated, because `www.www.example.org` must not become a name that changes again. `www.com`
/// stays: what remains must be a name with a dot.
pub(crate) fn without_www(mut host: &str) -> &str {
    while let Some(rest) = host.strip_prefix("www.") {
        if !rest.contains('.') || rest.starts_with('.') {
            break;
        }
        host = rest;
    }
    host
}
