//! Servers that say no: for now, for a while, or until asked often enough.

use std::time::{SystemTime, UNIX_EPOCH};

use http::header::RETRY_AFTER;

use crate::http_date::http_date;
use crate::reply::{Ask, Reply};

/// What a refusal says about when to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// No header.
    Unsaid,
    /// A number of seconds.
    Seconds(u64),
    /// A date that lies so many seconds ahead of the request.
    Date(u64),
    /// Text that is neither.
    Garbage,
}

/// A refusal with a status and a word on when to come back.
pub(crate) fn busy(status: u16, retry_after: RetryAfter) -> Reply {
    let value = match retry_after {
        RetryAfter::Unsaid => return Reply::status(status),
        RetryAfter::Seconds(seconds) => seconds.to_string(),
        RetryAfter::Date(ahead) => {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            // Dates have no fractions: round up, so that the promise is not broken early.
            http_date(now.as_secs() + 1 + ahead)
        }
        RetryAfter::Garbage => "soon, I hope".to_owned(),
    };
    Reply::status(status).with_header(RETRY_AFTER, value.as_bytes())
}

/// Fails the first times and then is a page.
pub(crate) fn flapping(ask: &Ask<'_>, failures: u32, status: u16) -> Reply {
    if ask.hits < failures {
        return Reply::status(status);
    }
    Reply::html("<!doctype html><title>Back again</title><h1>Recovered</h1>")
}
