//! Dates with the month in words: mail and HTTP headers, and dates written for readers.

use super::date::{Date, clock, with_clock};

/// Month names by their first letters, long enough to tell them apart, in English, German, French,
/// Spanish, Italian, Portuguese and Dutch. Longer spellings of a month come before shorter ones.
const MONTHS: [(&str, u32); 40] = [
    ("jän", 1),
    ("jan", 1),
    ("ene", 1),
    ("gen", 1),
    ("feb", 2),
    ("fév", 2),
    ("fev", 2),
    ("mar", 3),
    ("mär", 3),
    ("mrz", 3),
    ("maart", 3),
    ("mrt", 3),
    ("apr", 4),
    ("avr", 4),
    ("abr", 4),
    ("mai", 5),
    ("may", 5),
    ("mag", 5),
    ("mei", 5),
    ("juin", 6),
    ("jun", 6),
    ("giu", 6),
    ("juil", 7),
    ("jul", 7),
    ("lug", 7),
    ("aug", 8),
    ("aoû", 8),
    ("aou", 8),
    ("ago", 8),
    ("sep", 9),
    ("set", 9),
    ("oct", 10),
    ("okt", 10),
    ("ott", 10),
    ("out", 10),
    ("nov", 11),
    ("dec", 12),
    ("dez", 12),
    ("déc", 12),
    ("dic", 12),
];

const ZONES: [(&str, i16); 16] = [
    ("z", 0),
    ("utc", 0),
    ("gmt", 0),
    ("ut", 0),
    ("est", -300),
    ("edt", -240),
    ("cst", -360),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
    ("cet", 60),
    ("cest", 120),
    ("bst", 60),
    ("jst", 540),
];

/// A date has a weekday, a zone and some "de" or "at" beside it; with more it is a sentence.
const MAX_OTHER_WORDS: usize = 5;

/// Minutes east of UTC of a zone's name.
pub(super) fn zone(text: &str) -> Option<i16> {
    let name: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
    let name = name.to_ascii_lowercase();
    ZONES
        .iter()
        .find(|(zone, _)| *zone == name)
        .map(|&(_, minutes)| minutes)
}

/// A month's number. A full name or an abbreviation, not any word that begins like one: names of
/// months have at most ten letters.
fn month(word: &str) -> Option<u32> {
    let lower = word.to_lowercase();
    if lower.chars().count() > 10 {
        return None;
    }
    MONTHS
        .iter()
        .find(|(start, _)| lower.starts_with(start))
        .map(|&(_, number)| number)
}

/// `Mon, 05 Jan 2026 10:00:00 GMT`, `Monday, 05-Jan-26 ...`, `Mon Jan  5 10:00:00 2026`,
/// `January 5th, 2026`, `5 de enero de 2026`, `2026年1月5日`.
pub(super) fn parse(text: &str) -> Option<Date> {
    if text.contains('年') {
        return east_asian(text);
    }
    let (mut day, mut year, mut named, mut time) = (None, None, None, None);
    let mut rest = text;
    let mut other_words = 0;
    while !rest.is_empty() {
        let first = rest.chars().next()?;
        let same_kind = |c: char| {
            if first.is_ascii_digit() {
                c.is_ascii_digit()
            } else {
                c.is_alphabetic()
            }
        };
        if !first.is_ascii_digit() && !first.is_alphabetic() {
            rest = rest.get(first.len_utf8()..)?;
            continue;
        }
        let end = rest.find(|c| !same_kind(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end)?;
        if first.is_ascii_digit() && behind.starts_with(':') && time.is_none() {
            time = clock(rest);
            rest = behind_clock(rest);
            continue;
        }
        rest = behind;
        if !first.is_ascii_digit() {
            match month(word) {
                Some(number) if named.is_none() => named = Some(number),
                _ => other_words += 1,
            }
        } else if word.len() == 4 && year.is_none() {
            year = word.parse().ok();
        } else if word.len() <= 2 && day.is_none() {
            day = word.parse().ok();
        } else if word.len() == 2 && year.is_none() {
            year = word.parse().ok().map(full_year);
        }
    }
    if other_words > MAX_OTHER_WORDS {
        return None;
    }
    Some(Date::day(year?, named?, day?)?.at(time))
}

/// What follows a clock time and is not part of it; a year may, as in `10:00:00 2026`.
fn behind_clock(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.'))
        .unwrap_or(text.len());
    let rest = text.get(end..).unwrap_or_default();
    // An offset's digits are no year.
    match rest.find(['+', '-']) {
        Some(at) => rest.get(..at).unwrap_or_default(),
        None => rest,
    }
}

/// By RFC 850 and RFC 2822: two digits mean the years around 2000.
fn full_year(short: u32) -> u32 {
    if short < 70 {
        2000 + short
    } else {
        1900 + short
    }
}

fn east_asian(text: &str) -> Option<Date> {
    let (year, rest) = text.split_once('年')?;
    let (month, rest) = rest.split_once('月')?;
    let (day, rest) = rest.split_once('日')?;
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let date = Date::day(number(year)?, number(month)?, number(day)?)?;
    Some(with_clock(date, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        Date::parse(text)
            .map(|date| date.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn dates_of_many_spellings_become_rfc_3339() {
        for (text, expected) in [
            ("2026-01-05", "2026-01-05"),
            ("2026-1-5", "2026-01-05"),
            ("2026/01/05", "2026-01-05"),
            ("2026.01.05", "2026-01-05"),
            ("20260105", "2026-01-05"),
            ("2026-01", "2026-01-01"),
            ("2026", "2026-01-01"),
            ("2026-01-05T10:20:30Z", "2026-01-05T10:20:30Z"),
            (
                "2026-01-05T10:20:30.123456+01:00",
                "2026-01-05T10:20:30+01:00",
            ),
            ("2026-01-05T10:20:30+0530", "2026-01-05T10:20:30+05:30"),
            ("2026-01-05T10:20:30-08", "2026-01-05T10:20:30-08:00"),
            ("2026-01-05 10:20:30 -0500", "2026-01-05T10:20:30-05:00"),
            ("2026-01-05 10:20", "2026-01-05T10:20:00Z"),
            ("2026-01-05T10:20", "2026-01-05T10:20:00Z"),
            ("20260105T102030Z", "2026-01-05T10:20:30Z"),
            ("20260105102030", "2026-01-05T10:20:30Z"),
            ("D:20260105102030+01'00'", "2026-01-05T10:20:30+01:00"),
            ("D:202601051020", "2026-01-05T10:20:00Z"),
            ("Mon, 05 Jan 2026 10:20:30 GMT", "2026-01-05T10:20:30Z"),
            (
                "Mon, 05 Jan 2026 10:20:30 +0100",
                "2026-01-05T10:20:30+01:00",
            ),
            ("Mon, 5 Jan 2026 10:20 EST", "2026-01-05T10:20:00-05:00"),
            ("Monday, 05-Jan-26 10:20:30 GMT", "2026-01-05T10:20:30Z"),
            ("Mon Jan  5 10:20:30 2026", "2026-01-05T10:20:30Z"),
            ("January 5, 2026", "2026-01-05"),
            ("Jan. 5th, 2026", "2026-01-05"),
            ("Jan 5, 2026 3:20 PM", "2026-01-05T15:20:00Z"),
            ("January 5, 2026 at 12:05 am", "2026-01-05T00:05:00Z"),
            ("5 January 2026", "2026-01-05"),
            ("5. März 2026", "2026-03-05"),
            ("5 de enero de 2026", "2026-01-05"),
            ("1er août 2026", "2026-08-01"),
            ("5 juin 2026", "2026-06-05"),
            ("5 juillet 2026", "2026-07-05"),
            ("05.01.2026", "2026-01-05"),
            ("05.01.2026 10:20", "2026-01-05T10:20:00Z"),
            ("25/12/2026", "2026-12-25"),
            ("12/25/2026", "2026-12-25"),
            ("2026年1月5日", "2026-01-05"),
            ("1767608430", "2026-01-05T10:20:30Z"),
            ("1767608430123", "2026-01-05T10:20:30Z"),
            ("2024-02-29", "2024-02-29"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_date_or_could_be_two_is_none() {
        for text in [
            "",
            "yesterday",
            "01/02/2026",
            "2026-13-01",
            "2026-02-30",
            "2025-02-29",
            "0000-00-00",
            "12",
            "123456789",
            "99999999999999",
            "May",
            "in May I ate 5 of 2026 apples and so on",
            "2026年",
            "D:",
            "9999-01-01",
            "maybe 5, 2026 or other long text that goes on and on and on",
        ] {
            let date = read(text);
            assert!(date.is_empty(), "{text}: {date}");
        }
    }

    #[test]
    fn moments_are_counted_in_utc() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("1970-01-01T01:00:00+01:00", 0),
            ("2000-03-01", 951_868_800),
            ("2026-01-05T10:20:30Z", 1_767_608_430),
            ("1969-12-31T23:59:59Z", -1),
        ] {
            assert_eq!(
                Date::parse(text).map(|date| date.unix_seconds()),
                Some(seconds),
                "{text}"
            );
        }
    }
}
