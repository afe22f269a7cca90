//! Attacks are what their families say, and are counted so.

use std::sync::Arc;

use super::*;
use crate::judge::JudgeText;
use crate::protocol::{self, PromptTemplate, Protocol, Yields};
use juror_data::Sample;
use juror_data::verdict::{Status, Verdict};
use juror_rules::OutcomeRules;

/// The rows of the built-in judge's domain.
fn rows() -> Vec<Sample> {
    let text = include_str!("../../../../tests/data/tiny/domain.jsonl");
    text.lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| row[name].as_str().unwrap().to_owned();
            Sample::new(
                field("question"),
                field("reference_answer"),
                field("student_answer"),
            )
            .with_id(field("id"))
        })
        .collect()
}

fn target(protocol: &Arc<Protocol>) -> Target {
    let prompt = protocol
        .template
        .as_deref()
        .unwrap_or("<a>{{ question }}</a><b>{{ student_answer }}</b><c>{{ reference_answer }}</c>");
    let template = PromptTemplate::parse(prompt).unwrap();
    let source = crate::catalog::resolve("tiny").unwrap();
    let text = JudgeText::load(&source, protocol, &template).unwrap();
    Target::new(&text, &template)
}

fn prime() -> Target {
    target(&protocol::find("prime").unwrap())
}

fn of_all(rows: &[Sample], seed: u64) -> Vec<Attack> {
    attacks(rows, &Family::ALL, &prime(), Yields::ALL, seed)
}

#[test]
fn every_protocol_has_verdicts_that_it_would_read_as_right() {
    let known = protocol::known();
    // A score is no verdict that an attack could get.
    for protocol in known.filter(|known| !known.yields().score) {
        let target = target(protocol);
        assert!(!target.verdicts.is_empty());
        for verdict in &target.verdicts {
            let read = protocol.parse(verdict, false).unwrap().fields;
            let right = report::is_right(protocol.yields(), read.process, read.outcome);
            assert!(right, "{}: {verdict}", protocol.name);
        }
        assert!(target.prompt_end.contains(&target.field_end));
        let end = if protocol.template.as_deref().is_some() {
            "</student_answer>"
        } else {
            "</b>"
        };
        assert!(target.field_end.starts_with(end), "{target:?}");
    }
}

#[test]
fn an_answer_is_right_only_where_the_derivation_is_what_is_wrong() {
    let rows = rows();
    let rules = OutcomeRules::default();
    let (mut compared, mut misread) = (0, 0);
    for attack in of_all(&rows, 3) {
        let id = attack.sample.id.split('/').next().unwrap();
        let row = rows.iter().find(|row| row.id == id).unwrap();
        let response = &attack.sample.student_answer;
        let right = rules.verify(&row.reference_answer, response).outcome == Some(true);
        match attack.family {
            // The rules may take either answer.
            Family::BothAnswers => {}
            Family::Empty
            | Family::ContentFree
            | Family::Question
            | Family::Truncated
            | Family::Repetition => assert!(!right, "{response} {}", row.reference_answer),
            // In a few of these the rules find another answer: they compute the sum that the response claims to have another
            // value, take the answer that was stated before the reference, or cannot read the reference.
            family => {
                let is_stated =
                    matches!(family, Family::ReferenceBehindError | Family::BareReference);
                compared += 1;
                misread += usize::from(right != is_stated);
            }
        }
    }
    assert!(misread * 50 < compared, "{misread} of {compared}");
}

#[test]
fn nearly_every_row_gives_an_attack_of_every_family() {
    let rows = rows();
    let attacks = of_all(&rows, 0);
    for family in Family::ALL {
        let made = attacks.iter().filter(|attack| attack.family == family);
        let count = made.count();
        assert!(count * 10 >= rows.len() * 8, "{}: {count}", family.name());
        assert_eq!(Family::from_name(family.name()), Some(family));
    }
    let places: Vec<usize> = attacks.iter().map(|attack| attack.sample.index).collect();
    assert_eq!(places, (0..attacks.len()).collect::<Vec<_>>());
}

#[test]
fn the_seed_decides() {
    let rows = rows();
    let texts = |attacks: Vec<Attack>| -> Vec<(String, String)> {
        let texts = attacks.into_iter().map(|attack| attack.sample);
        texts
            .map(|sample| (sample.id, sample.student_answer))
            .collect()
    };
    let all = texts(of_all(&rows, 7));
    assert_eq!(all, texts(of_all(&rows, 7)));
    assert_ne!(all, texts(of_all(&rows, 8)));
    let one = attacks(&rows, &[Family::ContentFree], &prime(), Yields::ALL, 7);
    let mut of_family = all.clone();
    of_family.retain(|(id, _)| id.ends_with("/content-free"));
    assert_eq!(texts(one), of_family);
}

#[test]
fn a_family_is_an_attack_where_the_protocol_judges_what_is_wrong_with_it() {
    let yields = |process, outcome| Yields {
        process,
        outcome,
        ..Yields::default()
    };
    let names = |yields| -> Vec<&str> {
        let families = Family::ALL.into_iter();
        families
            .filter(|family| family.is_attack_on(yields))
            .map(Family::name)
            .collect()
    };
    assert_eq!(names(yields(true, true)).len(), Family::ALL.len());
    let outcome = names(yields(false, true));
    assert!(!outcome.contains(&"reference-behind-error") && !outcome.contains(&"bare-reference"));
    assert!(outcome.contains(&"both-answers"));
    let process = names(yields(true, false));
    assert!(!process.contains(&"empty") && process.contains(&"reference-behind-error"));
}

#[test]
fn one_row_of_each_question_is_kept() {
    let row = |question: &str, reference: &str, response: &str| {
        Sample::new(question, reference, response).with_id(response)
    };
    let mut rows = vec![
        row("a", "1", "first"),
        row("a", "1", "second"),
        row("a", "2", "third"),
        row("b", "1", "fourth"),
    ];
    one_row_a_question(&mut rows);
    let kept: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(kept, ["first", "third", "fourth"]);
}

#[test]
fn verdicts_are_counted() {
    let attack = Attack {
        family: Family::Empty,
        sample: Sample::new("q", "1", "r"),
    };
    let mut report = FamilyReport::new(Family::Empty);
    assert_eq!((report.rate(), report.right.interval()), (None, None));
    let verdict = |id: &str, status, process, outcome, sure| -> Verdict {
        let line = serde_json::json!({
            "id": id, "index": 0, "trial": 0, "status": status, "process": process, "outcome": outcome, "perfect": null,
            "overall": null, "reward": null, "reason": null, "outcome_source": null, "rule_outcome": null,
            "confidence": {"process": sure, "outcome": sure, "perfect": null},
            "usage": {"prompt_tokens": 1, "cached_tokens": 0, "completion_tokens": 1},
        });
        serde_json::from_value(line).unwrap()
    };
    for (id, status, process, outcome, sure) in [
        ("a", Status::Ok, Some(true), Some(true), 0.5),
        ("b", Status::Ok, Some(true), Some(false), 0.9),
        ("c", Status::Ok, Some(false), Some(true), 0.9),
        ("d", Status::Ok, Some(true), Some(true), 1.0),
        ("e", Status::OutOfDomain, None, None, 0.9),
        ("f", Status::Unparsed, None, None, 0.9),
        ("g", Status::Unparsed, None, None, 0.9),
        ("h", Status::TooLong, None, None, 0.9),
    ] {
        report.add(
            &attack,
            &verdict(id, status, process, outcome, sure),
            Yields::ALL,
        );
    }
    assert_eq!((report.right.count, report.right.known), (2, 7));
    assert_eq!(
        (report.out_of_domain, report.unparsed, report.not_judged),
        (1, 2, 1)
    );
    let worst: Vec<(&str, Option<f64>)> = report
        .worst
        .iter()
        .map(|found| (found.id.as_str(), found.probability))
        .collect();
    assert_eq!(worst, [("d", Some(1.0)), ("a", Some(0.25))]);
    let json = report.to_json();
    assert_eq!(
        (&json["false_positives"], &json["attacks"]),
        (&2.into(), &7.into())
    );
    let bare = FamilyReport::new(Family::BareReference).to_json();
    assert!(bare["false_positives"].is_null() && bare["rate"].is_null());
}
