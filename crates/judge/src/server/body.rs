//! A request's body within its limits: read as its bytes come and there is room for them, and counted before anything is made of it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout};

use super::App;
use super::access::Client;
use super::budget::Reservation;
use super::error::ApiError;
use super::weight::Weight;

/// How long a client may pause within its body.
const PAUSE: Duration = Duration::from_secs(30);

/// Bodies of at most so many bytes are read where they come in.
const SHORT: usize = 64 << 10;

/// Room for a body is taken in steps of so many bytes.
const STEP: usize = 16 << 10;

const MOST_KEYS: usize = 256;

pub(super) struct Received {
    json: Vec<u8>,
    room: Reservation,
}

/// A request's object, its values unread.
pub(super) struct Fields<'b>(BTreeMap<String, &'b RawValue>);

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

impl App {
    /// Receives a client's body, whose values may take so many bytes of memory beside its texts. There is room then for it and for what is read of it.
    pub(super) async fn receive(
        &self,
        client: &Client,
        body: Body,
        most: usize,
    ) -> Result<Received, ApiError> {
        let mut received = Received {
            json: Vec::new(),
            room: self.budget.reserve(&client.0),
        };
        received.read(body, self.limits.body).await?;
        received.make_room(most).await?;
        Ok(received)
    }
}

impl Received {
    /// Counts the values, and takes room for the body and what is read of it.
    async fn make_room(&mut self, most: usize) -> Result<(), ApiError> {
        let weight: Weight = self.parse(|json| read_json(json)).await?;
        if weight.bytes() > most {
            let why = format!(
                "the body has {} JSON values, which would take {} bytes of memory, and a request may take {most}: send fewer a request",
                weight.values(),
                weight.bytes()
            );
            return Err(ApiError::too_large(why));
        }
        let bytes = 2 * self.json.len() + weight.bytes();
        self.room.grow_to(bytes).await;
        Ok(())
    }

    async fn read(&mut self, mut body: Body, most: usize) -> Result<(), ApiError> {
        let too_large = || {
            ApiError::too_large(format!(
                "the body has more than {most} bytes: send fewer samples a request, or start the server with a larger --max-body"
            ))
        };
        if body.size_hint().lower() > most as u64 {
            return Err(too_large());
        }
        // Time in which the client could send, without that in which there is no room.
        let mut waited = Duration::ZERO;
        loop {
            let patience = longest_time(self.json.len()).saturating_sub(waited);
            let began = Instant::now();
            let frame = timeout(patience.min(PAUSE), body.frame()).await;
            waited += began.elapsed();
            let data = match frame {
                Err(_) => {
                    return Err(ApiError::new(
                        StatusCode::REQUEST_TIMEOUT,
                        "the body came too slowly, and was given up",
                    ));
                }
                Ok(None) => return Ok(()),
                Ok(Some(Err(_))) => return Err(ApiError::bad_request("the body ended early")),
                Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            };
            let length = self.json.len() + data.len();
            if length > most {
                return Err(too_large());
            }
            if length > self.json.capacity() {
                // In steps that grow with it, so that it is moved seldom.
                let capacity = (length + length / 4).next_multiple_of(STEP);
                self.room.grow_to(capacity).await;
                self.json.reserve_exact(capacity - self.json.len());
            }
            self.json.extend_from_slice(&data);
        }
    }

    /// What `read` makes of the body.
    pub(super) async fn parse<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        if self.json.len() <= SHORT {
            return read(&self.json);
        }
        // Other connections go on meanwhile.
        let json = std::mem::take(&mut self.json);
        let task = tokio::task::spawn_blocking(move || (read(&json), json)).await;
        let (value, json) = task.map_err(|_| ApiError::ending())?;
        self.json = json;
        value
    }

    pub(super) fn into_room(self) -> Reservation {
        self.room
    }
}

impl<'b> Fields<'b> {
    /// The fields of a body, which should have this shape.
    pub(super) fn parse(json: &'b [u8], shape: &str) -> Result<Self, ApiError> {
        check_object(json, shape)?;
        serde_json::from_slice(json).map_err(|error| {
            let (unread, broken) = ("cannot be read", "is not valid JSON");
            let what = if error.is_data() { unread } else { broken };
            ApiError::bad_request(format!("the body {what}: {error}"))
        })
    }

    /// Takes the value of a key out; none also where it is null.
    pub(super) fn take(&mut self, key: &str) -> Option<&'b RawValue> {
        self.0.remove(key).filter(|value| value.get() != "null")
    }

    /// The keys that were not taken.
    pub(super) fn rest(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfFields)
    }
}

struct OfFields;

impl<'de> Visitor<'de> for OfFields {
    type Value = Fields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    /// Keeps no more keys than a request may have.
    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some((key, value)) = object.next_entry()? {
            fields.insert(key, value);
            if fields.len() > MOST_KEYS {
                return Err(A::Error::custom(format_args!(
                    "it has more than {MOST_KEYS} keys, and a request may have {MOST_KEYS}"
                )));
            }
        }
        Ok(Fields(fields))
    }
}

/// Refuses a body that is no object, with the shape that it should have.
pub(super) fn check_object(json: &[u8], shape: &str) -> Result<(), ApiError> {
    let what = match json.trim_ascii_start().first() {
        Some(b'{') => return Ok(()),
        Some(b'[') => "is a list, and ",
        _ => "",
    };
    let why = format!("the body {what}must be a JSON object: send {shape}");
    Err(ApiError::bad_request(why))
}

/// The elements of a list, unread; none where it is no list.
pub(super) fn elements(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

pub(super) fn read_json<'b, T: serde::Deserialize<'b>>(json: &'b [u8]) -> Result<T, ApiError> {
    serde_json::from_slice(json)
        .map_err(|error| ApiError::bad_request(format!("the body is not valid JSON: {error}")))
}

/// How long a body may take of which so many bytes have come: 5 seconds, until it is slower than 16 KiB a second; after a minute,
/// until it is slower than 256 KiB a second.
fn longest_time(bytes: usize) -> Duration {
    let seconds = match (bytes >> 14, bytes >> 18) {
        (_, fast @ 60..) => fast,
        (slow, _) => slow.clamp(5, 60),
    };
    Duration::from_secs(seconds as u64)
}

#[cfg(test)]
mod tests {
    use super::super::budget::Budget;
    use super::*;

    fn received(json: &str) -> Received {
        Received {
            json: json.into(),
            room: Budget::new(|| {}).reserve("a"),
        }
    }

    #[tokio::test]
    async fn what_is_read_of_a_body_takes_room() {
        let values = vec![r#"{"":0}"#; 10_000].join(",");
        let body = format!(r#"{{"samples":[{values}]}}"#);
        let mut few = received(&body);
        few.make_room(1 << 30).await.unwrap();
        assert!(few.room.bytes() > 20 * body.len(), "{}", few.room.bytes());
        let mut many = received(&body);
        let refused = many.make_room(1 << 20).await;
        assert!(refused.is_err() && many.room.bytes() == 0);
    }

    #[tokio::test]
    async fn a_body_that_has_not_come_has_no_room() {
        let mut silent = received("");
        let body = Body::from_stream(tokio_stream::pending::<Result<Vec<u8>, std::io::Error>>());
        let read = silent.read(body, 255 << 20);
        assert!(timeout(Duration::from_millis(50), read).await.is_err());
        assert_eq!((silent.room.bytes(), silent.json.capacity()), (0, 0));
    }

    #[test]
    fn slow_bodies_are_given_up_from_the_first_seconds() {
        for (bytes, seconds) in [
            (0, 5),
            (1, 5),
            (160 << 10, 10),
            (2 << 20, 60),
            (14 << 20, 60),
            (16 << 20, 64),
            (256 << 20, 1024),
        ] {
            assert_eq!(longest_time(bytes), Duration::from_secs(seconds), "{bytes}");
        }
    }
}
