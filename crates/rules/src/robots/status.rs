//! What the answer to a request for robots.txt means before its body is read (RFC 9309 §2.3.1).

use trawl_types::spec::RobotsPolicy;

/// How to go on after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RobotsFromStatus {
    /// Read the body.
    Parse,
    /// Follow, at most five times; a longer chain is an [`RobotsFromStatus::AllowAll`].
    Redirect,
    /// There is no robots.txt: everything may be fetched.
    AllowAll,
    /// The host cannot say: nothing may be fetched until it can.
    DisallowAll,
}

/// 2xx is read and 4xx means that there is no file. 5xx disallows everything unless the policy
/// says otherwise. So does 429: by the letter of the RFC it would allow everything, but a host that
/// is asked too often has not said that it has no rules.
pub fn robots_for_status(status: u16, policy: RobotsPolicy) -> RobotsFromStatus {
    if policy == RobotsPolicy::Ignore {
        return RobotsFromStatus::AllowAll;
    }
    match status {
        200..=299 => RobotsFromStatus::Parse,
        301 | 302 | 303 | 307 | 308 => RobotsFromStatus::Redirect,
        429 => robots_unreachable(policy),
        400..=499 => RobotsFromStatus::AllowAll,
        _ => robots_unreachable(policy),
    }
}

/// What a network error, a timeout or a server error means.
pub fn robots_unreachable(policy: RobotsPolicy) -> RobotsFromStatus {
    match policy {
        RobotsPolicy::Strict => RobotsFromStatus::DisallowAll,
        RobotsPolicy::UnreachableAllows | RobotsPolicy::Ignore => RobotsFromStatus::AllowAll,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_its_meaning() {
        use RobotsFromStatus::{AllowAll, DisallowAll, Parse, Redirect};
        for (status, strict, lenient) in [
            (200, Parse, Parse),
            (204, Parse, Parse),
            (301, Redirect, Redirect),
            (302, Redirect, Redirect),
            (303, Redirect, Redirect),
            (307, Redirect, Redirect),
            (308, Redirect, Redirect),
            (304, DisallowAll, AllowAll),
            (400, AllowAll, AllowAll),
            (401, AllowAll, AllowAll),
            (403, AllowAll, AllowAll),
            (404, AllowAll, AllowAll),
            (410, AllowAll, AllowAll),
            (429, DisallowAll, AllowAll),
            (500, DisallowAll, AllowAll),
            (503, DisallowAll, AllowAll),
            (599, DisallowAll, AllowAll),
            (999, DisallowAll, AllowAll),
        ] {
            assert_eq!(
                robots_for_status(status, RobotsPolicy::Strict),
                strict,
                "{status}"
            );
            let policy = RobotsPolicy::UnreachableAllows;
            assert_eq!(robots_for_status(status, policy), lenient, "{status}");
            assert_eq!(
                robots_for_status(status, RobotsPolicy::Ignore),
                AllowAll,
                "{status}"
            );
        }
    }
}
