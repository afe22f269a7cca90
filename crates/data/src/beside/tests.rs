use crate::load::LoadOptions;

/// The question and the reference of a row, and what is said of the columns; or why it is refused.
fn read(row: &str, columns: &[&str]) -> Result<[String; 3], String> {
    read_file("rows.jsonl", row, columns)
}

fn read_file(name: &str, content: &str, columns: &[&str]) -> Result<[String; 3], String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let options = LoadOptions {
        columns: crate::ColumnMap::parse(columns).unwrap(),
        ..LoadOptions::default()
    };
    let loaded = crate::load(&[path], &options).map_err(|error| error.to_string())?;
    let sample = &loaded.samples[0];
    Ok([
        sample.question.clone(),
        sample.reference_answer.clone(),
        loaded.columns.to_string(),
    ])
}

#[test]
fn the_keys_are_read() {
    let keys = &super::KEYS;
    assert_eq!((keys.questions.len(), keys.options.len()), (10, 19));
    assert_eq!(keys.instruction[0], "instruction");
}

#[test]
fn a_question_is_shown_with_what_it_is_about_and_its_options() {
    let options = "Which gas?\n\nA) oxygen\nB) nitrogen\nC) argon";
    for (row, question, said) in [
        // MMLU-Pro, MMLU.
        (
            r#"{"question": "Which gas?", "options": ["oxygen", "nitrogen", "argon"], "answer": "B", "answer_index": 1, "response": "B"}"#,
            options,
            "question (and options)",
        ),
        (
            r#"{"question": "Which gas?", "choices": ["oxygen", "nitrogen", "argon"], "answer": "B", "response": "B"}"#,
            options,
            "question (and choices)",
        ),
        // ARC, CommonsenseQA, MedQA, MedMCQA, AQuA.
        (
            r#"{"question": "Which gas?", "choices": {"text": ["oxygen", "nitrogen"], "label": ["1", "2"]}, "answer": "2", "response": "2"}"#,
            "Which gas?\n\n1) oxygen\n2) nitrogen",
            "question (and choices)",
        ),
        (
            r#"{"question": "Which gas?", "choices": [{"label": "A", "text": "oxygen"}, {"label": "B", "text": "nitrogen"}], "answer": "B", "response": "B"}"#,
            "Which gas?\n\nA) oxygen\nB) nitrogen",
            "question (and choices)",
        ),
        (
            r#"{"question": "Which gas?", "options": {"A": "oxygen", "B": "nitrogen", "C": "argon"}, "answer": "B", "response": "B"}"#,
            options,
            "question (and options)",
        ),
        (
            r#"{"question": "Which gas?", "opa": "oxygen", "opb": "nitrogen", "opc": "argon", "opd": "", "answer": "B", "response": "B"}"#,
            options,
            "question (and opa to opc)",
        ),
        (
            r#"{"question": "How many?", "options": ["A)21", "B)21.5"], "answer": "A", "response": "A"}"#,
            "How many?\n\nA)21\nB)21.5",
            "question (and options)",
        ),
        // SVAMP, SQuAD, DROP.
        (
            r#"{"Body": "There are 4 apples.", "Question": "How many?", "Answer": "4", "response": "4"}"#,
            "There are 4 apples.\n\nHow many?",
            "Question (and body)",
        ),
        (
            r#"{"context": "The air is nitrogen.", "question": "Which gas?", "answer": "nitrogen", "response": "nitrogen"}"#,
            "The air is nitrogen.\n\nWhich gas?",
            "question (and context)",
        ),
        (
            r#"{"doc_id": 1, "doc": {"passage": "The air is nitrogen.", "question": "Which gas?"}, "target": "nitrogen", "arguments": [["Q", {}]], "resps": [["nitrogen"]]}"#,
            "The air is nitrogen.\n\nWhich gas?",
            "doc.question (and passage)",
        ),
        (
            r#"{"doc_id": 1, "doc": {"question": "Which gas?", "input": "The air is nitrogen."}, "target": "nitrogen", "resps": [["nitrogen"]]}"#,
            "The air is nitrogen.\n\nWhich gas?",
            "doc.question (and doc.input) · ",
        ),
        // The options of a logged sample are those of its prompt.
        (
            r#"{"doc_id": 1, "doc": {"question": "Which gas?", "options": ["oxygen", "nitrogen", "argon"]}, "target": "B", "arguments": [["Q", {}]], "resps": [["B"]]}"#,
            options,
            "doc.question (and options)",
        ),
        // What the question has already is not shown twice.
        (
            r#"{"question": "Which gas?\nA. oxygen\nB. nitrogen", "options": ["oxygen", "nitrogen"], "answer": "B", "response": "B"}"#,
            "Which gas?\nA. oxygen\nB. nitrogen",
            "question · ",
        ),
        (
            r#"{"question": "Which is larger, 12 or 21?", "options": ["12", "21"], "answer": "B", "response": "B"}"#,
            "Which is larger, 12 or 21?\n\nA) 12\nB) 21",
            "question (and options)",
        ),
        (
            r#"{"question": "The air. Which gas?", "context": "The air.", "answer": "nitrogen", "response": "nitrogen"}"#,
            "The air. Which gas?",
            "question · ",
        ),
        (
            r#"{"question": "Which gas?", "option1": "oxygen", "option2": "nitrogen", "option3": "argon", "answer": "B", "response": "B"}"#,
            options,
            "question (and option1 to option3)",
        ),
        (
            r#"{"question": "Which gas?", "image": "data:image/png;base64,AAAA", "history": [["p", "r"]], "answer": "x", "response": "x"}"#,
            "Which gas?",
            "question (history left out, image left out)",
        ),
        (
            r#"{"question": "Which gas?", "images": [], "history": [], "answer": "x", "response": "x"}"#,
            "Which gas?",
            "question · ",
        ),
        // What cannot be shown is said; what a program has put together, and two responses that are compared, are left alone.
        (
            r#"{"question": "Which gas?", "context": ["one", "two"], "answer": "nitrogen", "response": "nitrogen"}"#,
            "Which gas?",
            "question (context left out)",
        ),
        (
            r#"{"messages": [{"role": "user", "content": "Which gas?"}], "options": ["x", "y"], "answer": "B", "response": "B"}"#,
            "Which gas?",
            "messages (last user turn)",
        ),
        (
            r#"{"question": "Which gas?", "A": "oxygen", "B": "nitrogen", "answer": "nitrogen", "response": "nitrogen"}"#,
            "Which gas?",
            "question · ",
        ),
        (
            r#"{"question": "Solve ax + b = c.", "a": 1, "b": 2, "c": 3, "answer": "1", "response": "1"}"#,
            "Solve ax + b = c.",
            "question · ",
        ),
    ] {
        let [asked, _, columns] = read(row, &[]).unwrap();
        assert_eq!(asked, question, "{row}");
        assert!(columns.contains(&format!("question ← {said}")), "{columns}");
    }
    // By its own name the question is that text alone.
    let row = r#"{"question": "Which gas?", "options": ["oxygen", "nitrogen"], "answer": "B", "response": "B"}"#;
    assert_eq!(read(row, &["question=question"]).unwrap()[0], "Which gas?");
    let table = "question,A,B,C,D,answer,response\nWhich gas?,oxygen,nitrogen,argon,,B,B\n";
    let [asked, _, columns] = read_file("rows.csv", table, &[]).unwrap();
    assert_eq!(asked, options, "{columns}");
    assert!(
        columns.contains("question ← question (and A to C)"),
        "{columns}"
    );
}

#[test]
fn a_number_beside_options_is_refused_unless_it_is_one_of_them() {
    let row = |answer: &str| {
        format!(
            r#"{{"question": "Which gas?", "choices": ["oxygen", "nitrogen", "4"], "answer": {answer}, "response": "r"}}"#
        )
    };
    for answer in ["1", "0", "3", "\"2\""] {
        let error = read(&row(answer), &[]).unwrap_err();
        assert!(
            error.contains("--columns 'reference=choices[answer]'"),
            "{error}"
        );
    }
    for answer in ["1", "\"1\""] {
        let named = read(&row(answer), &["reference=choices[answer]"]);
        assert_eq!(named.unwrap()[1], "nitrogen");
    }
    assert_eq!(read(&row("1"), &["reference=answer"]).unwrap()[1], "1");
    // A list of objects has no text at a place.
    let objects = row("1").replace(
        r#"["oxygen", "nitrogen", "4"]"#,
        r#"[{"text": "oxygen", "label": "x"}, {"text": "nitrogen", "label": "y"}]"#,
    );
    let error = read(&objects, &[]).unwrap_err();
    assert!(
        error.contains("options in `choices`") && !error.contains("[answer]"),
        "{error}"
    );
    // No place of an option, an option, a label, another list.
    for (row, reference) in [
        (row("145"), "145"),
        (row("\"4\""), "4"),
        (row("\"B\""), "B"),
        (row("\"nitrogen\""), "nitrogen"),
        (row("2").replace("[\"oxygen\", \"nitrogen\", \"4\"]", r#"{"1": "oxygen", "2": "nitrogen"}"#), "2"),
        (
            r#"{"messages": [{"role": "user", "content": "q"}], "choices": [{"message": {"content": "r"}}], "answer": 1}"#.into(),
            "1",
        ),
        (
            r#"{"doc": {"query": "q", "choices": [17, 18], "gold_index": 1, "id": "7"}, "model_response": {"text": ["r"]}}"#.into(),
            "18",
        ),
    ] {
        assert_eq!(read(&row, &[]).unwrap()[1], reference, "{row}");
    }
    // A list that a table has as text, as pandas, NumPy and JSON write it.
    for list in [
        "['oxygen', '1', 'argon']",
        "['oxygen' '1' 'argon']",
        "[\"\"oxygen\"\", 1, null]",
    ] {
        let table = format!("question,choices,answer,response\nWhich gas?,\"{list}\",1,B\n");
        let error = read_file("rows.csv", &table, &[]).unwrap_err();
        assert!(
            error.contains("beside the options in `choices`, and may be a place among them: give JSON lines, or say"),
            "{error}"
        );
        let named = read_file("rows.csv", &table, &["reference=answer"]);
        assert_eq!(named.unwrap()[1], "1");
        let beyond = read_file("rows.csv", &table.replace(",1,B", ",3,B"), &[]);
        assert_eq!(beyond.unwrap()[1], "3");
    }
    // Another text is no list.
    for text in [
        "{1,2} or [3]",
        "[See the figure] and choose",
        "[0, 1)",
        "[a, b]",
    ] {
        let table = format!("question,choices,answer,response\nWhich?,\"{text}\",0,B\n");
        assert_eq!(
            read_file("rows.csv", &table, &[]).unwrap()[1],
            "0",
            "{text}"
        );
    }
    // Numbers beside columns are counted from 1 as well.
    let columns = r#"{"question": "q", "option1": "x", "option2": "y", "option3": "z", "answer": 1, "response": "r"}"#;
    let error = read(columns, &[]).unwrap_err();
    assert!(error.contains("options in `option1 to option3`"), "{error}");
    let table = "question,A,B,C,answer,response\nWhich gas?,oxygen,nitrogen,argon,1,B\n";
    let error = read_file("rows.csv", table, &[]).unwrap_err();
    assert!(
        error.contains("beside the options in `A to C`") && !error.contains("[answer]"),
        "{error}"
    );
}

#[test]
fn the_text_of_an_option_has_its_letter_as_another_form() {
    let form = |row: &str| {
        crate::sample_of_row(row, &crate::ColumnMap::default())
            .unwrap()
            .option_letter
    };
    let row = |more: &str| format!(r#"{{"question": "Which gas?", "response": "r", {more}}}"#);
    let options = r#""options": ["oxygen", "nitrogen", "argon"]"#;
    let pro = |answer: &str| row(&format!(r#"{options}, "answer": {answer}"#));
    let asked = |question: &str| pro("\"nitrogen\"").replace("gas?", question);
    for (row, other) in [
        (pro("\"nitrogen\""), "B"),
        (
            row(r#""choices": {"text": ["oxygen", "nitrogen"], "label": ["B", "A"]}, "answerKey": "nitrogen""#),
            "A",
        ),
        (row(r#""options": {"A": "oxygen", "B": "nitrogen"}, "answer": "oxygen""#), "A"),
        (row(r#""options": ["A)21", "B)21.5"], "answer": "21.5""#), "B"),
        (row(r#""options": ["21", "22"], "answer": "22""#), "B"),
        (row(r#""A": "oxygen", "B": "nitrogen", "C": "argon", "answer": "argon""#), "C"),
        // The question has them under the same letters.
        (asked("gas? A. oxygen B. nitrogen\\n**C)** argon"), "B"),
        // The options are those of the logged question.
        (
            r#"{"doc": {"query": "q", "choices": ["x1", "y1"], "gold_index": 1, "id": "7"}, "model_response": {"text": ["r"]}}"#.into(),
            "B",
        ),
    ] {
        assert_eq!(form(&row).as_deref(), Some(other), "{row}");
    }
    for row in [
        // A letter, which a response in words may answer in many ways; no option, though it is written alike.
        pro("\"B\""),
        pro("\"helium\""),
        pro("\"Nitrogen.\""),
        row(r#""options": ["5", "0.5"], "answer": ".5""#),
        row(r#""options": [".5", "5"], "answer": "5""#),
        // A text that is a letter or may be a place; a label that is a number; two options of one text.
        row(r#""options": ["B", "A", "D"], "answer": "B""#),
        row(r#""options": ["7", "1", "0"], "answer": "7""#),
        row(r#""options": {"1": "two", "2": "three"}, "answer": "two""#),
        row(r#""options": ["oxygen", "Oxygen"], "answer": "oxygen""#),
        // The question has them in another order, however it writes them, or without letters.
        asked("gas? A. nitrogen B. oxygen C. argon"),
        asked("gas? A.\\tnitrogen B.\\toxygen C.\\targon"),
        asked("gas? A、nitrogen B、oxygen C、argon"),
        asked("gas? (a) Nitrogen (b) Oxygen (c) Argon"),
        asked("gas? A) $nitrogen$ B) $oxygen$ C) $argon$"),
        asked(r#"gas? {\"A\": \"nitrogen\", \"B\": \"oxygen\", \"C\": \"argon\"}"#),
        asked("gas?\\noxygen\\nnitrogen\\nargon"),
        // So has a text beside it.
        asked("gas?").replace(
            "\"options\"",
            r#""prompt": "Which?\nA. nitrogen\nB. oxygen\nC. argon", "options""#,
        ),
        row(r#""answer": "B""#),
    ] {
        assert_eq!(form(&row), None, "{row}");
    }
    // What rows are known by is as before.
    let sample = crate::sample_of_row(&pro("\"argon\""), &crate::ColumnMap::default()).unwrap();
    let without = crate::Sample {
        option_letter: None,
        ..sample.clone()
    };
    assert_eq!(sample.check(), without.check());
    assert_eq!(sample.row(true), without.row(true));
}
