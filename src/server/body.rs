//! A request's body within its limits. Bodies share a bounded room in memory, and keep their part of it until what they ask for is
//! done; who finds none waits before more is read. Short bodies have a room of their own, so that none waits behind long ones.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::ApiError;

/// How long a client may pause within its body.
const PAUSE: Duration = Duration::from_secs(30);

/// The least speed at which a body must come, in bytes a second, once it has taken a minute.
const LEAST_SPEED: usize = 256 << 10;

/// Bodies of at most so many bytes are short: they are parsed where they are read.
const SHORT: usize = 64 << 10;

/// Short bodies, all together, in kibibytes.
const SHORT_ROOM: usize = 256 << 10;

/// Longer bodies, all together, in kibibytes; one as large as is allowed always fits.
const LONG_ROOM: usize = 1 << 20;

/// The room in memory for bodies.
pub(super) struct Room {
    short: Arc<Semaphore>,
    long: Arc<Semaphore>,
    most: usize,
}

/// A body, and the room that it takes.
pub(super) struct Taken<T> {
    pub(super) value: T,
    /// Given back when it is dropped: once what the body asks for is done.
    pub(super) room: OwnedSemaphorePermit,
}

/// Refuses bodies that are compressed: they would be no JSON.
pub(super) async fn check_encoding(request: Request, next: Next) -> Response {
    let encoding = request.headers().get(header::CONTENT_ENCODING);
    if let Some(encoding) =
        encoding.filter(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        let why = format!(
            "the body has the encoding {encoding:?}, which is not read here: send it uncompressed"
        );
        return ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why).into_response();
    }
    next.run(request).await
}

impl Room {
    /// For bodies of at most so many bytes.
    pub(super) fn new(most: usize) -> Self {
        let long = LONG_ROOM.max(kibibytes(most));
        Self {
            short: Arc::new(Semaphore::new(SHORT_ROOM)),
            long: Arc::new(Semaphore::new(long)),
            most,
        }
    }

    /// Waits for room for a body of so many bytes.
    async fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        let room = if bytes <= SHORT {
            &self.short
        } else {
            &self.long
        };
        let taken = Arc::clone(room).acquire_many_owned(kibibytes(bytes) as u32);
        taken.await.map_err(|_| ApiError::ending())
    }

    /// Reads a body as a JSON object.
    pub(super) async fn object(&self, body: Body) -> Result<Taken<Map<String, Value>>, ApiError> {
        let Taken { value, room } = self.read(body).await?;
        let value_is_short = value.len() <= SHORT;
        let parse = move || serde_json::from_slice(&value);
        let value = if value_is_short {
            Ok(parse())
        } else {
            tokio::task::spawn_blocking(parse).await
        };
        match value {
            Ok(Ok(Value::Object(value))) => Ok(Taken { value, room }),
            Ok(Ok(_)) => Err(ApiError::bad_request("the body must be a JSON object")),
            Ok(Err(error)) => Err(ApiError::bad_request(format!(
                "the body is not valid JSON: {error}"
            ))),
            Err(_) => Err(ApiError::ending()),
        }
    }

    async fn read(&self, mut body: Body) -> Result<Taken<Vec<u8>>, ApiError> {
        let known = body.size_hint().exact();
        if known.is_some_and(|bytes| bytes > self.most as u64) {
            return Err(self.too_large());
        }
        // One of unknown length is short until it is not.
        let mut held = known.map_or(SHORT, |bytes| bytes as usize);
        let mut room = self.take(held).await?;
        let mut value = Vec::with_capacity(known.unwrap_or(0) as usize);
        let started = tokio::time::Instant::now();
        loop {
            let frame = tokio::time::timeout(PAUSE, body.frame()).await;
            let frame = match frame {
                Err(_) => return Err(too_slow()),
                Ok(None) => break,
                Ok(Some(Err(_))) => {
                    return Err(ApiError::bad_request("the body ended early"));
                }
                Ok(Some(Ok(frame))) => frame,
            };
            if let Some(data) = frame.data_ref() {
                if value.len() + data.len() > self.most {
                    return Err(self.too_large());
                }
                if value.len() + data.len() > held {
                    held = self.most;
                    room = self.take(held).await?;
                }
                value.extend_from_slice(data);
            }
            let seconds = started.elapsed().as_secs() as usize;
            if seconds > 60 && value.len() < seconds * LEAST_SPEED {
                return Err(too_slow());
            }
        }
        // What was held for more than came.
        let excess = room.num_permits().saturating_sub(kibibytes(value.len()));
        drop(room.split(excess));
        Ok(Taken { value, room })
    }

    fn too_large(&self) -> ApiError {
        ApiError::too_large(format!(
            "the body has more than {} bytes: send fewer samples a request, or start the server with a larger --max-body",
            self.most
        ))
    }
}

/// What bytes take in a room.
fn kibibytes(bytes: usize) -> usize {
    (bytes / 1024 + 1).min(u32::MAX as usize)
}

fn too_slow() -> ApiError {
    ApiError::new(
        StatusCode::REQUEST_TIMEOUT,
        "the body came too slowly, and was given up",
    )
}
