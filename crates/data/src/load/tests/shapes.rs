//! Files and rows as other programs write them.

use super::*;
use crate::{Keep, Preset};

/// Question, references, response, id and group of every sample.
pub(super) fn read(name: &str, content: impl AsRef<[u8]>) -> (Vec<[String; 5]>, String) {
    let files = Files::new(&[(name, content.as_ref())]);
    let loaded = files
        .load(&[name], &LoadOptions::default())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let samples = loaded.samples.iter().map(|sample| {
        let references: Vec<&str> = sample.references().collect();
        [
            sample.question.clone(),
            references.join("|"),
            sample.student_answer.clone(),
            sample.id.clone(),
            sample.group.clone().unwrap_or_default(),
        ]
    });
    (samples.collect(), loaded.columns.to_string())
}

#[test]
fn content_decides_what_a_file_is() {
    let line = r#"{"question": "q", "answer": "a", "response": "r", "id": "i"}"#;
    let expected = [["q", "a", "r", "i", ""].map(str::to_owned)];
    let array = format!(
        "\u{feff} [\n  {line} ,\n {}\n]\n",
        line.replace("\"i\"", "\"j\"")
    );
    for name in ["rows.jsonl", "rows.json", "rows.txt"] {
        assert_eq!(read(name, line).0, expected, "{name}");
        assert_eq!(read(name, format!("[{line}]")).0, expected, "{name}");
        assert_eq!(read(name, &array).0.len(), 2, "{name}");
        assert_eq!(
            read(name, "question,answer,response,id\nq,a,r,i\n").0,
            expected,
            "{name}"
        );
    }
    assert_eq!(
        read(
            "rows.csv",
            "\u{feff}question;answer;response;id\r\nq;a;r;i\r\n"
        )
        .0,
        expected
    );
    assert_eq!(
        read("rows.tsv", "question\tanswer\tresponse\tid\nq\ta\tr\ti\n").0,
        expected
    );
    assert_eq!(
        read(
            "rows.csv.gz",
            gzip("question,answer,response,id\nq,a,r,i\n")
        )
        .0,
        expected
    );
    let quoted = "question,answer,response,id\n\"q,\n\"\"q\"\"\",a,,i\n";
    assert_eq!(read("rows.csv", quoted).0[0][..3], ["q,\n\"q\"", "a", ""]);
}

#[test]
fn tables_and_arrays_that_are_damaged_say_where() {
    let message = |name: &str, content: &str| {
        let files = Files::new(&[(name, content.as_bytes())]);
        files.message(files.load(&[name], &LoadOptions::default()))
    };
    let row = r#"{"question": "q", "answer": "a", "response": "r"}"#;
    for (content, expected) in [
        (
            format!("[{row}"),
            "rows.json:1: the JSON array ends within an element",
        ),
        (
            format!("[{row},\n"),
            "rows.json:2: the JSON array is not closed",
        ),
        (
            format!("[{row}]\n{row}"),
            "rows.json:2: the JSON array is followed by more text",
        ),
        (
            format!("[{row},\n,{row}]"),
            "rows.json:2: nothing between two commas of the array",
        ),
        (
            format!("[{row},\n\n{{]}},{row}]"),
            "rows.json:3: not valid JSON",
        ),
    ] {
        let message = message("rows.json", &content);
        assert!(message.contains(expected), "{content}: {message}");
    }
    let csv = "question,answer,response\nq,a,r\nq,a\nq,\"a";
    let message = message("rows.csv", csv);
    assert!(
        message.contains("rows.csv:3: 2 fields, and the header has 3"),
        "{message}"
    );
}

#[test]
fn lines_of_a_table_are_counted_as_an_editor_counts_them() {
    for content in [
        "question,answer,response\r\nq,a,r\r\n\r\n\"q\r\nq\",a,r\r\nbad\r\n",
        "question,answer,response\nq,a,r\n\n\"q\nq\",a,r\nbad\n",
    ] {
        let files = Files::new(&[("rows.csv", content.as_bytes())]);
        let message = files.message(files.load(&["rows.csv"], &LoadOptions::default()));
        assert!(
            message.contains("rows.csv:6: 1 fields"),
            "{content:?}: {message}"
        );
    }
}

#[test]
fn a_quote_that_is_open_at_the_end_is_told() {
    let content = "question,answer,response\na,4,4\nb,5,\"oops 5\nc,6,6\nd,7,7\n";
    let files = Files::new(&[("rows.csv", content.as_bytes())]);
    let message = files.message(files.load(&["rows.csv"], &LoadOptions::default()));
    assert!(
        message.contains("rows.csv:3: ") && message.contains("opens on line 3"),
        "{message}"
    );
    // In a field that does not begin with a quote, a quote is an ordinary character.
    let content = "question,answer,response\na,4,a 5\" pipe\nb,5,\"say \"\"5\"\"\"\n";
    let (samples, _) = read("rows.csv", content);
    assert_eq!(samples[0][2], "a 5\" pipe");
    assert_eq!(samples[1][2], "say \"5\"");
}

#[test]
fn a_header_is_known_by_the_keys_that_are_named() {
    let files = Files::new(&[("rows", b"Frage;Antwort;Modell\nq;a;r\n")]);
    let columns = ["question=Frage", "reference=Antwort", "response=Modell"];
    let options = LoadOptions {
        columns: ColumnMap::parse(columns).unwrap(),
        ..LoadOptions::default()
    };
    let loaded = files.load(&["rows"], &options).unwrap();
    assert_eq!(loaded.samples[0].question, "q");
}

#[test]
fn nulls_and_missing_elements_are_not_passed_over_in_silence() {
    // Tables have a null where a row has no value.
    let row = r#"{"messages": null, "id": null, "question": "q", "reference_answer": null, "answer": "a", "response": "r"}"#;
    assert_eq!(read("rows.jsonl", row).0[0][..3], ["q", "a", "r"]);
    let row = r#"{"prompt": "q", "answer": "a", "outputs": [{"text": "r"}, {"error": "e"}]}"#;
    let message = reason(row);
    assert!(
        message.contains("1 of 2 elements have no `text`"),
        "{message}"
    );
    let row = r#"{"messages": [{"role": "user", "content": "q"}], "answer": "a", "response": "r"}"#;
    assert_eq!(read("rows.jsonl", row).0[0][2], "r");
    let row =
        r#"{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "g"}],
        "answer": "a", "response": "r"}"#
            .replace('\n', " ");
    let message = reason(row);
    assert!(message.contains("--columns response=response"), "{message}");
}

#[test]
fn a_quote_without_its_partner_takes_no_more_than_the_limit() {
    let files = Files::new(&[("rows.csv", b"question,answer,response\nq,a,\"")]);
    let mut content = fs::read(files.path("rows.csv")).unwrap();
    content.extend(vec![b'x'; 1 << 20]);
    fs::write(files.path("rows.csv"), content).unwrap();
    let options = LoadOptions {
        max_line: LineLimit(1 << 10),
        ..LoadOptions::default()
    };
    let message = files.message(files.load(&["rows.csv"], &options));
    assert!(
        message.starts_with("rows.csv:2: a row, or space before one, of more than"),
        "{message}"
    );
}

#[test]
fn parquet_is_read_with_nested_columns() {
    let verl = include_bytes!("../../../../../tests/data/rows/verl.parquet");
    let (samples, columns) = read("data.bin", verl);
    assert_eq!(samples.len(), 4);
    assert_eq!(
        samples[0][..3],
        [
            "Tom has 12 apples and buys 5. How many?",
            "17",
            "12 + 5 = 17"
        ]
    );
    assert_eq!(samples[1][2], "12 + 5 = 18");
    assert_eq!(samples[0][4], samples[1][4]);
    assert_ne!(samples[0][3], samples[1][3]);
    assert_eq!(
        columns,
        "verl rows: question ← prompt (last user turn; system text left out) · reference ← reward_model.ground_truth · \
         response ← responses · id ← the content's hash"
    );
    let mut cut = verl.to_vec();
    cut.truncate(verl.len() / 2);
    let files = Files::new(&[("cut.parquet", &cut)]);
    let message = files.message(files.load(&["cut.parquet"], &LoadOptions::default()));
    assert!(
        message.starts_with("cut.parquet cannot be read as Parquet"),
        "{message}"
    );
}

#[test]
fn a_row_of_many_responses_is_read_once_for_all() {
    let row = |id: &str| {
        let responses: Vec<String> = (0..300).map(|at| format!("{id} {at}")).collect();
        serde_json::json!({"id": id, "question": "q", "answer": "a", "responses": responses, "note": id})
    };
    let content = format!("{}\n{}\n", row("one"), row("two"));
    let files = Files::new(&[("rows.jsonl", content.as_bytes())]);
    let options = LoadOptions {
        keep: Keep::parse(["note"]),
        ..LoadOptions::default()
    };
    let indexed = index(&[files.path("rows.jsonl")], &options)
        .unwrap()
        .samples;
    // Back and forth between the rows, in parts.
    for from in [0, 250, 310, 20, 599, 290] {
        let positions: Vec<usize> = (from..600.min(from + 20)).collect();
        for (sample, position) in indexed.fetch(&positions).unwrap().iter().zip(positions) {
            let id = if position < 300 { "one" } else { "two" };
            assert_eq!(sample.student_answer, format!("{id} {}", position % 300));
            assert_eq!(sample.id, format!("{id}:{}", position % 300));
            assert_eq!(sample.kept["note"], id);
        }
    }
}

#[test]
fn what_is_repeated_for_each_response_has_a_bound() {
    let responses = vec!["r"; 200_000];
    let row =
        serde_json::json!({"question": "q".repeat(10_000), "answer": "a", "responses": responses});
    let files = Files::new(&[("rows.jsonl", row.to_string().as_bytes())]);
    let message = files.message(files.load(&["rows.jsonl"], &LoadOptions::default()));
    assert!(
        message.contains("200000 responses") && message.contains("split the row"),
        "{message}"
    );
}

#[test]
fn rows_of_other_programs_are_recognised() {
    let cases = [
        (
            "trl",
            r#"{"prompt": [{"role": "user", "content": "q"}], "completion": [{"role": "assistant", "content": "r"}], "solution": "a"}"#,
            vec!["q|a|r"],
        ),
        (
            "verl-rollouts",
            r#"{"input": "q", "output": "r", "gts": "a", "score": 1.0, "step": 3}"#,
            vec!["q|a|r"],
        ),
        (
            "openai-batch",
            r#"{"custom_id": "b1", "question": "q", "answer": 5, "response": {"body": {"choices": [{"message": {"role": "assistant", "content": "r"}}]}}}"#,
            vec!["q|5|r"],
        ),
        (
            "chat-completion",
            r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}], "choices": [{"message": {"content": "r"}}, {"message": {"content": "s"}}], "answer": "a"}"#,
            vec!["q|a|r", "q|a|s"],
        ),
        (
            "chat",
            r#"{"messages": [{"role": "user", "content": "p"}, {"role": "assistant", "content": "no"}, {"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}], "answer": "a"}"#,
            vec!["User: p\n\nAssistant: no\n\nUser: q|a|r"],
        ),
        (
            "lm-eval",
            r#"{"doc_id": 3, "doc": {"question": "q", "answer": "x"}, "target": "so\n#### 1,000", "resps": [["r", "s"]], "filtered_resps": ["1000"]}"#,
            vec!["q|1,000|r", "q|1,000|s"],
        ),
        (
            "vllm",
            r#"{"request_id": "v", "prompt": "q", "ground_truth": ["a", "b"], "outputs": [{"text": "r"}, {"text": "s"}]}"#,
            vec!["q|a|b|r", "q|a|b|s"],
        ),
        (
            "vllm",
            r#"{"prompt": "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n", "answer": "a", "outputs": [{"text": "r"}]}"#,
            vec!["q|a|r"],
        ),
    ];
    for (preset, row, expected) in cases {
        let (samples, columns) = read("rows.jsonl", row);
        let texts: Vec<String> = samples.iter().map(|sample| sample[..3].join("|")).collect();
        assert_eq!(texts, expected, "{preset}");
        assert!(
            columns.starts_with(&format!("{preset} rows: ")),
            "{columns}"
        );
    }
    // Thinking and tools are no part of what is said, in a message or without one; what was left out is said.
    let parts = r#"[{"type": "reasoning", "text": "The answer is 5."}, {"type": "tool_use", "name": "f", "input": {}}, {"type": "output_text", "text": "r"}]"#;
    let asked = r#"{"role": "user", "content": [{"type": "input_text", "text": "q"}]}"#;
    let result = r#"{"role": "user", "content": [{"type": "tool_result", "content": "4"}]}"#;
    for (row, response) in [
        (
            format!(
                r#"{{"messages": [{asked}, {{"role": "assistant", "content": {parts}}}], "answer": "a"}}"#
            ),
            "messages (last assistant turn; its reasoning and tool calls left out)",
        ),
        (
            format!(r#"{{"question": "q", "response": {parts}, "answer": "a"}}"#),
            "response (its text; its reasoning and tool calls left out)",
        ),
        (
            format!(
                r#"{{"messages": [{asked}, {result}, {{"role": "assistant", "content": [{{"type": "text", "text": "r"}}]}}], "answer": "a"}}"#
            ),
            "messages (last assistant turn)",
        ),
    ] {
        let (samples, columns) = read("rows.jsonl", &row);
        assert_eq!(samples[0][..3].join("|"), "q|a|r", "{row}");
        assert!(
            columns.contains(&format!("response ← {response}")),
            "{columns}"
        );
    }
    // What an engine was given is no question; what was taken off is said.
    let marked = r#"{"prompt": "<s>[INST] q [/INST]", "answer": "a", "outputs": [{"text": "r"}]}"#;
    let (samples, columns) = read("rows.jsonl", marked);
    assert_eq!(samples[0][0], "q");
    assert!(
        columns.contains("question ← prompt (its chat markers left out)"),
        "{columns}"
    );
    for answer in ["step\\n#### 72", "step #### 72", "#### 72"] {
        let row = format!(r#"{{"question": "q", "answer": "{answer}", "response": "r"}}"#);
        let (samples, columns) = read("rows.jsonl", &row);
        assert_eq!(samples[0][1], "72");
        assert!(
            columns.contains("reference ← answer (after ####)"),
            "{columns}"
        );
    }
    let (samples, _) = read(
        "rows.jsonl",
        r#"{"question": "q", "answer": "a####b", "response": "r"}"#,
    );
    assert_eq!(samples[0][1], "a####b");
    // Pipelines repeat what they were given, which is then no part of the answer.
    for (text, response, how) in [
        ("q: 1 + 1? r", "r", " (without the prompt before it)"),
        ("r q: 1 + 1?", "r q: 1 + 1?", ""),
        ("q: 1 + 1?2", "q: 1 + 1?2", ""),
    ] {
        let row =
            format!(r#"{{"prompt": "q: 1 + 1?", "answer": "a", "generated_text": "{text}"}}"#);
        let (samples, columns) = read("rows.jsonl", &row);
        assert_eq!(samples[0][2], response);
        let said = format!("response ← generated_text{how} ·");
        assert!(columns.contains(&said), "{columns}");
    }
    // What cannot be shown is named beside messages too.
    let row = r#"{"image": "a.png", "conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "r"}], "answer": "a"}"#;
    let (_, columns) = read("rows.jsonl", row);
    let said = "question ← conversations (last user turn; image left out) ·";
    assert!(columns.contains(said), "{columns}");
}

#[test]
fn responses_in_a_list_are_samples_of_one_group() {
    let rows = "{\"id\": \"x\", \"question\": \"q\", \"answer\": \"a\", \"responses\": [\"r\", \"s\"]}\n\
                {\"question\": \"q\", \"answer\": \"a\", \"responses\": [\"r\", \"r\"]}\n";
    let (samples, _) = read("rows.jsonl", rows);
    let ids: Vec<&str> = samples.iter().map(|sample| sample[3].as_str()).collect();
    assert_eq!(ids[..2], ["x:0", "x:1"]);
    assert_eq!(ids[3], format!("{}-2", ids[2]));
    assert_eq!([&samples[0][4], &samples[1][4]], ["x", "x"]);
    assert_eq!(samples[2][4], samples[3][4]);
    let limited = LoadOptions {
        limit: Some(3),
        ..LoadOptions::default()
    };
    assert_eq!(Files::one(rows).rows(&limited).unwrap().samples.len(), 3);
}

#[test]
fn a_list_of_steps_is_one_response() {
    let row = |key: &str, steps: [&str; 2]| {
        serde_json::json!({"question": "q", "answer": "a", key: steps}).to_string() + "\n"
    };
    let of = |key: &str, steps: [&str; 2]| {
        let files = Files::new(&[("rows.jsonl", row(key, steps).as_bytes())]);
        let options = LoadOptions {
            columns: ColumnMap::parse([format!("response={key}")]).unwrap(),
            ..LoadOptions::default()
        };
        let loaded = files.load(&["rows.jsonl"], &options).unwrap();
        let texts = loaded.samples.into_iter();
        let texts: Vec<String> = texts.map(|sample| sample.student_answer).collect();
        (texts, loaded.columns.to_string())
    };
    for (key, steps) in [
        ("model_output_steps", ["2 + 3 = 5", "The answer is 5."]),
        (
            "model_output",
            ["Step 1: 2 + 3 = 5", "**Step 2:** The answer is 5."],
        ),
    ] {
        let (texts, columns) = of(key, steps);
        assert_eq!(texts, [steps.join("\n\n")]);
        assert!(columns.contains("(the steps of one response)"), "{columns}");
        assert!(!columns.contains("row)"), "said twice: {columns}");
    }
    for steps in [
        ["Step 1: 5", "Step 1: 6"],
        ["Step 10", "Step 2"],
        ["5", "6"],
    ] {
        assert_eq!(of("model_output", steps).0, steps);
    }
    // A policy does not choose whether its rollouts are one.
    let steps = ["Step 1: 5", "Step 2: 6"];
    for (key, each) in [
        ("responses", ""),
        ("Multi-Responses", ""),
        ("outputs", ""),
        ("output", "[*]"),
    ] {
        let row = serde_json::json!({"question": "q", "answer": "a", key: steps}).to_string();
        let files = Files::one(row + "\n");
        let loaded = files
            .rows(&columns(&[&format!("response={key}{each}")]))
            .unwrap();
        let texts = loaded.samples.iter().map(|sample| &*sample.student_answer);
        assert_eq!(texts.collect::<Vec<_>>(), steps, "{key}");
    }
}

#[test]
fn what_may_mean_two_things_is_asked_for() {
    let cases = [
        (
            r#"{"problem": "q", "solution": "s", "answer": "a"}"#,
            "`solution` may be the reference or the response: say which",
        ),
        (
            r#"{"problem": "q", "solution": "s", "response": "r"}"#,
            "--columns reference=solution",
        ),
        (
            r#"{"messages": [{"role": "user", "content": "q"}], "doc": {}, "resps": [["r"]]}"#,
            "the row may be of chat or of lm-eval: say which with --preset; it has messages, doc, resps",
        ),
    ];
    for (row, expected) in cases {
        let message = reason(row);
        assert!(message.contains(expected), "{message}");
    }
    let by_name = LoadOptions {
        columns: ColumnMap::default().with_preset(Preset::named("plain")),
        ..LoadOptions::default()
    };
    let message = reason_with(r#"{"messages": [], "doc": {}, "resps": []}"#, &by_name);
    assert!(
        message.starts_with("no question (looked for question, problem"),
        "{message}"
    );
}

#[test]
fn keys_are_kept() {
    let row =
        r#"{"question": "q", "answer": "a", "response": "r", "level": 3, "meta": {"source": "x"}, "turns": [{"role": "user", "text": "p"},
            {"role": "tool", "text": "t"}, {"role": "user", "text": "q"}], "long": [123456789012345678901234567890, 18446744073709551615,
            -9223372036854775809, 0.5, "12345678901234567890123"]}"#.replace('\n', " ");
    let kept = |keys: &[&str]| {
        let options = LoadOptions {
            keep: Keep::parse(keys),
            ..LoadOptions::default()
        };
        let files = Files::one(&row);
        let loaded = files.rows(&options).map_err(|error| error.to_string())?;
        Ok::<_, String>(serde_json::to_string(&loaded.samples[0].kept).unwrap())
    };
    assert_eq!(
        kept(&["level", "meta.source"]).unwrap(),
        r#"{"level":3,"meta.source":"x"}"#
    );
    assert!(kept(&["all"]).unwrap().contains(r#""meta":{"source":"x"}"#));
    // Every value that a path leads to, all digits of a number, and each key once.
    assert_eq!(
        kept(&[
            "turns[role=user].text",
            "level",
            "turns[role=tool].text",
            "level"
        ])
        .unwrap(),
        r#"{"turns[role=user].text":["p","q"],"level":3,"turns[role=tool].text":"t"}"#
    );
    assert_eq!(
        kept(&["long"]).unwrap(),
        r#"{"long":["123456789012345678901234567890",18446744073709551615,"-9223372036854775809",0.5,"12345678901234567890123"]}"#
    );
    assert!(
        kept(&["levle"])
            .unwrap_err()
            .contains("none of the rows read has levle, named by --keep")
    );
    // A key that exists does not hide one that does not.
    let error = kept(&["level", "levle"]).unwrap_err();
    assert!(error.contains("rows read has levle, named"), "{error}");
    assert!(kept(&["nowhere[*].x"]).is_err());
    // The limit may end before the first row that has the key.
    let options = LoadOptions {
        keep: Keep::parse(["late"]),
        limit: Some(1),
        ..LoadOptions::default()
    };
    let late = row.replacen('{', r#"{"late": 1, "#, 1);
    assert!(Files::one(format!("{row}\n{late}")).rows(&options).is_ok());
}

#[test]
fn the_first_rows_have_a_fingerprint_of_their_own() {
    let fingerprint = |count: usize, earlier: Option<usize>| {
        let options = LoadOptions {
            earlier,
            ..LoadOptions::default()
        };
        let loaded = Files::one(rows(count)).rows(&options).unwrap();
        (loaded.fingerprint, loaded.earlier_fingerprint)
    };
    let (two, none) = fingerprint(2, None);
    assert_eq!(none, None);
    assert_eq!(fingerprint(5, Some(2)).1, Some(two));
    assert_eq!(fingerprint(5, Some(6)).1, None);
}

/// The same number of cells, or responses, in rows of two shapes: a cost per cell that grew with its row would make the wide
/// one ten or a hundred times slower.
#[test]
fn time_is_in_proportion_to_cells_and_responses() {
    let seconds = |name: &str, content: String, count: usize| {
        let files = Files::new(&[(name, content.as_bytes())]);
        let started = std::time::Instant::now();
        let loaded = files.load(&[name], &LoadOptions::default()).unwrap();
        assert_eq!(loaded.samples.len(), count);
        started.elapsed().as_secs_f64()
    };
    let table = |columns: usize, rows: usize| {
        let names: Vec<String> = (0..columns).map(|at| format!("c{at}")).collect();
        let row = format!("q,a,r{}\n", ",1".repeat(columns));
        format!(
            "question,answer,response,{}\n{}",
            names.join(","),
            row.repeat(rows)
        )
    };
    let list = |responses: usize, rows: usize| {
        let row =
            serde_json::json!({"question": "q", "answer": "a", "responses": vec!["r"; responses]});
        format!("{row}\n").repeat(rows)
    };
    let narrow = seconds("t.csv", table(5_000, 40), 40);
    let wide = seconds("t.csv", table(50_000, 4), 4);
    assert!(wide < 4.0 * narrow + 0.5, "{wide} s, and {narrow} s");
    let short = seconds("t.jsonl", list(200, 100), 20_000);
    let long = seconds("t.jsonl", list(20_000, 1), 20_000);
    assert!(long < 4.0 * short + 0.5, "{long} s, and {short} s");
}

#[test]
fn messages_of_langchain_have_the_usual_roles() {
    let row = r#"{"messages": [{"type": "system", "content": "s", "additional_kwargs": {}}, {"type": "human", "content": "q", "id": null, "example": false}, {"type": "ai", "content": "r", "tool_calls": [], "response_metadata": {"x": 1}}], "answer": "a"}"#;
    let needs = crate::Needs {
        messages: true,
        ..crate::Needs::default()
    };
    let options = LoadOptions {
        columns: crate::ColumnMap::default().with_needs(needs),
        ..LoadOptions::default()
    };
    let loaded = Files::one(row).load(&["rows.jsonl"], &options).unwrap();
    let sample = &loaded.samples[0];
    assert_eq!([&*sample.question, &*sample.student_answer], ["q", "r"]);
    let turn = |role: &str, content: &str| serde_json::json!({"role": role, "content": content});
    assert_eq!(sample.messages, [turn("system", "s"), turn("user", "q")]);
    // As its `messages_to_dict`, its `dumpd` and, of one message, its `model_dump` write them.
    for row in [
        r#"{"messages": [{"type": "system", "data": {"content": "s", "type": "system"}}, {"type": "human", "data": {"content": "q", "additional_kwargs": {}, "type": "human"}}, {"type": "ai", "data": {"content": [{"type": "text", "text": "r"}], "type": "ai", "tool_calls": []}}], "answer": "a"}"#,
        r#"{"messages": [{"lc": 1, "type": "constructor", "id": ["langchain", "SystemMessage"], "kwargs": {"content": "s", "type": "system"}}, {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "q", "type": "human"}}, {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": {"content": "r", "type": "ai"}}], "answer": "a"}"#,
        r#"{"prompt": [{"type": "system", "content": "s"}, {"type": "human", "content": "q"}], "response": {"content": "r", "type": "ai", "tool_calls": []}, "answer": "a"}"#,
        r#"{"prompt": [{"type": "system", "content": "s"}, {"type": "human", "content": "q"}], "response": {"type": "ai", "data": {"content": "r", "type": "ai"}}, "answer": "a"}"#,
    ] {
        let loaded = Files::one(row).load(&["rows.jsonl"], &options).unwrap();
        let sample = &loaded.samples[0];
        assert_eq!([&*sample.question, &*sample.student_answer], ["q", "r"]);
        assert_eq!(sample.messages, [turn("system", "s"), turn("user", "q")]);
    }
    // A message that says something is itself, whatever else it has.
    for said in [
        r#"{"from": "human", "value": "q", "data": {"type": "ai", "content": "x"}}"#,
        r#"{"role": "user", "content": "q", "data": {"type": "chart"}, "kwargs": {}}"#,
    ] {
        let row =
            format!(r#"{{"messages": [{said}, {{"from": "gpt", "value": "r"}}], "answer": "a"}}"#);
        let loaded = Files::one(row).load(&["rows.jsonl"], &options).unwrap();
        let sample = &loaded.samples[0];
        assert_eq!([&*sample.question, &*sample.student_answer], ["q", "r"]);
        let message = sample.messages[0].to_string();
        assert!(message.contains(r#""q""#), "{message}");
    }
}

#[test]
fn parts_of_one_answer_are_one_text() {
    let row = r#"{"question": "q", "answer": "42", "content": {"parts": [{"type": "text", "text": "It is "}, {"type": "text", "text": "42"}]}}"#;
    for path in ["content.parts[*].text", "content.parts[type=text].text"] {
        let options = LoadOptions {
            columns: crate::ColumnMap::parse([format!("response={path}")]).unwrap(),
            ..LoadOptions::default()
        };
        let loaded = Files::one(row).rows(&options).unwrap();
        assert_eq!(loaded.samples[0].student_answer, "It is 42", "{path}");
    }
}

#[test]
fn a_response_that_is_messages_as_text_stays_text_whatever_stands_beside_it() {
    for role in ["user", "assistant"] {
        let text = format!("[{{\"role\": \"{role}\", \"content\": \"hi\"}}]");
        let row =
            serde_json::json!({"question": "q", "answer": "4", "response": text, "pred": "4"});
        let loaded = Files::one(format!("{row}\n")).rows(&LoadOptions::default());
        let loaded = loaded.unwrap();
        assert_eq!(loaded.samples[0].student_answer, text);
        let used = loaded.columns.to_string();
        assert!(used.contains("response ← response (not pred)"), "{used}");
    }
    // A list of messages is no text, and what is advised of it works.
    let row = r#"{"question": "q", "answer": "4", "response": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "5"}], "pred": "4"}"#;
    let files = Files::one(format!("{row}\n"));
    let message = files.message(files.rows(&LoadOptions::default()));
    let advice =
        "say which is the response with `--columns response=response` or `--columns response=pred`";
    assert!(message.contains(advice), "{message}");
    for (setting, expected) in [("response=response", "5"), ("response=pred", "4")] {
        let loaded = files.rows(&columns(&[setting])).unwrap();
        assert_eq!(loaded.samples[0].student_answer, expected);
    }
}
