use super::*;
use juror_judge::batch::lines::BatchRequest;

fn solver(configuration: Configuration) -> Solver {
    let mut exemplars = Exemplar::built_in().unwrap();
    exemplars.truncate(configuration.shots());
    Solver {
        model: "m".into(),
        configuration,
        exemplars,
        exemplars_source: "ours".into(),
        samples: 2,
        temperature: 0.7,
        top_p: 1.0,
        max_new_tokens: 64,
        seed: 0,
        more_stops: vec!["\n\n\n".into()],
    }
}

#[test]
fn prompts_are_in_the_standard_formats() {
    let prompt = |configuration: Configuration| {
        configuration.prompt(&solver(configuration).exemplars, " What is 2 + 2?\n")
    };
    assert_eq!(
        prompt(Configuration::ZeroShot),
        "Question: What is 2 + 2?\nAnswer:"
    );
    assert_eq!(
        prompt(Configuration::ZeroShotCot),
        "Q: What is 2 + 2?\nA: Let's think step by step."
    );
    for (configuration, shots) in [(Configuration::FiveShot, 5), (Configuration::TenShot, 10)] {
        let prompt = prompt(configuration);
        assert!(prompt.starts_with("Question: A bakery packs"), "{prompt}");
        assert_eq!(prompt.matches("Question: ").count(), shots + 1);
        assert_eq!(prompt.matches("\nAnswer: ").count(), shots);
        assert_eq!(prompt.matches("\n#### ").count(), shots);
        assert!(prompt.contains("\n#### 208\n\nQuestion: Mira"), "{prompt}");
        assert!(prompt.ends_with("\n\nQuestion: What is 2 + 2?\nAnswer:"));
    }
    let chain = prompt(Configuration::EightShotCot);
    assert_eq!(chain.matches("Q: ").count(), 9);
    assert_eq!(chain.matches(". The answer is ").count(), 8);
    assert!(!chain.contains("####"));
    assert!(chain.ends_with("\n\nQ: What is 2 + 2?\nA:"), "{chain}");
    assert!(prompt(Configuration::Chat).ends_with("\n\nWhat is 2 + 2?"));
}

#[test]
fn prompts_share_everything_before_the_question() {
    for configuration in Configuration::ALL {
        let prompt =
            |question: &str| configuration.prompt(&solver(configuration).exemplars, question);
        let (a, b) = (prompt("Why?"), prompt("How?"));
        let shared = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        assert_eq!(
            a[shared..].find("hy?"),
            Some(1).filter(|_| a[shared..].starts_with('W'))
        );
    }
}

#[test]
fn requests_are_read_by_the_batch_with_all_that_was_asked() {
    for configuration in Configuration::ALL {
        let solver = solver(configuration);
        let request = BatchRequest::parse(&solver.request(7, "Why?")).unwrap();
        assert_eq!(request.custom_id, "7");
        let request = request.request;
        assert_eq!((request.n, request.max_tokens), (2, Some(64)));
        assert_eq!(request.temperature, Some(0.7));
        assert_eq!(request.seed, None, "each question has draws of its own");
        let chain = configuration.is_chain();
        assert_eq!(request.stop.contains(&"Q:".to_owned()), chain);
        assert!(request.stop.contains(&"Question:".to_owned()));
        assert_eq!(request.stop.last().map(String::as_str), Some("\n\n\n"));
        assert_eq!(
            Configuration::from_name(configuration.name()),
            Some(configuration)
        );
    }
    assert!(Configuration::from_name("3-shot").is_none());
}

#[test]
fn a_row_has_a_response_for_each_sample_whatever_happened() {
    let solver = solver(Configuration::ZeroShot);
    let made = json!(null);
    let output = json!({"response": {"body": {"choices": [
        {"text": " 4", "finish_reason": "stop"}, {"text": " 5", "finish_reason": "length"}]}}, "error": null});
    let row = solver.row("a", "q", &["4"], &made, &output);
    assert_eq!(row["responses"], json!([" 4", " 5"]));
    assert_eq!(row["finish_reasons"], json!(["stop", "length"]));
    assert!(row.get("error").is_none());
    let output = json!({"response": null, "error": {"message": "too long"}});
    let row = solver.row("a", "q", &["4", "5"], &made, &output);
    assert_eq!(row["responses"], json!(["", ""]));
    assert_eq!(row["reference"], json!(["4", "5"]));
    assert_eq!(row["error"], "too long");
}
