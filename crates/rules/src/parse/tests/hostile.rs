//! Inputs made to hurt: they end soon, without a panic and without running out of stack.

use super::super::{parse, render};

#[test]
fn hostile_inputs_end_soon() {
    let n = 10_000;
    let mb = 1_000_000;
    let cases = [
        "(".repeat(n) + "1" + &")".repeat(n),
        "(".repeat(200) + "1" + &")".repeat(200),
        "(".repeat(n),
        "{".repeat(n),
        "\\sqrt".repeat(n) + "2",
        "\\frac".repeat(n),
        "-".repeat(n) + "5",
        "2^".repeat(n) + "2",
        "x'".repeat(n),
        "5".to_owned() + &"!".repeat(n),
        "1".repeat(mb),
        "1,".repeat(mb / 2),
        "1,234,".repeat(mb / 6),
        "1 ".repeat(mb / 2),
        "1+".repeat(mb / 2),
        "\\boxed{".repeat(mb / 7),
        "\\text{".repeat(mb / 6),
        "\\mathrm{".repeat(mb / 8),
        "|".repeat(mb),
        "|x".repeat(n),
        "$".repeat(mb),
        " ".repeat(mb),
        "a".repeat(mb),
        "é".repeat(mb / 2),
        "\\begin{matrix}".repeat(n),
        "\\begin{cases}".repeat(200),
        "[1,2[".repeat(n),
        "]".repeat(n),
        "\\pm 1".repeat(n),
        "\\{\\pm 1,".repeat(100) + &"\\}".repeat(100),
        "±(".repeat(100) + "1" + &")".repeat(100),
        "1/".repeat(n) + "1",
        "\\left".repeat(n),
        "x_".repeat(n),
        "\0".repeat(n),
        "9".repeat(3000) + "e999999999999999999999",
        "<".repeat(n),
        "\\{x|".repeat(200) + "1" + &"\\}".repeat(200),
        "sin".repeat(n),
        "\\sin ".repeat(n) + "x",
        "\\log_".repeat(n),
        "5 m ".repeat(n),
        "5 ft ".repeat(n),
        "\\cup".repeat(n),
        "(1,2)\\cup".repeat(1000) + "(1,2)",
        "(1,2)\\setminus".repeat(1000) + "(1,2)",
        "1;2,".repeat(4000) + "3",
        "1 or 2,".repeat(2000) + "3",
        "f(".repeat(200) + "x" + &")".repeat(200),
        "P(A|".repeat(200) + "x" + &")".repeat(200),
        "|x|".repeat(n),
        "0.".repeat(n),
        "\\dot".repeat(n),
        "one ".repeat(4000),
        "(".repeat(120) + "1,2" + &")".repeat(120),
        "[".repeat(200) + "1,2" + &"]".repeat(200),
        "\\int".repeat(200) + "x" + &"dx".repeat(200),
        "x=".repeat(n) + "1",
        "a<".repeat(n) + "1",
    ];
    for case in &cases {
        let start = std::time::Instant::now();
        let result = parse(case);
        let spent = start.elapsed();
        if let Ok(answer) = &result {
            render(answer);
        }
        let head: String = case.chars().take(20).collect();
        assert!(spent.as_millis() < 2000, "{head} took {spent:?}");
    }
}
