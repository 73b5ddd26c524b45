//! Durations and sizes as people write them.

use std::time::Duration;

use trawl_types::{HostKey, UnixMillis};

/// `500ms`, `2s`, `1.5s`, `3m`, `1h`; a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let seconds_per_unit = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => {
            return Err(format!(
                "{text:?} is no duration: write 500ms, 2s, 3m or 1h"
            ));
        }
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("{text:?} is no duration: write 500ms, 2s or 3m"))?;
    Duration::try_from_secs_f64(number * seconds_per_unit)
        .map_err(|_| format!("{text:?} is no usable duration"))
}

/// `10MiB`, `500KB`, `4096`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "kb" => 1000,
        "m" | "mib" => 1 << 20,
        "mb" => 1_000_000,
        "g" | "gib" => 1 << 30,
        "gb" => 1_000_000_000,
        _ => return Err(format!("{text:?} is no size: write 10MiB, 500KB or 4096")),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("{text:?} is no size: write 10MiB or 4096"))?;
    if !number.is_finite() || number < 0.0 {
        return Err(format!("{text:?} is no usable size"));
    }
    Ok((number * factor as f64) as u64)
}

/// `2026-01-31`, or a moment as RFC 3339 has it; a day begins in UTC.
pub(crate) fn moment(text: &str) -> Result<UnixMillis, String> {
    let text = text.trim();
    let day = || {
        let day = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
        Some(day.and_hms_opt(0, 0, 0)?.and_utc().timestamp_millis())
    };
    let moment = chrono::DateTime::parse_from_rfc3339(text).map(|at| at.timestamp_millis());
    let found = moment.ok().or_else(day);
    found
        .map(UnixMillis)
        .ok_or_else(|| format!("{text:?} is no date: write 2026-01-31 or 2026-01-31T12:00:00Z"))
}

/// A host as the store names it.
pub(crate) fn host(text: &str) -> Result<String, String> {
    let wrong = || format!("{text:?} is no host name: write example.org or example.org:8080");
    if text.is_empty() || text.contains(['/', '?', '#', '@', '\\']) {
        return Err(wrong());
    }
    let url = url::Url::parse(&format!("http://{text}/")).map_err(|_| wrong())?;
    let host = HostKey::of(&url).ok_or_else(wrong)?;
    Ok(host.as_str().to_owned())
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    (text[..at].trim(), text[at..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in [
            ("500ms", 500),
            ("2", 2000),
            ("1.5s", 1500),
            ("3m", 180_000),
            ("0", 0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "x", "-1s", "1 parsec", "nan"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn dates_and_hosts_are_read_as_people_write_them() {
        assert_eq!(moment("1970-01-02"), Ok(UnixMillis(86_400_000)));
        assert_eq!(moment("1970-01-01T01:00:00+01:00"), Ok(UnixMillis(0)));
        for text in ["", "yesterday", "2026-13-01", "31.1.2026"] {
            assert!(moment(text).is_err(), "{text}");
        }
        assert_eq!(host("Example.ORG:80").as_deref(), Ok("example.org"));
        for text in ["", "http://a.test/", "a/b", "a b"] {
            assert!(host(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, size) in [
            ("10MiB", 10 << 20),
            ("500KB", 500_000),
            ("4096", 4096),
            ("1k", 1024),
        ] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in ["", "ten", "-1", "1XB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
