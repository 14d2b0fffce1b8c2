//! How often something may happen, as a person writes it.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use crate::ConfigError;

/// A number of times in a period: `10/s`, `100/m`, `1000/h`.
///
/// ```
/// use agui_auth::RateSpec;
///
/// let rate: RateSpec = "100/m".parse()?;
/// assert_eq!(rate.count.get(), 100);
/// assert_eq!(rate.period.as_secs(), 60);
/// # Ok::<(), agui_auth::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RateSpec {
    /// How often in a period; also how much may come at once.
    pub count: NonZeroU32,
    /// The period: a second, a minute or an hour.
    pub period: Duration,
}

/// The letters of the periods.
const PERIODS: [(&str, Duration); 3] =
    [("s", Duration::from_secs(1)), ("m", Duration::from_secs(60)), ("h", Duration::from_secs(60 * 60))];

/// A thousand million times a second is one each nanosecond, the finest that is counted.
const MAX_PER_SECOND: u32 = 1_000_000_000;

impl RateSpec {
    /// So many times a second.
    #[must_use]
    pub const fn per_second(count: NonZeroU32) -> Self {
        Self { count, period: Duration::from_secs(1) }
    }
}

impl FromStr for RateSpec {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let (count, unit) = text.split_once('/').ok_or(ConfigError::Rate)?;
        let plain = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        let count = count.parse().ok().filter(|_| plain).ok_or(ConfigError::Rate)?;
        let period = PERIODS.iter().find(|(letter, _)| *letter == unit).ok_or(ConfigError::Rate)?.1;
        if period.as_secs() == 1 && NonZeroU32::get(count) > MAX_PER_SECOND {
            return Err(ConfigError::Rate);
        }
        Ok(Self { count, period })
    }
}

impl fmt::Display for RateSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = PERIODS.iter().find(|(_, period)| *period == self.period);
        match unit {
            Some((letter, _)) => write!(f, "{}/{letter}", self.count),
            None => write!(f, "{}/{:?}", self.count, self.period),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_a_slash_and_a_period() {
        let table = [
            ("10/s", 10, 1),
            ("1/s", 1, 1),
            ("100/m", 100, 60),
            ("7/h", 7, 3600),
            ("4294967295/m", u32::MAX, 60),
        ];
        for (text, count, secs) in table {
            let rate: RateSpec = text.parse().unwrap();
            assert_eq!((rate.count.get(), rate.period.as_secs()), (count, secs), "{text}");
            assert_eq!(rate.to_string(), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let table = [
            "",
            "/",
            "10",
            "10/",
            "/s",
            "0/s",
            "-1/s",
            "+1/s",
            "1.5/s",
            "10/d",
            "10/S",
            "10 /s",
            "10/ s",
            "10/s ",
            "10/s/s",
            "4294967296/m",
            "1000000001/s",
            "１/s",
        ];
        for text in table {
            assert!(matches!(text.parse::<RateSpec>(), Err(ConfigError::Rate)), "{text:?}");
        }
    }
}
