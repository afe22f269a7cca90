use super::*;

#[test]
fn the_time_left_is_the_last_to_go() {
    let parts = [
        "3 minutes left",
        "12.3 verdicts/s",
        "1,234 tokens/s",
        "cache 80.6 %",
    ];
    let parts = parts.map(str::to_owned);
    for (columns, shown) in [
        (
            64,
            "3 minutes left · 12.3 verdicts/s · 1,234 tokens/s · cache 80.6 %",
        ),
        (63, "3 minutes left · 12.3 verdicts/s · 1,234 tokens/s"),
        (32, "3 minutes left · 12.3 verdicts/s"),
        (27, "3 minutes left"),
        (5, "3 minutes left"),
    ] {
        assert_eq!(fitting(&parts, columns), shown);
    }
}

#[test]
fn without_a_terminal_there_is_a_line_a_minute() {
    let begun = Instant::now();
    let mut lines = Lines { last: Some(begun) };
    let told = |second: &u64| lines.due(begun + Duration::from_secs(*second));
    let told: Vec<u64> = (0..200).filter(told).collect();
    assert_eq!(told, [60, 120, 180]);
}
