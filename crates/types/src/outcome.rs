//! How a fetch ended. An end that can be expected has a name here; it is data, not an error.

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        /// The small kind to match, count and store. Numbers are stored: never reuse one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum OutcomeKind { $($name = $number),* }

        impl OutcomeKind {
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            pub fn from_stored(code: u8) -> Option<Self> {
                match code { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

kinds! {
    // ends with a usable answer
    Fetched = 1, "fetched";
    NotModified = 2, "not_modified";
    NotHtml = 3, "not_html";
    Redirected = 4, "redirected";
    // the server says no
    NotFound = 10, "not_found";
    Gone = 11, "gone";
    RateLimited = 12, "rate_limited";
    ClientError = 13, "client_error";
    ServerError = 14, "server_error";
    // redirects that lead nowhere
    RedirectLoop = 20, "redirect_loop";
    TooManyRedirects = 21, "too_many_redirects";
    RedirectRefused = 22, "redirect_refused";
    BadRedirect = 23, "bad_redirect";
    // the network says no
    DnsFailure = 30, "dns_failure";
    ConnectRefused = 31, "connect_refused";
    ConnectTimeout = 32, "connect_timeout";
    ConnectFailed = 33, "connect_failed";
    TlsFailure = 34, "tls_failure";
    ConnectionReset = 35, "connection_reset";
    HeadersTimeout = 36, "headers_timeout";
    IdleTimeout = 37, "idle_timeout";
    TotalTimeout = 38, "total_timeout";
    ProtocolError = 39, "protocol_error";
    AddressRefused = 40, "address_refused";
    ProxyFailure = 41, "proxy_failure";
    DnsUnavailable = 42, "dns_unavailable";
    // the body is unusable
    BodyTooLarge = 50, "body_too_large";
    DecompressionBomb = 51, "decompression_bomb";
    BadEncoding = 52, "bad_encoding";
    LengthMismatch = 53, "length_mismatch";
    // we say no
    RobotsDenied = 60, "robots_denied";
}

impl OutcomeKind {
    /// Counts as a page of the crawl's budget.
    pub fn is_page(self) -> bool {
        matches!(self, Self::Fetched | Self::NotModified | Self::NotHtml)
    }

    /// Worth trying again (003 §4.3): server errors, timeouts and resets, name servers in trouble.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::ServerError
                | Self::RateLimited
                | Self::ConnectTimeout
                | Self::ConnectionReset
                | Self::HeadersTimeout
                | Self::IdleTimeout
                | Self::TotalTimeout
                | Self::LengthMismatch
                | Self::ProxyFailure
                | Self::DnsUnavailable
        )
    }

    /// No request was sent: there was nobody to send it to, or we may not.
    pub fn never_left(self) -> bool {
        matches!(
            self,
            Self::AddressRefused | Self::DnsFailure | Self::DnsUnavailable
        )
    }

    /// Says that the host itself is unwell, which the circuit breaker counts.
    pub fn is_host_failure(self) -> bool {
        self.is_retryable() && self != Self::LengthMismatch
            || matches!(
                self,
                Self::DnsFailure | Self::ConnectRefused | Self::ConnectFailed | Self::TlsFailure
            )
    }

    /// Neither a page nor a redirect nor our own refusal.
    pub fn is_error(self) -> bool {
        !self.is_page() && !matches!(self, Self::Redirected | Self::RobotsDenied)
    }
}

/// An end with its details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub kind: OutcomeKind,
    /// HTTP status, where an answer came.
    pub status: Option<u16>,
    /// What happened, for people; never holds secrets or resolved addresses.
    pub detail: String,
}

impl Outcome {
    pub fn new(kind: OutcomeKind, status: Option<u16>, detail: impl Into<String>) -> Self {
        Self {
            kind,
            status,
            detail: detail.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_back_from_its_number() {
        for kind in OutcomeKind::ALL {
            assert_eq!(OutcomeKind::from_stored(*kind as u8), Some(*kind));
        }
    }

    #[test]
    fn final_ends_of_the_retry_table_are_final() {
        for kind in [
            OutcomeKind::NotFound,
            OutcomeKind::Gone,
            OutcomeKind::ConnectRefused,
            OutcomeKind::TlsFailure,
            OutcomeKind::DnsFailure,
            OutcomeKind::RedirectLoop,
            OutcomeKind::TooManyRedirects,
        ] {
            assert!(!kind.is_retryable(), "{kind:?}");
        }
    }
}
