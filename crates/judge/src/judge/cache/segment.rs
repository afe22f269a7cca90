//! A segment of the cache: lines of JSON, an answer each. Every line begins with the answer's key and ends with a checksum.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::runtime::{AnswerKey, Doubt, Guided, ModelAnswer};
use juror_data::journal::Checksum;
use juror_engine::engine::{Completion, FinishReason, Timing};

pub(super) const ENDING: &str = ".answers.jsonl";

/// The longest line, in bytes: an answer of a million tokens is shorter, and a longer line is no answer.
const LONGEST: u64 = 64 << 20;

/// What every line begins with, before the key's 64 hexadecimal digits.
const BEGINNING: &[u8] = b"{\"key\":\"";

#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    offset: u64,
    length: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: String,
    tokens: Vec<u32>,
    expected: Vec<(usize, f32)>,
    finish: Finish,
    guided: Guided,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doubts: Option<Vec<Doubt>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counted: Option<(usize, usize)>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Finish {
    EndOfSequence,
    Stop,
    Length,
}

fn checksum() -> Checksum {
    Checksum::under(b"juror answers 1")
}

/// Tells of every whole line that begins with a key; what its rest holds is only known when it is read.
pub(super) fn scan(path: &Path, mut take: impl FnMut(AnswerKey, Place)) -> io::Result<()> {
    each_line(path, |offset, line| {
        if let (Some(key), Ok(length)) = (key_of(line), u32::try_from(line.len())) {
            take(key, Place { offset, length });
        }
    })
}

/// Tells of every line that is no answer: its number, from 1, and why.
pub(super) fn check(path: &Path, mut take: impl FnMut(usize, &str)) -> io::Result<()> {
    let mut number = 0;
    each_line(path, |_, line| {
        number += 1;
        let answer = key_of(line).map(|key| parse(line.to_vec(), &key));
        match answer {
            Some(Ok(_)) => {}
            Some(Err(why)) => take(number, why),
            None => take(number, "it is cut, or no answer"),
        }
    })
}

fn each_line(path: &Path, mut take: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(1 << 18, File::open(path)?);
    let (mut offset, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        take(offset, &line);
        offset += read as u64;
    }
}

fn key_of(line: &[u8]) -> Option<AnswerKey> {
    let digits = line
        .strip_suffix(b"\n")?
        .strip_prefix(BEGINNING)?
        .get(..64)?;
    let mut key = [0; 32];
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(key)
}

/// The answer at a place; `None` if what stands there is damaged, or has another key.
pub(super) fn read(
    file: &mut File,
    place: Place,
    key: &AnswerKey,
) -> io::Result<Option<ModelAnswer>> {
    let mut line = vec![0; place.length as usize];
    file.seek(SeekFrom::Start(place.offset))?;
    file.read_exact(&mut line)?;
    Ok(parse(line, key).ok())
}

fn parse(mut line: Vec<u8>, key: &AnswerKey) -> Result<ModelAnswer, &'static str> {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    checksum().take_off(&mut line)?;
    let line: Line = serde_json::from_slice(&line).map_err(|_| "it is no answer")?;
    if line.key != hexadecimal(key) {
        return Err("it has another key");
    }
    let finish = match line.finish {
        Finish::EndOfSequence => FinishReason::EndOfSequence,
        Finish::Stop => FinishReason::Stop,
        Finish::Length => FinishReason::Length,
    };
    Ok(ModelAnswer {
        completion: Completion {
            counted: line.counted,
            ..completion(line.tokens, line.expected, finish)
        },
        guided: line.guided,
        doubts: line.doubts,
        no_verdict: None,
    })
}

/// A completion as it is kept: without its prompt, and without the time that it took.
pub(super) fn completion(
    tokens: Vec<u32>,
    expected: Vec<(usize, f32)>,
    finish: FinishReason,
) -> Completion {
    let now = Instant::now();
    Completion {
        id: 0,
        prompt: Vec::new(),
        tokens,
        expected,
        logprobs: Vec::new(),
        finish,
        cached_tokens: 0,
        counted: None,
        timing: Timing {
            queued: now,
            admitted: None,
            first_token: None,
            finished: now,
        },
    }
}

fn hexadecimal(key: &AnswerKey) -> String {
    blake3::Hash::from_bytes(*key).to_hex().to_string()
}

#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Writer {
    /// A new segment, under a name that no other process takes. Names sort by the time of making: of two lines for one key the
    /// later counts, so that an answer which was asked again comes before the damaged one it replaces.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let time = time.unwrap_or_default();
        let prefix = format!("{:x}-{:08x}-", time.as_secs(), time.subsec_nanos());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(ENDING);
        builder.rand_bytes(12).append(true);
        #[cfg(unix)]
        {
            // Others who use the folder may read it, as far as the user's mask lets them.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let (file, path) = builder.tempfile_in(folder)?.keep()?;
        Ok(Self {
            path,
            file,
            bytes: 0,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The file, to read what was written.
    pub(super) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Appends an answer, in one write; returns where it is. An answer that is none is not written.
    pub(super) fn append(
        &mut self,
        key: &AnswerKey,
        answer: &ModelAnswer,
    ) -> io::Result<Option<Place>> {
        let completion = &answer.completion;
        let line = Line {
            key: hexadecimal(key),
            tokens: completion.tokens.clone(),
            expected: completion.expected.clone(),
            finish: match completion.finish {
                FinishReason::EndOfSequence => Finish::EndOfSequence,
                FinishReason::Stop => Finish::Stop,
                FinishReason::Length => Finish::Length,
                FinishReason::Rejected(_) | FinishReason::TooLong(_) => return Ok(None),
            },
            guided: answer.guided.clone(),
            doubts: answer.doubts.clone(),
            counted: completion.counted,
        };
        let mut line = serde_json::to_vec(&line)?;
        checksum().add(&mut line);
        line.push(b'\n');
        self.file.write_all(&line)?;
        let place = Place {
            offset: self.bytes,
            length: line.len() as u32,
        };
        self.bytes += line.len() as u64;
        Ok(Some(place))
    }

    /// Waits until all of it is on the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// As [`Self::sync`], and dates the segment to `used`.
    pub(super) fn finish(&mut self, used: SystemTime) -> io::Result<()> {
        self.file.sync_data()?;
        self.file.set_modified(used)
    }
}
