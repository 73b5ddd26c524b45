//! Dates as pages, headers, feeds and PDF files write them, to RFC 3339.
//!
//! Reads what can be read in one way only: `01/02/2026` is a date in two countries and none here.
//! Knows no clock, so it cannot say whether a date is in the future.

use std::fmt;

use serde::{Serialize, Serializer};
use trawl_types::time::civil_day;

use super::date_words;

/// Longer texts are sentences, not dates.
const MAX_BYTES: usize = 80;

/// A day, or a moment of it. Where only a year or a month is given, its first day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Date {
    pub(super) year: u16,
    pub(super) month: u8,
    pub(super) day: u8,
    pub(super) time: Option<Time>,
}

/// A time of day. Where no offset is given, UTC is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Time {
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    pub(super) offset_minutes: i16,
}

impl Date {
    /// Reads a date of nearly any spelling: ISO 8601 and its relatives, HTTP and mail headers,
    /// `January 5, 2026` in the larger European languages, `2026年1月5日`, `D:20260105...`, and
    /// seconds or milliseconds since 1970.
    pub fn parse(text: &str) -> Option<Date> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_BYTES {
            return None;
        }
        let pdf = text.strip_prefix("D:").unwrap_or(text);
        numeric(pdf).or_else(|| date_words::parse(text))
    }

    /// Whether the time of day is known.
    pub fn has_time(&self) -> bool {
        self.time.is_some()
    }

    /// Seconds since 1970 in UTC; a day without a time counts from its midnight.
    pub fn unix_seconds(&self) -> i64 {
        let time = self.time.unwrap_or_default();
        days_since_1970(self.year, self.month, self.day) * 86_400
            + i64::from(time.hour) * 3600
            + i64::from(time.minute) * 60
            + i64::from(time.second)
            - i64::from(time.offset_minutes) * 60
    }

    pub(super) fn day(year: u32, month: u32, day: u32) -> Option<Date> {
        let valid = (1000..=2999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day);
        valid.then_some(Date {
            year: year as u16,
            month: month as u8,
            day: day as u8,
            time: None,
        })
    }

    pub(super) fn at(self, time: Option<Time>) -> Date {
        Date { time, ..self }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)?;
        let Some(time) = self.time else { return Ok(()) };
        write!(f, "T{:02}:{:02}:{:02}", time.hour, time.minute, time.second)?;
        if time.offset_minutes == 0 {
            return f.write_str("Z");
        }
        let sign = if time.offset_minutes < 0 { '-' } else { '+' };
        let offset = time.offset_minutes.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", offset / 60, offset % 60)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Time {
    pub(super) fn new(hour: u32, minute: u32, second: u32, offset_minutes: i16) -> Option<Time> {
        // A leap second is kept within its minute.
        let valid = hour < 24 && minute < 60 && second <= 60;
        valid.then_some(Time {
            hour: hour as u8,
            minute: minute as u8,
            second: second.min(59) as u8,
            offset_minutes,
        })
    }
}

/// `2026-01-05T10:00:00+01:00` with any separators or none, `05.01.2026`, Unix seconds.
fn numeric(text: &str) -> Option<Date> {
    let digits = leading_digits(text);
    match digits.len() {
        14 | 12 | 8 => compact(text, digits),
        10 | 13 if digits.len() == text.len() => unix(digits),
        4 => year_first(text),
        1 | 2 => day_first(text),
        _ => None,
    }
}

fn compact(text: &str, digits: &str) -> Option<Date> {
    let part = |from: usize, to: usize| digits.get(from..to).and_then(|part| part.parse().ok());
    let date = Date::day(part(0, 4)?, part(4, 6)?, part(6, 8)?)?;
    let rest = text.get(digits.len()..)?;
    if digits.len() == 8 {
        return Some(with_clock(date, rest));
    }
    let offset = offset(rest).unwrap_or(0);
    let second = part(12, 14).unwrap_or(0);
    Some(date.at(Time::new(part(8, 10)?, part(10, 12)?, second, offset)))
}

fn unix(digits: &str) -> Option<Date> {
    let seconds: i64 = digits.get(..10)?.parse().ok()?;
    from_unix(seconds)
}

fn year_first(text: &str) -> Option<Date> {
    let year = text.get(..4)?.parse().ok()?;
    let mut rest = text.get(4..)?;
    if rest.is_empty() {
        return Date::day(year, 1, 1);
    }
    let separator = rest.chars().next().filter(|c| "-/.".contains(*c))?;
    rest = rest.get(1..)?;
    let month = small_number(&mut rest)?;
    let Some(behind) = rest.strip_prefix(separator) else {
        return rest.is_empty().then(|| Date::day(year, month, 1))?;
    };
    rest = behind;
    let day = small_number(&mut rest)?;
    Some(with_clock(Date::day(year, month, day)?, rest))
}

/// Day before month only where nothing else is possible: dots, or a number above twelve.
fn day_first(text: &str) -> Option<Date> {
    let mut rest = text;
    let first = small_number(&mut rest)?;
    let separator = rest.chars().next().filter(|c| "-/.".contains(*c))?;
    rest = rest.get(1..)?;
    let second = small_number(&mut rest)?;
    rest = rest.strip_prefix(separator)?;
    let digits = leading_digits(rest);
    if digits.len() != 4 {
        return None;
    }
    let year = digits.parse().ok()?;
    let date = match (first, second) {
        (day, month) if separator == '.' || day > 12 || day == month => Date::day(year, month, day),
        (month, day) if day > 12 => Date::day(year, month, day),
        _ => None,
    }?;
    Some(with_clock(date, rest.get(4..)?))
}

/// A date and what follows it: nothing, or a clock time with or without an offset.
pub(super) fn with_clock(date: Date, rest: &str) -> Date {
    let rest = rest.trim_start_matches(['T', 't', ' ', ',']);
    if rest.is_empty() {
        return date;
    }
    // The date is good even where what follows cannot be understood.
    date.at(clock(rest))
}

/// `10:00`, `10:00:00.123 PM +01:00`, also `100000Z`.
pub(super) fn clock(text: &str) -> Option<Time> {
    let mut rest = text;
    let digits = leading_digits(rest);
    let (mut hour, minute, mut second) = if matches!(digits.len(), 4 | 6) {
        rest = rest.get(digits.len()..)?;
        let part = |from: usize| {
            digits
                .get(from..from + 2)
                .and_then(|part| part.parse().ok())
        };
        (part(0)?, part(2)?, part(4).unwrap_or(0))
    } else {
        let hour = small_number(&mut rest)?;
        rest = rest.strip_prefix(':')?;
        (hour, small_number(&mut rest)?, 0)
    };
    if let Some(behind) = rest.strip_prefix(':') {
        rest = behind;
        second = small_number(&mut rest)?;
    }
    if let Some(behind) = rest.strip_prefix(['.', ',']) {
        rest = behind.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    rest = rest.trim_start();
    let lower = rest.get(..2).map(str::to_ascii_lowercase);
    if let Some(half @ ("am" | "pm")) = lower.as_deref() {
        hour = hour % 12 + if half == "pm" { 12 } else { 0 };
        rest = rest.get(2..)?.trim_start();
    }
    Time::new(hour, minute, second, offset(rest).unwrap_or(0))
}

/// Minutes east of UTC: `Z`, `GMT`, `+01:00`, `+0100`, `+01`, `+01'00'`, `GMT+1`, `EST`.
fn offset(text: &str) -> Option<i16> {
    let text = text.trim();
    let signed = text.find(['+', '-']).and_then(|at| text.get(at..));
    let Some(signed) = signed else {
        return date_words::zone(text);
    };
    let negative = signed.starts_with('-');
    let mut rest = signed.get(1..)?;
    let digits = leading_digits(rest);
    let (hours, minutes): (i16, i16) = if digits.len() == 4 {
        (
            digits.get(..2)?.parse().ok()?,
            digits.get(2..)?.parse().ok()?,
        )
    } else {
        let hours = small_number(&mut rest)? as i16;
        rest = rest.trim_start_matches([':', '\'']);
        (hours, small_number(&mut rest).unwrap_or(0) as i16)
    };
    let total = hours * 60 + minutes;
    (hours <= 14 && minutes < 60).then_some(if negative { -total } else { total })
}

fn leading_digits(text: &str) -> &str {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Takes a number of one or two digits off the front.
fn small_number(rest: &mut &str) -> Option<u32> {
    let digits = leading_digits(rest);
    if digits.is_empty() || digits.len() > 2 {
        return None;
    }
    *rest = rest.get(digits.len()..)?;
    digits.parse().ok()
}

fn days_in(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar, counted in years that begin in March.
fn days_since_1970(year: u16, month: u8, day: u8) -> i64 {
    let (month, day) = (i64::from(month), i64::from(day));
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn from_unix(seconds: i64) -> Option<Date> {
    let (year, month, day) = civil_day(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400) as u32;
    let time = Time::new(of_day / 3600, of_day / 60 % 60, of_day % 60, 0);
    Some(Date::day(year.try_into().ok()?, month as u32, day as u32)?.at(time))
}
