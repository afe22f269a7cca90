//! Verdicts as pages for the browser of this machine (`juror view`): for files too large for one page, and for runs that go on.

mod pages;
mod query;
mod routes;
mod shown;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::browse::{Browser, Figures, Progress};
use juror_base::threads::{ThreadError, lock, refused};
use juror_judge::server::{ServerError, serve_pages};

pub(crate) use routes::VIEW_STYLE;

pub(crate) const TEMPLATES: [(&str, &str); 8] = [
    ("view/head.html", include_str!("head.html")),
    ("view/summary.html", include_str!("summary.html")),
    ("view/count.html", include_str!("count.html")),
    ("view/item.html", include_str!("item.html")),
    ("view/line.html", include_str!("line.html")),
    ("view/nav.html", include_str!("nav.html")),
    ("view/foot.html", include_str!("foot.html")),
    ("view/error.html", include_str!("error.html")),
];

/// How often to check whether a file has grown.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How many pages are made at a time; more wait.
const PAGES: usize = 4;

/// The state that all pages share.
struct App {
    browser: Browser,
    figures: Figures,
    pages: Arc<Semaphore>,
    /// Set when the server is to end.
    ends: Arc<AtomicBool>,
    /// Why the file can no longer be read.
    trouble: Mutex<Option<String>>,
}

impl App {
    fn trouble(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }

    /// Reads the file as it grows, until the server ends.
    fn follow(&self, mut progress: Progress) {
        while !self.ends.load(Ordering::Relaxed) {
            let read = self.browser.advance(&mut progress);
            let trouble = read.as_ref().err().map(ToString::to_string);
            *lock(&self.trouble) = trouble;
            if !matches!(read, Ok(true)) {
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
}

/// Serves the verdicts until `ends` is set.
pub fn serve(
    browser: Browser,
    progress: Progress,
    port: u16,
    ends: &Arc<AtomicBool>,
    listening: &mut dyn FnMut(SocketAddr),
) -> Result<(), ServerError> {
    let app = Arc::new(App {
        browser,
        figures: Figures::default(),
        pages: Arc::new(Semaphore::new(PAGES)),
        ends: Arc::clone(ends),
        trouble: Mutex::new(None),
    });
    let followed = Arc::clone(&app);
    let follower = std::thread::Builder::new()
        .name("follow".into())
        .spawn(move || followed.follow(progress))
        .map_err(refused("reading verdicts"))
        .map_err(|error: ThreadError| ServerError::from(error))?;
    let served = serve_pages(port, routes::router(&app), ends, listening);
    // Also ends the follower if the server could not start.
    ends.store(true, Ordering::Relaxed);
    let _ = follower.join();
    served
}
