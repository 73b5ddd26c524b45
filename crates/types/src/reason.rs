//! Why a URL was not crawled: a small code to match and count, and a detail to read.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal, $says:literal;)*) => {
        /// The rule that refused a URL. Numbers are stored: never reuse one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum ReasonCode { $($name = $number),* }

        impl ReasonCode {
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The stable name used in output and queries.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// A sentence for people.
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$name => $says),* }
            }

            pub fn from_stored(code: u8) -> Option<Self> {
                match code { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

codes! {
    InvalidUrl = 1, "invalid_url", "the text is not a URL";
    UnsupportedScheme = 2, "unsupported_scheme", "only http and https are crawled";
    UrlTooLong = 3, "url_too_long", "the URL is longer than the limit";
    Userinfo = 4, "userinfo", "URLs with a user name or password are not crawled";
    ForbiddenAddress = 5, "forbidden_address", "the host is an address that must not be contacted";
    OtherHost = 6, "other_host", "the host is outside the crawl's scope";
    Excluded = 7, "excluded", "an exclude pattern matches";
    NotIncluded = 8, "not_included", "no include pattern matches";
    TooDeep = 9, "too_deep", "the page is further from the seeds than the depth limit";
    RepeatedSegments = 10, "repeated_segments", "the path repeats itself, which looks like a trap";
    QueryVariants = 11, "query_variants", "the same path was seen with too many query strings";
    PathCardinality = 12, "path_cardinality", "one path position took too many values";
    Calendar = 13, "calendar", "the URL names a date far from today, which looks like a calendar trap";
    RobotsDisallowed = 14, "robots_disallowed", "robots.txt disallows the URL";
    RobotsUnreachable = 15, "robots_unreachable", "robots.txt could not be read, so nothing may be fetched";
    Nofollow = 16, "nofollow", "the link is marked nofollow and the crawl honours that";
    Blacklisted = 17, "blacklisted", "the domain is on the blacklist";
    Stub = 18, "stub", "the domain is on the stub list: recorded, not visited";
    HostBudget = 19, "host_budget", "the host's page budget is used up";
    PageBudget = 20, "page_budget", "the crawl's page budget is used up";
    HostSuspended = 21, "host_suspended", "the host was suspended for this run";
    PathTooDeep = 22, "path_too_deep", "the path has more segments than the limit";
    NearDuplicates = 23, "near_duplicates", "only pages that repeat each other link to it";
    LowScore = 24, "low_score", "the link scores below the crawl's threshold";
}

/// A refusal: which rule, and what exactly it saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub code: ReasonCode,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

impl Reason {
    pub fn new(code: ReasonCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
        }
    }
}

impl From<ReasonCode> for Reason {
    fn from(code: ReasonCode) -> Self {
        Self {
            code,
            detail: String::new(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.explanation())?;
        if self.detail.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.detail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_back_from_its_number() {
        for code in ReasonCode::ALL {
            assert_eq!(ReasonCode::from_stored(*code as u8), Some(*code));
        }
        assert_eq!(ReasonCode::from_stored(0), None);
    }
}
