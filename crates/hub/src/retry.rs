//! Retries: which errors are transient, how often to try again, and when.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use chrono::DateTime;

use crate::error::Fault;
use crate::url::{host, without_query};
use crate::{Event, Watch};

/// The number of attempts at a request that may succeed the next time.
const ATTEMPTS: u32 = 5;
/// The number of attempts to reach a server.
const ATTEMPTS_TO_CONNECT: u32 = 3;
/// The pause before the second attempt; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The longest time, in all, that servers may make one request wait. The hub counts requests over five minutes.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// An error, and whether trying again may help.
pub(crate) struct AttemptError {
    pub(crate) error: Box<Fault>,
    /// The total number of attempts that is worth making.
    pub(crate) attempts: u32,
    /// How long the server asks to wait.
    pub(crate) after: Option<Duration>,
}

impl AttemptError {
    /// An error that may not recur.
    pub(crate) fn transient(error: Fault) -> Self {
        Self {
            attempts: ATTEMPTS,
            ..Self::from(error)
        }
    }
}

/// A permanent error.
impl From<Fault> for AttemptError {
    fn from(error: Fault) -> Self {
        Self {
            error: Box::new(error),
            attempts: 1,
            after: None,
        }
    }
}

/// The attempts at one request.
pub(crate) struct Attempts<'a> {
    watch: &'a Watch<'a>,
    failures: u32,
    /// How long servers have made it wait so far.
    waited: Duration,
}

impl<'a> Attempts<'a> {
    pub(crate) fn new(watch: &'a Watch<'a>) -> Self {
        Self {
            watch,
            failures: 0,
            waited: Duration::ZERO,
        }
    }

    /// Starts counting again after an attempt that got further than any before.
    pub(crate) fn start_again(&mut self) {
        (self.failures, self.waited) = (0, Duration::ZERO);
    }

    /// Waits until the next attempt is due, and returns how long the server asked to wait; the error if there is to be no
    /// other attempt.
    pub(crate) fn wait(&mut self, failure: AttemptError) -> Result<Duration, Fault> {
        self.failures += 1;
        if self.failures >= failure.attempts {
            return Err(*failure.error);
        }
        let pause = FIRST_PAUSE * 2_u32.saturating_pow(self.failures - 1);
        let Some(after) = failure.after.filter(|after| *after > pause) else {
            thread::sleep(pause);
            return Ok(Duration::ZERO);
        };
        self.waited = self.waited.saturating_add(after);
        if self.waited > LONGEST_WAIT {
            return Err(failure.error.asked_to_wait(after));
        }
        (self.watch)(Event::Note(&format!(
            "{}; attempt {} of {} in {}, as the server asks (Retry-After)",
            failure.error.what_happened(),
            self.failures + 1,
            failure.attempts,
            duration_in_words(after)
        )));
        thread::sleep(after);
        Ok(after)
    }
}

/// Attempts until one succeeds or fails permanently. Each gets the deadline of its answer: `time` is for all of them
/// together, without the waits that the server asks for.
pub(crate) fn with_retries<T>(
    watch: &Watch,
    time: Duration,
    mut attempt: impl FnMut(Instant) -> Result<T, AttemptError>,
) -> Result<T, Fault> {
    let mut attempts = Attempts::new(watch);
    let mut deadline = Instant::now() + time;
    loop {
        match attempt(deadline) {
            Ok(value) => return Ok(value),
            Err(failure) if Instant::now() >= deadline => return Err(*failure.error),
            Err(failure) => deadline += attempts.wait(failure)?,
        }
    }
}

/// The time that a `Retry-After` header asks for, `None` for another text: seconds, or a date, compared with the server's clock if it tells its date.
pub fn retry_after(text: &str, date: Option<&str>) -> Option<Duration> {
    let text = text.trim();
    let is_number = !text.contains(|c: char| !c.is_ascii_digit() && c != '.');
    if let (Ok(seconds), true) = (text.parse::<f64>(), is_number) {
        // A number with more digits than fit is longer than any limit.
        return Some(Duration::from_secs(seconds.ceil() as u64));
    }
    let moment = |text: &str| Some(DateTime::parse_from_rfc2822(text.trim()).ok()?.timestamp());
    let until = moment(text)?;
    let now = date.and_then(moment).or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        i64::try_from(now.ok()?.as_secs()).ok()
    })?;
    // A date in the past asks for no wait.
    let wait = until.saturating_sub(now).max(0);
    Some(Duration::from_secs(wait.unsigned_abs()))
}

/// A duration in words, rounded up.
pub(crate) fn duration_in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds.div_ceil(60)),
        seconds @ 7200..=172_799 => format!("{} h", seconds.div_ceil(3600)),
        seconds => format!("{} days", seconds.div_ceil(86_400)),
    }
}

/// The error of a request that got no answer, and whether a retry may help.
pub(crate) fn transport(url: &str, error: &ureq::Error) -> AttemptError {
    let text = error.to_string();
    let mistrust = match error {
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Pem(_) => true,
        // The error of a connection that does not trust a certificate.
        ureq::Error::Io(source) => source.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    };
    let message = match error {
        ureq::Error::Http(_) | ureq::Error::BadUri(_) => {
            return AttemptError::from(Fault::Protocol {
                url: without_query(url).into(),
                message: format!("not an address: {text}"),
            });
        }
        _ if mistrust => format!(
            "{text} (if a proxy here has a certificate of its own, name a file that holds it in SSL_CERT_FILE)"
        ),
        ureq::Error::Timeout(_) => format!("no answer in time ({text})"),
        _ => text,
    };
    let host = host(url).into();
    AttemptError {
        attempts: if mistrust { 1 } else { ATTEMPTS_TO_CONNECT },
        ..AttemptError::from(Fault::Unreachable { host, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_seconds_or_as_a_date() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        for (text, wait) in [
            ("7", Some(7)),
            (" 120 ", Some(120)),
            ("0", Some(0)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-5", None),
            ("1.5", Some(2)),
            ("+3", None),
            ("soon", None),
            ("", None),
            ("Sun, 99 Nov 1994 08:50:07 GMT", None),
        ] {
            let wait = wait.map(Duration::from_secs);
            assert_eq!(retry_after(text, date), wait, "{text}");
        }
        // Without the server's date, this machine's clock is used.
        let past = retry_after("Sun, 06 Nov 1994 08:49:37 GMT", None);
        assert_eq!(past, Some(Duration::ZERO));
        let far = retry_after("Fri, 06 Nov 2893 08:49:37 GMT", Some("yesterday")).unwrap();
        assert!(far > LONGEST_WAIT);
    }

    #[test]
    fn a_request_waits_no_longer_than_the_longest_wait() {
        let error = || Fault::Status {
            url: "http://hub/x".into(),
            status: 429,
            message: String::new(),
            wait: None,
        };
        let asked = |after: u64| AttemptError {
            after: Some(Duration::from_secs(after)),
            ..AttemptError::transient(error())
        };
        let mut attempts = Attempts::new(&|_| {});
        attempts.waited = LONGEST_WAIT;
        for after in [1, 301, u64::MAX] {
            attempts.failures = 0;
            let refused = attempts.wait(asked(after)).unwrap_err().to_string();
            assert!(refused.contains("asks to wait"), "{refused}");
        }
    }
}
