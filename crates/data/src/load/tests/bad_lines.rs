//! Lines that cannot become samples.

use proptest::prelude::*;

use super::*;

#[test]
fn every_kind_of_bad_line_says_what_is_wrong() {
    let cases: [(&[u8], &str); 21] = [
        (
            br#"{"question": "q", }"#,
            "not valid JSON: trailing comma at column 19",
        ),
        (
            br#"{"question": "q""#,
            "not valid JSON: EOF while parsing an object at column 16",
        ),
        (b"question", "not valid JSON: expected value at column 1"),
        (
            br#"{"a": 1} {"b": 2}"#,
            "not valid JSON: trailing characters at column 10",
        ),
        (
            b"[[1]]",
            "a JSON array, not an object: every row must be one JSON object",
        ),
        (
            b"\"q\"",
            "a JSON string, not an object: every row must be one JSON object",
        ),
        (
            b"13",
            "a number, not an object: every row must be one JSON object",
        ),
        (
            br#"{"question": "q", "answr": "1", "response": "r"}"#,
            "no reference answer (looked for reference_answer, reference, gold_answer, gold, ground_truth, answer, label_answer, \
             correct_answer, gt, target, expected_answer, expected_output, expected, ground_truth_answer, gt_answer, gold_answers, golden_answers, \
             ground_truths, reference_answers, correct_answers, answers.text, answers, targets, answerKey, answer_key): the row has question, answr, response; name its \
             key, or a path as `results[0].text`, with `--columns reference=answr`",
        ),
        (
            br#"{"question": 5, "answer": "1", "response": "r"}"#,
            "`question` (the question) is a number: it must be text or chat messages",
        ),
        (
            br#"{"question": "q", "answer": null, "response": "r"}"#,
            "`answer` (the reference answer) is null: it must be text or a number, or a list of such, any of which is right",
        ),
        (
            br#"{"question": "q", "answer": ["1", []], "response": "r"}"#,
            "`answer` (the reference answer) is a list of lists",
        ),
        (
            br#"{"question": "q", "answer": "1", "response": [151644, 77091, 198, 40]}"#,
            "`response` (the response) looks like token ids: give texts, and answers that are numbers in quotes",
        ),
        (
            br#"{"question": "q", "answer": "1", "response": {"text": "r"}}"#,
            "`response` (the response) is an object: it must be text, a number, chat messages, or a list of such; a text within it is named by a path, as `--columns response=response.KEY`",
        ),
        (
            br#"{"question": {"0": "q"}, "answer": {"0": "1"}, "response": {"0": "r"}}"#,
            "`question` (the question) is an object: it must be text or chat messages; of a table by columns write each row as an object, as \
             pandas does with `orient=\"records\", lines=True`",
        ),
        (
            br#"{"question": ["q", "p"], "answer": ["1", "2"], "response": ["r", "s"]}"#,
            "`question` (the question) is 2 texts: it must be one; of a table by columns write each row as an object, as pandas does with \
             `orient=\"records\", lines=True`",
        ),
        (
            br#"{"question": "q", "answer": "1", "response": [{"role": "user", "content": "r"}]}"#,
            "`response` (the response) is chat messages whose last turn is not the assistant's",
        ),
        (
            br#"{"question": "q", "answer": " ", "response": "r"}"#,
            "`answer` (the reference answer) is blank: there is nothing to judge by",
        ),
        (
            br#"{"id": "\t", "question": "q", "answer": "1", "response": "r"}"#,
            "`id` (the id) is blank: give it a value, or remove the key and the id is made from the content",
        ),
        (
            br#"{"question": "q", "answer": "1", "response": "\ud800"}"#,
            "`response` (the response) is not valid JSON: half a pair of surrogates, which no text can hold, at column 53",
        ),
        (
            b"{\"question\": \"q\xff\", \"answer\": \"1\", \"response\": \"r\"}",
            "not UTF-8 from column 16 on (byte 0xff): convert the file to UTF-8",
        ),
        (
            br#"{"question": "q", "answer": "1", "answer": "2", "response": "r"}"#,
            "the key `answer` is there twice: keep one",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(reason(line), expected, "{}", String::from_utf8_lossy(line));
    }
    // All that a row has not is said at once, with the key that is nearly one of those looked for.
    for (line, expected) in [
        (
            &br#"{"questoin": "q", "reply": "r", "the_gt_answer": 3}"#[..],
            &[
                "no question (looked for question, ",
                "), no reference answer (looked for reference_answer, ",
                "), no response (looked for student_answer, ",
                "): the row has questoin, reply, the_gt_answer; ",
                "`--columns question=questoin`; ",
                "`--columns reference=the_gt_answer`; ",
                "`--columns response=KEY`",
            ][..],
        ),
        (b"{}", &["the row has no keys at all; name its key"]),
        // The key of another field is none of this one, nor is an id, a kind or a count.
        (
            br#"{"question": "q", "student_answer": "r", "answer_type": "n", "gold_id": 3, "target_tokens": 5}"#,
            &["`--columns reference=KEY`"],
        ),
        // What a row has not is said before what cannot be read in it.
        (
            br#"{"n": 1, "m": 2, "samples": [{"text": {"a": 1}}]}"#,
            &["no question (looked for"],
        ),
        (
            br#"{"question": "q", "rubrics": ["is short"], "response": "r"}"#,
            &["or judge by `rubrics` alone, with `--protocol rubric`"],
        ),
        (
            br#"{"question": "q", "final_answer": "1", "response": "r"}"#,
            &["`final_answer` may be the reference or the response"],
        ),
    ] {
        let told = reason(line);
        for part in expected {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    assert_eq!(
        reason_with(
            br#"{"question": "q", "answer": "1", "response": "r"}"#,
            &columns(&["reference=reward_model.ground_truth"])
        ),
        "no reference answer (looked for `reward_model.ground_truth`): the row has question, answer, response; name \
         its key, or a path as `results[0].text`, with `--columns reference=KEY`"
    );
}

#[test]
fn an_empty_response_is_a_response() {
    let loaded = Files::one(r#"{"question": "q", "answer": "1", "response": ""}"#)
        .rows(&LoadOptions::default())
        .unwrap();
    assert_eq!(loaded.samples[0].student_answer, "");
}

#[test]
fn odd_values_in_columns_nobody_reads_do_not_matter() {
    let line = r#"{"question": "q", "answer": "1", "response": "r", "score": 1e999, "junk": "\ud800", "n": [1, {"a": null}]}"#;
    assert_eq!(
        Files::one(line)
            .rows(&LoadOptions::default())
            .unwrap()
            .accepted,
        1
    );
    // Nor does nesting deep enough to exhaust the stack of a parser that recurses.
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let line = format!(r#"{{"question": "q", "answer": "1", "response": "r", "deep": {deep}}}"#);
    let files = Files::one(&line);
    assert_eq!(files.rows(&LoadOptions::default()).unwrap().accepted, 1);
    assert!(
        reason(line.replace("\"r\", \"deep\"", "\"r\", \"response\""))
            .contains("`response` is there twice")
    );
    assert!(
        reason(line.replace("\"r\", \"deep\": ", ""))
            .contains("`response` (the response) is a list")
    );
}

#[test]
fn all_bad_lines_are_found_before_anything_is_judged() {
    let mut content = rows(2);
    content.push_str("{\n");
    for _ in 0..30 {
        content.push_str("[]\n");
    }
    let files = Files::one(content);
    let message = files.message(files.rows(&LoadOptions::default()));
    assert!(message.starts_with("31 of 33 lines cannot be used:\n"));
    // Only where there is such an option.
    assert!(message.ends_with("\nMend them"), "{message}");
    let options = LoadOptions {
        may_skip: true,
        ..LoadOptions::default()
    };
    let message = files.message(files.rows(&options));
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(
        lines[0],
        "31 of 33 lines cannot be used, so nothing was judged:"
    );
    assert_eq!(
        lines[1],
        "  rows.jsonl:3: not valid JSON: EOF while parsing an object at column 1"
    );
    assert!(
        lines[2]
            .starts_with("  30 lines (rows.jsonl:4, rows.jsonl:5, rows.jsonl:6, …): a JSON array"),
        "{message}"
    );
    assert_eq!(
        lines[3],
        "Mend them, or pass --skip-bad to set them aside in OUT.rejected.jsonl and judge the rest"
    );
    assert_eq!(lines.len(), 4);
}

#[test]
fn a_file_that_is_no_text_is_told_in_a_few_lines() {
    let picture: Vec<u8> = (0..60_u8)
        .flat_map(|it| [vec![b'{'; usize::from(it % 7)], vec![0x89 + it, b'\n']].concat())
        .collect();
    let files = Files::one(picture);
    let message = files.message(files.rows(&LoadOptions::default()));
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(
        lines[1],
        "  60 lines (rows.jsonl:1, rows.jsonl:2, rows.jsonl:3, …): not UTF-8 from column 1 on (byte 0x89): convert the \
         file to UTF-8"
    );
    assert_eq!(lines.len(), 3);
}

#[test]
fn bad_lines_can_be_set_aside() {
    let content = [
        row(0).as_bytes(),
        b"\n\xff{\n\n",
        row(1).as_bytes(),
        b"\r\n[1]\r\n",
    ]
    .concat();
    let files = Files::one(content);
    let options = LoadOptions {
        skip_bad: true,
        ..LoadOptions::default()
    };
    let loaded = files.rows(&options).unwrap();
    assert_eq!(ids(&loaded), ["r0", "r1"]);
    assert_eq!(loaded.samples[1].index, 1);
    let set_aside = rejected(&loaded.rejected);
    let rejected: Vec<_> = set_aside
        .iter()
        .map(|bad| (bad.line, bad.text.as_str()))
        .collect();
    assert_eq!(rejected, [(2, "\u{fffd}{"), (5, "[1]")]);
    assert!(set_aside[0].file.ends_with("rows.jsonl"));
    assert_eq!(
        loaded.fingerprint,
        Files::one(rows(2)).rows(&options).unwrap().fingerprint
    );
}

#[test]
fn an_id_used_twice_is_a_bad_line() {
    let files = Files::new(&[
        ("a.jsonl", rows(2).as_bytes()),
        ("b.jsonl", format!("\n{}", row(1)).as_bytes()),
    ]);
    let message = files.message(files.load(&["a.jsonl", "b.jsonl"], &LoadOptions::default()));
    assert!(
        message.contains(
            "b.jsonl:2: the id \"r1\" is taken by a.jsonl:2, in another file: ids must be unique"
        ),
        "{message}"
    );
    // Set aside, all rows of a file that numbers its own would be missing.
    assert!(
        message.ends_with("Give each file by itself if it numbers its own rows, or make ids from the content: `--columns id=`"),
        "{message}"
    );
    // Of bad rows beside such ones both is said.
    let bad = Files::new(&[
        ("a.jsonl", rows(2).as_bytes()),
        ("b.jsonl", format!("{}\n{{}}\n", row(1)).as_bytes()),
    ]);
    let options = LoadOptions {
        may_skip: true,
        ..LoadOptions::default()
    };
    let message = bad.message(bad.load(&["a.jsonl", "b.jsonl"], &options));
    assert!(
        message.contains("`--columns id=`. Mend them, or pass --skip-bad"),
        "{message}"
    );
    let loaded = files
        .load(&["a.jsonl", "b.jsonl"], &columns(&["id="]))
        .unwrap();
    let content = Sample::content_id("q1", "a1", "s1");
    assert_eq!(ids(&loaded)[1..], [content.clone(), format!("{content}-2")]);
}

proptest! {
    /// Any bytes give samples or a message; with bad lines set aside, every line is one or the other.
    #[test]
    fn no_line_is_lost(lines in prop::collection::vec(
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            (0usize..30).prop_map(|id| row(id).into_bytes()),
            ("[a-z\u{e9}\"\\\\{}]{0,10}", any::<bool>()).prop_map(|(text, id)| {
                let id = if id { "\"id\": \"x\", " } else { "" };
                format!("{{{id}\"question\": \"q\", \"answer\": 1, \"response\": \"{text}\"}}").into_bytes()
            }),
        ],
        0..20,
    )) {
        // Not for the beginning of a compressed file, an archive or a JSON array.
        let content = [b" \n{}\n".to_vec(), lines.join(&b'\n')].concat();
        let files = Files::one(&content);
        let filled = content.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace)).count();
        let options = LoadOptions { skip_bad: true, ..LoadOptions::default() };
        match files.rows(&options) {
            Ok(loaded) => {
                prop_assert_eq!(loaded.lines_read, filled);
                prop_assert_eq!(loaded.samples.len() + loaded.rejected.len(), filled);
                let mut unique = ids(&loaded);
                unique.sort_unstable();
                unique.dedup();
                prop_assert_eq!(unique.len(), loaded.samples.len());
                prop_assert!(loaded.samples.iter().enumerate().all(|(at, sample)| sample.index == at));
                let strict = files.rows(&LoadOptions::default());
                prop_assert_eq!(strict.is_ok(), loaded.rejected.is_empty());
            }
            Err(error) => {
                prop_assert_eq!(filled, 0);
                let empty = matches!(error, DatasetError::Empty { .. });
                prop_assert!(empty);
            }
        }
    }
}

#[test]
fn the_results_of_lm_eval_are_told_from_its_samples() {
    let results = r#"{"results": {"gsm8k": {"exact_match,none": 0.5}}, "configs": {}, "n-shot": {"gsm8k": 0}, "date": 1.5}"#;
    let why = reason(results);
    assert!(
        why.contains("these are lm-eval's results and not its samples"),
        "{why}"
    );
    assert!(
        why.contains("give the files samples_*.jsonl beside this one"),
        "{why}"
    );
    // What the file is comes first, and no list of names.
    assert!(!why.contains("looked for"), "{why}");
}
