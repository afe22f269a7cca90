//! What a newcomer gives the judge, right or wrong: nothing is judged by mistake, and every fault is named with its place.

mod limits;
mod long_lines;
mod terminal;
mod usage;

use std::fs;
use std::io::Write;

use crate::common::{Folder, rollouts, row};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// Judges without a model: reading the input is what is tried here.
const RULES: [&str; 5] = ["judge", "--rules", "only", "-o", "out.jsonl"];

fn rules(inputs: &[&'static str]) -> Vec<&'static str> {
    [&RULES, inputs].concat()
}

fn ids(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line["id"].as_str().unwrap())
        .collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Lines that cannot be used, and what is said of each.
fn bad_lines() -> Vec<(Vec<u8>, &'static str)> {
    let text = |line: &str| line.as_bytes().to_vec();
    vec![
        (
            text("{oops"),
            "not valid JSON: key must be a string at column 2",
        ),
        (
            text(r#"{"question": "q", "reference_answer": "1", "response": "1""#),
            "not valid JSON: EOF",
        ),
        (
            text(r#"{"question": "q", "reference_answer": "1", "reply": "1"}"#),
            "no response (looked for student_answer, response, ",
        ),
        (
            text(r#"{"question": "q", "reference_answer": "1", "response": true}"#),
            "`response` (the response) is true or false: it must be text",
        ),
        (
            text(r#"{"question": null, "reference_answer": "1", "response": "1"}"#),
            "`question` (the question) is null: it must be text",
        ),
        (
            text(r#"{"question": "q", "reference_answer": " ", "response": "1"}"#),
            "`reference_answer` (the reference answer) is blank",
        ),
        (
            text(
                r#"{"question": "q", "reference_answer": "1", "response": [{"role": "user", "content": "1"}]}"#,
            ),
            "`response` (the response) is chat messages whose last turn is not the assistant's",
        ),
        (
            text(r#"{"question": "q", "question": "r", "reference_answer": "1", "response": "1"}"#),
            "the key `question` is there twice",
        ),
        (
            text(r#"{"id": "good", "question": "q", "reference_answer": "1", "response": "1"}"#),
            "the id \"good\" is taken by in.jsonl:1",
        ),
        (text("\"text\""), "a JSON string, not an object"),
        (
            b"{\"question\": \"\xff\", \"reference_answer\": \"1\", \"response\": \"1\"}".to_vec(),
            "not UTF-8 from column 15 on (byte 0xff)",
        ),
    ]
}

#[test]
fn each_bad_line_is_named_with_its_place_and_nothing_is_judged() {
    for (line, reason) in bad_lines() {
        let folder = Folder::new();
        let good = row("good", "q", "1", "1");
        folder.write("in.jsonl", [good.as_bytes(), b"\n", &line, b"\n"].concat());
        let ran = folder.run(&rules(&["in.jsonl"]));
        ran.expect(
            2,
            &[
                "1 of 2 lines cannot be used, so nothing was judged",
                "  in.jsonl:3: ",
                reason,
                "--skip-bad",
            ],
        );
        assert_eq!(ran.stdout, "");
        assert_eq!(folder.names(), ["in.jsonl"]);
    }
}

#[test]
fn many_bad_lines_are_counted_and_the_first_are_listed() {
    let folder = Folder::new();
    folder.write("in.jsonl", "{}\n".repeat(25));
    let ran = folder.run(&rules(&["in.jsonl"]));
    ran.expect(
        2,
        &[
            "25 of 25 lines",
            "25 lines (in.jsonl:1, in.jsonl:2, in.jsonl:3, …): no question",
        ],
    );
    assert!(!ran.stderr.contains("in.jsonl:21:"), "{}", ran.stderr);
}

#[test]
fn bad_lines_are_set_aside_on_request() {
    let folder = Folder::new();
    let mut input = row("good", "q", "1", "1").into_bytes();
    for (line, _) in bad_lines() {
        input.extend_from_slice(&line);
        input.push(b'\n');
    }
    input.extend_from_slice(row("last", "q", "2", "2").as_bytes());
    folder.write("in.jsonl", input);
    let bad = bad_lines();
    let (set_aside, all) = (bad.len(), bad.len() + 2);
    let said = format!("{set_aside} of {all} lines set aside as bad in out.jsonl.rejected.jsonl");
    folder
        .run(&rules(&["in.jsonl", "--skip-bad"]))
        .expect(0, &[&said]);
    let verdicts = folder.lines("out.jsonl");
    assert_eq!(ids(&verdicts), ["good", "last"]);
    assert_eq!(verdicts[1]["index"], 1);
    let rejected = folder.lines("out.jsonl.rejected.jsonl");
    assert_eq!(rejected.len(), bad.len());
    for (at, ((line, reason), found)) in bad.iter().zip(&rejected).enumerate() {
        assert_eq!(found["file"], "in.jsonl");
        assert_eq!(found["line"], at + 2);
        assert!(
            found["reason"].as_str().unwrap().contains(reason),
            "{found}"
        );
        assert_eq!(found["text"], String::from_utf8_lossy(line).as_ref());
    }

    // The lines mended, none is left aside; another input is another run, so nothing is changed before `--restart`.
    let kept = folder.read("out.jsonl.rejected.jsonl");
    folder.write("in.jsonl", row("good", "q", "1", "1"));
    folder
        .run(&rules(&["in.jsonl", "--skip-bad"]))
        .expect(2, &["begun by a different run"]);
    assert_eq!(folder.read("out.jsonl.rejected.jsonl"), kept);
    folder
        .run(&rules(&["in.jsonl", "--skip-bad", "--restart"]))
        .expect(0, &[]);
    assert_eq!(folder.read("out.jsonl.rejected.jsonl"), "");

    // Without a file for the verdicts there is no place beside it.
    for arguments in [
        &["judge", "in.jsonl", "--skip-bad"][..],
        &["judge", "in.jsonl", "--skip-bad", "-o", "-"],
    ] {
        folder.run(arguments).expect(2, &["-o"]);
    }
}

#[test]
fn the_same_rows_give_the_same_output_however_they_are_packed() {
    let text = rollouts(9);
    let folder = Folder::new();
    folder.write("in.jsonl", &text);
    folder
        .run(&rules(&["in.jsonl"]))
        .expect(0, &["verdicts  9"]);
    let expected = folder.read("out.jsonl");
    assert_eq!(ids(&folder.lines("out.jsonl"))[8], "r8");

    let other = Folder::new();
    other.write("in.jsonl.gz", gzip(&text));
    other.write(
        "in.jsonl.zst",
        zstd::encode_all(text.as_bytes(), 1).unwrap(),
    );
    // What a file holds decides, not its name.
    other.write("disguised.jsonl", gzip(&text));
    other.write(
        "dos.jsonl",
        format!("\u{feff}{}", text.replace('\n', "\r\n\r\n")),
    );
    fs::create_dir_all(other.path("parts/b")).unwrap();
    let cut = text.lines().take(4).map(str::len).sum::<usize>() + 4;
    other.write("parts/a.jsonl", &text[..cut]);
    other.write("parts/b/c.ndjson.gz", gzip(&text[cut..]));
    other.write("parts/notes.txt", "not rows");
    other.write("parts/old.jsonl.rejected.jsonl", "{}\n");
    for input in [
        "in.jsonl.gz",
        "in.jsonl.zst",
        "disguised.jsonl",
        "dos.jsonl",
        "parts",
    ] {
        let out = format!("{input}.out.jsonl");
        let ran = other.run(&["judge", "--rules", "only", input, "-o", &out]);
        ran.expect(0, &[]);
        assert_eq!(other.read(&out), expected, "{input}");
    }

    for input in [text.clone().into_bytes(), gzip(&text)] {
        let ran = other.pipe(&input, &["judge", "--rules", "only", "-q"]);
        ran.expect(0, &[]);
        assert_eq!(ran.stdout, expected);
        assert_eq!(ran.stderr, "");
    }
    let ran = other.pipe(
        text.as_bytes(),
        &["judge", "-", "--rules", "only", "-o", "-"],
    );
    ran.expect(0, &["columns: question ← question"]);
    assert_eq!(ran.stdout, expected);
}

#[test]
fn the_output_in_the_folder_of_inputs_is_not_an_input() {
    let folder = Folder::new();
    fs::create_dir(folder.path("data")).unwrap();
    folder.write("data/in.jsonl", rollouts(3));
    let arguments = ["judge", "data", "--rules", "only", "-o", "data/out.jsonl"];
    folder.run(&arguments).expect(0, &["verdicts  3"]);
    folder.run(&arguments).expect(0, &["3 were done before"]);
    assert_eq!(folder.lines("data/out.jsonl").len(), 3);
}

#[test]
fn columns_can_be_named() {
    let folder = Folder::new();
    folder.write(
        "in.jsonl",
        r#"{"q": "1 + 1?", "meta": {"gold": 2}, "replies": ["It is 3.", "It is 2."], "key": 17}
"#,
    );
    let columns = "question=q,reference=meta.gold,response=replies[1],id=key";
    let ran = folder.run(&["judge", "in.jsonl", "--rules", "only", "--columns", columns]);
    ran.expect(0, &["question ← q", "response ← replies[1]"]);
    let lines = ran.lines();
    assert_eq!(lines[0]["id"], "17");
    assert_eq!(lines[0]["outcome"], true);
    let ran = folder.run(&[
        "judge",
        "in.jsonl",
        "--rules=only",
        "-q",
        "--columns=question=q",
        "--columns=reference=meta.gold",
        "--columns=response=replies[0]",
    ]);
    assert_eq!(ran.expect(0, &[]).lines()[0]["outcome"], false);

    for (columns, said) in [
        ("question", "write FIELD=KEY"),
        ("answer=q", "there is no field `answer`"),
        ("question=", "names no key"),
        ("question=q,question=p", "keep one"),
        ("question=nope", "no question (looked for `nope`)"),
    ] {
        folder
            .run(&["judge", "in.jsonl", "--columns", columns])
            .expect(2, &[said]);
    }
}

#[test]
fn a_row_without_an_id_gets_one_of_its_content() {
    let folder = Folder::new();
    let bare = r#"{"problem": "1 + 1?", "gold_answer": "2", "completion": "2"}"#;
    let other = r#"{"problem": "1 + 2?", "gold_answer": "3", "completion": "3"}"#;
    folder.write("in.jsonl", format!("{bare}\n{other}\n{bare}\n"));
    folder.write("moved.jsonl", format!("{other}\n{bare}\n"));
    let judge = |input| {
        let ran = folder.run(&["judge", input, "--rules", "only", "-q"]);
        let lines = ran.expect(0, &[]).lines();
        ids(&lines)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let found = judge("in.jsonl");
    assert_eq!(found[0].len(), 16);
    assert_ne!(found[0], found[1]);
    assert_eq!(found[2], format!("{}-2", found[0]));
    assert_eq!(judge("moved.jsonl"), [found[1].clone(), found[0].clone()]);
}

#[test]
fn shards_together_are_the_whole_and_a_limit_is_its_beginning() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(40));
    let judge = |more: &[&str]| {
        let arguments = [&["judge", "in.jsonl", "--rules", "only"], more].concat();
        let ran = folder.run(&arguments);
        ran.expect(0, &[]);
        ran
    };
    let whole = judge(&[]).lines();
    assert_eq!(whole.len(), 40);
    let mut parts = Vec::new();
    for shard in ["0/3", "1/3", "2/3"] {
        let ran = judge(&["--shard", shard]);
        let part = ran.lines();
        let said = format!("shard {shard}: {} of 40 samples", part.len());
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        assert!(!part.is_empty());
        parts.extend(part);
    }
    parts.sort_by_key(|line| line["index"].as_u64());
    assert_eq!(parts, whole);

    assert_eq!(judge(&["--limit", "7"]).lines(), whole[..7]);
    assert_eq!(judge(&["--limit", "99"]).lines(), whole);
    // The limit comes before the shard.
    let few: Vec<Value> = ["0/2", "1/2"]
        .iter()
        .flat_map(|shard| judge(&["--limit", "7", "--shard", shard]).lines())
        .collect();
    assert_eq!(few.len(), 7);
}

#[test]
fn a_dry_run_counts_and_writes_nothing() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(6));
    let dry = folder.run_words("judge in.jsonl -o out.jsonl --trials 2 --dry-run");
    dry.expect(0, &["columns: question ← question"]);
    for part in [
        "6 samples × 2 trials = 12 verdicts",
        "prompt tokens: ",
        "are the same in all",
        "estimate: ",
        "time, estimated: ",
        " s for the prompts, ",
        " for the completions if they have 300 tokens, as is typical, and up to ",
        "memory, estimated: ",
        " GB (weights 0.0",
        " GB are free",
        "the first prompt (r0):",
        "Tom has 2 apples and buys 1 more.",
    ] {
        assert!(dry.stdout.contains(part), "{part}: {}", dry.stdout);
    }
    let long = folder.run_words("judge in.jsonl --dry-run --max-new-tokens 1000000");
    long.expect(2, &["--max-new-tokens 1000000 leaves no room for a prompt"]);
    let rules = folder.run(&["judge", "in.jsonl", "--dry-run", "--rules", "only"]);
    assert!(
        rules.stdout.contains("no model is asked"),
        "{}",
        rules.stdout
    );
    assert_eq!(folder.names(), ["in.jsonl"]);
}
