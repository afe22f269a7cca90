mod damage;

use std::fs;

use proptest::prelude::*;

use super::manifest::listing;
use super::*;
use crate::verdict::{Confidence, OutcomeSource, Status, Usage, Verdict};

fn manifest() -> Manifest {
    Manifest {
        format: Manifest::FORMAT,
        juror: "0.1.0".into(),
        model: Some(Identity {
            name: "tiny".into(),
            hash: "abc".into(),
        }),
        chat: None,
        adapter: None,
        model_origin: None,
        data_origin: None,
        protocol: Identity {
            name: "prime".into(),
            hash: "def".into(),
        },
        sampling: SamplingSettings {
            temperature: 0.7,
            top_k: None,
            top_p: Some(0.95),
            min_p: None,
            max_new_tokens: 512,
        },
        seed: 1,
        trials: 2,
        rules: "fallback".into(),
        reward: "overall".into(),
        min_confidence: None,
        own_answer: None,
        precision: None,
        constrained: None,
        reason: false,
        raw: false,
        input: InputIdentity {
            keep: Vec::new(),
            fingerprint: "0123".into(),
            samples: 24,
        },
        shard: None,
    }
}

fn verdict(index: usize, trial: u32) -> Verdict {
    Verdict {
        id: format!("r{index}"),
        index,
        trial,
        status: Status::Ok,
        process: Some(true),
        outcome: Some(false),
        perfect: None,
        label: None,
        answer: None,
        first_error: None,
        step_rewards: Vec::new(),
        parts: Vec::new(),
        score: None,
        criteria: Vec::new(),
        overall: Some(false),
        reward: Some(0.1),
        advantage: None,
        reason: Some("Two\nlines, \"é\".".into()),
        outcome_source: Some(OutcomeSource::Judge),
        rule_outcome: None,
        confidence: Confidence {
            process: Some(0.987_654_3),
            ..Confidence::default()
        },
        usage: Usage {
            prompt_tokens: 100,
            cached_tokens: 64,
            completion_tokens: 9,
            ..Usage::default()
        },
        parse_rule: None,
        inconsistent: false,
        skipped: false,
        audited: false,
        reused: false,
        judge: None,
        votes: Vec::new(),
        error: None,
        open: false,
        raw: None,
        group: None,
        input: serde_json::Map::default(),
    }
}

/// What an existing journal held.
#[derive(Debug, Default, PartialEq)]
struct Resumed {
    /// The verdicts in the order they were written, each (index, trial) once.
    verdicts: Vec<Verdict>,
    torn: bool,
}

/// Opens a journal of up to 8 samples with 2 trials each, and checks that every place leads to its line.
fn open(
    path: &Path,
    manifest: &Manifest,
    restart: bool,
) -> Result<(Journal, Resumed), JournalError> {
    let mut finished = Finished::new(8, 2);
    let mut verdicts: Vec<Verdict> = Vec::new();
    let (mut journal, torn) = Journal::open(
        path,
        manifest,
        None,
        restart,
        &mut |verdict: Verdict, line| {
            match finished.insert(verdict.index, verdict.trial, line, verdict.open) {
                Noted::New => verdicts.push(verdict),
                Noted::Before | Noted::Open => {}
                Noted::Unknown => return Err("no such trial".into()),
            }
            Ok(())
        },
    )?;
    assert_eq!(finished.count(), verdicts.len());
    let mut copied = Vec::new();
    journal.copy(finished.lines(), &mut copied).unwrap();
    let mut ordered = verdicts.clone();
    ordered.sort_by_key(|verdict| (verdict.index, verdict.trial));
    assert_eq!(read(&copied), ordered);
    Ok((journal, Resumed { verdicts, torn }))
}

/// Killed at any byte while an open trial is judged again, the journal has the one line or the other.
#[test]
fn an_open_line_counts_until_there_is_a_later_one() {
    let place = place();
    let line = |status, is_open| Verdict {
        status,
        open: is_open,
        ..verdict(0, 0)
    };
    let (first, last) = (line(Status::Failed, true), line(Status::Ok, false));
    let (mut journal, _) = open(&place.path, &manifest(), false).unwrap();
    journal.append(&first).unwrap();
    journal.append(&line(Status::Unparsed, true)).unwrap();
    let before = fs::read(&place.path).unwrap().len();
    journal.append(&last).unwrap();
    // What comes after a final line is no word of this run.
    journal.append(&line(Status::TooLong, false)).unwrap();
    drop(journal);
    let whole = fs::read(&place.path).unwrap();
    let end = before + whole[before..].iter().position(|b| *b == b'\n').unwrap() + 1;
    for length in before..=end {
        fs::write(&place.path, &whole[..length]).unwrap();
        let mut finished = Finished::new(8, 2);
        let resumed = &mut |verdict: Verdict, line| -> Result<(), String> {
            finished.insert(verdict.index, verdict.trial, line, verdict.open);
            Ok(())
        };
        let (mut journal, _) =
            Journal::open(&place.path, &manifest(), None, false, resumed).unwrap();
        let is_final = length == end;
        assert_eq!(
            (finished.count(), finished.contains(0, 0)),
            (usize::from(is_final), is_final)
        );
        let mut copied = Vec::new();
        journal.copy(finished.lines(), &mut copied).unwrap();
        let status = if is_final {
            Status::Ok
        } else {
            Status::Unparsed
        };
        assert_eq!(read(&copied)[0].status, status);
        drop(journal);
        let mut kept = KeptVerdicts::open(&place.path).unwrap();
        let kept: Verdict = serde_json::from_slice(&kept.line(0, 0).unwrap().unwrap()).unwrap();
        assert_eq!(kept.status, status);
        let closed = finished.close();
        assert_eq!(
            (closed.len(), finished.count()),
            (usize::from(!is_final), 1)
        );
    }
    fs::write(&place.path, &whole).unwrap();
    let (_, resumed) = open(&place.path, &manifest(), false).unwrap();
    assert_eq!(resumed.verdicts, [last]);
}

fn read(lines: &[u8]) -> Vec<Verdict> {
    let lines = std::str::from_utf8(lines).unwrap().lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    // Beginning a journal syncs, which takes no time on a memory disk.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    }
    .unwrap();
    let path = journal_path(&folder.path().join("verdicts.jsonl"));
    Place {
        _folder: folder,
        path,
    }
}

/// A journal of these trials, closed.
fn written(trials: &[(usize, u32)]) -> Place {
    let place = place();
    let (mut journal, _) = open(&place.path, &manifest(), false).unwrap();
    for (index, trial) in trials {
        journal.append(&verdict(*index, *trial)).unwrap();
    }
    place
}

fn trials(resumed: &Resumed) -> Vec<(usize, u32)> {
    resumed
        .verdicts
        .iter()
        .map(|verdict| (verdict.index, verdict.trial))
        .collect()
}

#[test]
fn a_new_journal_holds_its_manifest() {
    let place = place();
    assert!(place.path.ends_with("verdicts.jsonl.journal"));
    let (journal, resumed) = open(&place.path, &manifest(), false).unwrap();
    assert_eq!(
        (resumed, journal.path.as_path()),
        (Resumed::default(), place.path.as_path())
    );
    let text = fs::read_to_string(&place.path).unwrap();
    assert!(
        text.starts_with("{\"manifest\":{\"format\":2,") && text.ends_with("\"}\n"),
        "{text}"
    );
}

#[test]
fn every_line_is_in_the_file_when_append_returns() {
    let place = place();
    let (mut journal, _) = open(&place.path, &manifest(), false).unwrap();
    for count in 1..4 {
        journal.append(&verdict(count, 0)).unwrap();
        let text = fs::read_to_string(&place.path).unwrap();
        assert_eq!(
            (text.lines().count(), text.ends_with('\n')),
            (count + 1, true)
        );
    }
    journal.sync().unwrap();
}

#[test]
fn finished_verdicts_come_back_as_they_were() {
    let place = written(&[(5, 1), (0, 0), (5, 0)]);
    let (mut journal, resumed) = open(&place.path, &manifest(), false).unwrap();
    assert_eq!(
        resumed,
        Resumed {
            verdicts: vec![verdict(5, 1), verdict(0, 0), verdict(5, 0)],
            torn: false
        }
    );
    journal.append(&verdict(1, 0)).unwrap();
    drop(journal);
    let (_, resumed) = open(&place.path, &manifest(), false).unwrap();
    assert_eq!(trials(&resumed), [(5, 1), (0, 0), (5, 0), (1, 0)]);
}

#[test]
fn a_trial_written_twice_counts_once() {
    let place = written(&[(0, 0), (1, 0), (0, 0), (0, 1)]);
    let (_, resumed) = open(&place.path, &manifest(), false).unwrap();
    assert_eq!(trials(&resumed), [(0, 0), (1, 0), (0, 1)]);
}

#[test]
fn another_manifest_is_refused_with_every_setting_that_differs() {
    let place = written(&[(0, 0)]);
    let before = fs::read(&place.path).unwrap();
    let mut other = manifest();
    other.model = None;
    other.sampling.temperature = 0.0;
    other.sampling.top_p = None;
    other.seed = 2;
    // An input may have grown: it is looked at once the settings are the same.
    other.input.fingerprint = "4567".into();
    other.shard = Some("0/2".into());
    let message = open(&place.path, &other, false).unwrap_err().to_string();
    let message = message.replace(&place.path.display().to_string(), "OUT.journal");
    assert_eq!(
        message,
        "OUT.journal was begun by a different run:
  model: {\"name\":\"tiny\",\"hash\":\"abc\"} in the journal, null now
  sampling.temperature: 0.7 in the journal, 0.0 now
  sampling.top_p: 0.95 in the journal, null now
  seed: 1 in the journal, 2 now
  shard: null in the journal, \"0/2\" now
Use the earlier settings to go on with it, choose another output, or pass --restart to throw its verdicts away and begin anew"
    );
    assert_eq!(fs::read(&place.path).unwrap(), before);

    let (journal, resumed) = open(&place.path, &other, true).unwrap();
    assert_eq!(resumed, Resumed::default());
    drop(journal);
    assert_eq!(fs::read_to_string(&place.path).unwrap().lines().count(), 1);
    assert!(open(&place.path, &other, false).is_ok());
}

#[test]
fn fields_of_another_version_count_as_differences() {
    let mut earlier = serde_json::to_value(manifest()).unwrap();
    earlier["sampling"].as_object_mut().unwrap().remove("top_k");
    earlier["beams"] = 4.into();
    // The same files under another name.
    earlier["model"]["name"] = "./tiny/".into();
    earlier["sampling"]["temperature"] = serde_json::from_str("0.7").unwrap();
    earlier["sampling"]["top_p"] = serde_json::from_str("0.95").unwrap();
    let differences = manifest().differences(&earlier);
    assert_eq!(
        listing(&differences, "in the journal", "now"),
        "  sampling.top_k: nothing in the journal, null now\n  beams: 4 in the journal, nothing now"
    );
}

#[test]
fn two_runs_cannot_write_one_journal() {
    let place = place();
    let (journal, _) = open(&place.path, &manifest(), false).unwrap();
    for restart in [false, true] {
        let message = open(&place.path, &manifest(), restart)
            .unwrap_err()
            .to_string();
        assert!(message.starts_with("another run is writing "), "{message}");
    }
    drop(journal);
    assert!(open(&place.path, &manifest(), false).is_ok());
}

#[test]
fn a_file_that_is_no_journal_is_left_alone() {
    let place = place();
    for content in [
        "my notes",
        "my notes\n",
        "{\"id\":\"r0\"}\n",
        "\n",
        "{\"manifesto\":1}",
    ] {
        fs::write(&place.path, content).unwrap();
        for restart in [false, true] {
            let error = open(&place.path, &manifest(), restart).unwrap_err();
            assert!(
                matches!(error, JournalError::NotAJournal { .. }),
                "{content:?}: {error}"
            );
        }
        assert_eq!(fs::read_to_string(&place.path).unwrap(), content);
    }
    let folder = place.path.parent().unwrap();
    assert!(
        open(folder, &manifest(), false)
            .unwrap_err()
            .to_string()
            .contains("is not a regular file")
    );
}

#[test]
fn a_journal_that_cannot_be_made_says_where() {
    let place = place();
    let path = place
        .path
        .with_file_name("missing")
        .join("verdicts.jsonl.journal");
    let message = open(&path, &manifest(), false).unwrap_err().to_string();
    assert!(
        message.starts_with("could not open the journal ") && message.contains("missing"),
        "{message}"
    );
    assert!(
        message.contains("choose one in a folder that is there and may be written to"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_a_clear_error() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = place();
    let folder = place.path.parent().unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    let opened = open(&place.path, &manifest(), false);
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    // The superuser may write anywhere.
    if let Err(error) = opened {
        assert!(
            error.to_string().contains("could not open the journal"),
            "{error}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_that_names_the_journal() {
    let full = File::options()
        .read(true)
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut journal = Journal {
        path: "verdicts.jsonl.journal".into(),
        file: full,
        temporary: false,
        checksum: Checksum::under(b""),
        length: 0,
        torn: false,
        line: Vec::new(),
    };
    let message = journal.append(&verdict(0, 0)).unwrap_err().to_string();
    assert!(
        message.starts_with("could not write to the journal verdicts.jsonl.journal: No space left"),
        "{message}"
    );
    assert!(
        message.ends_with("make room, then run the same command again to go on"),
        "{message}"
    );
    assert_eq!(journal.length, 0);
}

#[test]
fn lines_come_back_in_any_order_between_appends() {
    let place = place();
    let (named, _) = open(&place.path, &manifest(), false).unwrap();
    for mut journal in [named, Journal::temporary().unwrap()] {
        let lines: Vec<LinePlace> = (0..4)
            .map(|index| journal.append(&verdict(index, 0)).unwrap())
            .collect();
        let mut copied = Vec::new();
        let order = [3, 0, 1, 2];
        journal
            .copy(order.map(|at| lines[at]), &mut copied)
            .unwrap();
        assert_eq!(read(&copied), order.map(|index| verdict(index, 0)));

        let last = journal.append(&verdict(4, 0)).unwrap();
        copied.clear();
        journal
            .copy(lines.iter().copied().chain([last]), &mut copied)
            .unwrap();
        assert_eq!(
            read(&copied),
            [0, 1, 2, 3, 4].map(|index| verdict(index, 0))
        );

        let beyond = LinePlace {
            offset: last.offset + u64::from(last.length),
            length: 1,
        };
        let error = journal.copy([beyond], &mut Vec::new()).unwrap_err();
        assert!(
            error.to_string().starts_with("reading back from "),
            "{error}"
        );
    }
}

proptest! {
    /// An output written after a resume must be the one that an uninterrupted run writes, to the last digit.
    #[test]
    fn verdicts_survive_the_journal_to_the_last_bit(reward in -10.0..10.0f64, process in 0.0..1.0f32, reason in any::<String>()) {
        let mut verdict = verdict(0, 0);
        verdict.reward = Some(reward);
        verdict.confidence.process = Some(process);
        verdict.reason = Some(reason);
        let line = serde_json::to_vec(&verdict).unwrap();
        let read: Verdict = serde_json::from_slice(&line).unwrap();
        prop_assert_eq!(read, verdict);
    }
}
