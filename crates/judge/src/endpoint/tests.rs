use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Map, json};

use super::pace::{NoTurn, Pace};
use super::{EndpointSettings, byte_tokenizer, is_address};
use crate::protocol::{self, ScaffoldWants};
use crate::wire::form::{FormKey, FormPart, ServerForm};
use juror_engine::text::tokenizer::Tokenizer;

#[test]
fn the_tokens_of_a_text_are_its_bytes() {
    let tokenizer = Tokenizer::from_json(&byte_tokenizer()).unwrap();
    for text in ["a b\n\tc", "<think>≤ é 汉</think>\0", " ‹|im_end|>", ""] {
        let bytes: Vec<u32> = text.bytes().map(u32::from).collect();
        assert_eq!(tokenizer.encode_trusted(text).unwrap(), bytes, "{text}");
        assert_eq!(tokenizer.decode(&bytes), text);
    }
    assert!(is_address("http://h/v1#m") && !is_address("org/name"));
}

#[test]
fn forms_are_said_in_each_servers_words() {
    let scaffold = |name: &str, reason| {
        let wants = ScaffoldWants {
            reason,
            ..ScaffoldWants::default()
        };
        protocol::find(name).unwrap().scaffold(&wants).unwrap()
    };
    let tags = ServerForm::from_scaffold(&scaffold("prime", false)).unwrap();
    let mut body = Map::new();
    FormKey::Guided.set(&tags, &mut body);
    let pattern = body["guided_regex"].as_str().unwrap();
    let regex = regex::Regex::new(&format!("^{pattern}$")).unwrap();
    let right = "<process> True </process>\n<outcome> False </outcome>\n<perfect> False </perfect>";
    assert!(regex.is_match(right), "{pattern}");
    assert!(
        !regex.is_match(&right.replace("True", "Maybe")),
        "{pattern}"
    );
    FormKey::Grammar.set(&tags, &mut body);
    let grammar = body["grammar"].as_str().unwrap();
    assert!(
        grammar.starts_with("root ::= \"<process>\" (\" True\" | \" False\") \" </process>\\n"),
        "{grammar}"
    );
    assert!(
        !FormKey::ResponseFormat.can_say(&tags),
        "it is for JSON alone"
    );
    let reason = ServerForm::from_scaffold(&scaffold("prime", true)).unwrap();
    FormKey::StructuredOutputs.set(&reason, &mut body);
    let pattern = body["structured_outputs"]["regex"].as_str().unwrap();
    let regex = regex::Regex::new(&format!("^{pattern}$")).unwrap();
    assert!(
        regex.is_match(&format!("{right}\n<reason> 2 + 2 is 4.</reason>")),
        "{pattern}"
    );

    let words = ServerForm::Parts(vec![FormPart::Words(vec!["A".into(), "B".into()])]);
    FormKey::StructuredOutputs.set(&words, &mut body);
    assert_eq!(body["structured_outputs"], json!({"choice": ["A", "B"]}));
    let object = ServerForm::Json(json!({"type": "object"}));
    for key in FormKey::ALL {
        assert!(key.can_say(&object), "{key:?}");
    }
    // A judge that writes an analysis first is left free.
    let with_analysis = protocol::known()
        .filter_map(|protocol| protocol.scaffold(&ScaffoldWants::default()))
        .filter(|scaffold| scaffold.parts.first() == Some(&protocol::Part::Analysis));
    let mut seen = 0;
    for scaffold in with_analysis {
        assert_eq!(ServerForm::from_scaffold(&scaffold), None);
        seen += 1;
    }
    assert!(seen > 0);
}

fn pace(settings: &EndpointSettings) -> Pace {
    Pace::new(settings)
}

/// Requests of a server whose answers take longer the more of them there are at once beyond `room`.
fn drive(pace: &Pace, room: usize, answers: usize) {
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                for _ in 0..answers / 64 {
                    pace.enter().unwrap();
                    let crowd = pace.active().max(room) as u32;
                    sleep(Duration::from_millis(5) * crowd / room as u32);
                    pace.answered(10, 10);
                }
            });
        }
    });
}

#[test]
fn more_at_once_where_that_brings_more() {
    let wide = pace(&EndpointSettings::default());
    drive(&wide, 64, 6400);
    assert!(wide.limit() > 16.0, "{}", wide.limit());
    let bounded = pace(&EndpointSettings {
        most_at_once: 4,
        ..EndpointSettings::default()
    });
    drive(&bounded, 64, 640);
    assert!(bounded.limit() <= 4.0, "{}", bounded.limit());
}

#[test]
fn a_number_out_of_bounds_is_the_nearest_within() {
    for (most_at_once, allowed) in [(0, 1), (7, 7), (usize::MAX, 4096)] {
        let settings = EndpointSettings {
            most_at_once,
            ..EndpointSettings::default()
        };
        assert_eq!(settings.at_once(), allowed);
    }
}

#[test]
fn a_busy_server_is_given_time() {
    let pace = pace(&EndpointSettings::default());
    let made = pace.enter().unwrap();
    let other = pace.enter().unwrap();
    pace.failed(made, true, Some(Duration::from_millis(300)));
    assert!((pace.limit() - 4.0).abs() < 1e-9);
    // It was sent before the server said so: that is the same crowd.
    pace.failed(other, true, None);
    assert!((pace.limit() - 4.0).abs() < 1e-9);
    let begun = Instant::now();
    pace.enter().unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(250));
}

#[test]
fn rates_and_budgets_and_the_end() {
    let rated = pace(&EndpointSettings {
        requests_per_minute: Some(3),
        most_tokens: Some(100),
        ..EndpointSettings::default()
    });
    for _ in 0..3 {
        rated.enter().unwrap();
    }
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| rated.enter());
        sleep(Duration::from_millis(200));
        assert!(!waits.is_finished(), "a fourth within the minute");
        rated.end();
        assert_eq!(waits.join().unwrap(), Err(NoTurn::Ended));
    });
    assert!(!rated.pause(Duration::from_mins(1)));
    let spent = pace(&EndpointSettings {
        most_tokens: Some(100),
        ..EndpointSettings::default()
    });
    spent.enter().unwrap();
    spent.answered(60, 50);
    assert_eq!(spent.enter(), Err(NoTurn::Spent(100)));
}
