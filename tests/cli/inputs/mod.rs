//! What a newcomer gives the judge, right or wrong: nothing is judged by mistake, and every fault is named with its place.

mod limits;
mod terminal;

use std::fs;
use std::io::Write;

use crate::common::{Folder, check_verdict, rollouts, row};
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
            text(r#"{"question": "q", "reference_answer": "1", "response": 1}"#),
            "`response` (the response) is a number: it must be text",
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
            "`--columns response=response[0].content`",
        ),
        (
            text(r#"{"question": "q", "question": "r", "reference_answer": "1", "response": "1"}"#),
            "the key `question` is there twice",
        ),
        (
            text(r#"{"id": "good", "question": "q", "reference_answer": "1", "response": "1"}"#),
            "the id \"good\" is taken by in.jsonl:1",
        ),
        (text("[1, 2]"), "a JSON array, not an object"),
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
        &["25 of 25 lines", "in.jsonl:20: no question", "… and 5 more"],
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
    let said = format!("{} of {} lines set aside as bad", bad.len(), bad.len() + 2);
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
        let out = format!("{input}.out");
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
    let dry = folder.run(&[
        "judge",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--trials",
        "2",
        "--dry-run",
    ]);
    dry.expect(0, &["columns: question ← question"]);
    for part in [
        "6 samples × 2 trials = 12 verdicts",
        "prompt tokens: ",
        "are the same in all",
        "estimate: ",
        "the first prompt (r0):",
        "Tom has 2 apples and buys 1 more.",
    ] {
        assert!(dry.stdout.contains(part), "{part}: {}", dry.stdout);
    }
    let long = folder.run(&[
        "judge",
        "in.jsonl",
        "--dry-run",
        "--max-new-tokens",
        "1000000",
    ]);
    assert!(
        long.stdout.contains("too long: 6 samples"),
        "{}",
        long.stdout
    );
    let rules = folder.run(&["judge", "in.jsonl", "--dry-run", "--rules", "only"]);
    assert!(
        rules.stdout.contains("no model is asked"),
        "{}",
        rules.stdout
    );
    assert_eq!(folder.names(), ["in.jsonl"]);
}

#[test]
fn wrong_usage_is_refused_with_a_word_on_what_is_right() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(2));
    folder.write("empty.jsonl", "\n\n");
    folder.write("prompt.txt", "Grade {{ question }} and {{ answer }}.");
    folder.write("no_slots.txt", "Grade it.");
    folder.write("cut.jsonl.gz", &gzip(&rollouts(20))[..80]);
    folder.write("in.parquet", "PAR1");
    fs::create_dir(folder.path("void")).unwrap();
    fs::create_dir(folder.path("model")).unwrap();
    let cases: [(&[&str], &[&str]); 31] = [
        (
            &["nope.jsonl"],
            &["could not read nope.jsonl: No such file"],
        ),
        (&["empty.jsonl"], &["no rows in empty.jsonl"]),
        (&["void"], &["void holds no file to read", ".jsonl"]),
        (&["in.jsonl", "in.jsonl"], &["judged twice"]),
        (&["cut.jsonl.gz"], &["cut.jsonl.gz is cut short or damaged"]),
        (&["in.parquet"], &["a Parquet file", "convert it"]),
        (
            &["in.jsonl", "--model", "gpt"],
            &["no model `gpt`", "`tiny`", "config.json"],
        ),
        (&["in.jsonl", "--model", "model"], &["config.json"]),
        (
            &["in.jsonl", "--protocol", "vibes"],
            &["no protocol `vibes`", "prime"],
        ),
        (
            &["in.jsonl", "--device", "tpu"],
            &["no device `tpu`", "cuda:N"],
        ),
        (
            &["in.jsonl", "--gpus", "0,1,0"],
            &["--gpus names GPU 0 twice", "name it once"],
        ),
        (&["in.jsonl", "--gpus", "0,one"], &["--gpus"]),
        (&["in.jsonl", "--gpus", ""], &["--gpus"]),
        (
            &["in.jsonl", "--gpus", "0,1", "--device", "cpu"],
            &["--gpus", "--device"],
        ),
        (
            &["in.jsonl", "--shard", "3/3"],
            &["`3/3` is not a shard", "i from 0 to n - 1"],
        ),
        (&["in.jsonl", "--shard", "half"], &["write `i/n`"]),
        (
            &["in.jsonl", "--prompt", "nope.txt"],
            &["could not read nope.txt"],
        ),
        (
            &["in.jsonl", "--prompt", "prompt.txt"],
            &[
                "prompt.txt: line 1: unknown slot `{{ answer }}`",
                "student_answer",
            ],
        ),
        (
            &["in.jsonl", "--prompt", "no_slots.txt"],
            &["without `{{ question }}`"],
        ),
        (
            &["in.jsonl", "--few-shots", "nope.txt"],
            &["could not read nope.txt"],
        ),
        (
            &["in.jsonl", "--temperature", "-1"],
            &["the temperature must be 0 (greedy) or a positive number"],
        ),
        (&["in.jsonl", "--temperature", "hot"], &["--temperature"]),
        (&["in.jsonl", "--temperature", "nan"], &["the temperature"]),
        (&["in.jsonl", "--top-p", "3"], &["top-p must be"]),
        (&["in.jsonl", "--trials", "0"], &["--trials"]),
        (
            &["in.jsonl", "--max-new-tokens", "0"],
            &["--max-new-tokens"],
        ),
        (
            &["in.jsonl", "--max-sequences", "0"],
            &["--max-sequences", "must be at least 1"],
        ),
        (
            &["in.jsonl", "--rules", "always"],
            &["fallback, first, only, off"],
        ),
        (
            &["in.jsonl", "--rules-profile", "magic"],
            &["flexible-extract"],
        ),
        (
            &["in.jsonl", "--rules-config", "{\"rounding\": 2}"],
            &["no setting `rounding`", "float_rounding"],
        ),
        (
            &["in.jsonl", "--reward", "much"],
            &["process-outcome or outcome"],
        ),
    ];
    let before = folder.names();
    for (arguments, said) in cases {
        let arguments = [&["judge", "-o", "out.jsonl"], arguments].concat();
        let ran = folder.run(&arguments);
        ran.expect(2, &["error:"]).expect(2, said);
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(folder.names(), before);
    folder.run(&["judge"]).expect(2, &["no rows in stdin"]);
    folder.run(&["jugde", "in.jsonl"]).expect(2, &["judge"]);
    folder.run(&[]).expect(2, &["Usage: juror <COMMAND>"]);
}

#[cfg(not(feature = "cuda"))]
#[test]
fn a_device_this_build_does_not_know_names_the_way_out() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    folder
        .run(&["judge", "in.jsonl", "--device", "cuda"])
        .expect(1, &["no CUDA support", "--device cpu"]);
    folder
        .run(&["judge", "in.jsonl", "-o", "out.jsonl", "--gpus", "0,1"])
        .expect(1, &["no CUDA support", "--device cpu"]);
    assert_eq!(folder.names(), ["in.jsonl"]);
}

#[test]
fn a_reason_is_told_once() {
    let folder = Folder::new();
    let ran = folder.run(&["judge", "nope.jsonl"]);
    assert_eq!(
        ran.stderr.matches("No such file").count(),
        1,
        "{}",
        ran.stderr
    );
}

#[test]
fn standard_output_is_verdicts_and_nothing_else() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    let arguments = ["judge", "in.jsonl", "--max-new-tokens", "4"];
    let ran = Folder::run(&folder, &arguments);
    let lines = ran.expect(3, &["verdicts  3", "tokens"]).lines();
    assert_eq!(ids(&lines), ["r0", "r1", "r2"]);
    lines.iter().for_each(check_verdict);

    let quiet = folder.run(&[&arguments[..], &["--quiet"]].concat());
    assert_eq!(quiet.expect(3, &[]).stderr, "");
    assert_eq!(quiet.lines().len(), 3);
}

/// Runs the command in a pseudo-terminal; none where there is no `script` to make one.
#[cfg(target_os = "linux")]
fn in_terminal(folder: &Folder, arguments: &str, no_color: Option<&str>) -> Option<String> {
    let mut command = std::process::Command::new("script");
    let juror = crate::common::binary().display();
    command
        .args(["-qec", &format!("'{juror}' {arguments}"), "/dev/null"])
        .current_dir(folder.path("."))
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .stdin(std::process::Stdio::null());
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn no_color_is_respected_in_a_terminal() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    // Colours are sequences that end in `m`; moving the cursor, as the progress bar does, is none.
    let coloured = |text: &str| {
        text.split("\x1b[").skip(1).any(|code| {
            let digits = |character: char| character.is_ascii_digit() || character == ';';
            code.trim_start_matches(digits).starts_with('m')
        })
    };
    for arguments in [
        "judge in.jsonl --rules only -o out.jsonl",
        "judge nope.jsonl",
        "judge --shard 3/3",
        "--help",
    ] {
        let Some(plain) = in_terminal(&folder, arguments, Some("1")) else {
            return;
        };
        assert!(!plain.is_empty());
        assert!(!coloured(&plain), "{plain:?}");
        let usual = in_terminal(&folder, arguments, None).unwrap();
        assert!(coloured(&usual), "{usual:?}");
    }
}

/// Runs the command with no more than this much memory for its addresses, in kilobytes.
#[cfg(target_os = "linux")]
fn with_memory(folder: &Folder, kilobytes: usize, arguments: &[&str]) -> crate::common::Ran {
    let output = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\""))
        // Threads take addresses too.
        .env("RAYON_NUM_THREADS", "2")
        .arg(crate::common::binary())
        .args(arguments)
        .current_dir(folder.path("."))
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    crate::common::Ran::of(output)
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_without_an_end_is_refused_while_it_is_read() {
    const LIMIT: &str = "--max-line-bytes=1000000";
    let folder = Folder::new();
    // Small files of much text without a newline.
    let zeros = vec![b'0'; 1 << 20];
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    let mut zst = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zst.long_distance_matching(true).unwrap();
    zst.window_log(27).unwrap();
    for _ in 0..100 {
        gz.write_all(&zeros).unwrap();
        zst.write_all(&zeros).unwrap();
    }
    fs::create_dir(folder.path("bombs")).unwrap();
    folder.write("bombs/in.jsonl.gz", gz.finish().unwrap());
    folder.write("bombs/in.jsonl.zst", zst.finish().unwrap());
    std::os::unix::fs::symlink("/dev/zero", folder.path("zero.jsonl")).unwrap();
    for (input, line) in [
        ("/dev/zero", "/dev/zero:1: a line of more than "),
        ("zero.jsonl", "zero.jsonl:1: a line of more than "),
        (
            "bombs/in.jsonl.gz",
            "bombs/in.jsonl.gz:1: a line of more than ",
        ),
        (
            "bombs/in.jsonl.zst",
            "bombs/in.jsonl.zst:1: a line of more than ",
        ),
        ("bombs", "bombs/in.jsonl.gz:1: a line of more than "),
    ] {
        for command in [
            &["judge", "--rules", "only"][..],
            &["judge", "--rules", "only", "--skip-bad", "-o", "out.jsonl"],
            &["judge", "--dry-run"],
            &["verify"],
            &["verify", "-o", "out.jsonl"],
            &["prompts", "render"],
            &["prompts", "render", "--id", "r7"],
            &["bench"],
        ] {
            let arguments = [command, &[input, LIMIT]].concat();
            if command[0] == "verify" && input == "bombs" {
                continue;
            }
            let ran = with_memory(&folder, 2 << 20, &arguments);
            ran.expect(2, &[line, "--max-line-bytes"]);
            assert!(!folder.has("out.jsonl"));
        }
    }
    // The limit that holds where none is given.
    with_memory(&folder, 2 << 20, &["judge", "--rules", "only", "/dev/zero"])
        .expect(2, &["/dev/zero:1: a line of more than "]);
    for option in ["--prompt", "--few-shots", "--chat-template"] {
        let ran = with_memory(
            &folder,
            2 << 20,
            &["judge", "in.jsonl", option, "/dev/zero"],
        );
        ran.expect(2, &["could not read /dev/zero", "longer than 16 MiB"]);
    }
}

#[test]
fn a_line_that_is_too_long_is_a_bad_line() {
    let long = row("long", "q", "1", &"1".repeat(5_000));
    let exactly = row("exactly", "q", "1", &"1".repeat(2_000));
    let limit = format!("--max-line-bytes={}", exactly.len() - 1);
    let input = format!(
        "{}{long}{exactly}{}",
        row("first", "q", "1", "1"),
        row("last", "q", "2", "2")
    );
    let dos = input.replace('\n', "\r\n");
    let unended = format!("{}{}", input, long.trim_end());
    let endings: [(&str, Vec<u8>, usize); 4] = [
        ("in.jsonl", input.clone().into_bytes(), 1),
        ("dos.jsonl", format!("\u{feff}{dos}").into_bytes(), 1),
        ("unended.jsonl", unended.into_bytes(), 2),
        ("in.jsonl.gz", gzip(&input), 1),
    ];
    for (name, content, bad) in endings {
        let folder = Folder::new();
        folder.write(name, content);
        let ran = folder.run(&["judge", "--rules", "only", name, &limit, "-o", "out.jsonl"]);
        let named = format!("  {name}:2: longer than {} bytes", exactly.len() - 1);
        ran.expect(2, &[&named, "--max-line-bytes", "--skip-bad"]);
        assert!(!folder.has("out.jsonl"));
        let ran = folder.run(&[
            "judge",
            "--rules",
            "only",
            name,
            &limit,
            "-o",
            "out.jsonl",
            "--skip-bad",
        ]);
        ran.expect(0, &[]);
        assert_eq!(
            ids(&folder.lines("out.jsonl")),
            ["first", "exactly", "last"]
        );
        let rejected = folder.lines("out.jsonl.rejected.jsonl");
        assert_eq!(rejected.len(), bad);
        let text = rejected[0]["text"].as_str().unwrap();
        assert!(long.starts_with(text) && text.len() == 1024, "{text}");
        // A longer limit takes all.
        if bad == 1 {
            let ran = folder.run(&[
                "judge",
                "--rules",
                "only",
                name,
                "--max-line-bytes=6000",
                "-q",
            ]);
            assert_eq!(ran.expect(0, &[]).lines().len(), 4);
        }
    }
    let folder = Folder::new();
    folder.write("in.jsonl", &input);
    let ran = folder.run(&["verify", "in.jsonl", &limit]);
    let lines = ran.expect(3, &[]).lines();
    assert_eq!(lines.len(), 4);
    assert!(
        lines[1]["error"].as_str().unwrap().contains("longer than "),
        "{}",
        lines[1]
    );
    for limit in ["0", "4294967296", "x"] {
        folder
            .run(&["judge", "in.jsonl", "--max-line-bytes", limit])
            .expect(2, &["--max-line-bytes"]);
    }
}
