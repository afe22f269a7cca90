//! What verdicts on one question say together: advantages, and samples that are hard to judge.

use serde_json::{Value, json};

use crate::common::{Folder, rollouts, words};

/// Four responses to one question, and one to another.
fn rows() -> String {
    let question = "Ann has 12 apples. She buys 5 more and gives 4 away. How many has she left?";
    let row = |response: &str| {
        json!({"question": question, "answer": "13", "response": response, "split": "a"})
            .to_string()
    };
    let other = rollouts(1).lines().next().unwrap().to_owned();
    [
        row("12 + 5 = 17. 17 - 4 = 13. The answer is 13."),
        row("12 + 5 = 18. 18 - 4 = 14. The answer is 14."),
        row("12 + 5 = 17. 17 - 4 = 13. So 13."),
        row("12 + 4 = 16. 16 - 4 = 12. The answer is 12."),
        other,
    ]
    .join("\n")
}

#[test]
fn advantages_are_among_the_answers_to_one_question() {
    let folder = Folder::new();
    folder.write("in.jsonl", rows());
    let judge = ["judge", "in.jsonl", "-o", "out.jsonl"];
    folder.run(&judge).expect(0, &[]);
    let without = folder.lines("out.jsonl");
    folder
        .run(&[&judge[..], &["--advantages"]].concat())
        .expect(0, &[]);
    let mut verdicts = folder.lines("out.jsonl");
    let rewards: Vec<f64> = without[..4]
        .iter()
        .map(|one| one["reward"].as_f64().unwrap())
        .collect();
    assert_eq!(rewards, [1.0, 0.0, 1.0, 0.0]);
    let deviation = (1.0_f64 / 3.0).sqrt() + 1e-4;
    for (verdict, expected) in verdicts.iter().zip([0.5, -0.5, 0.5, -0.5, 0.0]) {
        let advantage = verdict["advantage"].as_f64().unwrap();
        assert!((advantage - expected / deviation).abs() < 1e-9, "{verdict}");
    }
    // What the reward is compared with is the question.
    let groups: Vec<Value> = verdicts.iter().map(|one| one["group"].clone()).collect();
    assert!(groups[0].is_string() && groups[..4].iter().all(|one| *one == groups[0]));
    assert!(groups[4].is_string() && groups[4] != groups[0]);
    // Nothing else changes.
    for verdict in &mut verdicts {
        let verdict = verdict.as_object_mut().unwrap();
        verdict.remove("advantage");
        verdict.remove("group");
    }
    assert_eq!(verdicts, without);
    let csv = [&["judge", "in.jsonl", "-o", "out.csv", "--advantages"][..]].concat();
    folder.run(&csv).expect(0, &[]);
    assert!(
        folder
            .read("out.csv")
            .lines()
            .next()
            .unwrap()
            .contains(",advantage,")
    );
    // Where there is no reward there is no advantage, and the key all the same.
    let cut = ["--free", "--max-new-tokens", "1", "--advantages", "--force"];
    folder
        .run(&[&["judge", "in.jsonl", "-o", "cut.jsonl"][..], &cut].concat())
        .expect(3, &[]);
    for verdict in folder.lines("cut.jsonl") {
        assert_eq!(verdict.get("advantage"), Some(&Value::Null), "{verdict}");
    }
    folder
        .run(&["judge", "in.jsonl", "--advantages"])
        .expect(2, &["--output"]);
    let shard = [&judge[..], &["--advantages", "--shard", "0/2"]].concat();
    folder.run(&shard).expect(2, &["cannot be used with"]);
}

#[test]
fn hard_samples_are_rows_again() {
    let folder = Folder::new();
    let all = rows();
    let of_one = all.lines().take(4).map(|row| format!("{row}\n"));
    folder.write("in.jsonl", of_one.collect::<String>() + &rollouts(3));
    let judge = words(
        "judge in.jsonl -o out.jsonl --trials 4 --temperature 2 --max-new-tokens 200 --consensus \
        consensus.jsonl --hard hard.jsonl",
    );
    let ran = folder.run(&judge);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let is_hard = |one: &&Value| one["c"].as_f64().is_some_and(|c| c > 0.0 && c < 1.0);
    let consensus = folder.lines("consensus.jsonl");
    let expected: Vec<&Value> = consensus
        .iter()
        .filter(is_hard)
        .map(|one| &one["id"])
        .collect();
    let hard = folder.lines("hard.jsonl");
    let ids: Vec<&Value> = hard.iter().map(|row| &row["id"]).collect();
    assert!(!ids.is_empty());
    assert_eq!(ids, expected);
    for one in &consensus {
        let spread = one["spread"].as_f64();
        assert_eq!(
            spread.is_some_and(|spread| spread > 0.0),
            is_hard(&one),
            "{one}"
        );
    }
    folder
        .run(&["judge", "hard.jsonl", "-o", "again.jsonl"])
        .expect(0, &[]);
    assert_eq!(folder.lines("again.jsonl").len(), hard.len());
    folder
        .run(&["judge", "in.jsonl", "--hard", "h.jsonl"])
        .expect(2, &["--hard needs several trials"]);
}

#[test]
fn tokens_that_are_not_generated_are_counted() {
    let folder = Folder::new();
    folder.write("in.jsonl", rows());
    let judge = |options: &[&str]| {
        let arguments = ["judge", "in.jsonl", "-o", "out.jsonl", "--restart"];
        folder
            .run(&[&arguments[..], options].concat())
            .expect(0, &[]);
        folder.lines("out.jsonl")
    };
    let count = |verdict: &Value, key: &str| verdict["usage"][key].as_u64().unwrap_or(0);
    let (free, whole, decided) = (judge(&["--free"]), judge(&[]), judge(&["--decide-only"]));
    for ((free, whole), decided) in free.iter().zip(&whole).zip(&decided) {
        assert_eq!(
            count(free, "known_tokens") + count(free, "left_out_tokens"),
            0
        );
        assert!(count(whole, "known_tokens") > 0);
        assert_eq!(count(whole, "left_out_tokens"), 0);
        assert_eq!(
            count(decided, "completion_tokens") + count(decided, "left_out_tokens"),
            count(whole, "completion_tokens")
        );
    }
}
