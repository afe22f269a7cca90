//! Several judges: panels and cascades.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, rollouts, words};

const PANEL: &str = r#"
[[judges]]
model = "tiny"

[[judges]]
model = "tiny"
name = "outcome alone"
protocol = "prime-outcome"
options = ["--force-domain"]

[[judges]]
model = "tiny"
name = "hot"
options = ["--temperature", "2", "--seed", "5", "--max-new-tokens", "200"]
"#;

#[test]
fn a_panel_decides_by_its_majority() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(5));
    folder.write("panel.toml", PANEL);
    let judge =
        words("judge in.jsonl -o out.jsonl --panel panel.toml --keep id --summary-json s.json");
    let ran = folder.run(&judge);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    for part in [
        "judge tiny",
        "judge outcome-alone",
        "Cohen's kappa",
        "Fleiss' kappa",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let names = ["tiny", "outcome-alone", "hot"];
    let of_each = names.map(|name| folder.lines(&format!("out.{name}.jsonl")));
    let verdicts = folder.lines("out.jsonl");
    assert_eq!(verdicts.len(), of_each[0].len());
    for (at, verdict) in verdicts.iter().enumerate() {
        let votes = verdict["votes"].as_array().unwrap();
        let mut outcomes = [0; 2];
        for ((vote, name), of_one) in votes.iter().zip(names).zip(&of_each) {
            assert_eq!(vote["judge"], name);
            for key in ["status", "process", "outcome", "overall", "reward"] {
                assert_eq!(vote[key], of_one[at][key], "{key}");
            }
            if vote["status"] == "ok" {
                outcomes[usize::from(vote["outcome"] == true)] += 1;
            }
        }
        let expected = match outcomes[0].cmp(&outcomes[1]) {
            std::cmp::Ordering::Less => Value::Bool(true),
            std::cmp::Ordering::Equal => Value::Null,
            std::cmp::Ordering::Greater => Value::Bool(false),
        };
        // Where the votes leave the reward open, the outcome is the rules'.
        let is_ok = verdict["status"] == "ok";
        let outcome = if is_ok {
            &expected
        } else {
            &verdict["rule_outcome"]
        };
        assert_eq!(verdict["outcome"], *outcome, "{verdict}");
        assert_eq!(verdict["reward"].is_number(), is_ok, "{verdict}");
        assert_eq!(verdict["input"]["id"], verdict["id"]);
    }
    // It goes on: all three are done, and the output is ours.
    fs::remove_file(folder.path("out.jsonl")).unwrap();
    let again = folder.run(&judge);
    assert_eq!(again.code, ran.code, "{}", again.stderr);
    assert_eq!(folder.lines("out.jsonl"), verdicts);
    folder.run(&judge).expect(ran.code.unwrap(), &[]);
}

#[test]
fn too_few_votes_make_no_verdict() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    let cut = |name: &str| {
        format!(
            "[[judges]]\nmodel = \"tiny\"\nname = \"{name}\"\noptions = [\"--free\", \"--max-new-tokens\", \"1\"]\n"
        )
    };
    let whole = "[[judges]]\nmodel = \"tiny\"\n";
    let judge = |name: &str, panel: String| {
        folder.write("panel.toml", panel);
        let out = format!("{name}.jsonl");
        let ran = folder.run(&["judge", "in.jsonl", "-o", &out, "--panel", "panel.toml"]);
        (ran, folder.lines(&out))
    };
    let (cut_a, cut_b) = (cut("cut-a"), cut("cut-b"));
    for (name, panel, status) in [
        ("majority", format!("{whole}{cut_a}{cut_b}"), "unsure"),
        (
            "unanimous",
            format!("rule = \"unanimous\"\n{whole}{cut_a}"),
            "unsure",
        ),
        (
            "one",
            format!("least_votes = 1\n{whole}{cut_a}{cut_b}"),
            "ok",
        ),
    ] {
        let (ran, verdicts) = judge(name, panel);
        ran.expect(
            if status == "ok" { 0 } else { 3 },
            &["cut-a has not voted on every one of 3 verdicts: 3 unparsed"],
        );
        for verdict in verdicts {
            assert_eq!(verdict["status"], status, "{verdict}");
            assert_eq!(verdict["reward"].is_null(), status != "ok", "{verdict}");
            assert_eq!(verdict["votes"][0]["status"], "ok");
            if status == "unsure" {
                let error = verdict["error"].as_str().unwrap();
                assert!(
                    error.starts_with("1 of ") && error.contains("cut-a is unparsed"),
                    "{error}"
                );
                assert!(verdict["overall"].is_null() && verdict["process"].is_null());
            }
        }
    }
}

#[test]
fn a_panel_that_cannot_be_is_refused_before_it_begins() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let two = "[[judges]]\nmodel = 'tiny'\n[[judges]]\nmodel = 'tiny'\n";
    for (panel, why) in [
        ("[[judges]]\nmodel = 'tiny'\n", "two judges or more"),
        (two, "two judges are called `tiny`"),
        (&format!("{two}name = 'b'\nweight = 0\n"), "weight of `b`"),
        (
            &format!("least_votes = 3\n{two}name = 'b'\n"),
            "`least_votes` must be from 1 to 2",
        ),
        (
            &format!("{two}name = 'b'\nvotes = 2\n"),
            "unknown field `votes`",
        ),
        (
            &format!("{two}name = 'b'\noptions = ['--unheard-of']\n"),
            "--unheard-of",
        ),
        (
            &format!("{two}name = 'b'\nprotocol = 'none'\n"),
            "no protocol `none`",
        ),
        ("rule = 'loudest'\njudges = []", "unknown variant `loudest`"),
    ] {
        folder.write("panel.toml", panel);
        let ran = folder.run_words("judge in.jsonl -o out.jsonl --panel panel.toml");
        ran.expect(2, &[why]);
        assert!(!ran.stderr.contains("\\n"), "{}", ran.stderr);
        assert!(!folder.has("out.tiny.jsonl"), "{panel}");
    }
    folder.write("panel.toml", PANEL);
    let judge = |options: &[&str]| {
        folder.run(&[&["judge", "in.jsonl", "--panel", "panel.toml"], options].concat())
    };
    judge(&[]).expect(2, &["name a file with `-o`"]);
    judge(&["-o", "o.jsonl", "--model", "tiny"]).expect(2, &["cannot be used with"]);
    judge(&["-o", "o.jsonl", "--advantages"]).expect(2, &["--advantages is for one judge"]);
    folder.write("mine.jsonl", "{}\n");
    judge(&["-o", "mine.jsonl"]).expect(2, &["--force"]);
    folder
        .pipe(
            rollouts(1).as_bytes(),
            &["judge", "-", "-o", "o.jsonl", "--panel", "panel.toml"],
        )
        .expect(2, &["not standard input"]);
}

#[test]
fn judges_of_other_samples_do_not_vote_together() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    folder.write(
        "panel.toml",
        "[[judges]]\nmodel = 'tiny'\n[[judges]]\nmodel = 'tiny'\nname = 'b'\noptions = ['--limit', '2']\n",
    );
    let judge = words("judge --panel panel.toml -o out.jsonl -- in.jsonl");
    folder
        .run(&judge)
        .expect(1, &["have not judged the same trials"]);
    assert!(!folder.has("out.jsonl"));
    fs::create_dir(folder.path("data")).unwrap();
    folder.write("data/in.jsonl", rollouts(1));
    folder
        .run_words("judge data --panel panel.toml -o data/out.jsonl")
        .expect(2, &["lies in the folder data"]);
    folder
        .run_words("judge in.jsonl --panel panel.toml -o in.jsonl --force")
        .expect(2, &["in.jsonl"]);
}

#[test]
fn a_cascade_asks_the_second_judge_where_the_first_is_unsure() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(8));
    folder.write_model();
    let judge = |range: &str, further: &[&str]| {
        let options = format!(
            "judge in.jsonl -o out.jsonl --cascade tiny,model --escalate {range} --keep id"
        );
        let options = words(&options);
        folder.run(&[&options[..], further].concat())
    };
    // Sure of nothing: all are escalated, and the second judge is the first one again.
    judge("0..1", &[]).expect(
        0,
        &[
            "was unsure of 8",
            "gave another overall verdict on 0 of 8 samples",
            "cost",
        ],
    );
    let all = folder.lines("out.jsonl");
    assert!(all.iter().all(|verdict| verdict["judge"] == "model"));
    let small = folder.lines("out.tiny.jsonl");
    for (verdict, small) in all.iter().zip(&small) {
        for key in ["id", "index", "reward", "process", "outcome", "input"] {
            assert_eq!(verdict[key], small[key], "{key}");
        }
    }
    // The probabilities of what is wrong: those of what is right are all the same, within a bit.
    let range = "0..0.5";
    judge(range, &["--force"]).expect(0, &["were not checked: --audit 5% does"]);
    let verdicts = folder.lines("out.jsonl");
    let (escalated, kept): (Vec<_>, Vec<_>) =
        verdicts.iter().partition(|one| one["judge"] == "model");
    assert!(!escalated.is_empty() && !kept.is_empty());
    assert_eq!(
        folder
            .lines(&format!("out.escalated.{}.jsonl", range.replace("..", "-")))
            .len(),
        escalated.len()
    );
    judge("0.49..0.51", &["--audit", "100%", "--force"]).expect(
        0,
        &["where tiny was sure, on 0 of 8 (0.0 %, 95 % interval 0.0 to"],
    );
}

#[test]
fn a_table_names_the_judge_of_each_verdict() {
    let folder = Folder::new();
    folder.write_model();
    folder.write("in.jsonl", rollouts(2));
    let ran = folder.run(&words("judge in.jsonl -o out.csv --cascade tiny,model"));
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let table = folder.read("out.csv");
    let (header, rows) = table.split_once('\n').unwrap();
    assert!(header.contains(",judge,votes,"), "{header}");
    let is_named = |row: &str| {
        [",tiny,,", ",model,,"]
            .iter()
            .any(|name| row.contains(name))
    };
    assert!(rows.lines().all(is_named), "{table}");
}

#[test]
fn a_cascade_that_cannot_be_is_refused() {
    let folder = Folder::new();
    folder.write_model();
    folder.write("in.jsonl", rollouts(1));
    let judge = |options: &[&str]| {
        folder.run(&[&["judge", "in.jsonl", "-o", "out.jsonl"], options].concat())
    };
    judge(&["--cascade", "tiny,tiny"]).expect(2, &["names tiny twice"]);
    judge(&["--cascade", "tiny"]).expect(2, &["two judges"]);
    judge(&["--cascade", "tiny,b", "--escalate", "0.9..0.1"]).expect(2, &["two probabilities"]);
    judge(&["--escalate", "0.1..0.9"]).expect(2, &["--cascade"]);
    judge(&["--cascade", "tiny,none", "--rules", "only"]).expect(2, &["--rules only"]);
    judge(&["--cascade", "tiny,model", "--protocol", "first-error"])
        .expect(2, &["no probabilities"]);
    judge(&["--cascade", "tiny,none"]).expect(2, &["none"]);
    let cascade = |more: &[&str]| judge(&[&["--cascade", "tiny,model"], more].concat());
    cascade(&["--calibration", "c.json"]).expect(2, &["--calibration is of one judge"]);
    cascade(&["--rules", "first", "--audit", "5%"]).expect(2, &["without --rules first"]);
    for side in ["in.jsonl", "out.jsonl"] {
        cascade(&["--summary-json", side]).expect(2, &[side]);
    }
    assert!(!folder.has("out.tiny.jsonl"));
    // A file of somebody's where the escalated rows would be.
    folder.write("out.escalated.0-1.jsonl", "mine");
    cascade(&["--escalate", "0..1"]).expect(2, &["out.escalated.0-1.jsonl"]);
    assert_eq!(folder.read("out.escalated.0-1.jsonl"), "mine");
}
