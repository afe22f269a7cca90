//! Contents in the hub's chunks (Xet), by the hub's own client, the crate `hf-xet`: a stream of bytes from an offset on, and nothing else.
//! Names, locks, part files and hashes are those of [`crate::download`]; what fails here is fetched over plain HTTP.
//!
//! ```text
//! HEAD /ORG/NAME/resolve/COMMIT/FILE                 X-Xet-Hash
//! GET  /api/models/ORG/NAME/xet-read-token/COMMIT    casUrl, accessToken, exp
//! ```
//!
//! Up to there it is this crate's client that asks, so that the hub's token goes to the hub alone. What `hf-xet` then asks for carries the
//! short-lived token of that answer.

use std::io::{Error, ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tempfile::TempDir;
use xet::xet_session::{
    HeaderMap, HeaderValue, XetConfig, XetDownloadStreamGroup, XetFileInfo, XetSession,
    XetSessionBuilder, header,
};

use crate::client::{CONNECT, USER_AGENT};
use crate::settings::Settings;

/// How often a stream that brings nothing looks whether somebody still wants it.
const LOOK: Duration = Duration::from_millis(200);

/// The content comes in bursts: a chunk is given when the whole request that brings it, of up to 64 MiB, was answered. So it may be silent
/// for this many times as long as a connection, whose own silence `hf-xet` ends by itself.
pub(crate) const BURSTS: u32 = 4;

/// The name of a content in chunks.
#[derive(Debug, Clone)]
pub(crate) struct XetHash(String);

impl XetHash {
    /// Parses an `X-Xet-Hash` header.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| Self(text.to_ascii_lowercase()))
    }
}

/// What the hub answers to a request for access to contents in chunks.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Access {
    pub(crate) cas_url: String,
    #[serde(rename = "accessToken")]
    token: String,
    exp: u64,
}

/// Contents in chunks, as long as they come.
pub(crate) struct Xet {
    /// Whether the rest of the download goes over plain HTTP.
    given_up: AtomicBool,
    patience: Duration,
    /// Made for the first content, with the folder where the client wants to keep things of uploads.
    session: Mutex<Option<(XetSession, TempDir)>>,
}

impl Xet {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            given_up: AtomicBool::new(!settings.xet),
            patience: settings.patience,
            session: Mutex::new(None),
        }
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Ends it for the rest of the download; whether this call did.
    pub(crate) fn give_up(&self) -> bool {
        !self.given_up.swap(true, Ordering::Relaxed)
    }

    fn session(&self) -> Result<XetSession, String> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((session, _)) = &*session {
            return Ok(session.clone());
        }
        // An error means that there is one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let patience = format!("{}ms", self.patience.as_millis());
        // What HF_XET_… sets otherwise stays.
        let mut config = XetConfig::new();
        for (key, value) in [
            (
                "client.connect_timeout",
                format!("{}ms", CONNECT.as_millis()),
            ),
            ("client.read_timeout", patience),
            // Further attempts are made here, from the bytes that are there.
            ("client.retry_max_attempts", "2".into()),
            ("client.retry_base_delay", "200ms".into()),
            ("client.retry_max_duration", "2s".into()),
            // A judge tells nobody what it fetched.
            ("telemetry.enabled", "false".into()),
        ] {
            let set = config.with_config(key, value);
            config = set.map_err(|error| error.to_string())?;
        }
        let built = XetSessionBuilder::new_with_config(config)
            .with_cache_dir(folder.path())
            .build()
            .map_err(|error| error.to_string())?;
        *session = Some((built.clone(), folder));
        Ok(built)
    }

    /// The content of `hash` from an offset to its end; `stop` ends the wait for it.
    pub(crate) fn open<'s>(
        &self,
        access: &Access,
        hash: &XetHash,
        from: u64,
        size: u64,
        stop: &'s AtomicBool,
    ) -> Result<impl Read + use<'s>, String> {
        guarded(|| self.begin(access, hash, from, size, stop))
    }

    fn begin<'s>(
        &self,
        access: &Access,
        hash: &XetHash,
        from: u64,
        size: u64,
        stop: &'s AtomicBool,
    ) -> Result<impl Read + use<'s>, String> {
        let text = |error: xet::XetError| told(&error.to_string());
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        let session = self.session()?;
        let group = session.new_download_stream_group().map_err(text)?;
        let group = group
            .with_endpoint(access.cas_url.trim_end_matches('/'))
            .with_token_info(access.token.as_str(), access.exp)
            .with_custom_headers(headers)
            .build_blocking()
            .map_err(text)?;
        let file = XetFileInfo::new(hash.0.clone(), size);
        let stream = group.download_stream_blocking(file, Some(from..size));
        let mut stream = stream.map_err(text)?;
        let (sender, pieces) = sync_channel(1);
        let pump = move || {
            // The stream ends in there too.
            let _ = guarded(move || {
                loop {
                    let piece = stream
                        .blocking_next()
                        .map_err(|error| told(&error.to_string()));
                    let last = !matches!(piece, Ok(Some(_)));
                    if sender.send(piece).is_err() || last {
                        return Ok(());
                    }
                }
            });
        };
        let thread = thread::Builder::new().name("xet".into()).spawn(pump);
        thread.map_err(|error| error.to_string())?;
        Ok(Pieces {
            group: Some(group),
            coming: pieces,
            piece: None,
            read: 0,
            waiting_since: Instant::now(),
            patience: self.patience * BURSTS,
            stop,
        })
    }
}

/// What `hf-xet` does. It asserts some of what a server has told it, and where that is wrong it panics.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(ASSERTED.to_owned()))
}

/// What stands for a panic in `hf-xet`.
const ASSERTED: &str = "what the server says of the content does not fit together";

/// An error of `hf-xet` in one line; it hands on panics in its own threads with their messages.
fn told(error: &str) -> String {
    if error.contains("panic") {
        return ASSERTED.to_owned();
    }
    let words = error.chars().filter(|c| !c.is_control());
    words.take(300).collect()
}

/// A content as it comes.
struct Pieces<'s, B> {
    /// Until it is dropped.
    group: Option<XetDownloadStreamGroup>,
    coming: Receiver<Result<Option<B>, String>>,
    piece: Option<B>,
    /// How much of the piece was read.
    read: usize,
    waiting_since: Instant,
    patience: Duration,
    stop: &'s AtomicBool,
}

impl<B: AsRef<[u8]>> Read for Pieces<'_, B> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if let Some(piece) = &self.piece {
                let rest = &piece.as_ref()[self.read..];
                if !rest.is_empty() {
                    let count = rest.len().min(buffer.len());
                    buffer[..count].copy_from_slice(&rest[..count]);
                    self.read += count;
                    self.waiting_since = Instant::now();
                    return Ok(count);
                }
            }
            self.piece = match self.coming.recv_timeout(LOOK) {
                Ok(Ok(Some(piece))) => Some(piece),
                Ok(Ok(None)) => return Ok(0),
                Ok(Err(error)) => return Err(Error::other(error)),
                // The caller looks whether to stop, and comes back.
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    return Err(ErrorKind::Interrupted.into());
                }
                Err(RecvTimeoutError::Timeout) if self.waiting_since.elapsed() < self.patience => {
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.patience.as_secs();
                    let silent = format!("nothing came for {seconds} s");
                    return Err(Error::new(ErrorKind::TimedOut, silent));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::other("the client of Xet ended without a word"));
                }
            };
            self.read = 0;
        }
    }
}

impl<B> Drop for Pieces<'_, B> {
    fn drop(&mut self) {
        let group = self.group.take();
        // Ends the thread that waits for the next piece. Of a content that came whole there is nothing to end.
        let _ = guarded(|| group.map_or(Ok(()), |group| group.abort().map_err(|e| e.to_string())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_of_chunks_is_a_hash() {
        let hash = "AB".repeat(32);
        assert_eq!(
            XetHash::parse(&format!(" {hash} ")).unwrap().0,
            "ab".repeat(32)
        );
        for other in ["", "ab", "../../evil", &"g".repeat(64), &"a".repeat(65)] {
            assert!(XetHash::parse(other).is_none(), "{other}");
        }
    }
}
