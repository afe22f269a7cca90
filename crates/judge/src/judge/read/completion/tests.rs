use super::*;

#[test]
fn a_doubtful_token_draws_the_process_towards_one_half() {
    let confidence = |process, outcome| Confidence {
        process: Some(process),
        outcome: Some(outcome),
        ..Confidence::default()
    };
    let drawn = drawn_to_doubt(confidence(1.0, 0.9), &[(3, 0.9), (7, 0.6), (8, 0.1)], 8);
    assert_eq!(drawn, confidence(0.8, 0.9));
    assert_eq!(drawn_to_doubt(drawn, &[], 9), drawn);
    assert_eq!(
        drawn_to_doubt(confidence(0.0, 0.9), &[(0, 0.0)], 1).process,
        Some(0.5)
    );
}
