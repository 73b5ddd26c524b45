//! Wall-clock time as it is stored, written as people and programs read it. Reads no clock.

use crate::UnixMillis;

impl UnixMillis {
    /// `2025-01-15T10:30:00.000Z`. Years beyond four digits are cut to the last that has four.
    pub fn iso(self) -> String {
        const LAST: i64 = 253_402_300_799_999;
        const FIRST: i64 = -62_135_596_800_000;
        let millis = self.0.clamp(FIRST, LAST);
        let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
        let (year, month, day) = civil_day(days);
        let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
        let fraction = rest % 1000;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z")
    }
}

/// Year, month and day of a day counted from 1970-01-01. Years are thought to begin in March, so
/// that the odd day of February comes last.
pub fn civil_day(days: i64) -> (i64, i64, i64) {
    let from_march = days + 719_468;
    let era = from_march.div_euclid(146_097);
    let day_of_era = from_march.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc_to_the_millisecond() {
        assert_eq!(UnixMillis(0).iso(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            UnixMillis(951_782_400_123).iso(),
            "2000-02-29T00:00:00.123Z"
        );
        assert_eq!(UnixMillis(-1).iso(), "1969-12-31T23:59:59.999Z");
        assert!(UnixMillis(i64::MAX).iso().starts_with("9999-12-31"));
    }
}
