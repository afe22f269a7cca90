//! Errors that may pass: how often to try again, and when.

use std::thread;
use std::time::Duration;

use super::HubError;
use super::url::{host, without_query};

/// Attempts at a request that may succeed the next time.
const ATTEMPTS: u32 = 5;
/// Attempts at reaching a server.
const ATTEMPTS_TO_CONNECT: u32 = 3;
/// The pause before the second attempt; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The longest pause, also where the server asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// An error, and whether trying again may help.
pub(super) struct Trouble {
    pub(super) error: HubError,
    /// Attempts that are worth making, all in all.
    pub(super) attempts: u32,
    /// How long the server wants us to wait.
    pub(super) after: Option<Duration>,
}

impl Trouble {
    pub(super) fn for_good(error: HubError) -> Self {
        Self {
            error,
            attempts: 1,
            after: None,
        }
    }

    pub(super) fn passing(error: HubError) -> Self {
        Self {
            error,
            attempts: ATTEMPTS,
            after: None,
        }
    }

    /// Waits until the next attempt is due, after so many failures; the error if there is to be none.
    pub(super) fn wait(self, failures: u32) -> Result<(), HubError> {
        if failures >= self.attempts {
            return Err(self.error);
        }
        let pause = FIRST_PAUSE * 2_u32.saturating_pow(failures.saturating_sub(1));
        thread::sleep(self.after.unwrap_or(pause).min(LONGEST_PAUSE));
        Ok(())
    }
}

/// Attempts until one succeeds or it is hopeless.
pub(super) fn patiently<T>(mut attempt: impl FnMut() -> Result<T, Trouble>) -> Result<T, HubError> {
    let mut failures = 0;
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(trouble) => {
                failures += 1;
                trouble.wait(failures)?;
            }
        }
    }
}

/// Why no answer came, and whether one may come the next time.
pub(super) fn transport(url: &str, error: &ureq::Error) -> Trouble {
    let unreachable = |message: String| HubError::Unreachable {
        host: host(url).into(),
        message,
    };
    let text = error.to_string();
    match error {
        ureq::Error::Http(_) | ureq::Error::BadUri(_) => Trouble::for_good(HubError::Protocol {
            url: without_query(url).into(),
            message: format!("not an address: {text}"),
        }),
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Pem(_) => {
            Trouble::for_good(unreachable(certificate_advice(&text)))
        }
        // How the connection says that it does not trust a certificate.
        ureq::Error::Io(source) if source.kind() == std::io::ErrorKind::InvalidData => {
            Trouble::for_good(unreachable(certificate_advice(&text)))
        }
        ureq::Error::Timeout(_) => Trouble {
            attempts: ATTEMPTS_TO_CONNECT,
            ..Trouble::passing(unreachable(format!("no answer in time ({text})")))
        },
        _ => Trouble {
            attempts: ATTEMPTS_TO_CONNECT,
            ..Trouble::passing(unreachable(text))
        },
    }
}

fn certificate_advice(text: &str) -> String {
    format!(
        "{text} (if a proxy here has a certificate of its own, name a file that holds it in SSL_CERT_FILE)"
    )
}
