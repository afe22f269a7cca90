//! The answers of a batch, by the trials of the samples that were asked about.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::custom_id::{CustomIds, split};
use super::shapes::OutputLine;
use crate::judge::answers::{AnswerReader, Answers};
use crate::judge::{RunError, jobs};
use crate::protocol::{PromptTemplate, Protocol};
use crate::wire::answer::EngineAnswer;
use juror_data::{BadLines, LineLimit, Next, Rows, Samples, sources};

/// Samples that are read at a time.
const AT_ONCE: usize = 512;

pub struct Import<'a> {
    pub samples: &'a Rows,
    /// How often each was asked about.
    pub trials: u32,
    pub outputs: &'a [PathBuf],
    pub protocol: &'a Protocol,
    /// Its prompt text, or the user's own.
    pub template: &'a PromptTemplate,
    /// Leave out lines that cannot be used.
    pub skip_bad: bool,
    pub max_line: LineLimit,
    pub out: Option<&'a Path>,
}

impl Import<'_> {
    /// Reads all answers; also gives the lines that were left out.
    /// Errors: when a file cannot be read, no answer is of these samples, or (without [`Self::skip_bad`]) a line cannot be used.
    pub fn read(&self, reader: AnswerReader) -> Result<(Answers, BadLines), RunError> {
        let mut join = Join::new(self)?;
        let mut left_out = BadLines::default();
        let mut hasher = blake3::Hasher::new();
        hasher.update(reader.describe().as_bytes());
        for source in sources(self.outputs, self.out)? {
            let mut rows = source.open(self.max_line, self.out, &[])?;
            let mut row = Vec::new();
            loop {
                let next = rows.next(&mut row)?;
                let line = rows.place();
                let read = match next {
                    Next::End => break,
                    Next::Row if row.trim_ascii().is_empty() => continue,
                    Next::Row => join.take(&row),
                    Next::Bad(why) => Err(why),
                };
                hasher.update(&row);
                hasher.update(b"\n");
                left_out.lines_read += 1;
                let Err(reason) = read else {
                    continue;
                };
                left_out.add(&source.name(), line, reason);
            }
        }
        if left_out.total > 0 && !self.skip_bad {
            return Err(RunError::BadOutputs(left_out));
        }
        if join.answers.is_empty() {
            let files = self.outputs.iter().map(|path| path.display().to_string());
            return Err(RunError::Usage(format!(
                "{}: no line answers a request of this input: give the rows, and --columns, --preset and --protocol, as for `juror batch export`",
                files.collect::<Vec<_>>().join(", ")
            )));
        }
        let hash = hasher.finalize().to_hex().to_string();
        Ok((Answers::new(reader, join.answers, hash), left_out))
    }
}

struct Join<'a> {
    import: &'a Import<'a>,
    ids: CustomIds,
    /// The positions of samples, by a hash of their part of the names.
    positions: HashMap<[u8; 32], usize>,
    answers: HashMap<(usize, u32), Result<EngineAnswer, String>>,
}

impl<'a> Join<'a> {
    fn new(import: &'a Import) -> Result<Self, RunError> {
        let samples = import.samples;
        let ids = CustomIds::new(import.protocol, import.template);
        let mut positions = HashMap::with_capacity(samples.count());
        let all: Vec<usize> = (0..samples.count()).collect();
        for now in jobs::batches(&all, |at| at, samples, AT_ONCE) {
            for (&position, sample) in now.iter().zip(samples.fetch(now)?) {
                positions.insert(key(&ids.of_sample(&sample)), position);
            }
        }
        Ok(Self {
            import,
            ids,
            positions,
            answers: HashMap::new(),
        })
    }

    /// Takes a line, or says why it cannot be used.
    fn take(&mut self, row: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(row).map_err(|_| "not UTF-8".to_owned())?;
        let OutputLine { custom_id, answer } = OutputLine::parse(text)?;
        if let Some(why) = self.ids.refused(&custom_id, &self.import.protocol.name) {
            return Err(why);
        }
        let trials = self.import.trials;
        let found = split(&custom_id)
            .and_then(|(name, trial)| Some((*self.positions.get(&key(name))?, trial)));
        let shown: String = custom_id.chars().take(80).collect();
        let place = match found {
            Some((_, trial)) if trial >= trials => {
                return Err(format!(
                    "the custom_id `{shown}` is of trial {trial}, and there are {trials}: give --trials as for the export"
                ));
            }
            Some(place) => place,
            None => {
                return Err(format!(
                    "the custom_id `{shown}` is of no sample of this input: the sample is missing, or its texts are not what they \
                     were when it was exported"
                ));
            }
        };
        match (self.answers.get(&place), &answer) {
            (Some(Ok(one)), Ok(other)) if !one.is_refusal && !other.is_refusal => Err(format!(
                "a second answer with the custom_id `{shown}`; keep one of them"
            )),
            // A request that failed or was refused may have been tried again: its answer counts, before or after.
            (Some(_), Err(_)) => Ok(()),
            (Some(Ok(_)), Ok(other)) if other.is_refusal => Ok(()),
            _ => {
                self.answers.insert(place, answer);
                Ok(())
            }
        }
    }
}

fn key(name: &str) -> [u8; 32] {
    blake3::hash(name.as_bytes()).into()
}
