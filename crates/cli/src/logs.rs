//! Log lines: where they go, in which form, and what is never in them.
//!
//! Nothing logs a secret on purpose. The last door is here all the same: every line is looked through
//! before it leaves, whoever wrote it.

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
    sync::LazyLock,
};

use regex::Regex;
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

/// Starts logging to standard error. `TRAWL_LOG` takes a filter such as `trawl_engine=debug`.
pub(crate) fn start(verbose: u8, level: &str, json: bool) {
    let default = match verbose {
        0 => level,
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("TRAWL_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Redacted)
        .with_target(false);
    let _ = if json {
        lines
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .try_init()
    } else {
        // Colours are for people who look, not for files.
        lines.with_ansi(io::stderr().is_terminal()).try_init()
    };
}

/// Standard error, without secrets.
#[derive(Debug, Clone, Copy)]
struct Redacted;

impl<'a> MakeWriter<'a> for Redacted {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}

impl Write for Redacted {
    /// A line comes in one piece.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        io::stderr().lock().write_all(redact(&line).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// What a secret looks like, and what is left of it.
static SECRETS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rules = [
        // A key: its id may be known.
        (r"\b(trawl_[0-9a-f]{1,32})_[0-9A-Za-z]+", "${1}_[redacted]"),
        // Name and password in a URL.
        (
            r"(?i)\b([a-z][a-z0-9+.-]*://)[^/?#@\s]+@",
            "${1}[redacted]@",
        ),
        (
            r"(?i)\b(bearer|basic) [A-Za-z0-9._~+/=-]{8,}",
            "${1} [redacted]",
        ),
        (
            r"(?i)((?:__host-)?trawl_session=)[^;\s,]+",
            "${1}[redacted]",
        ),
        (
            r#"(?i)((?:password|passwd|secret|x-api-key|authorization|cookie)\\?"?\s*[:=]\s*\\?"?)[^\s",;&}\\]+"#,
            "${1}[redacted]",
        ),
    ];
    let compiled = rules
        .into_iter()
        .map(|(rule, left)| (Regex::new(rule), left));
    compiled
        .filter_map(|(rule, left)| Some((rule.ok()?, left)))
        .collect()
});

/// A text without keys, passwords, cookies and the like.
pub(crate) fn redact(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (rule, left) in SECRETS.iter() {
        if rule.is_match(&text) {
            text = Cow::Owned(rule.replace_all(&text, *left).into_owned());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_one() {
        assert_eq!(SECRETS.len(), 5);
    }

    #[test]
    fn secrets_do_not_leave() {
        let secret = "5up3rS3cr3tV4lue";
        for line in [
            "key trawl_5f0c2d038260_5up3rS3cr3tV4lue was sent",
            "Authorization: Bearer 5up3rS3cr3tV4lue",
            "authorization=\"Bearer 5up3rS3cr3tV4lue\"",
            "cookie: trawl_session=5up3rS3cr3tV4lue; a=b",
            "__Host-trawl_session=5up3rS3cr3tV4lue",
            "proxy socks5://me:5up3rS3cr3tV4lue@proxy.test:1080 failed",
            "https://5up3rS3cr3tV4lue@example.org/x",
            "{\"password\":\"5up3rS3cr3tV4lue\",\"x\":1}",
            "{\"message\":\"{\\\"password\\\":\\\"5up3rS3cr3tV4lue\\\"}\"}",
            "password=5up3rS3cr3tV4lue&x=1",
            "X-API-Key: 5up3rS3cr3tV4lue",
        ] {
            assert!(!redact(line).contains(secret), "{}", redact(line));
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for line in [
            "answered method=GET path=\"/jobs/trawl\" status=200 ms=3",
            "https://example.org/@ada?mail=a@b.test",
            "the password of ada was changed",
            "key=5f0c2d038260 a key was made",
        ] {
            assert_eq!(redact(line), line);
        }
        assert_eq!(
            redact("trawl_5f0c2d038260_abc"),
            "trawl_5f0c2d038260_[redacted]"
        );
    }
}
