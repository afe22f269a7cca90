//! Journals that were changed by a crash or by hand.

use super::*;

/// A journal can be cut at any byte and resumed, and nothing but the cut line is lost.
#[test]
fn a_journal_torn_at_any_byte_goes_on() {
    let all = [(0, 0), (1, 0), (2, 0)];
    let whole = fs::read(written(&all).path).unwrap();
    let ends: Vec<usize> = (0..whole.len())
        .filter(|at| whole[*at] == b'\n')
        .map(|at| at + 1)
        .collect();
    for length in 0..=whole.len() {
        // What a crash leaves: the bytes so far, with or without zeros after them that were never filled in.
        for zeros in [0, 7] {
            let place = place();
            fs::write(&place.path, [&whole[..length], &vec![0; zeros]].concat()).unwrap();
            let (mut journal, resumed) = open(&place.path, &manifest(), false).unwrap();
            let kept = ends
                .iter()
                .filter(|end| **end <= length)
                .count()
                .saturating_sub(1);
            assert_eq!(trials(&resumed), all[..kept], "cut at {length}");
            assert_eq!(
                resumed.torn,
                zeros > 0 || (length > 0 && !ends.contains(&length)),
                "cut at {length}"
            );
            for trial in &all[kept..] {
                journal.append(&verdict(trial.0, trial.1)).unwrap();
            }
            drop(journal);
            assert_eq!(fs::read(&place.path).unwrap(), whole, "cut at {length}");
        }
    }
}

/// A flipped bit is an error that changes nothing, or its trial is judged again as if its line were missing.
#[test]
fn every_flipped_bit_is_noticed() {
    let all = [(0, 0), (3, 1)];
    let whole = fs::read(written(&all).path).unwrap();
    let place = place();
    for bit in 0..8 * whole.len() {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        fs::write(&place.path, &damaged).unwrap();
        match open(&place.path, &manifest(), false) {
            Ok((_, resumed)) => {
                assert!(
                    resumed.verdicts.len() < all.len(),
                    "bit {bit} was not noticed"
                );
                for verdict in &resumed.verdicts {
                    assert!(all.contains(&(verdict.index, verdict.trial)));
                    assert_eq!(
                        verdict,
                        &super::tests::verdict(verdict.index, verdict.trial)
                    );
                }
            }
            Err(_) => assert_eq!(fs::read(&place.path).unwrap(), damaged, "bit {bit}"),
        }
    }
}

/// Lines are checked once more when they are copied to the output.
#[test]
fn a_line_that_changes_during_the_run_does_not_reach_the_output() {
    let place = place();
    let (mut journal, _) = open(&place.path, &manifest(), false).unwrap();
    let lines: Vec<LinePlace> = (0..3)
        .map(|index| journal.append(&verdict(index, 0)).unwrap())
        .collect();
    let mut bytes = fs::read(&place.path).unwrap();
    let at = lines[1].offset as usize + 30;
    bytes[at] ^= 1;
    fs::write(&place.path, &bytes).unwrap();
    let error = journal
        .copy(lines.iter().copied(), &mut Vec::new())
        .unwrap_err()
        .to_string();
    let said = format!(
        "the line at byte {} was changed since it was written",
        lines[1].offset
    );
    assert!(error.contains(&said), "{error}");
    assert!(journal.copy([lines[0], lines[2]], &mut Vec::new()).is_ok());
}

#[test]
fn a_line_without_an_end_is_not_taken_into_memory() {
    let place = written(&[(0, 0)]);
    let whole = fs::read(&place.path).unwrap();
    // A hole of 64 GiB, as a damaged file system may leave.
    for before in [&whole[..0], &whole] {
        fs::write(&place.path, before).unwrap();
        let file = File::options().write(true).open(&place.path).unwrap();
        if file.set_len(64 << 30).is_err() {
            return;
        }
        let error = open(&place.path, &manifest(), false).unwrap_err();
        assert!(
            matches!(
                error,
                JournalError::Manifest { .. } | JournalError::Broken { line: 3, .. }
            ),
            "{error}"
        );
    }
}

#[test]
fn a_broken_last_line_is_removed_and_a_broken_line_before_it_is_not() {
    let place = written(&[(0, 0), (1, 0)]);
    let whole = fs::read_to_string(&place.path).unwrap();
    fs::write(&place.path, format!("{whole}{{\"id\":\"r2\",\n")).unwrap();
    let (journal, resumed) = open(&place.path, &manifest(), false).unwrap();
    assert_eq!(
        (trials(&resumed), resumed.torn),
        (vec![(0, 0), (1, 0)], true)
    );
    drop(journal);
    assert_eq!(fs::read_to_string(&place.path).unwrap(), whole);

    let broken = whole.replacen("{\"id\":\"r0\"", "{\"id\"\"r0\"", 1);
    fs::write(&place.path, &broken).unwrap();
    let message = open(&place.path, &manifest(), false)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("verdicts.jsonl.journal:2: not a verdict: expected `:`"),
        "{message}"
    );
    assert!(message.contains("--restart"), "{message}");
    assert_eq!(fs::read_to_string(&place.path).unwrap(), broken);

    // A crash does not leave complete JSON that is not a verdict, even at the end.
    fs::write(&place.path, format!("{whole}{{\"id\":\"r2\"}}\n")).unwrap();
    let error = open(&place.path, &manifest(), false).unwrap_err();
    assert!(
        matches!(error, JournalError::Broken { line: 4, .. }),
        "{error}"
    );
}

#[test]
fn a_verdict_of_no_sample_of_the_run_is_a_broken_line() {
    let place = written(&[(0, 0), (8, 0)]);
    let error = open(&place.path, &manifest(), false).unwrap_err();
    assert!(
        matches!(error, JournalError::Broken { line: 3, .. }),
        "{error}"
    );
}

#[test]
fn part_of_a_line_is_removed_before_the_next() {
    let place = place();
    let (mut journal, _) = open(&place.path, &manifest(), false).unwrap();
    journal.append(&verdict(0, 0)).unwrap();
    // As if the disk had filled up in the middle of a line, and truncating had failed too.
    journal.file.write_all(b"{\"id\":\"r1\",\"ind").unwrap();
    journal.torn = true;
    journal.append(&verdict(1, 0)).unwrap();
    drop(journal);
    let (_, resumed) = open(&place.path, &manifest(), false).unwrap();
    assert_eq!(
        (trials(&resumed), resumed.torn),
        (vec![(0, 0), (1, 0)], false)
    );
}
