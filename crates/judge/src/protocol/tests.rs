use super::*;

#[test]
fn every_built_in_protocol_is_whole() {
    let names: Vec<&str> = known().map(|protocol| &*protocol.name).collect();
    assert_eq!(names[0], "prime");
    for protocol in known() {
        let name = &protocol.name;
        match protocol.template.as_deref() {
            Some(text) => {
                let template = PromptTemplate::parse(text).unwrap();
                assert_eq!(template.delimiters().unprotected, [], "{name}");
            }
            None => assert_eq!(name, "xverify"),
        }
        assert!(find(name).is_some(), "{name}");
        let yields = protocol.yields();
        assert!(yields.process || yields.outcome || yields.score, "{name}");
        assert!(!protocol.description.ends_with('.'), "{name}");
    }
    assert!(find("unheard-of").is_none());
}

/// Reads `tests/data/protocols/NAME.jsonl`: what judges write, and how it must be read.
fn check_table(name: &str, table: &str) {
    let protocol = find(name).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in table.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let case = row["case"].as_str().unwrap();
        let read = protocol.parse(row["output"].as_str().unwrap(), false);
        let is_right = match (&read, row["expect"].as_object()) {
            (Err(_), None) => true,
            (Ok(parsed), Some(expected)) => {
                assert_eq!(VerdictFields::unknown_key(expected), None, "{case}");
                parsed.fields.match_expected(expected)
            }
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{case}: {} as {read:?}", row["output"]));
        }
        count += 1;
    }
    assert!(count >= 40, "{name}: {count} cases");
    assert!(
        wrong.is_empty(),
        "{name}: {} of {count}\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

macro_rules! tables {
    ($($test:ident: $name:literal,)*) => {
        /// Those with a table of what judges write.
        const WITH_TABLE: &[&str] = &[$($name),*];

        $(
            #[test]
            fn $test() {
                check_table($name, include_str!(concat!("../../../../tests/data/protocols/", $name, ".jsonl")));
            }
        )*
    };
}

tables! {
    reads_prime_outcome: "prime-outcome",
    reads_answer_json: "answer-json",
    reads_compass: "compass",
    reads_compass_cot: "compass-cot",
    reads_xverify: "xverify",
    reads_sci_verifier: "sci-verifier",
    reads_tencent_rlvr: "tencent-rlvr",
    reads_general_verifier: "general-verifier",
    reads_verifybench: "verifybench",
    reads_first_error: "first-error",
    reads_rubric: "rubric",
    reads_pairwise: "pairwise",
}

#[test]
fn the_number_that_answer_json_finds_has_a_bound() {
    let scaffold = find("answer-json").unwrap();
    let scaffold = scaffold.scaffold(&ScaffoldWants::default()).unwrap();
    let juror_engine::grammar::GrammarSource::JsonSchema(schema) = &**scaffold.grammar().unwrap()
    else {
        panic!("answer-json is a schema");
    };
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let pattern = schema["properties"]["model_answer"]["pattern"].as_str();
    let number = regex::Regex::new(pattern.unwrap()).unwrap();
    for found in ["39", "-1,234.50", "3/4", "1e10", "12%"] {
        assert!(number.is_match(found), "{found}");
    }
    let (digits, places) = ("9".repeat(101), format!("39.{}", "0".repeat(41)));
    for found in ["39.0000000000000001, 39.0", &digits, &places] {
        assert!(!number.is_match(found), "{found}");
    }
}

#[test]
fn every_built_in_protocol_has_a_table_and_is_documented() {
    let page = include_str!("../../../../docs/protocols/README.md");
    for name in known().map(|protocol| &*protocol.name) {
        // What judges write under `prime` is tested beside its reader.
        assert!(name == "prime" || WITH_TABLE.contains(&name), "{name}");
        let rows = page.lines().filter(|line| {
            let first = line.strip_prefix("| ").unwrap_or_default();
            first
                .trim_start_matches('[')
                .starts_with(&format!("`{name}`"))
        });
        assert!(rows.count() >= 1, "docs/protocols/README.md: {name}");
    }
}

#[test]
fn numbers_and_truth_values_name_labels_of_json() {
    let file = |labels: &str| {
        let text = format!(
            "description = 'x'\n[answer]\nform = 'json'\nverdict = 'score'\n[answer.labels]\n{labels}"
        );
        Protocol::declared("own", &text, None).unwrap()
    };
    let points =
        file("1 = { score = 0.0 }\n4 = { score = 0.75, words = ['4.5'] }\n'0.5' = { score = 0.5 }");
    let truth = file("true = { outcome = true }\nfalse = { outcome = false }");
    for (protocol, output, label) in [
        (&points, r#"{"score": 4}"#, Some("4")),
        (&points, r#"{"score": 4.0}"#, Some("4")),
        (&points, r#"{"score": 4.50}"#, Some("4")),
        (&points, r#"{"score": 5e-1}"#, Some("0.5")),
        (&points, r#"{"score": "4"}"#, Some("4")),
        (&points, "```json\n{\"score\": 1}\n```", Some("1")),
        (
            &points,
            r#"<think>{"score": 4}</think>{"score":1}"#,
            Some("1"),
        ),
        (&points, r#"{"score": 4} or {"score": 4.0}"#, Some("4")),
        (&points, r#"{"score": 4} or {"score": 1}"#, None),
        (&points, r#"{"score": 3}"#, None),
        (&points, r#"{"score": true}"#, None),
        (&points, r#"{"score": null}"#, None),
        (&points, r#"{"score": [4]}"#, None),
        (&truth, r#"{"score": true}"#, Some("true")),
        (&truth, r#"{"score": "False"}"#, Some("false")),
        (&truth, r#"{"score": 1}"#, None),
    ] {
        let read = protocol.parse(output, false);
        let found = read
            .as_ref()
            .ok()
            .and_then(|read| read.fields.label.as_deref());
        assert_eq!(found, label, "{output}: {read:?}");
        if let Ok(read) = read {
            let spans = &read.spans;
            let span = if spans.score.is_empty() {
                &spans.outcome
            } else {
                &spans.score
            };
            // Its odds are looked for where its word stands.
            assert!(
                !output[span.clone()].contains(['"', '}', ' ']),
                "{output}: {span:?}"
            );
        }
    }
}
