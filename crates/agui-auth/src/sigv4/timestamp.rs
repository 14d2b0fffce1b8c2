//! The moment a request was signed.

use std::time::Duration;

use jiff::civil;
use jiff::tz::TimeZone;

/// Time from the Unix epoch to a moment written as `20150830T123600Z`.
pub(super) fn since_epoch(text: &str) -> Option<Duration> {
    let digits = text.strip_suffix('Z')?;
    let (date, time) = digits.split_once('T')?;
    let plain = |part: &str, len: usize| part.len() == len && part.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(date, 8) || !plain(time, 6) {
        return None;
    }
    let two = |part: &str, at: usize| part.get(at..at + 2)?.parse::<i8>().ok();
    let year = date.get(..4)?.parse::<i16>().ok()?;
    let date = civil::Date::new(year, two(date, 4)?, two(date, 6)?).ok()?;
    let time = civil::Time::new(two(time, 0)?, two(time, 2)?, two(time, 4)?, 0).ok()?;
    let moment = TimeZone::UTC.to_timestamp(date.to_datetime(time)).ok()?;
    u64::try_from(moment.as_second()).ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_and_a_time_of_utc() {
        let table = [
            ("19700101T000000Z", Some(0)),
            ("20150830T123600Z", Some(1_440_938_160)),
            ("20240229T235959Z", Some(1_709_251_199)),
            ("20230229T000000Z", None),
            ("19691231T235959Z", None),
            ("20150830T246000Z", None),
            ("20150830T123600", None),
            ("20150830 123600Z", None),
            ("2015-08-30T12:36:00Z", None),
            ("2015083０T123600Z", None),
            ("+0150830T123600Z", None),
            ("", None),
        ];
        for (text, seconds) in table {
            assert_eq!(since_epoch(text).map(|time| time.as_secs()), seconds, "{text}");
        }
    }
}
