//! `--free`, `--decide-only` and `--thinking-budget`.

use crate::common::{Folder, rollouts};

#[test]
fn a_constrained_judge_says_what_it_would_write() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    let judge = |options: &[&str], out: &str| {
        let ran = folder.run(&[&["judge", "in.jsonl", "-o", out, "--raw"], options].concat());
        ran.expect(0, &[]);
        folder.lines(out)
    };
    let (free, constrained) = (
        judge(&["--free"], "free.jsonl"),
        judge(&[], "constrained.jsonl"),
    );
    for (free, constrained) in free.iter().zip(&constrained) {
        for key in ["process", "outcome", "perfect", "reward"] {
            assert_eq!(free[key], constrained[key], "{key}");
        }
        assert_eq!(
            free["raw"]["completion_tokens"],
            constrained["raw"]["completion_tokens"]
        );
        assert_eq!(
            (&free["parse_rule"], &constrained["parse_rule"]),
            (&"exact".into(), &"constrained".into())
        );
    }
    for (whole, decided) in constrained
        .iter()
        .zip(judge(&["--decide-only"], "decided.jsonl"))
    {
        assert_eq!(whole["reward"], decided["reward"]);
        assert!(decided["perfect"].is_null());
        let tokens = |line: &serde_json::Value| line["usage"]["completion_tokens"].as_u64();
        assert!(tokens(&decided) < tokens(whole));
    }
    // What was not asked for need not be sure.
    let sure = judge(&["--decide-only", "--min-confidence", "0.6"], "sure.jsonl");
    assert!(sure.iter().any(|line| line["outcome"].is_null()));
    let hurried = judge(&["--thinking-budget", "12"], "hurried.jsonl");
    for line in &hurried {
        let written = line["raw"]["completion"].as_str().unwrap();
        assert!(written.contains("\n</think>\n\n<process>"), "{written}");
        assert!(
            line["usage"]["completion_tokens"].as_u64() < Some(45),
            "{line}"
        );
    }
}

#[test]
fn a_run_is_gone_on_with_in_the_same_way_alone() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let judge = ["judge", "in.jsonl", "-o", "out.jsonl"];
    folder.run(&judge).expect(0, &[]);
    let free = [&judge[..], &["--free"]].concat();
    folder.run(&free).expect(2, &["constrained", "--restart"]);
}

#[test]
fn options_for_constrained_answers_need_them() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let judge = |options: &[&str]| folder.run(&[&["judge", "in.jsonl"], options].concat());
    for option in [&["--decide-only"][..], &["--thinking-budget", "9"]] {
        judge(&[option, &["--free"]].concat()).expect(2, &["cannot be used with"]);
        judge(&[option, &["--rules", "only"]].concat()).expect(2, &[option[0], "changes nothing"]);
        judge(&[option, &["--protocol", "answer-json"]].concat()).expect(
            2,
            &[option[0], "answer-json: its answers are not constrained"],
        );
    }
    judge(&["--decide-only", "--reason"]).expect(2, &["cannot be used with"]);
    judge(&["--thinking-budget", "0"]).expect(2, &[]);
}
