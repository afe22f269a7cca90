//! The date and time that a template's `strftime_now` gives.
//!
//! Some templates write the date into the prompt. A run has one moment, however long it takes, and its journal keeps as much
//! of it as the template used: after midnight the same command continues with the date it began with.

use std::fmt::{self, Write};
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use chrono::{Local, NaiveDate, NaiveDateTime, NaiveTime};

use juror_base::threads::lock;

/// A local date and time, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(NaiveDateTime);

const WITH_TIME: &str = "%Y-%m-%dT%H:%M:%S";
const DATE: &str = "%Y-%m-%d";

/// The most formats that are remembered; templates use a few.
const MAX_FORMATS: usize = 100;

impl FromStr for Moment {
    type Err = String;

    /// `2026-11-21`, or `2026-11-21T19:30:00`.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(moment) = NaiveDateTime::parse_from_str(text, WITH_TIME) {
            return Ok(Self(moment));
        }
        NaiveDate::parse_from_str(text, DATE)
            .map(|date| Self(date.and_time(NaiveTime::MIN)))
            .map_err(|_| {
                "a date is written as 2026-11-21, or with the time as 2026-11-21T19:30:00".into()
            })
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0.format(WITH_TIME))
    }
}

impl Moment {
    /// The moment in one of Python's `strftime` formats; `None` if the format is invalid.
    fn format(self, format: &str) -> Option<String> {
        // Python's fractions are microseconds.
        let format = format.replace("%f", "%6f");
        let mut text = String::new();
        write!(text, "{}", self.0.format(&format)).ok()?;
        Some(text)
    }

    /// The same date at another time of day.
    fn at_another_time(self) -> Self {
        let flipped = NaiveTime::from_hms_opt(23, 58, 57).unwrap_or_default();
        let time = if self.0.time() == flipped {
            NaiveTime::MIN
        } else {
            flipped
        };
        Self(self.0.date().and_time(time))
    }
}

/// The moment of a run, and the formats in which a template asked for it.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Mutex<Told>>);

#[derive(Debug)]
struct Told {
    moment: Moment,
    formats: Vec<String>,
}

impl Clock {
    /// A clock that stands at this moment.
    pub(super) fn now() -> Self {
        let now = Local::now().naive_local();
        Self(Arc::new(Mutex::new(Told {
            moment: Moment(now),
            formats: Vec::new(),
        })))
    }

    pub fn set(&self, moment: Moment) {
        lock(&self.0).moment = moment;
    }

    /// `strftime_now(format)`; `None` if the format is invalid or there are too many formats.
    pub(super) fn tell(&self, format: &str) -> Option<String> {
        let mut told = lock(&self.0);
        if !told.formats.iter().any(|asked| asked == format) {
            if told.formats.len() == MAX_FORMATS {
                return None;
            }
            told.formats.push(format.to_owned());
        }
        told.moment.format(format)
    }

    /// As much of the moment as the template has used: nothing, the date, or date and time. Read back as a [`Moment`], it gives the same text.
    pub fn used(&self) -> Option<String> {
        let told = lock(&self.0);
        if told.formats.is_empty() {
            return None;
        }
        let other = told.moment.at_another_time();
        let date_alone = told
            .formats
            .iter()
            .all(|format| told.moment.format(format) == other.format(format));
        Some(if date_alone {
            told.moment.0.format(DATE).to_string()
        } else {
            told.moment.to_string()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_as_much_as_was_asked() {
        let clock = Clock::now();
        clock.set("2026-03-05T14:07:09".parse().unwrap());
        assert_eq!(clock.used(), None);
        assert_eq!(clock.tell("%d %b %Y").unwrap(), "05 Mar 2026");
        assert_eq!(
            clock.tell("%A, %-d %B %y %j").unwrap(),
            "Thursday, 5 March 26 064"
        );
        assert_eq!(clock.used().unwrap(), "2026-03-05");
        assert_eq!(clock.tell("%H:%M").unwrap(), "14:07");
        assert_eq!(clock.used().unwrap(), "2026-03-05T14:07:09");
        assert_eq!(clock.tell("%Q!"), None);
        assert!("5 March".parse::<Moment>().is_err());
        assert_eq!(
            "2026-03-05".parse::<Moment>().unwrap().to_string(),
            "2026-03-05T00:00:00"
        );
    }
}
