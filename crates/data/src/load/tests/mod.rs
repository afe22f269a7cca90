use std::fs;
use std::io::Write as _;

use super::*;
use crate::Samples as _;

mod bad_lines;
mod by_people;
mod columns;
mod files;
mod programs;
mod shapes;

/// A folder of files to be loaded.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let this = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (name, content) in files {
            let path = this.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        this
    }

    fn one(content: impl AsRef<[u8]>) -> Self {
        Self::new(&[("rows.jsonl", content.as_ref())])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn load(
        &self,
        names: &[&str],
        options: &LoadOptions,
    ) -> Result<Loaded, DatasetError> {
        let inputs: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        let loaded = load(&inputs, options);
        let indexed = index(&inputs, options);
        match (&loaded, indexed) {
            (Ok(loaded), Ok(indexed)) => {
                assert_in_place(&indexed.samples, &loaded.samples);
                assert_eq!(rejected(&indexed.rejected), rejected(&loaded.rejected));
                assert_eq!(indexed.fingerprint, loaded.fingerprint);
                assert_eq!(indexed.columns, loaded.columns);
                assert_eq!(indexed.accepted, loaded.accepted);
                assert_eq!(indexed.lines_read, loaded.lines_read);
            }
            (Err(loaded), Err(indexed)) => assert_eq!(indexed.to_string(), loaded.to_string()),
            (loaded, indexed) => panic!("{loaded:?} in memory, {indexed:?} in place"),
        }
        loaded
    }

    fn rows(&self, options: &LoadOptions) -> Result<Loaded, DatasetError> {
        self.load(&["rows.jsonl"], options)
    }

    /// An error message without the temporary folder's name.
    fn message(&self, result: Result<Loaded, DatasetError>) -> String {
        let folder = format!("{}/", self.folder.path().display());
        result.unwrap_err().to_string().replace(&folder, "")
    }
}

fn rejected(rejected: &Rejected) -> Vec<RejectedLine> {
    let mut lines = Vec::new();
    rejected.write(&mut lines).unwrap();
    let lines: Vec<RejectedLine> = std::str::from_utf8(&lines)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), rejected.len());
    lines
}

/// Samples left in their files equal those read into memory, in whatever order they are fetched.
fn assert_in_place(rows: &Rows, samples: &[Sample]) {
    assert_eq!(rows.count(), samples.len());
    for order in [1, 7] {
        let positions: Vec<usize> = (0..samples.len())
            .map(|at| at * order % samples.len().max(1))
            .collect();
        let expected: Vec<&Sample> = positions.iter().map(|&at| &samples[at]).collect();
        let fetched = rows.fetch(&positions).unwrap();
        assert_eq!(fetched.iter().collect::<Vec<_>>(), expected);
    }
    for (position, sample) in samples.iter().enumerate() {
        assert_eq!(rows.outline(position), samples.outline(position));
        assert_eq!(rows.position(sample.index), Some(position));
    }
    let beyond = samples.last().map_or(0, |sample| sample.index + 1);
    assert_eq!(rows.position(beyond), None);
}

fn columns(settings: &[&str]) -> LoadOptions {
    LoadOptions {
        columns: ColumnMap::parse(settings).unwrap(),
        ..LoadOptions::default()
    }
}

fn row(id: usize) -> String {
    format!(
        r#"{{"id": "r{id}", "question": "q{id}", "reference_answer": "a{id}", "student_answer": "s{id}"}}"#
    )
}

fn rows(count: usize) -> String {
    (0..count).map(|id| row(id) + "\n").collect()
}

fn ids(loaded: &Loaded) -> Vec<&str> {
    loaded
        .samples
        .iter()
        .map(|sample| sample.id.as_str())
        .collect()
}

fn gzip(content: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(content: &str) -> Vec<u8> {
    zstd::encode_all(content.as_bytes(), 3).unwrap()
}

/// The reason given for a single bad line.
fn reason(line: impl AsRef<[u8]>) -> String {
    reason_with(line, &LoadOptions::default())
}

fn reason_with(line: impl AsRef<[u8]>, options: &LoadOptions) -> String {
    let files = Files::one(line);
    let Err(DatasetError::BadLines(bad)) = files.rows(options) else {
        panic!("no bad line")
    };
    assert_eq!(bad.total, 1);
    let listed = bad.listed();
    let [line] = &listed[..] else {
        panic!("{listed:?}")
    };
    let (_, reason) = line.split_once(":1: ").unwrap();
    reason.to_owned()
}

#[test]
fn rows_become_samples_in_order() {
    let files = Files::one(rows(3));
    let loaded = files.rows(&LoadOptions::default()).unwrap();
    assert_eq!(ids(&loaded), ["r0", "r1", "r2"]);
    assert_eq!(
        loaded.samples[2],
        Sample {
            id: "r2".into(),
            index: 2,
            question: "q2".into(),
            reference_answer: "a2".into(),
            student_answer: "s2".into(),
            ..Sample::default()
        }
    );
    assert_eq!(
        (loaded.lines_read, loaded.accepted, loaded.rejected.len()),
        (3, 3, 0)
    );
    assert_eq!(
        loaded.columns.to_string(),
        "question ← question · reference ← reference_answer · response ← student_answer · id ← id"
    );
}

#[test]
fn blank_lines_crlf_a_byte_order_mark_and_a_missing_last_newline_do_not_matter() {
    let plain = Files::one(rows(3)).rows(&LoadOptions::default()).unwrap();
    let odd = format!(
        "\u{feff}\r\n{}\r\n   \n\t\r\n\n{}\r\n{}",
        row(0),
        row(1),
        row(2)
    );
    let loaded = Files::one(odd).rows(&LoadOptions::default()).unwrap();
    assert_eq!(loaded.samples, plain.samples);
    assert_eq!(loaded.fingerprint, plain.fingerprint);
    assert_eq!(loaded.lines_read, 3);
}

#[test]
fn numbers_keep_their_digits() {
    for number in [
        "13",
        "-0.50",
        "1e3",
        "123456789012345678901234567890",
        "3.14159265358979323846",
    ] {
        let line = format!(
            r#"{{"index": {number}, "question": "q", "answer": {number}, "response": "r"}}"#
        );
        let loaded = Files::one(line).rows(&LoadOptions::default()).unwrap();
        assert_eq!(loaded.samples[0].reference_answer, number);
        assert_eq!(loaded.samples[0].id, number);
    }
}

#[test]
fn the_same_content_gets_numbered_ids() {
    let line = r#"{"question": "q", "answer": 13, "response": "r"}"#;
    let content = Sample::content_id("q", "13", "r");
    let taken =
        format!(r#"{{"id": "{content}-2", "question": "x", "answer": "y", "response": "z"}}"#);
    let loaded = Files::one([line, &taken, line, line].join("\n"))
        .rows(&LoadOptions::default())
        .unwrap();
    let expected = [
        content.clone(),
        format!("{content}-2"),
        format!("{content}-3"),
        format!("{content}-4"),
    ];
    assert_eq!(ids(&loaded), expected);
    assert_eq!(
        loaded.columns.to_string(),
        "question ← question · reference ← answer · response ← response · id ← id (1 row), the content's hash (3 rows)"
    );
}

#[test]
fn the_limit_counts_accepted_rows_and_reads_no_further() {
    let files = Files::one(format!("{{}}\n{}{{}}\n", rows(4)));
    let options = LoadOptions {
        limit: Some(3),
        skip_bad: true,
        ..LoadOptions::default()
    };
    let loaded = files.rows(&options).unwrap();
    assert_eq!(ids(&loaded), ["r0", "r1", "r2"]);
    assert_eq!((loaded.lines_read, loaded.rejected.len()), (4, 1));
    assert_eq!(
        loaded.fingerprint,
        Files::one(rows(3))
            .rows(&LoadOptions::default())
            .unwrap()
            .fingerprint
    );
    let strict = LoadOptions {
        limit: Some(4),
        ..LoadOptions::default()
    };
    assert!(Files::one(format!("{}[]\n", rows(4))).rows(&strict).is_ok());
}

#[test]
fn shards_share_the_fingerprint_and_hold_every_sample_once() {
    let files = Files::one(rows(40));
    let whole = files.rows(&LoadOptions::default()).unwrap();
    let mut merged = Vec::new();
    for index in 0..3 {
        let shard = Some(Shard::parse(&format!("{index}/3")).unwrap());
        let part = files
            .rows(&LoadOptions {
                shard,
                ..LoadOptions::default()
            })
            .unwrap();
        assert_eq!(
            (part.fingerprint.as_str(), part.accepted),
            (whole.fingerprint.as_str(), 40)
        );
        merged.extend(part.samples);
    }
    merged.sort_by_key(|sample| sample.index);
    assert_eq!(merged, whole.samples);
}

#[test]
fn the_fingerprint_changes_with_everything_that_is_judged() {
    let of = |content: &str| {
        Files::one(content)
            .rows(&LoadOptions::default())
            .unwrap()
            .fingerprint
    };
    let whole = of(&rows(3));
    assert_eq!(whole.len(), 32);
    let [first, second, third] = [row(0), row(1), row(2)];
    let changed = [
        rows(2),
        rows(4),
        [second.as_str(), &first, &third].join("\n"),
        rows(3).replace("r1", "r9"),
        rows(3).replace("q1", "q9"),
        rows(3).replace("a1", "a9"),
        rows(3).replace("s1", "s9"),
    ];
    for content in changed {
        assert_ne!(of(&content), whole, "{content}");
    }
    assert_eq!(of(&rows(3).replace("\"}", "\", \"more\": [1]}")), whole);
}
