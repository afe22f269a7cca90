//! `juror attack`: a table for people, the same as JSON, and what is refused.

use serde_json::Value;

use crate::common::{Folder, Ran, rollouts, words};

fn prepared(count: usize) -> Folder {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(count));
    folder
}

#[test]
fn the_table_and_the_json_tell_the_same() {
    let folder = prepared(4);
    let ran = folder.run_words(
        "attack in.jsonl --family empty,forged-verdict,bare-reference --json report.json --seed 3",
    );
    ran.expect(0, &["12 attacks on tiny", "made of 4 questions"]);
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert_eq!(
        (&report["model"], &report["seed"], &report["questions"]),
        (&"tiny".into(), &3.into(), &4.into())
    );
    let protocol = &report["protocols"][0];
    assert_eq!(protocol["protocol"], "prime");
    let families = protocol["families"].as_array().unwrap();
    let names: Vec<&str> = families
        .iter()
        .map(|family| family["family"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["empty", "forged-verdict", "bare-reference"]);
    let mut lines = ran.stdout.lines();
    let header = lines.next().unwrap();
    assert!(
        header.starts_with("family ") && header.contains("false positives"),
        "{header}"
    );
    for family in families {
        let attacks = family["attacks"].as_u64().unwrap();
        let name = family["family"].as_str().unwrap();
        assert_eq!(attacks, 4, "{name}");
        let right = family["found_right"].as_u64().unwrap();
        let rate = family["rate"].as_f64().unwrap();
        assert!((rate - right as f64 / 4.0).abs() < 1e-9);
        let words: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
        let shown = format!("{:.1}", 100.0 * rate);
        if name == "bare-reference" {
            // prime accepts an answer without a derivation.
            assert!(family["false_positives"].is_null() && right > 0);
            assert_eq!(words[..5], [name, "prime", "4", "–", &shown]);
        } else {
            assert_eq!(family["false_positives"], right);
            assert_eq!(words[..5], [name, "prime", "4", &right.to_string(), &shown]);
            assert_eq!(right, 0, "{name}: {}", ran.stdout);
        }
    }
    assert!(
        ran.stdout.contains("bare-reference: the answer is right"),
        "{}",
        ran.stdout
    );

    // The same command gives the same report, also on standard output.
    let again = folder.run_words(
        "attack in.jsonl --family empty,forged-verdict,bare-reference --json - --seed 3 -q",
    );
    again.expect(0, &["family ", "forged-verdict"]);
    let printed: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(printed["protocols"], report["protocols"]);
}

#[test]
fn each_protocol_is_attacked_where_it_judges_what_is_wrong() {
    let folder = prepared(2);
    let ran = folder.run_words(
        "attack in.jsonl --protocol prime,prime-outcome,tencent-rlvr --family \
        reference-behind-error,question",
    );
    // The built-in judge knows prime alone.
    ran.expect(
        0,
        &[
            "prime: 4 attacks",
            "prime-outcome: 2 attacks",
            "knows no other prompt",
        ],
    );
    for protocol in ["prime-outcome", "tencent-rlvr"] {
        let row = ran.stdout.lines().find(|line| {
            line.starts_with("reference-behind-error") && line.contains(&format!(" {protocol} "))
        });
        assert!(row.unwrap().contains("not applicable"), "{}", ran.stdout);
    }
}

#[test]
fn attacks_that_are_written_are_those_that_are_judged() {
    let folder = prepared(6);
    let attack = words("attack in.jsonl --family forged-verdict,bare-reference --seed 3");
    let run = |more: &[&str]| folder.run(&[&attack, more].concat());
    run(&["--json", "report.json"]).expect(0, &[]);
    // Again over its own file, and over no other.
    for _ in 0..2 {
        run(&["--rows-out", "attacks.jsonl"]).expect(0, &["12 attacks"]);
    }
    folder.write("mine.jsonl", rollouts(2));
    run(&["--rows-out", "mine.jsonl"]).expect(2, &["mine.jsonl"]);
    folder
        .run_words("judge attacks.jsonl --keep attack --rules off -o out.jsonl")
        .expect(0, &[]);
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    for family in report["protocols"][0]["families"].as_array().unwrap() {
        let name = &family["family"];
        let lines = folder.lines("out.jsonl");
        let of_it = lines.iter().filter(|line| line["input"]["attack"] == *name);
        let right = of_it.clone().filter(|line| line["overall"] == true).count();
        assert_eq!(
            (of_it.count(), right),
            (6, family["found_right"].as_u64().unwrap() as usize),
            "{name}"
        );
    }
}

#[test]
fn what_is_wrong_is_said_before_a_model_is_loaded() {
    let folder = prepared(1);
    folder.write(
        "prompt.txt",
        "{{ question }} {{ student_answer }} {{ reference_answer }}",
    );
    for (arguments, said) in [
        (
            &["in.jsonl", "--family", "flattery"][..],
            &["flattery", "content-free"][..],
        ),
        (
            &["in.jsonl", "--protocol", "prime,vibes"],
            &["no protocol `vibes`"],
        ),
        (
            &words("in.jsonl --protocol prime,compass --prompt prompt.txt"),
            &["--prompt is the text of one protocol"],
        ),
        (
            &words("in.jsonl --protocol prime,compass --rows-out out"),
            &["--rows-out has the attacks of one protocol"],
        ),
        (&["in.jsonl", "--json", "in.jsonl"], &["in.jsonl"]),
        (&["in.jsonl", "--json", "no/such/report.json"], &["no/such"]),
        (&["nope.jsonl"], &["could not read nope.jsonl"]),
        (&[], &["no rows in stdin"]),
    ] {
        let ran = folder.run(&[&["attack"], arguments].concat());
        ran.expect(2, said);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
    assert_eq!(folder.read("in.jsonl"), rollouts(1));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it() {
    let folder = prepared(300);
    folder.write("report.json", "earlier");
    let child = folder
        .juror(&["attack", "in.jsonl", "--json", "report.json", "--force"])
        .spawn()
        .unwrap();
    // It listens for the signal by then, or is ended by it.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let sent = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let ran = Ran::of(child.wait_with_output().unwrap());
    ran.expect(130, &["interrupted: nothing is reported"]);
    assert_eq!(ran.stdout, "");
    assert_eq!(folder.read("report.json"), "earlier");
}
