//! Calendars link to the next month for ever. A date far from today in a URL is taken as a sign of
//! one.
//!
//! Numbers are not dates: a year counts only beside a two-digit month, in a parameter or below a
//! segment that speaks of time, or in a form such as `2031-05`. Only [`REACH`] years around today
//! are dates at all. A calendar is walked month by month, so a belt is as good as a wall, and
//! `/topic/1234/10` stays a topic.

/// Years from today within which a number may be a year.
const REACH: i32 = 500;

/// Parameters and directories whose numbers are dates.
const TIME_WORDS: [&str; 25] = [
    "archive",
    "archives",
    "cal",
    "calendar",
    "date",
    "day",
    "event",
    "events",
    "from",
    "end",
    "enddate",
    "end_date",
    "month",
    "m",
    "start",
    "startdate",
    "start_date",
    "time",
    "to",
    "until",
    "since",
    "week",
    "year",
    "y",
    "ym",
];

#[derive(Debug, Clone, Copy)]
pub(super) struct Calendar {
    this_year: i32,
    max_years: i32,
}

impl Calendar {
    pub(super) fn new(this_year: i32, max_years: u32) -> Self {
        Self {
            this_year,
            max_years: i32::try_from(max_years).unwrap_or(i32::MAX),
        }
    }

    /// A year in the URL that is too far from this one.
    pub(super) fn far_year(self, path: &str, query: Option<&str>) -> Option<i32> {
        let far = |year: &i32| {
            let distance = self.this_year.saturating_sub(*year).saturating_abs();
            distance > self.max_years && distance <= REACH
        };
        if has_four_digits(path)
            && let Some(year) = years_in_path(path).find(far)
        {
            return Some(year);
        }
        let query = query.filter(|query| has_four_digits(query))?;
        years_in_query(query).find(far)
    }
}

/// Spares most URLs the rest.
fn has_four_digits(text: &str) -> bool {
    let mut run = 0;
    text.bytes().any(|byte| {
        run = if byte.is_ascii_digit() { run + 1 } else { 0 };
        run == 4
    })
}

fn years_in_path(path: &str) -> impl Iterator<Item = i32> {
    let followers = path.split('/').skip(2);
    let before = std::iter::once("").chain(path.split('/').skip(1));
    let with_next = path
        .split('/')
        .skip(1)
        .zip(followers.chain(std::iter::once("")));
    with_next
        .zip(before)
        .filter_map(|((segment, next), before)| {
            let about_time = is_time_word(before);
            separated_date(segment)
                .or_else(|| year_before_month(segment, next, about_time))
                .or_else(|| about_time.then(|| compact_date(segment)).flatten())
        })
}

fn years_in_query(query: &str) -> impl Iterator<Item = i32> {
    query.split('&').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let about_time = || name.split(['-', '_', '[', ']', '.']).any(is_time_word);
        separated_date(value).or_else(|| {
            (is_time_word(name) || about_time())
                .then(|| compact_date(value))
                .flatten()
        })
    })
}

fn is_time_word(word: &str) -> bool {
    TIME_WORDS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(word))
}

/// `2031` followed by `05`; by `5` only where the place speaks of time.
fn year_before_month(segment: &str, next: &str, about_time: bool) -> Option<i32> {
    let year = digits(segment, 4)?;
    let two_digits = next.len() == 2;
    ((two_digits || about_time && next.len() == 1) && is_month(digits(next, next.len())?))
        .then_some(year)
}

/// `2031-05`, `2031-05-01`, `2031/05`, with or without a time of day behind it.
fn separated_date(text: &str) -> Option<i32> {
    let year = digits(text.get(..4)?, 4)?;
    let rest = text
        .get(4..)?
        .strip_prefix(['-', '/', '.', '_'])
        .or_else(|| {
            let rest = text.get(4..)?;
            rest.strip_prefix("%2F")
                .or_else(|| rest.strip_prefix("%2f"))
        })?;
    let month = digits(rest.get(..2)?, 2)?;
    let behind = rest.get(2..)?;
    let ends = match behind.strip_prefix(['-', '/', '.', '_']) {
        Some(day) => day.get(..2).is_some_and(|d| digits(d, 2).is_some()) && !slug(&day[2..]),
        None => !slug(behind),
    };
    (is_month(month) && ends).then_some(year)
}

/// True if a date is followed by the words of a title or by more digits: then it is the name of
/// one page, and pages are not endless.
fn slug(behind: &str) -> bool {
    let first = behind.bytes().next();
    first.is_some_and(|byte| !matches!(byte, b'T' | b't' | b'+' | b'%' | b' '))
}

/// `20310501`, `203105` or `2031`, where the place says that it is a date.
fn compact_date(text: &str) -> Option<i32> {
    let year = digits(text.get(..4)?, 4)?;
    let month = || digits(text.get(4..6)?, 2).filter(|month| is_month(*month));
    let day = || digits(text.get(6..8)?, 2).filter(|day| (1..=31).contains(day));
    match text.len() {
        4 => Some(year),
        6 => month().map(|_| year),
        8 => month().and_then(|_| day()).map(|_| year),
        _ => None,
    }
}

fn is_month(number: i32) -> bool {
    (1..=12).contains(&number)
}

/// The number that exactly `count` digits spell.
fn digits(text: &str, count: usize) -> Option<i32> {
    (text.len() == count && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_far_from_today_are_seen_and_numbers_that_are_no_dates_are_not() {
        let calendar = Calendar::new(2026, 30);
        for (url, year) in [
            ("/2061/05/", Some(2061)),
            ("/2061/05/17/x", Some(2061)),
            ("/2056/05/", None),
            ("/1995/12/", Some(1995)),
            ("/1996/12/", None),
            ("/events/2061-05", Some(2061)),
            ("/events/2061-05-01", Some(2061)),
            ("/events/2061-05-01/", Some(2061)),
            ("/1914-06-28-a-day-in-history", None),
            ("/calendar/2061/5", Some(2061)),
            ("/calendar/20610501", Some(2061)),
            ("/calendar/2061", Some(2061)),
            ("/topic/2061/5", None),
            ("/topic/1234/10", None),
            ("/p/2061", None),
            ("/p/20610501", None),
            ("/p/2061/13/", None),
            ("/isbn/9782061051", None),
            ("/a?month=2061-05", Some(2061)),
            ("/a?date=20610501", Some(2061)),
            ("/a?date=2061-05-01T00:00", Some(2061)),
            ("/a?x=1&year=2061", Some(2061)),
            ("/a?year=2030&month=05", None),
            ("/a?tribe-bar-date=2061-05-01", Some(2061)),
            ("/a?start_date=20610501", Some(2061)),
            ("/a?ym=206105", Some(2061)),
            ("/a?d=2061%2F05%2F01", Some(2061)),
            ("/a?id=2061", None),
            ("/a?id=20610501", None),
            ("/a?year=1066", None),
            ("/a?date=20619901", None),
            ("/a?date=é061-05", None),
            ("/2061/é5/", None),
            ("/", None),
        ] {
            let (path, query) = match url.split_once('?') {
                Some((path, query)) => (path, Some(query)),
                None => (url, None),
            };
            assert_eq!(calendar.far_year(path, query), year, "{url}");
        }
    }
}
