//! What engines write, and what becomes of it.

use serde_json::{Value, json};

use super::{RIGHT, answered, exported, in_body, lines_of};
use crate::common::{Folder, check_verdict, words};

fn import(folder: &Folder, outputs: &[Value], more: &[&str]) -> crate::common::Ran {
    folder.write("outputs.jsonl", lines_of(outputs));
    folder.run(
        &[
            &["batch", "import", "in.jsonl", "--outputs", "outputs.jsonl"],
            more,
        ]
        .concat(),
    )
}

#[test]
fn every_shape_gives_the_same_verdict() {
    let folder = Folder::new();
    let ids = exported(&folder, &["a"], &[]);
    let id = &ids[0];
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 2}});
    let choice = |message: &Value| json!([{"message": message, "finish_reason": "stop"}]);
    let plain = json!({"role": "assistant", "content": RIGHT, "reasoning_content": null});
    let parts = json!({"content": [{"type": "text", "text": RIGHT}]});
    for output in [
        answered(id, RIGHT),
        in_body(id, &json!({"choices": choice(&plain), "usage": usage})),
        json!({"custom_id": id, "response": {"choices": choice(&parts)}}),
        json!({"custom_id": id, "choices": choice(&plain)}),
        json!({"custom_id": id, "response": RIGHT}),
        json!({"custom_id": id, "outputs": [{"text": RIGHT, "finish_reason": "stop"}]}),
    ] {
        let ran = import(&folder, std::slice::from_ref(&output), &["-q"]);
        let verdict = &ran.expect(0, &[]).lines()[0];
        check_verdict(verdict);
        assert_eq!(
            (&verdict["reward"], &verdict["parse_rule"]),
            (&json!(1.0), &json!("exact")),
            "{output}"
        );
    }
    let counted = in_body(id, &json!({"choices": choice(&plain), "usage": usage}));
    let verdict = &import(&folder, &[counted], &["-q"]).lines()[0];
    assert_eq!(
        verdict["usage"],
        json!({"prompt_tokens": 9, "cached_tokens": 2, "completion_tokens": 4})
    );
}

/// Log-probabilities of other engines are often minus infinity.
#[test]
fn a_bare_nan_beside_the_answer_does_not_matter_and_one_in_its_place_is_said() {
    let folder = Folder::new();
    let ids = exported(&folder, &["a"], &[]);
    let mut line = answered(&ids[0], RIGHT);
    line["cumulative_logprob"] = json!("bare");
    let import = |line: String| {
        folder.write("outputs.jsonl", line);
        folder.run_words("batch import in.jsonl --outputs outputs.jsonl -q")
    };
    let ran = import(line.to_string().replace("\"bare\"", "-Infinity"));
    assert_eq!(ran.expect(0, &[]).lines()[0]["reward"], 1.0);
    let bare = json!({"custom_id": ids[0], "response": "bare"}).to_string();
    import(bare.replace("\"bare\"", "NaN")).expect(2, &["a bare NaN or Infinity counts as null"]);
}

#[test]
fn thinking_never_counts_and_a_cut_answer_is_known_as_cut() {
    let folder = Folder::new();
    let ids = exported(&folder, &["a"], &[]);
    let wrong = RIGHT.replace("True", "False");
    let read = |message: Value, finish: &str, more: &[&str]| {
        let body = json!({"choices": [{"message": message, "finish_reason": finish}]});
        let ran = import(
            &folder,
            &[in_body(&ids[0], &body)],
            &[&["-q"], more].concat(),
        );
        let verdict = ran.lines()[0].clone();
        check_verdict(&verdict);
        verdict
    };
    // A draft in the thinking, in whatever form, is not the verdict.
    for content in [
        json!({"content": wrong, "reasoning_content": RIGHT}),
        json!({"content": wrong, "reasoning": RIGHT}),
        json!({"content": format!("<think>{RIGHT}</think>{wrong}")}),
        json!({"content": format!("{RIGHT}</think>{wrong}")}),
        json!({"content": [{"type": "thinking", "thinking": RIGHT}, {"type": "text", "text": wrong}]}),
    ] {
        let verdict = read(content.clone(), "stop", &[]);
        assert_eq!(
            (&verdict["status"], &verdict["process"]),
            (&json!("ok"), &json!(false)),
            "{content}"
        );
    }
    for (content, finish, more, why) in [
        (
            json!({"content": null, "reasoning_content": RIGHT}),
            "length",
            &[][..],
            "thinking not finished",
        ),
        (
            json!({"content": format!("<think>{RIGHT}")}),
            "length",
            &[],
            "thinking not finished",
        ),
        (
            json!({"content": RIGHT}),
            "stop",
            &["--starts-in-thinking"],
            "thinking not finished",
        ),
        (
            json!({"content": format!("[T]{RIGHT}")}),
            "stop",
            &["--model", "tiny", "--thinking-tags", "[T],[/T]"],
            "thinking not finished",
        ),
        (
            json!({"content": "<process> Tr"}),
            "length",
            &[],
            "stopped at its length limit",
        ),
        (json!({"content": ""}), "stop", &[], "no verdict"),
        (
            json!({"content": null, "refusal": RIGHT}),
            "stop",
            &[],
            "the judge refused to answer: <process>",
        ),
    ] {
        let verdict = read(content.clone(), finish, more);
        assert_eq!(verdict["status"], "unparsed", "{content}");
        assert!(
            verdict["error"].as_str().unwrap().contains(why),
            "{verdict}"
        );
        assert!(verdict["raw"]["completion"].is_string(), "{verdict}");
        assert_eq!(verdict["outcome_source"], "rules");
    }
    // Where an answer that ended by itself is all thinking, it is said where it stands, and it is read there if the user says so.
    let reads = ["--answer-in-reasoning"];
    for key in ["reasoning_content", "reasoning"] {
        for content in [Value::Null, json!(""), json!(" \n")] {
            for text in [RIGHT.to_owned(), format!("{wrong}</think>{RIGHT}")] {
                let message = json!({"content": content, key: text});
                let verdict = read(message.clone(), "stop", &[]);
                assert_eq!(verdict["status"], "unparsed");
                let why = verdict["error"].as_str().unwrap();
                assert!(
                    why.contains(&format!("all of its text is in `{key}`")),
                    "{why}"
                );
                assert!(
                    why.ends_with("--answer-in-reasoning reads it there"),
                    "{why}"
                );
                let verdict = read(message.clone(), "stop", &reads);
                let said = (&verdict["status"], &verdict["process"]);
                assert_eq!(said, (&json!("ok"), &json!(true)), "{message}");
                let verdict = read(message, "length", &reads);
                assert_eq!(verdict["status"], "unparsed", "cut thinking is no answer");
            }
        }
    }
    // An answer of its own counts.
    let both = json!({"content": RIGHT, "reasoning_content": wrong});
    assert_eq!(read(both, "stop", &reads)["process"], true);
    // Given apart, the thinking that the prompt has opened is not in the answer.
    let apart = json!({"content": wrong, "reasoning_content": "hm"});
    assert_eq!(
        read(apart, "stop", &["--starts-in-thinking"])["status"],
        "ok"
    );
    // Labels are not read of a cut answer.
    folder.run_words("batch export in.jsonl -o compass.jsonl --protocol compass -q");
    let id = folder.lines("compass.jsonl")[0]["custom_id"].clone();
    let body = json!({"choices": [{"message": {"content": "A"}, "finish_reason": "length"}]});
    let ran = import(
        &folder,
        &[in_body(&id, &body)],
        &["-q", "--protocol", "compass"],
    );
    assert!(
        ran.lines()[0]["error"].as_str().unwrap().contains("cut"),
        "{}",
        ran.stdout
    );
}

#[test]
fn errors_and_missing_answers_are_failed_and_say_why() {
    let folder = Folder::new();
    let ids = exported(&folder, &["a", "b", "c", "d"], &[]);
    let outputs = [
        json!({"custom_id": ids[0], "response": null, "error": {"code": "batch_expired", "message": "too late"}}),
        json!({"custom_id": ids[1], "response": {"status_code": 429, "body": {"error": {"message": "slow down"}}}}),
        answered(&ids[1], RIGHT),
        answered(&ids[3], RIGHT),
    ];
    let ran = import(&folder, &outputs, &["-o", "verdicts.jsonl"]);
    ran.expect(3, &["(2 ok, 2 failed)", "2 of 4 failed; one says: "]);
    let verdicts = folder.lines("verdicts.jsonl");
    let statuses: Vec<&Value> = verdicts.iter().map(|verdict| &verdict["status"]).collect();
    // A request that was tried again counts once it is answered.
    assert_eq!(statuses, ["failed", "ok", "failed", "ok"]);
    verdicts.iter().for_each(check_verdict);
    assert!(
        verdicts[0]["error"]
            .as_str()
            .unwrap()
            .contains("batch_expired: too late")
    );
    assert_eq!(
        verdicts[2]["error"],
        "the outputs have no line for this request"
    );
    // The same answers again change nothing; others are not mixed with them, and are free answers too.
    import(&folder, &outputs, &["-o", "verdicts.jsonl"]).expect(3, &["(2 ok, 2 failed)"]);
    assert!(
        !folder
            .read("verdicts.jsonl.journal")
            .contains("\"constrained\"")
    );
    let all = [&outputs[..], &[answered(&ids[2], RIGHT)]].concat();
    import(&folder, &all, &["-o", "verdicts.jsonl"]).expect(2, &["model.hash", "--restart"]);
    import(&folder, &all, &["-o", "verdicts.jsonl", "--restart"]).expect(3, &["(3 ok, 1 failed)"]);
    folder.write("mine.jsonl", "mine\n");
    import(&folder, &outputs, &["-o", "mine.jsonl"]).expect(2, &["--force"]);
    import(&folder, &outputs, &["-o", "verdicts.csv"]).expect(3, &["verdicts in verdicts.csv"]);
}

#[test]
fn lines_that_belong_to_nothing_stop_the_import_unless_they_may_be_left_out() {
    let folder = Folder::new();
    let ids = exported(&folder, &["a", "b"], &["--trials", "2"]);
    assert_eq!(ids.len(), 4);
    let all: Vec<Value> = ids.iter().map(|id| answered(id, RIGHT)).collect();
    let strange = |id: &str| answered(&json!(id), RIGHT);
    let third = ids[2].as_str().unwrap();
    for (line, why) in [
        (all[0].clone(), "outputs.jsonl:5: a second answer"),
        (
            strange("request-1"),
            "`request-1` is not one that `juror batch export` wrote",
        ),
        (
            strange(&third.replace("i-b", "i-nobody")),
            "is of no sample of this input",
        ),
        (
            strange(&third.replace("i-b-0", "i-b-7")),
            "is of trial 7, and there are 2",
        ),
        (json!({"custom_id": ids[0]}), "no answer that can be read"),
        (json!({"response": "x"}), "no `custom_id`"),
        (json!([1]), "not a JSON object"),
    ] {
        let outputs = [&all[..], &[line]].concat();
        let arguments = ["--trials", "2", "-o", "out.jsonl"];
        let ran = import(&folder, &outputs, &arguments);
        ran.expect(
            2,
            &[
                "1 of 5 lines of answers cannot be used",
                "outputs.jsonl:5: ",
                why,
                "--skip-bad",
            ],
        );
        assert!(!folder.has("out.jsonl"));
        let ran = import(
            &folder,
            &outputs,
            &[&arguments[..], &["--skip-bad", "--force"]].concat(),
        );
        ran.expect(0, &["left out: outputs.jsonl:5: ", "(4 ok)"]);
        std::fs::remove_file(folder.path("out.jsonl")).unwrap();
        std::fs::remove_file(folder.path("out.jsonl.journal")).unwrap();
    }
    folder.write("torn.jsonl", format!("{}{{\"custom", lines_of(&all)));
    let torn = words("batch import in.jsonl --outputs torn.jsonl --trials 2");
    folder.run(&torn).expect(2, &["torn.jsonl:5: not JSON"]);
    import(&folder, &[strange("x")], &["--skip-bad", "-o", "out.jsonl"])
        .expect(2, &["no line answers a request of this input"]);
    // Several files, and the consensus of the trials.
    folder.write("first.jsonl", lines_of(&all[..1]));
    folder.write("rest.jsonl", lines_of(&all[1..]));
    let several = words(
        "batch import in.jsonl --outputs first.jsonl rest.jsonl --trials 2 -o out.jsonl --consensus \
        c.jsonl --keep question",
    );
    folder.run(&several).expect(0, &["(4 ok)"]);
    let consensus = folder.lines("c.jsonl");
    assert_eq!(
        (&consensus[1]["trials"], &consensus[1]["reward"]),
        (&json!(2), &json!(1.0))
    );
    let lines = folder.lines("out.jsonl");
    let order: Vec<(&Value, &Value)> = lines
        .iter()
        .map(|line| (&line["id"], &line["trial"]))
        .collect();
    assert_eq!(
        order,
        [
            (&json!("a"), &json!(0)),
            (&json!("a"), &json!(1)),
            (&json!("b"), &json!(0)),
            (&json!("b"), &json!(1))
        ]
    );
    assert_eq!(lines[0]["input"]["question"], "What is 3 + 4? (a)");
}

#[test]
fn another_protocol_prompt_or_text_is_noticed() {
    let folder = Folder::new();
    let ids = exported(&folder, &["a"], &["--protocol", "compass"]);
    let output = [answered(&ids[0], "A")];
    import(&folder, &output, &[]).expect(
        2,
        &[
            "outputs.jsonl:1: ",
            "not asked under protocol prime",
            "give --protocol compass",
        ],
    );
    import(&folder, &output, &["--protocol", "compass"]).expect(0, &["(1 ok)"]);
    folder.write(
        "own.txt",
        "<q>{{question}}</q><a>{{student_answer}}</a><r>{{reference_answer}}</r>",
    );
    let ids = exported(&folder, &["a"], &["--prompt", "own.txt"]);
    let output = [answered(&ids[0], RIGHT)];
    import(&folder, &output, &[]).expect(2, &["--prompt and --few-shots that it was asked with"]);
    import(&folder, &output, &["--prompt", "own.txt"]).expect(0, &["(1 ok)"]);
    let changed = folder.read("in.jsonl").replace("3 + 4 = 7.", "3 + 4 = 8.");
    folder.write("in.jsonl", changed);
    import(&folder, &output, &["--prompt", "own.txt"])
        .expect(2, &["its texts are not what they were"]);
}

#[test]
fn ids_may_hold_anything() {
    let folder = Folder::new();
    let long = "x".repeat(500);
    let ids = [
        "a",
        "a b",
        "\"; drop",
        "-",
        "a-0",
        "é漢\u{202e}",
        "h-000000000000000000000000",
        "i-a",
        "line\nbreak\t",
        "../../etc",
        &long,
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "juror-0-0-0-i-a",
        "{\"id\": 1}",
        "\u{0}",
    ];
    let custom = exported(&folder, &ids, &[]);
    let safe = |id: &str| {
        id.len() <= 64
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    assert!(
        custom.iter().all(|id| safe(id.as_str().unwrap())),
        "{custom:?}"
    );
    // In any order.
    let answers: Vec<Value> = custom
        .iter()
        .enumerate()
        .rev()
        .map(|(at, id)| {
            answered(
                id,
                &RIGHT.replace("True", if at % 2 == 0 { "True" } else { "False" }),
            )
        })
        .collect();
    let verdicts = import(&folder, &answers, &["-q"]).expect(0, &[]).lines();
    for (at, (verdict, id)) in verdicts.iter().zip(ids).enumerate() {
        assert_eq!(
            (&verdict["id"], &verdict["process"]),
            (&json!(id), &json!(at % 2 == 0))
        );
    }
}

#[test]
fn rules_reward_and_raw_work_as_in_judge() {
    let folder = Folder::new();
    let ids = exported(&folder, &["a"], &[]);
    let half = answered(&ids[0], &RIGHT.replacen("True", "False", 1));
    let one = |more: &[&str]| {
        import(
            &folder,
            std::slice::from_ref(&half),
            &[&["-q"], more].concat(),
        )
        .lines()[0]
            .clone()
    };
    assert_eq!(one(&[])["reward"], 0.0);
    assert_eq!(one(&["--reward", "outcome"])["reward"], 1.0);
    assert_eq!(one(&["--rules", "off"])["rule_outcome"], Value::Null);
    let raw = one(&["--raw"]);
    assert!(
        raw["raw"]["prompt"]
            .as_str()
            .unwrap()
            .contains("What is 3 + 4? (a)"),
        "{raw}"
    );
    for (more, why) in [
        (&["--reward", "soft"][..], "needs the judge's probabilities"),
        (&["--rules", "only"], "juror judge --rules only"),
        (
            &["--consensus", "c.jsonl"],
            "--consensus needs several trials",
        ),
        (&["-o", "in.jsonl"], "in.jsonl"),
        (
            &["-o", "outputs.jsonl", "--force"],
            "outputs.jsonl is an input, and would be replaced",
        ),
        (&["--model", "gpt"], "no model `gpt`"),
        (&["--thinking-tags", "[T],[/T]"], "need --model"),
        (
            &["--rules", "off", "--rules-profile", "compat"],
            "--rules-profile changes nothing with --rules off",
        ),
    ] {
        import(&folder, std::slice::from_ref(&half), more).expect(2, &[why]);
    }
    // A judge's domain is in its own files.
    let outside = answered(
        &ids[0],
        "<think>domain out</think>\n<process> True </process>",
    );
    let read = import(&folder, &[outside], &["-q", "--model", "tiny"]);
    assert_eq!(read.expect(3, &[]).lines()[0]["status"], "out_of_domain");
}

#[test]
fn the_earlier_name_replaces_no_input_either() {
    let folder = Folder::new();
    let ids = exported(&folder, &["a"], &[]);
    folder.write("outputs.jsonl", lines_of(&[answered(&ids[0], RIGHT)]));
    for input in ["in.jsonl", "outputs.jsonl"] {
        let before = std::fs::read(folder.path(input)).unwrap();
        let command = "import-batch in.jsonl --outputs outputs.jsonl -o out.jsonl --force";
        let ran = folder.run_words(&format!("{command} --summary-json {input}"));
        ran.expect(2, &[&format!("{input} is an input, and would be replaced")]);
        assert_eq!(std::fs::read(folder.path(input)).unwrap(), before);
    }
}
