//! `juror verify`: pairs in, one line for each out, in order.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::common::{Folder, Ran, binary, json_lines, rollouts, words};
use serde_json::{Value, json};

fn pair(gold: &str, pred: &str) -> String {
    format!("{}\n", json!({"gold": gold, "pred": pred}))
}

#[test]
fn a_line_for_each_row_in_its_order() {
    let folder = Folder::new();
    let rows: String = (0..9000)
        .flat_map(|n| {
            let pred = format!("The answer is {}.", n % 3000);
            let row = json!({"id": n, "gold": n.to_string(), "pred": pred});
            [row.to_string(), "\n".to_owned()]
        })
        .collect();
    folder.write("pairs.jsonl", &rows);
    let ran = folder.run_words("verify pairs.jsonl -o out.jsonl");
    ran.expect(
        0,
        &[
            "9,000 pairs: 3,000 equal, 6,000 different, 0 open",
            "verdicts in out.jsonl",
        ],
    );
    assert_eq!(ran.stdout, "");
    let lines = folder.lines("out.jsonl");
    assert_eq!(lines.len(), 9000);
    for (n, line) in lines.iter().enumerate() {
        assert_eq!(line["id"], n);
        assert_eq!(line["index"], n);
        assert_eq!(line["equal"], n < 3000, "{line}");
        assert_eq!(line["status"], "decided");
        assert_eq!(line["profile"], "strict");
        assert_eq!(line["gold"], json!([n.to_string()]));
        assert_eq!(line["pred"], json!([(n % 3000).to_string()]));
        assert!(!line["reason"].as_str().unwrap().is_empty(), "{line}");
        assert!(!line["method"].as_str().unwrap().is_empty(), "{line}");
    }
    // The same to standard output, and from standard input.
    let shown = folder.run_words("verify pairs.jsonl --quiet");
    assert_eq!(shown.stdout, folder.read("out.jsonl"));
    assert_eq!(shown.stderr, "");
    let few: String = rows.split_inclusive('\n').take(100).collect();
    let piped = folder.pipe(few.as_bytes(), &["verify"]);
    assert!(shown.stdout.starts_with(&piped.stdout) && piped.lines().len() == 100);
}

#[test]
fn the_letter_of_an_option_is_right_where_its_text_is() {
    let folder = Folder::new();
    let row = |answer: &str, response: &str| {
        let row = json!({"question": "7 * 9?", "options": ["62", "63", "64"], "answer": answer, "response": response});
        format!("{row}\n")
    };
    let rows = [
        row("63", "The answer is B."),
        row("63", "The answer is C."),
        row("63", "The answer is 63."),
        row("B", "The answer is 63."),
    ];
    folder.write("rows.jsonl", rows.concat());
    let lines = folder.run_words("verify rows.jsonl --quiet").lines();
    let equal: Vec<&Value> = lines.iter().map(|line| &line["equal"]).collect();
    assert_eq!(json!(equal), json!([true, null, true, null]));
    let lines = folder
        .run_words("verify rows.jsonl --quiet --profile compat")
        .lines();
    assert_ne!(lines[0]["equal"], true);
}

#[test]
fn another_file_is_not_replaced() {
    let folder = Folder::new();
    folder.write("pairs.jsonl", pair("1", "1"));
    folder.write("verdicts.jsonl", "{\"id\": \"a\"}\n");
    let verify =
        |out: &str, more: &str| folder.run_words(&format!("verify pairs.jsonl -o {out} {more}"));
    verify("verdicts.jsonl", "").expect(2, &["verdicts.jsonl is there", "--force"]);
    assert_eq!(folder.read("verdicts.jsonl"), "{\"id\": \"a\"}\n");
    verify("verdicts.jsonl", "--force").expect(0, &[]);
    verify("verdicts.jsonl", "").expect(0, &[]); // its own output by now
    for name in ["out.jsonl.gz", "out.txt"] {
        verify(name, "").expect(2, &[name, "is not a name that juror writes"]);
        assert!(!folder.has(name));
    }
    // The same of tables.
    for name in ["verdicts.csv", "verdicts.parquet"] {
        folder.write(name, "a,b\n1,2\n");
        verify(name, "").expect(2, &[name, "is there", "--force"]);
        assert_eq!(folder.read(name), "a,b\n1,2\n");
        verify(name, "--force").expect(0, &[]);
        verify(name, "").expect(0, &[]);
    }
}

#[test]
fn verdicts_are_tables_with_columns_of_their_rows() {
    let folder = Folder::new();
    folder.write(
        "answers.csv",
        "uid,key,said,who\n9,1/2,0.5,=Ann\n8,28%,28,Bob\n7,3,,Eve\n",
    );
    let verify = |out: &str, more: &str| {
        let columns = "--columns gold=key,pred=said,id=uid --keep who,key,who";
        folder.run_words(&format!("verify answers.csv -o {out} {columns} {more}"))
    };
    verify("out.jsonl", "").expect(0, &["3 pairs: 1 equal, 1 different, 1 open"]);
    let lines = folder.lines("out.jsonl");
    assert_eq!(lines[0]["input"], json!({"who": "=Ann", "key": "1/2"}));
    assert_eq!(lines[2]["status"], "no_answer");
    verify("out.csv", "").expect(0, &["verdicts in out.csv"]);
    let table = folder.read("out.csv");
    let rows: Vec<&str> = table.lines().collect();
    let header = "id,index,equal,status,method,gold,pred,reason,error,profile,input.who,input.key";
    assert_eq!(rows[0], header);
    assert!(rows[1].starts_with("9,0,true,decided,"), "{table}");
    assert!(rows[1].ends_with(",strict,=Ann,1/2"), "{table}");
    assert!(rows[2].starts_with("8,1,,ambiguous,"), "{table}");
    // Its own table is replaced.
    verify("out.csv", "--quote-formulas").expect(0, &[]);
    assert!(folder.read("out.csv").contains(",'=Ann,1/2"));
    // Each format says the same.
    verify("out.parquet", "").expect(0, &[]);
    let again = folder
        .run_words("verify out.parquet --columns gold=input.key,pred=status --keep status,equal");
    let statuses: Vec<Value> = again.expect(0, &["3 pairs"]).lines();
    let of = |line: &Value| line["input"]["status"].clone();
    let written: Vec<Value> = lines.iter().map(|line| line["status"].clone()).collect();
    assert_eq!(statuses.iter().map(of).collect::<Vec<_>>(), written);

    verify("more.csv", "--explain").expect(2, &["--explain"]);
    let none = words("verify answers.csv --columns gold=key,pred=said --keep nobody -o none.csv");
    folder
        .run(&none)
        .expect(2, &["none of the rows read has nobody"]);
    assert!(!folder.has("more.csv") && !folder.has("none.csv"));
    verify("out.jsonl", "--quote-formulas").expect(2, &["--quote-formulas changes nothing"]);
}

#[test]
fn rows_that_are_logged_once_a_filter_count_once() {
    let folder = Folder::new();
    let row = |doc: u32, filter: &str, said: &str| {
        json!({"doc_id": doc, "doc": {"question": "q"}, "target": "4", "arguments": [["q", {}]], "resps": [[said]],
            "filtered_resps": [said], "filter": filter})
        .to_string()
            + "\n"
    };
    let rows = [
        row(0, "strict-match", "4"),
        row(1, "strict-match", "5"),
        row(0, "flexible-extract", "4"),
        row(1, "flexible-extract", "5"),
    ];
    folder.write("samples.jsonl", rows.concat());
    let ran = folder.run(&["verify", "samples.jsonl"]);
    let said = [
        "2 pairs: 1 equal, 1 different",
        "2 rows that repeat others left out",
    ];
    let lines = ran.expect(0, &said).lines();
    let told = |line: &Value| (line["id"].clone(), line["index"].clone());
    assert_eq!(
        lines.iter().map(told).collect::<Vec<_>>(),
        [(json!("0"), json!(0)), (json!("1"), json!(1))]
    );
    // Each file has a first of its own.
    folder.write("more.jsonl", row(2, "flexible-extract", "4"));
    let ran = folder.run(&["verify", "samples.jsonl", "more.jsonl"]);
    assert_eq!(ran.expect(0, &["3 pairs: 2 equal"]).lines().len(), 3);
}

#[test]
fn a_format_of_ones_own_says_where_the_answer_is() {
    let folder = Folder::new();
    let rows = [
        pair("5", "RESULT: 4\nI mean RESULT: 5\nThe answer is 6."),
        pair("6", "RESULT: 4\nI mean RESULT: 5\nThe answer is 6."),
        pair("5", r"\boxed{4}, no: \boxed{5}. The answer is 6."),
        pair("5", "The answer is 5."),
    ];
    let verdicts = |more: &[&str]| -> Vec<(Value, Value)> {
        let ran = folder.pipe(rows.concat().as_bytes(), &[&["verify"], more].concat());
        let lines = ran.expect(0, &[]).lines();
        let verdict = |line: &Value| (line["equal"].clone(), line["status"].clone());
        lines.iter().map(verdict).collect()
    };
    let (right, wrong) = (
        (json!(true), json!("decided")),
        (json!(false), json!("decided")),
    );
    let none = (json!(false), json!("no_answer"));
    folder
        .pipe(b"", &["verify", "--pattern", r"(?<=x)\d+"])
        .expect(2, &["--pattern", "look-around"]);
    let of_pattern = verdicts(&["--pattern", r"RESULT: (\d+)"]);
    assert_eq!(
        of_pattern,
        [right.clone(), wrong, none.clone(), none.clone()]
    );
    // Without a group all of the match is the answer.
    let whole = verdicts(&["--pattern", r"\d+"]);
    let equal: Vec<&Value> = whole.iter().map(|(equal, _)| equal).collect();
    assert_eq!(equal, [false, true, false, true]);
    for profile in ["strict", "compat"] {
        let boxed = verdicts(&["--boxed-only", "--profile", profile]);
        assert_eq!(boxed[2].0, true, "{profile}");
        assert_eq!((&boxed[0], &boxed[3]), (&none, &none), "{profile}");
    }
    let several = folder.run(&[
        "verify",
        "--boxed-only",
        "--gold",
        "2, 3",
        "--pred",
        r"$\boxed{2}$ and $\boxed{3}$, so 5",
    ]);
    assert_eq!(several.lines()[0]["equal"], true);
    folder
        .pipe(b"", &["verify", "--boxed-only", "--pattern", "x"])
        .expect(2, &["cannot be used with"]);
    let one = [
        "verify",
        "--gold",
        "5",
        "--pred",
        "5 or <6>",
        "--pattern",
        "<(.*)>",
    ];
    assert_eq!(folder.run(&one).lines()[0]["pred"], json!(["6"]));
}

#[test]
fn percent_and_cents_are_settings_of_a_run_and_of_a_row() {
    let folder = Folder::new();
    let counted = [("20", r"\boxed{20\%}"), ("50", r"\boxed{50} cents")];
    let equal = |more: &[&str], own: &Value| -> Vec<Value> {
        let row = |(gold, pred)| json!({"gold": gold, "pred": pred, "config": own}).to_string();
        let rows = counted.map(row).join("\n");
        let ran = folder.pipe(rows.as_bytes(), &[&["verify"], more].concat());
        let lines = ran.expect(0, &[]).lines();
        lines.iter().map(|line| line["equal"].clone()).collect()
    };
    let open = json!({});
    assert_eq!(equal(&[], &open), [Value::Null, Value::Null]);
    let given = r#"{"percent": "same", "cents": "distinct"}"#;
    assert_eq!(equal(&["--config", given], &open), [true, false]);
    let own = json!({"percent": "distinct", "cents": "same"});
    assert_eq!(equal(&[], &own), [false, true]);
    assert_eq!(equal(&["--config", given], &own), [false, true]);
}

#[test]
fn rollouts_are_pairs_too() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    let ran = folder.run_words("verify in.jsonl");
    ran.expect(0, &["3 pairs"]);
    folder.run_words("judge in.jsonl --rules only -o out.jsonl");
    let judged = folder.lines("out.jsonl");
    for (line, verdict) in json_lines(&ran.stdout).iter().zip(&judged) {
        assert_eq!(line["equal"], verdict["rule_outcome"], "{line}");
        assert_eq!(line["id"], verdict["id"], "{line}");
    }
    let rows = [
        json!({"id": 7, "target": "4", "text": {"final": "It is 4."}}),
        json!({"target": 5, "text": {"final": "It is 5."}, "config": "main"}),
        json!({"target": ["4", "5"], "text": {"final": "It is 4."}}),
        json!({"text": {"final": "It is 4."}}),
    ];
    folder.write("own.jsonl", rows.map(|row| format!("{row}\n")).concat());
    let columns = "reference=target,response=text.final";
    let ran = folder.run(&["verify", "own.jsonl", "--columns", columns]);
    ran.expect(3, &["4 pairs: 3 equal"]);
    let lines = json_lines(&ran.stdout);
    assert_eq!(
        (&lines[0]["id"], &lines[0]["equal"]),
        (&json!("7"), &json!(true))
    );
    // Any of several references is right.
    assert_eq!(
        (&lines[2]["equal"], &lines[2]["gold"]),
        (&json!(true), &json!(["4"]))
    );
    let error = |line: &Value| line["error"].as_str().unwrap().to_owned();
    assert!(error(&lines[3]).contains("no reference answer"));
    // The keys of pairs are names of the fields too.
    folder.write("pairs.csv", "uid,Gold,Pred\n9,1/2,0.5\n");
    let ran = folder.run_words("verify pairs.csv --columns id=uid");
    ran.expect(0, &["1 pair: 1 equal"]);
    assert_eq!(json_lines(&ran.stdout)[0]["id"], "9");
    // So are they for columns of any name, in several inputs; an error says where its row stands.
    folder.write("table.csv", "uid,key,said\n9,1/2,0.5\n8,1/2,0.6\n");
    folder.write(
        "rows.jsonl",
        "{\"key\": \"3\", \"said\": \"3\"}\n{\"key\": \"3\"}\n",
    );
    let columns = "gold=key,pred=said,id=uid";
    let ran = folder.run(&["verify", "table.csv", "rows.jsonl", "--columns", columns]);
    ran.expect(3, &["4 pairs: 2 equal, 1 different"]);
    let lines = json_lines(&ran.stdout);
    assert_eq!(
        (&lines[0]["id"], &lines[1]["equal"]),
        (&json!("9"), &json!(false))
    );
    assert_eq!(
        (&lines[2]["index"], &lines[2]["equal"]),
        (&json!(2), &json!(true))
    );
    assert!(
        error(&lines[3]).starts_with("rows.jsonl:2: "),
        "{}",
        lines[3]
    );
    let gold = ["verify", "--gold", "1", "--pred", "1", "--columns", columns];
    folder.run(&gold).expect(2, &["leave it out"]);
}

#[test]
fn a_row_is_answered_before_the_next_is_written() {
    let folder = Folder::new();
    let mut child = folder
        .juror(&["verify", "-", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut rows = child.stdin.take().unwrap();
    let mut verdicts = BufReader::new(child.stdout.take().unwrap());
    for n in 0..5 {
        rows.write_all(pair(&n.to_string(), "2").as_bytes())
            .unwrap();
        rows.flush().unwrap();
        let mut line = String::new();
        verdicts.read_line(&mut line).unwrap();
        assert_eq!(json_lines(&line)[0]["equal"], n == 2);
    }
    drop(rows);
    assert!(child.wait().unwrap().success());
}

#[test]
fn any_text_is_text() {
    let folder = Folder::new();
    let mut rows = Vec::new();
    rows.extend_from_slice(br#"{"id":["a",1],"gold":7,"pred":"7","note":{}}"#);
    rows.extend_from_slice(b"\r\n\n");
    rows.extend_from_slice(
        br#"{"gold":"7","pred":"\u0000\u001b[31m The answer is 7.\u001b[0m \u202e"}"#,
    );
    rows.push(b'\n');
    rows.extend_from_slice(br#"{"gold":"\ud83d\ude00","pred":"\ud83d\ude00"}"#);
    let ran = folder.pipe(&rows, &["verify"]);
    let lines = ran.expect(0, &["3 pairs: 2 equal"]).lines();
    assert_eq!(lines[0]["id"], json!(["a", 1]));
    assert_eq!(lines[1]["id"], Value::Null);
    // Bytes of another encoding are none: what stands in their place would make different words equal.
    let ran = folder.pipe(
        b"{\"gold\":\"caf\xe9\",\"pred\":\"caf\xe8\"}\n",
        &["verify"],
    );
    let line = &ran.expect(3, &["1 row is no pair"]).lines()[0];
    assert!(
        line["error"]
            .as_str()
            .unwrap()
            .contains("not UTF-8 from column 13"),
        "{line}"
    );
}

/// No text holds half of a pair of surrogates: the row has an error, in `verify` as in `judge`.
#[test]
fn half_a_surrogate_pair_is_its_rows_error() {
    let folder = Folder::new();
    let good = r#"{"question":"q","reference":"7","response":"7"}"#;
    for (place, bad) in [
        r#"{"question":"q","reference":"7","response":"\ud800 7"}"#,
        r#"{"question":"q","reference":"7\udfff","response":"7"}"#,
        r#"{"id":"\ud800","question":"q","reference":"7","response":"7"}"#,
    ]
    .into_iter()
    .enumerate()
    {
        folder.write("rows.jsonl", format!("{good}\n{bad}\n{good}\n"));
        let ran = folder.run_words("verify rows.jsonl");
        let lines = ran
            .expect(3, &["3 pairs: 2 equal", "1 row is no pair"])
            .lines();
        let error = lines[1]["error"].as_str().unwrap();
        assert!(error.contains("half a pair of surrogates"), "{error}");
        let out = format!("{place}.jsonl");
        let judge = ["judge", "rows.jsonl", "--rules", "only", "-o", &out];
        folder.run(&judge).expect(2, &["half a pair of surrogates"]);
        let judged = folder.run(&[&judge[..], &["--skip-bad"]].concat());
        assert_eq!(folder.lines(&out).len(), 2, "{}", judged.stderr);
    }
    for bad in [
        r#"{"gold":"7","pred":"\ud800 7"}"#,
        r#"{"gold":["7","\udc00"],"pred":"7"}"#,
        r#"{"id":"\ud800","gold":"7","pred":"7"}"#,
    ] {
        let rows = format!("{bad}\n{}", pair("7", "7"));
        let ran = folder.pipe(rows.as_bytes(), &["verify"]);
        let lines = ran.expect(3, &["2 pairs: 1 equal"]).lines();
        let error = lines[0]["error"].as_str().unwrap();
        assert!(error.contains("half a pair of surrogates"), "{error}");
    }
}

#[test]
fn a_row_that_is_no_pair_has_its_line_too() {
    let folder = Folder::new();
    let rows = [
        pair("1", "1"),
        "{\"gold\": \"1\"\n".to_owned(),
        "{\"id\": 5, \"gold\": \"1\"}\n".to_owned(),
        "{\"gold\": {\"a\": \"1\"}, \"pred\": \"1\"}\n".to_owned(),
        "{\"id\": \"c\", \"gold\": \"1\", \"pred\": \"1\", \"config\": {\"float_rounds\": 1}}\n"
            .to_owned(),
        "[]\n".to_owned(),
        pair("1", "2"),
    ];
    let ran = folder.pipe(rows.concat().as_bytes(), &["verify"]);
    ran.expect(
        3,
        &[
            "7 pairs: 1 equal, 1 different",
            "5 rows are no pair, with an `error` in the output; the first: ",
            "--columns gold=KEY,pred=KEY",
        ],
    );
    let lines = ran.lines();
    let errors: Vec<&str> = lines
        .iter()
        .map(|line| line["error"].as_str().unwrap_or_default())
        .collect();
    assert_eq!((errors[0], errors[6]), ("", ""));
    for (index, part) in [
        (1, "not valid JSON"),
        (2, "no response (looked for"),
        (3, "`gold` must be a text, not an object"),
        (4, "no setting `float_rounds`; there is extract"),
        (5, "not an object: every row must be one JSON object"),
    ] {
        assert!(errors[index].contains(part), "{}", lines[index]);
        assert_eq!(lines[index]["index"], index);
        assert_eq!(lines[index]["equal"], Value::Null);
    }
    assert_eq!(lines[4]["id"], "c");
}

#[test]
fn settings_of_a_row_replace_those_of_the_run() {
    let folder = Folder::new();
    let row = |config: Value| {
        format!(
            "{}\n",
            json!({"gold": "$\\frac{1}{3}$", "pred": "The answer is 0.33.", "config": config})
        )
    };
    let rows = [
        row(json!({})),
        row(json!({"float_rounding": 2})),
        row(json!({"float_rounding": 6})),
        row(Value::Null),
    ];
    for profile in ["strict", "compat"] {
        let equal = |more: &[&str]| -> Vec<Value> {
            let arguments = [&["verify", "--profile", profile], more].concat();
            let ran = folder.pipe(rows.concat().as_bytes(), &arguments);
            ran.expect(0, &[]);
            ran.lines()
                .iter()
                .map(|line| line["equal"].clone())
                .collect()
        };
        assert_eq!(equal(&[]), [false, true, false, false], "{profile}");
        assert_eq!(
            equal(&["--config", r#"{"float_rounding": 2}"#]),
            [true, true, false, true],
            "{profile}"
        );
    }
}

#[test]
fn profiles_differ_where_mathematics_and_math_verify_do() {
    let folder = Folder::new();
    let rows = [
        pair("$28\\%$", "28"),
        pair("$(2,1]$", "$(3,2]$"),
        pair("$x+2t$", "$x+2$"),
        pair("$2\\sqrt{3}$", "It is $\\sqrt{12}$."),
    ];
    let verdicts = |profile: &str| -> Vec<Value> {
        let ran = folder.pipe(rows.concat().as_bytes(), &["verify", "--profile", profile]);
        let lines = ran.expect(0, &[]).lines();
        for line in &lines {
            assert_eq!(line["profile"], profile);
            assert_eq!(line["emulates"] == "math-verify 0.9.0", profile == "compat");
        }
        lines.iter().map(|line| line["equal"].clone()).collect()
    };
    assert_eq!(verdicts("compat"), [true, true, true, true]);
    let strict = verdicts("strict");
    assert_eq!(strict[0], Value::Null);
    assert_ne!(strict[1], true);
    assert_eq!(strict[2], false);
    assert_eq!(strict[3], true);
}

#[test]
fn one_pair_is_explained() {
    let folder = Folder::new();
    let gold = ["--gold", r"\frac{1}{2}"];
    let pred = ["--pred", "Half of it, so the answer is 0.5."];
    let ran = folder.run(&[&["verify"], &gold[..], &pred].concat());
    let line = &ran.expect(0, &[]).lines()[0];
    assert_eq!(
        (&line["equal"], &line["status"]),
        (&json!(true), &json!("decided"))
    );

    let ran = folder.run(&[&["verify", "--explain"], &gold[..], &pred].concat());
    ran.expect(0, &[]);
    for part in ["1/2", "0.5", "verdict  equal (decided, by "] {
        ran.prints(&[part]);
    }
    // What was left over.
    let left = [
        "verify",
        "--explain",
        "--gold",
        "12",
        "--pred",
        "The answer is at least 12.",
    ];
    let ran = folder.run(&left);
    for part in [
        "cannot be told",
        "words beside the answer change it",
        "“at least 12”",
    ] {
        ran.prints(&[part]);
    }
    let ran = folder.pipe(
        pair("5", "I do not know.").as_bytes(),
        &["verify", "--explain"],
    );
    ran.prints(&["verdict  different (no_answer"]);
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = Folder::new();
    folder.write("pairs.jsonl", pair("1", "1"));
    folder.write("before.jsonl", "before");
    for (arguments, part) in [
        (&["missing.jsonl"][..], "missing.jsonl"),
        (
            &["pairs.jsonl", "-o", "no/where.jsonl"],
            "there is no folder no",
        ),
        (&["pairs.jsonl", "-o", "pairs.jsonl"], "pairs.jsonl"),
        (&["pairs.jsonl", "--profile", "lax"], "strict, compat"),
        (
            &["pairs.jsonl", "--config", "{\"strikt\": true}"],
            "no setting `strikt`",
        ),
        (
            &["pairs.jsonl", "--gold", "1", "--pred", "1"],
            "cannot be used with",
        ),
        (&["--gold", "1"], "--pred"),
        (
            &[
                "pairs.jsonl",
                "--decimal",
                "point",
                "--config",
                "{\"decimal\": \"comma\"}",
            ],
            "leave one of them out",
        ),
    ] {
        let ran = folder.run(&[&["verify"], arguments].concat());
        ran.expect(2, &["error:", part]);
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(folder.read("pairs.jsonl"), pair("1", "1"));
    // A compressed file that ends too soon fails, and leaves what was there.
    folder.write("cut.jsonl.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab]);
    folder
        .run_words("verify cut.jsonl.gz -o before.jsonl --force")
        .expect(2, &["cut.jsonl.gz"]);
    assert_eq!(folder.read("before.jsonl"), "before");
}

/// Sixty products once took 856 MB. The limit holds for the whole process: the program, its threads, and 64 MB for a pair.
#[cfg(target_os = "linux")]
#[test]
fn costly_pairs_take_little_memory() {
    let folder = Folder::new();
    folder.write(
        "pairs.jsonl",
        include_str!("../../crates/rules/tests/cases/costly.jsonl"),
    );
    for profile in ["strict", "compat"] {
        let output = std::process::Command::new("sh")
            .args([
                "-c",
                "ulimit -d 160000 && exec \"$0\" verify pairs.jsonl --quiet --profile \"$1\"",
            ])
            .arg(binary())
            .arg(profile)
            .env("RAYON_NUM_THREADS", "1")
            .current_dir(folder.path("."))
            .output()
            .unwrap();
        let ran = Ran::of(output);
        ran.expect(0, &[]);
        let rows = include_str!("../../crates/rules/tests/cases/costly.jsonl")
            .lines()
            .count();
        assert_eq!(ran.lines().len(), rows);
    }
}

#[test]
fn an_input_without_rows_is_refused_as_in_judge() {
    let folder = Folder::new();
    folder.write("empty.jsonl", "");
    folder.write("blank.jsonl", "\n\n");
    folder.write("list.json", "[]");
    folder.write("out.jsonl", "");
    for input in ["empty.jsonl", "blank.jsonl", "list.json"] {
        let said = format!("no rows in {input}: the input is empty");
        folder
            .run(&["verify", input, "-o", "out.jsonl"])
            .expect(2, &[&said]);
        folder
            .run(&["judge", input, "--rules", "only"])
            .expect(2, &[&said]);
    }
    assert_eq!(folder.read("out.jsonl"), "");
    folder
        .pipe(b"", &["verify"])
        .expect(2, &["no rows in stdin"]);
}

/// What verify says of each row of a file, and the line of its summary about decimal commas.
fn decided(rows: &[(&str, &str)], more: &[&str]) -> (Vec<Value>, String) {
    let folder = Folder::new();
    let rows: String = rows.iter().map(|(gold, pred)| pair(gold, pred)).collect();
    folder.write("pairs.jsonl", rows);
    let ran = folder.run(&[&["verify", "pairs.jsonl"], more].concat());
    let equal = ran
        .expect(0, &[])
        .lines()
        .iter()
        .map(|line| line["equal"].clone())
        .collect();
    let said = ran
        .stderr
        .lines()
        .find(|line| line.contains("decimal commas"));
    (equal, said.unwrap_or_default().trim().to_owned())
}

#[test]
fn a_file_decides_what_a_comma_is() {
    let (open, yes, no) = (json!(null), json!(true), json!(false));
    let nothing =
        "decimal commas: no row decides them; `--decimal comma` or `--decimal point` does";
    let by = |count, gold, pred| {
        let rows = if count == 1 { "row" } else { "rows" };
        format!(
            "decimal commas: decided by {count} {rows}, which show {gold} in gold answers and {pred} in predictions"
        )
    };
    let both = "both, left open,";
    let points = [("2.5", "2.5"), ("1234.5", "It is 1,234.5.")];
    let commas = [("2.5", "2,5"), ("1234.5", "It is 1.234,5.")];
    let mixed = [points[0], commas[1]];
    let german = [("2,5 kg", "2,4"), ("1.234,5", "1.234,6")];
    for (doubtful, shown, expected, said) in [
        // By nothing, or by what is in doubt alone.
        (
            ("1.234", "1,234"),
            &[("7", "8")][..],
            &open,
            nothing.to_owned(),
        ),
        (("7.5", "7,5"), &[], &open, by(1, "points", "commas")),
        // Its own digits say otherwise.
        (("7.5", "7,5"), &points, &open, by(3, "points", both)),
        (("7.5", "7,5"), &commas, &yes, by(3, "points", "commas")),
        (("7.5", "7,5"), &mixed, &open, by(3, "points", both)),
        (("1.234", "1,234"), &points, &no, by(2, "points", "points")),
        (("1.234", "1,234"), &commas, &yes, by(2, "points", "commas")),
        (("1.234", "1,234"), &mixed, &open, by(2, "points", both)),
        (("7,5", "7,50"), &german, &yes, by(2, "commas", "commas")),
        (("1,234", "1234"), &german, &open, by(3, both, "commas")),
        (("1,234", "9"), &german, &no, by(2, "commas", "commas")),
        (("1234", "1,234"), &points, &yes, by(3, "points", "points")),
    ] {
        for place in 0..=shown.len() {
            let mut rows = shown.to_vec();
            rows.insert(place, doubtful);
            let (equal, line) = decided(&rows, &[]);
            assert_eq!(&equal[place], expected, "{rows:?}: {line}");
            assert_eq!(line, said, "{rows:?}");
        }
    }
    // What shows it may stand behind thousands of rows, and in another file.
    let mut rows = vec![("7.5", "7,5")];
    rows.extend(vec![("x", "The answer is y."); 9000]);
    assert_eq!(decided(&rows, &[]).0[0], open);
    rows.extend(commas);
    assert_eq!(decided(&rows, &[]).0[0], yes);
    // Nothing is asked of a file without such an answer, nor where it is told, or what Math-Verify says.
    assert_eq!(decided(&points, &[]).1, "");
    for (told, expected) in [("comma", &yes), ("point", &no)] {
        let told = decided(&[("7.5", "7,5")], &["--decimal", told]);
        assert_eq!(told, (vec![expected.clone()], String::new()));
    }
    // Of which it calls the first equal and the second different, in any company.
    for company in [&[][..], &points, &commas] {
        let rows = [&[("7.5", "7,5"), ("1.234", "1,234")], company].concat();
        let (equal, said) = decided(&rows, &["--profile", "compat"]);
        assert_eq!((&equal[..2], &*said), (&[yes.clone(), no.clone()][..], ""));
    }
}

#[test]
fn decimal_commas_of_standard_input_are_told() {
    let folder = Folder::new();
    let rows = pair("7.5", "7,5") + &pair("2.5", "2,5") + &pair("1234.5", "1.234,5");
    let equal = |more: &[&str]| -> Vec<Value> {
        let ran = folder.pipe(rows.as_bytes(), &[&["verify"], more].concat());
        ran.expect(0, &[])
            .lines()
            .iter()
            .map(|line| line["equal"].clone())
            .collect()
    };
    // Its rows are answered as they come.
    assert_eq!(equal(&[]), [json!(null), json!(null), json!(true)]);
    assert_eq!(
        equal(&["--decimal", "comma"]),
        [json!(true), json!(true), json!(true)]
    );
    // A row's own settings, and a run's.
    let row = json!({"gold": "7.5", "pred": "7,5", "config": {"decimal": "comma"}}).to_string();
    let ran = folder.pipe(row.as_bytes(), &["verify", "--decimal", "point"]);
    assert_eq!(ran.expect(0, &[]).lines()[0]["equal"], true);
    folder.write("rows.jsonl", row + "\n" + &pair("1.5", "1.5"));
    let ran = folder.run_words("verify rows.jsonl");
    assert_eq!(ran.expect(0, &[]).lines()[0]["equal"], true);
    let one = [
        "verify",
        "--gold",
        "7.5",
        "--pred",
        "7,5",
        "--config",
        r#"{"decimal": "point"}"#,
    ];
    assert_eq!(folder.run(&one).expect(0, &[]).lines()[0]["equal"], false);
    let compat = ["verify", "--profile", "compat", "--decimal", "comma"];
    folder
        .pipe(b"", &compat)
        .expect(2, &["--decimal changes nothing under --profile compat"]);
}
