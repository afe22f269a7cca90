//! Which key holds what.

use super::*;
use crate::path::KeyPath;
use crate::preset::Preset;

#[test]
fn the_first_alias_wins_and_the_others_are_shown() {
    let line = r#"{"gt": "x", "answer": "g", "prompt": "p", "problem": "q", "completion": "s", "index": 7, "uid": "u"}"#;
    let loaded = Files::one(line).rows(&LoadOptions::default()).unwrap();
    let sample = &loaded.samples[0];
    assert_eq!(
        [
            &sample.question,
            &sample.reference_answer,
            &sample.student_answer,
            &sample.id
        ],
        ["q", "g", "s", "u"]
    );
    assert_eq!(
        loaded.columns.to_string(),
        "question ← problem (not prompt) · reference ← answer (not gt) · response ← completion · id ← uid (not index)"
    );
}

#[test]
fn every_alias_is_read() {
    let plain = Preset::named("plain").unwrap();
    let aliases = |field| plain.paths[field as usize].iter().map(KeyPath::text);
    for field in Field::ALL {
        // The elements of a list have numbers in their ids.
        for alias in aliases(field).filter(|alias| !alias.contains('[')) {
            let mut keys = Field::ALL.map(|field| aliases(field).next().unwrap());
            keys[field as usize] = alias;
            let line = format!(
                r#"{{"{}": "q", "{}": "a", "{}": "s", "{}": "i"}}"#,
                keys[0], keys[1], keys[2], keys[3]
            );
            let loaded = Files::one(line).rows(&LoadOptions::default()).unwrap();
            let sample = &loaded.samples[0];
            assert_eq!(
                [
                    &sample.question,
                    &sample.reference_answer,
                    &sample.student_answer,
                    &sample.id
                ],
                ["q", "a", "s", "i"]
            );
        }
    }
}

#[test]
fn a_column_may_be_a_path() {
    let line = r#"{"doc": {"problem": "q", "a.b": 1}, "reward_model": {"ground_truth": 13}, "resps": [["s", "t"]], "x.y": "dotted", "x": {"y": "nested"}}"#;
    let options = columns(&[
        "question=doc.problem",
        "reference=reward_model.ground_truth",
        "response=resps[0][1]",
        "id=x.y",
    ]);
    let loaded = Files::one(line).rows(&options).unwrap();
    let sample = &loaded.samples[0];
    assert_eq!(
        [
            &sample.question,
            &sample.reference_answer,
            &sample.student_answer,
            &sample.id
        ],
        ["q", "13", "t", "dotted"]
    );
    for path in [
        "response=resps[0][2]",
        "response=resps[1]",
        "response=resps.a",
        "response=doc[0]",
        "response=resps[",
        "response=.doc",
    ] {
        let options = columns(&[
            "question=doc.problem",
            "reference=reward_model.ground_truth",
            path,
        ]);
        assert!(
            reason_with(line, &options).starts_with("no response (looked for"),
            "{path}"
        );
    }
}

#[test]
fn a_key_given_to_one_field_is_no_alias_of_another() {
    let line = r#"{"question": "q", "answer": "the response"}"#;
    assert!(reason_with(line, &columns(&["response=answer"])).starts_with("no reference answer (looked for reference_answer, reference, gold_answer, gold, ground_truth, label_answer"));
}

#[test]
fn columns_that_cannot_be_used_say_what_can() {
    let message = |settings: &[&str]| ColumnMap::parse(settings).unwrap_err().to_string();
    assert_eq!(
        message(&["answer=x"]),
        "there is no field `answer`: use question, reference (or reference_answer), response (or student_answer), id, \
         steps, rubric or other, as in `question=problem`"
    );
    assert!(message(&["question"]).contains("write FIELD=KEY"));
    assert!(message(&["question="]).contains("names no key"));
    assert!(message(&["question=a", "question=b"]).contains("two columns, `a` and `b`"));
    let line = r#"{"turns": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}], "answer": "a"}"#;
    for both in [
        ["question=turns", "response=turns"],
        ["response=turns", "question=turns"],
    ] {
        let loaded = Files::one(line).rows(&columns(&both)).unwrap();
        assert_eq!(loaded.samples[0].question, "q");
        assert_eq!(loaded.samples[0].student_answer, "r");
    }
    assert!(
        message(&["reference=a", "student_answer=a"])
            .contains("`a` is given for reference and for response")
    );
}
