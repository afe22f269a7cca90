//! `juror label`: the queue, the file of labels, agreement.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Folder, Ran, row, words};

/// Six samples and the verdicts of two judges: they agree on `a` and `f`, on the others something is in doubt.
fn judged(folder: &Folder) {
    let rows: String = ["a", "b", "c", "d", "e", "f"]
        .map(|id| {
            row(
                id,
                &format!("question {id}"),
                "3",
                &format!("response {id}"),
            )
        })
        .concat();
    folder.write("rows.jsonl", rows);
    let verdict = |id: &str, trial: u32, said: Option<bool>, rules: bool, probability: f64| {
        let status = if said.is_some() { "ok" } else { "unparsed" };
        json!({"id": id, "index": 0, "trial": trial, "status": status, "process": said, "outcome": said, "perfect": null,
            "overall": said, "reward": null, "reason": format!("SECRET reason of {id}"), "outcome_source": null,
            "rule_outcome": rules, "confidence": {"process": probability, "outcome": 0.999, "perfect": null},
            "usage": {"prompt_tokens": 1, "cached_tokens": 0, "completion_tokens": 4}})
        .to_string()
    };
    let first = [
        verdict("a", 0, Some(true), true, 0.6),
        // Against the rules.
        verdict("b", 0, Some(true), false, 0.9),
        // Against the other judge.
        verdict("c", 0, Some(true), true, 0.7),
        // Trials.
        verdict("d", 0, Some(true), true, 0.99),
        verdict("d", 1, Some(false), true, 0.2),
        verdict("e", 0, None, true, 0.95),
        verdict("f", 0, Some(true), true, 0.98),
    ];
    folder.write("first.jsonl", first.join("\n"));
    folder.write(
        "second.jsonl",
        [
            verdict("c", 0, Some(false), false, 0.4),
            verdict("f", 0, Some(true), true, 0.96),
        ]
        .join("\n"),
    );
}

const QUEUE: &str =
    "label first.jsonl second.jsonl --rows rows.jsonl -o labels.jsonl --annotator ada";

/// Labels what the judges disagree on.
fn label(folder: &Folder, keys: &str, more: &str) -> Ran {
    folder.pipe(keys.as_bytes(), &words(&format!("{QUEUE} {more}")))
}

/// What the file of labels says: id, outcome, process, overall.
fn said(folder: &Folder, file: &str) -> Vec<Value> {
    let lines = folder.lines(file);
    let line = |line: Value| {
        json!([
            line["id"],
            line["outcome"],
            line["process"],
            line["overall"]
        ])
    };
    lines.into_iter().map(line).collect()
}

#[test]
fn disagreements_become_labels_that_eval_takes() {
    let folder = Folder::new();
    judged(&folder);
    // The least sure first: c (0.6 of the second judge), d (0.8), b (0.9), e (0.95).
    let ran = label(
        &folder,
        "t\nx\np carried  the 1\nu\nn\nhello\nf no\ns\nq\n",
        "",
    );
    ran.expect(0, &["labels in labels.jsonl"]);
    assert_eq!(
        said(&folder, "labels.jsonl"),
        [
            json!(["c", true, true, true]),
            json!(["d", false, null, false])
        ]
    );
    let line = &folder.lines("labels.jsonl")[1];
    assert_eq!(
        (line["annotator"].as_str(), line["note"].as_str()),
        (Some("ada"), Some("no")),
        "{line}"
    );
    assert!(line["time"].as_str().unwrap().ends_with('Z'), "{line}");
    ran.prints(&["2 of 4 are labelled"]);
    // Nothing of a verdict is told before its sample is labelled.
    let first = ran.stdout.find("SECRET").unwrap();
    assert!(
        ran.stdout.find("▸ right").unwrap() < first,
        "{}",
        ran.stdout
    );
    assert!(
        !ran.stdout.contains("SECRET reason of b"),
        "it was skipped: {}",
        ran.stdout
    );
    ran.prints(&["asked for: judge against judge"]);
    // It goes on where it was left, with what was skipped; and back over what was labelled before.
    let ran = label(&folder, "u\nt\np\ns\n", "");
    ran.expect(0, &[]);
    ran.prints(&["3 of 4 are labelled; 1 skipped"]);
    let expected = [
        json!(["c", true, true, true]),
        json!(["d", true, true, true]),
        json!(["b", true, false, false]),
    ];
    assert_eq!(said(&folder, "labels.jsonl"), expected);
    let ran = label(&folder, "", "--show-verdict");
    assert!(
        ran.stdout.contains("SECRET reason of e") && ran.stdout.contains("no verdict"),
        "{}",
        ran.stdout
    );
    let ran = folder.run_words("eval first.jsonl --labels labels.jsonl --json eval.json");
    ran.expect(0, &["3 samples are few"]);
    let value: Value = serde_json::from_str(&folder.read("eval.json")).unwrap();
    // c and d's first trial are right; d's second and b are not.
    assert_eq!(
        value["judges"][0]["all"]["tasks"]["overall"]["accuracy"]["count"], 2,
        "{value}"
    );
    assert_eq!(value["judges"][0]["all"]["lucky_guesses"]["all"], 1);
}

#[test]
fn right_results_whose_derivation_is_refused_come_first() {
    let folder = Folder::new();
    let ids = ["a", "b", "c"];
    folder.write(
        "rows.jsonl",
        ids.map(|id| row(id, &format!("question {id}"), "3", "response"))
            .concat(),
    );
    let verdict = |id: &str, process: bool, rules: bool, probability: f64| {
        json!({"id": id, "index": 0, "trial": 0, "status": "ok", "process": process, "outcome": true, "perfect": null,
            "overall": process, "reward": null, "reason": null, "outcome_source": "judge", "rule_outcome": rules,
            "confidence": {"process": probability, "outcome": 0.999, "perfect": null},
            "usage": {"prompt_tokens": 1, "cached_tokens": 0, "completion_tokens": 4}})
        .to_string()
    };
    let verdicts = [
        // Against the rules, and not sure of it.
        verdict("a", true, false, 0.6),
        verdict("b", true, true, 0.99),
        verdict("c", false, true, 0.001),
    ];
    folder.write("first.jsonl", verdicts.join("\n"));
    folder.write("second.jsonl", verdict("b", true, true, 0.99));
    let ran = label(&folder, "t\nt\n", "");
    ran.expect(0, &[]);
    ran.prints(&["asked for: right result, derivation refused"]);
    let asked = said(&folder, "labels.jsonl");
    let asked: Vec<&Value> = asked.iter().map(|label| &label[0]).collect();
    assert_eq!(asked, ["c", "a"]);
}

#[test]
fn all_or_some_are_asked_for() {
    let folder = Folder::new();
    judged(&folder);
    let ids = |more: &str| {
        let _ = std::fs::remove_file(folder.path("some.jsonl"));
        let line = format!("label rows.jsonl -o some.jsonl --annotator ben {more}");
        folder
            .pipe("t\n".repeat(8).as_bytes(), &words(&line))
            .expect(0, &[]);
        let lines = if folder.has("some.jsonl") {
            folder.lines("some.jsonl")
        } else {
            Vec::new()
        };
        lines
            .iter()
            .map(|line| line["id"].as_str().unwrap().to_owned())
            .collect::<Vec<String>>()
    };
    assert_eq!(ids("--all"), ["a", "b", "c", "d", "e", "f"]);
    let drawn = ids("--sample 3 --seed 7");
    assert_eq!(drawn.len(), 3);
    assert_eq!(ids("--sample 3 --seed 7"), drawn);
    assert_ne!(ids("--sample 3 --seed 8"), drawn);
    assert_eq!(
        ids("--verdicts second.jsonl"),
        Vec::<String>::new(),
        "nothing is in doubt"
    );
    assert_eq!(ids("--verdicts second.jsonl --below 0.97"), ["c", "f"]);
}

#[test]
fn labels_outlive_a_kill() {
    let folder = Folder::new();
    judged(&folder);
    let mut child = folder
        .juror(&words(QUEUE))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = child.stdin.take().unwrap();
    keys.write_all(b"t\nf\n").unwrap();
    keys.flush().unwrap();
    let whole = || folder.has("labels.jsonl") && folder.read("labels.jsonl").lines().count() == 2;
    let started = std::time::Instant::now();
    while !whole() {
        assert!(started.elapsed().as_secs() < 120);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let second = label(&folder, "t\n", "");
    second.expect(2, &["labels.jsonl is written by another `juror label`"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = folder.read("labels.jsonl");
    // A line that was cut off while it was written.
    folder.write("labels.jsonl", format!("{kept}{{\"id\":\"b\",\"anno"));
    label(&folder, "p\n", "").expect(0, &[]);
    assert!(folder.read("labels.jsonl").starts_with(&kept));
    // A whole label whose line nobody ended is kept, and the next one begins a line.
    let whole = folder.read("labels.jsonl");
    folder.write("labels.jsonl", whole.trim_end());
    label(&folder, "t\n", "").expect(0, &[]);
    assert!(folder.read("labels.jsonl").starts_with(&whole));
    assert_eq!(folder.lines("labels.jsonl").len(), 4);
    assert_eq!(
        said(&folder, "labels.jsonl")[2],
        json!(["b", true, false, false])
    );
}

/// Nobody can label what has no texts.
#[test]
fn rows_without_texts_are_refused() {
    let folder = Folder::new();
    let row = json!({"id": "a", "q": "1+1?", "a": "2", "r": "It is 2."});
    folder.write("rows.jsonl", row.to_string());
    let line = "label --rows rows.jsonl --all -o labels.jsonl --annotator ada";
    let ran = folder.pipe(b"t\n", &words(line));
    ran.expect(2, &["no row has a question or a response", "--columns"]);
    assert!(!folder.has("labels.jsonl"));
    let named = format!("{line} --columns question=q,response=r");
    folder.pipe(b"t\n", &words(&named)).expect(0, &[]);
    assert_eq!(folder.lines("labels.jsonl").len(), 1);
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = Folder::new();
    judged(&folder);
    label(&folder, "t\n", "").expect(0, &[]);
    let before = folder.read("labels.jsonl");
    folder.write("other.txt", "no labels, and no newline");
    folder.write("twice.jsonl", format!("{before}{before}"));
    let run = |output: &str, annotator: &str| {
        let line = QUEUE
            .replace("labels.jsonl", output)
            .replace("ada", annotator);
        folder.pipe(b"t\n", &words(&line))
    };
    run("labels.jsonl", "ben").expect(2, &["labels.jsonl:1 is a label of \"ada\""]);
    run("other.txt", "ada").expect(2, &["other.txt:1: no label"]);
    run("rows.jsonl", "ada").expect(2, &["is an input, and would be replaced"]);
    // A row whose line nobody ended is no label that was cut off.
    let row = r#"{"id":"a","question":"q","reference":"3","response":"r"}"#;
    folder.write("row.txt", row);
    run("row.txt", "ada").expect(2, &["row.txt:1: no label"]);
    assert_eq!(folder.read("row.txt"), row);
    run("twice.jsonl", "ada").expect(2, &["twice.jsonl:2: \"c\" has a label already"]);
    run("labels.jsonl", " ").expect(2, &["--annotator"]);
    assert_eq!(folder.read("labels.jsonl"), before);
    assert_eq!(folder.read("other.txt"), "no labels, and no newline");
    folder
        .run_words("label first.jsonl -o x.jsonl --annotator ada")
        .expect(2, &["--sample N"]);
    folder.write(
        "strange.jsonl",
        folder
            .read("second.jsonl")
            .replace("\"id\":\"", "\"id\":\"not-"),
    );
    let strange = words("label strange.jsonl --rows rows.jsonl -o x.jsonl --annotator ada");
    folder.run(&strange).expect(
        2,
        &[
            "none of the verdicts in strange.jsonl is on a row",
            "(ids of verdicts: `not-c`, `not-f`; of rows: `a`, `b`)",
        ],
    );
}

#[test]
fn all_that_is_missing_is_said_at_once_with_a_command() {
    let folder = Folder::new();
    judged(&folder);
    let whole = "`juror label verdicts.jsonl --rows rows.jsonl -o labels.jsonl --annotator NAME`";
    for (given, parts) in [
        (
            &[][..],
            &[
                "verdicts, whose disagreements",
                "--all",
                "the rows",
                "where the labels go",
                "who labels",
                whole,
            ][..],
        ),
        (
            &["--rows", "my rows.jsonl", "--sample", "5"],
            &[
                "missing: where the labels go; who labels. As in",
                "`juror label --rows 'my rows.jsonl' --sample 5 -o labels.jsonl --annotator NAME`",
            ],
        ),
        (
            &["first.jsonl", "--annotator", "ada"],
            &["`juror label first.jsonl --rows rows.jsonl -o labels.jsonl --annotator ada`"],
        ),
        (
            &["--rows", "rows.jsonl", "--all", "--below", "0.9"],
            &["cannot be used with"],
        ),
        (
            &words("--rows rows.jsonl --all --show-verdict -o x.jsonl --annotator ada"),
            &["--show-verdict are of verdicts"],
        ),
        (
            &["--rows", "rows.jsonl", "--sample", "-1"],
            &["must be a whole number, 1 or more"],
        ),
    ] {
        folder.run(&[&["label"], given].concat()).expect(2, parts);
    }
}

/// `juror label ROWS --verdicts VERDICTS`, as it was.
#[test]
fn the_order_of_earlier_versions_is_understood() {
    let folder = Folder::new();
    judged(&folder);
    let earlier = words(
        "label rows.jsonl --verdicts first.jsonl second.jsonl -o earlier.jsonl --annotator ada",
    );
    folder.pipe(b"t\nf\n", &earlier).expect(0, &[]);
    label(&folder, "t\nf\n", "").expect(0, &[]);
    assert_eq!(
        said(&folder, "earlier.jsonl"),
        said(&folder, "labels.jsonl")
    );
    folder
        .run_words("label first.jsonl --rows rows.jsonl --verdicts second.jsonl")
        .expect(2, &["cannot be used with"]);
}

#[test]
fn agreement_is_that_of_the_rows_and_the_rest_goes_to_a_third() {
    let folder = Folder::new();
    judged(&folder);
    for (name, keys) in [("ada", "t\nt\nf\np\nt\nf\n"), ("ben", "t\np\nf\np\nf\n")] {
        let line = format!("label rows.jsonl --all -o {name}.jsonl --annotator {name}");
        folder.pipe(keys.as_bytes(), &words(&line)).expect(0, &[]);
    }
    let ran = folder.run_words("label --agreement ada.jsonl ben.jsonl");
    ran.expect(0, &[]);
    // Overall, of five: a true for both, b and e true for ada alone, c and d false for both. By chance 3/5·1/5 + 2/5·4/5 = 11/25,
    // so kappa is (15/25 − 11/25)/(14/25) = 0.29. Outcome: they differ on e alone: by chance 4/5·3/5 + 1/5·2/5 = 14/25, kappa 6/11.
    for part in [
        "ada and ben: 5 samples labelled by both, 1 by one of them",
        "60.0 (",
        "0.29 (",
        "80.0 (",
        "0.55 (",
        "they disagree on",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let differing: Vec<&str> = ran
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("sample"))
        .skip(1)
        .collect();
    assert_eq!(differing.len(), 2, "{}", ran.stdout);
    assert!(
        differing[0].starts_with('b') && differing[1].starts_with('e'),
        "{}",
        ran.stdout
    );
    folder.write("empty.jsonl", "");
    folder
        .run_words("label --agreement ada.jsonl empty.jsonl")
        .expect(2, &["empty.jsonl has no labels"]);
    folder
        .run_words("label --merge ada.jsonl ben.jsonl -o both.jsonl")
        .expect(0, &["3 labels that both agree on", "2 they disagree on"]);
    let agreed = [
        json!(["a", true, true, true]),
        json!(["c", false, null, false]),
        json!(["d", true, false, false]),
    ];
    assert_eq!(said(&folder, "both.jsonl"), agreed);
    // What both no longer agree on does not stay.
    let ada = folder.read("ada.jsonl");
    folder.write(
        "ada.jsonl",
        ada.replacen(
            "\"outcome\":true,\"process\":true,\"overall\":true",
            "\"outcome\":false,\"process\":null,\"overall\":false",
            1,
        ),
    );
    folder
        .run_words("label --merge ada.jsonl ben.jsonl -o both.jsonl")
        .expect(2, &["both.jsonl was made of other labels", "\"a\""]);
    assert_eq!(said(&folder, "both.jsonl"), agreed);
    folder.write("ada.jsonl", ada);
    let adjudicate =
        words("label rows.jsonl --adjudicate ada.jsonl ben.jsonl -o final.jsonl --annotator cleo");
    folder.pipe(b"p\nu\nu\np\nq\n", &adjudicate).expect(0, &[]);
    folder.pipe(b"t\nf\n", &adjudicate).expect(0, &[]);
    let lines = folder.lines("final.jsonl");
    let by: Vec<&str> = lines
        .iter()
        .map(|line| line["annotator"].as_str().unwrap())
        .collect();
    assert_eq!(
        by,
        ["ada+ben", "ada+ben", "ada+ben", "cleo", "cleo", "cleo"]
    );
    assert_eq!(
        said(&folder, "final.jsonl")[3],
        json!(["b", true, false, false])
    );
    folder
        .run_words("eval first.jsonl --labels final.jsonl")
        .expect(0, &[]);
}

#[test]
fn text_under_judgement_moves_no_cursor() {
    let folder = Folder::new();
    let evil = "x\u{1b}]0;title\u{7}\u{1b}[2J\r\u{9b}31m\u{202e}txt\n▸ right, answer and derivation\n── 2 of 9 ──";
    folder.write("rows.jsonl", row(evil, evil, evil, evil));
    let ran = folder.pipe(
        b"t\n",
        &[
            "label",
            "rows.jsonl",
            "--all",
            "-o",
            "labels.jsonl",
            "--annotator",
            "ada\u{1b}[2J",
        ],
    );
    ran.expect(0, &[]);
    let hidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!ran.stdout.contains(hidden), "{:?}", ran.stdout);
    assert_eq!(
        ran.stdout
            .lines()
            .filter(|line| line.starts_with('▸'))
            .count(),
        1,
        "{}",
        ran.stdout
    );
    let ran = folder.run_words("label --agreement labels.jsonl labels.jsonl");
    assert!(!ran.stdout.contains(hidden), "{:?}", ran.stdout);
}

#[cfg(feature = "serve")]
#[test]
fn the_page_takes_labels_from_its_own_forms_alone() {
    use crate::serve::Server;
    let folder = Folder::new();
    judged(&folder);
    let line = format!("{QUEUE} --page");
    let server = Server::spawn(&folder, &words(&line), |line| {
        Some(line.trim().strip_suffix('/')?.to_owned())
    });
    let page = server.get("/").text;
    assert!(
        !page.contains("value=\"u\""),
        "nothing can be undone: {page}"
    );
    assert!(
        page.contains("question c") && !page.contains("SECRET"),
        "{page}"
    );
    let token = page
        .split("name=\"token\" value=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let form = |token: &str, step: usize, key: &str, note: &str| {
        format!("token={token}&step={step}&key={key}&note={note}")
    };
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let send = |body: &str| server.request("POST", "/", &[kind], body);
    assert_eq!(send(&form("0123", 0, "t", "")).status, 403);
    for origin in ["http://evil.example", "null"] {
        let headers = [kind, ("origin", origin)];
        let refused = server.request("POST", "/", &headers, &form(&token, 0, "t", ""));
        assert_eq!(refused.status, 403);
    }
    assert_eq!(send(&form(&token, 0, "z", "")).status, 400);
    assert_eq!(folder.read("labels.jsonl"), "");
    // The answer leads back to the page, which tells what the judges say of the sample that was labelled.
    let next = send(&form(&token, 0, "p", "half+right"));
    assert_eq!(next.status, 200);
    assert!(
        next.text.contains("SECRET reason of c") && !next.text.contains("SECRET reason of d"),
        "{}",
        next.text
    );
    assert!(next.text.contains("value=\"u\""), "{}", next.text);
    let ids: Vec<&str> = next
        .text
        .split(" id=\"")
        .skip(1)
        .map(|part| part.split('"').next().unwrap())
        .collect();
    assert_eq!(ids, ["last", "asked"]);
    // Sent once more, the form labels nothing else.
    send(&form(&token, 0, "t", ""));
    assert_eq!(
        said(&folder, "labels.jsonl"),
        [json!(["c", true, false, false])]
    );
    assert_eq!(folder.lines("labels.jsonl")[0]["note"], "half right");
    send(&form(&token, 1, "f", ""));
    send(&form(&token, 2, "u", ""));
    send(&form(&token, 2, "u", ""));
    send(&form(&token, 1, "s", ""));
    send(&form(&token, 2, "t", ""));
    assert_eq!(
        said(&folder, "labels.jsonl")[1],
        json!(["b", true, true, true])
    );
    #[cfg(unix)]
    {
        server.terminate();
        let (code, stderr) = server.ended();
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stderr.contains("2 of 4 are labelled"), "{stderr}");
    }
}

#[test]
fn the_answers_of_a_batch_are_joined_with_its_requests() {
    let folder = Folder::new();
    let request = |id: &str, question: &str| {
        let messages =
            json!([{"role": "system", "content": "SYSTEM"}, {"role": "user", "content": question}]);
        json!({"custom_id": id, "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": messages}}).to_string()
    };
    let answer = |id: &str, text: &str| {
        json!({"id": "batch_req", "custom_id": id, "error": null, "response": {"status_code": 200, "body":
            {"choices": [{"message": {"role": "assistant", "content": text}}]}}}).to_string()
    };
    folder.write(
        "requests.jsonl",
        [
            request("a", "QUESTION a"),
            request("b", "QUESTION b"),
            request("c", "QUESTION c"),
        ]
        .join("\n"),
    );
    folder.write(
        "references.jsonl",
        "{\"custom_id\": \"a\", \"reference\": \"REFERENCE a\"}\n",
    );
    // In another order, as a batch's output may be.
    let failed =
        json!({"custom_id": "b", "response": null, "error": {"message": "expired"}}).to_string();
    // As the server's own answer.
    let body = json!({"error": {"message": "slow down"}});
    let refused =
        json!({"custom_id": "b", "response": {"status_code": 429, "body": body}, "error": null});
    let (c, a) = (answer("c", "RESPONSE c"), answer("a", "RESPONSE a"));
    folder.write(
        "outputs.jsonl",
        [c, failed, refused.to_string(), a].join("\n\n"),
    );
    let label = |more: &str, keys: &str| {
        let line = format!("label outputs.jsonl --all -o labels.jsonl --annotator ada {more}");
        folder.pipe(keys.as_bytes(), &words(&line))
    };
    let both = "--join requests.jsonl references.jsonl --on custom_id";
    let ran = label(both, "t\nf\n");
    ran.expect(0, &["2 rows are left out, with an error"]);
    for text in [
        "QUESTION c",
        "RESPONSE c",
        "QUESTION a",
        "REFERENCE a",
        "RESPONSE a",
    ] {
        assert!(
            ran.stdout.contains(text) || ran.stderr.contains(text),
            "{text}: {}",
            ran.stdout
        );
    }
    assert!(
        !ran.stdout.contains("SYSTEM") && !ran.stdout.contains("QUESTION b"),
        "{}",
        ran.stdout
    );
    let ids: Vec<Value> = folder
        .lines("labels.jsonl")
        .iter()
        .map(|line| json!([line["id"], line["outcome"]]))
        .collect();
    assert_eq!(json!(ids), json!([["c:0", true], ["a:0", false]]));

    label("--join references.jsonl", "").expect(2, &["outputs.jsonl:1", "\"c\""]);
    label("--join requests.jsonl --on custom", "")
        .expect(2, &["requests.jsonl:1", "`custom`", "--on"]);
    label("--on custom_id", "").expect(2, &["--join"]);

    // So are they for a judge; a request of Anthropic's has its messages under `params`.
    let asked = json!({"custom_id": "d", "params": {"messages": [{"role": "user", "content": "QUESTION d"}]}});
    let failed = json!({"custom_id": "b", "response": null, "error": {"message": "expired"}});
    let said = json!({"custom_id": "d", "result": {"type": "succeeded", "message": {"content": [{"type": "text", "text": "The answer is 5."}]}}});
    let outputs = [
        answer("a", "The answer is 4."),
        failed.to_string(),
        said.to_string(),
    ];
    folder.write("mixed.jsonl", outputs.join("\n"));
    folder.write("asked.jsonl", asked.to_string());
    folder.write(
        "right.jsonl",
        "{\"custom_id\": \"a\", \"answer\": \"4\"}\n{\"custom_id\": \"d\", \"answer\": \"6\"}\n",
    );
    let ran = folder.run_words(
        "judge mixed.jsonl --join requests.jsonl asked.jsonl right.jsonl --rules only -o verdicts.jsonl",
    );
    ran.expect(0, &["1 row is left out, with an error", "openai-batch (1)"]);
    let outcomes = folder.lines("verdicts.jsonl");
    let outcomes: Vec<Value> = outcomes
        .iter()
        .map(|it| json!([it["id"], it["outcome"]]))
        .collect();
    assert_eq!(json!(outcomes), json!([["a:0", true], ["d", false]]));
    // What contradicts is refused; a null says nothing, nor does a question that is a part of what was asked.
    let join = |row: &Value, more: &Value| {
        folder.write("row.jsonl", row.to_string());
        folder.write("more.jsonl", more.to_string());
        folder.run_words(
            "judge row.jsonl --join asked.jsonl more.jsonl --rules only -o joined.jsonl --force",
        )
    };
    let row = |key: &str, value: &Value| {
        let mut row = said.clone();
        row[key] = value.clone();
        row
    };
    let right = json!({"custom_id": "d", "id": 7, "question": "QUESTION d", "answer": "5"});
    join(&row("answer", &json!(null)), &right).expect(0, &[]);
    assert_eq!(folder.lines("joined.jsonl")[0]["outcome"], true);
    join(&row("answer", &json!("6")), &right)
        .expect(2, &["row.jsonl:1: another row has another `answer`"]);
    // The same in another spelling is no other answer, and of a key that says nothing of the sample the row's own counts.
    for (key, value) in [
        ("answer", json!(5)),
        ("answer", json!(" ")),
        ("id", json!(8)),
        ("model", json!("a")),
    ] {
        let mut more = right.clone();
        more["model"] = json!("b");
        join(&row(key, &value), &more).expect(0, &[]);
        assert_eq!(folder.lines("joined.jsonl")[0]["outcome"], true, "{key}");
    }
    let params = json!({"messages": [{"role": "user", "content": "other"}]});
    join(&said, &json!({"custom_id": "d", "params": params}))
        .expect(2, &["more.jsonl:1: another row has another `question`"]);
    join(&said, &json!({"custom_id": "d", "question": "other"})).expect(2, &["another `question`"]);
    folder.write("cells.csv", "custom_id,answer\nd,nan\n");
    let cells = folder.run_words("judge row.jsonl --join asked.jsonl cells.csv --rules only");
    cells.expect(2, &["`answer` (the reference answer) is no value"]);
    let other = folder.run_words("judge mixed.jsonl --join asked.jsonl --rules only");
    other.expect(
        2,
        &["mixed.jsonl:1: no row of --join has the `custom_id` \"a\""],
    );
    // What is wrong with a row that is joined is said of the user's file and line, and a bad one ends no run that may skip it.
    let bare = json!({"custom_id": "e", "response": "5"}).to_string();
    folder.write("torn.jsonl", format!("{{\"custom\n{bare}\n\n{said}\n"));
    folder.write(
        "asks.jsonl",
        format!("{asked}\n{}\n", json!({"custom_id": "e", "answer": "5"})),
    );
    let torn =
        "judge torn.jsonl --join asks.jsonl right.jsonl --rules only -o torn.out.jsonl --force";
    folder.run_words(torn).expect(2, &["torn.jsonl:1:"]);
    let ran = folder.run_words(&format!("{torn} --skip-bad"));
    ran.expect(0, &["1 row is left out, the first: torn.jsonl:1:", "1 ok"]);
    // Where all rows are left out none is judged as it was.
    let alone = json!({"custom_id": "z", "question": "2+3?", "answer": "5", "response": "5"});
    folder.write("alone.jsonl", alone.to_string());
    let none = "judge alone.jsonl --join asks.jsonl --rules only -o none.jsonl --skip-bad";
    folder.run_words(none).expect(
        2,
        &["1 row is left out, the first: alone.jsonl:1: no row of --join"],
    );
    assert_eq!(folder.lines("torn.out.jsonl")[0]["id"], "d");
    let bad = folder.lines("torn.out.jsonl.rejected.jsonl").remove(0);
    assert_eq!(
        (&bad["file"], &bad["line"]),
        (&json!("torn.jsonl"), &json!(2)),
        "{bad}"
    );
}
