//! A line for each request, written by a thread of its own: no request waits for a terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use super::ServerError;

/// Lines that wait to be written, at most.
const MOST_LINES: usize = 1024;

/// Takes lines, and counts those that are lost as there is no room for them.
pub(super) struct RequestLog(SyncSender<String>, Arc<AtomicUsize>);

impl RequestLog {
    pub(super) fn start(write: impl Fn(&str) + Send + 'static) -> Result<Self, ServerError> {
        let (lines, waiting) = sync_channel(MOST_LINES);
        let lost = Arc::new(AtomicUsize::new(0));
        let log = Self(lines, Arc::clone(&lost));
        let work = move || {
            for line in waiting {
                write(String::as_str(&line));
                let lost = lost.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    write(&format!(
                        "{lost} lines of requests are lost: they came faster than they were written"
                    ));
                }
            }
        };
        let thread = std::thread::Builder::new().name("request-log".into());
        thread.spawn(work).map_err(ServerError::Start)?;
        Ok(log)
    }

    pub(super) fn tell(&self, line: String) {
        if self.0.try_send(line).is_err() {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
