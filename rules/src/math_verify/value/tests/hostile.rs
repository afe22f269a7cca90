//! Inputs that are made to hurt.

use super::super::*;

fn survives(text: &str) {
    if let Some(value) = parse_latex(text) {
        let _ = equal(&value, &value, &Config::default());
        let one = parse_latex("1+x").unwrap();
        let _ = equal(&value, &one, &Config::default());
        let _ = equal(&one, &value, &Config::default());
        assert!(value.to_string().chars().count() < 500);
    }
    if let Some(value) = parse_arithmetic(text) {
        let _ = equal(&value, &value, &Config::default());
    }
}

#[test]
fn floods_of_one_thing_end() {
    for unit in [
        "(",
        "{",
        "[",
        "|",
        "\\{",
        "x^",
        "x_",
        "-",
        "1+",
        "1/",
        "1,",
        "1;",
        "x=",
        "x<",
        "a",
        "2",
        "!",
        "'",
        "\\sin ",
        "\\sqrt{",
        "\\frac{1}{",
        "\\log_",
        "e^",
        "x|",
        "|x|",
        "f(",
        "(1,",
        "\\text{",
        "\\cdot x",
        "x\\cdot ",
        "x/",
        "\\pm ",
        "\\cup ",
        "(1,2)\\cup",
        "\\begin{vmatrix}",
        "\\int ",
        "\\sum_{k=1}^{9}",
        "\\binom{99}{49}",
        "3000!",
        "d\\",
        "\\mathbb{R}\\setminus",
        "x\\in ",
        "\u{0}",
        "é",
        "𝔸",
        "\\",
        "^{",
        "_{",
        "}{",
        "9",
    ] {
        survives(&unit.repeat(300));
        survives(&format!("{}1", unit.repeat(4_000)));
    }
}

#[test]
fn deep_nesting_ends() {
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("\\frac{1}{1+", "}"),
        ("\\sqrt{", "}"),
        ("f(", ")"),
        ("x^{", "}"),
        ("x_{", "}"),
        ("|", "|"),
        ("\\{", "\\}"),
        ("\\sum_{k=1}^{2000}(", ")"),
        ("\\int_0^1(", ")dx"),
        ("\\begin{vmatrix}x&y\\\\z&", "\\end{vmatrix}"),
    ] {
        for depth in [5, 20, 40, 400] {
            survives(&format!("{}1{}", open.repeat(depth), close.repeat(depth)));
        }
    }
    let deep = format!("{}1{}", "(".repeat(12), ")".repeat(12));
    assert_eq!(parse_latex(&deep), parse_latex("1"));
}

#[test]
fn huge_numbers_end() {
    for text in [
        "9^{9^{9^{9}}}",
        "10^{-10^{10}}",
        "10000000!",
        r"\frac{1000000!}{999999!}",
        r"\binom{10000000}{5000000}",
        r"7^{7^{7^{7}}}\mod 10",
        "2^{1000000000}+1",
        "0.0000000000000000000000000000000000001E999999999999",
        r"\frac{1}{2004!}",
        "1E-400",
        r"\sum_{k=1}^{1000000000}\frac{1}{k}",
        r"\sum_{k=1}^{\infty}\frac{1}{k}",
    ] {
        survives(text);
    }
    survives(&"1".repeat(5_000));
    assert!(parse_latex(&"1".repeat(5_000)).is_none());
    assert!(parse_latex(&"1".repeat(100_000)).is_none());
}

#[test]
fn many_elements_end() {
    let numbers: Vec<String> = (0..1_900).map(|number| number.to_string()).collect();
    let backwards: Vec<String> = numbers.iter().rev().cloned().collect();
    let gold = parse_latex(&numbers.join(", ")).unwrap();
    let pred = parse_latex(&backwards.join(", ")).unwrap();
    assert_eq!(equal(&gold, &pred, &Config::default()).equal, Some(true));
    let symbols: Vec<String> = (0..900).map(|number| format!("x_{{{number}}}")).collect();
    survives(&symbols.join("+"));
    survives(&symbols.join(", "));
    survives(&symbols.join("="));
}

proptest::proptest! {
    #[test]
    fn nothing_panics(text in "[-+*/^_(){}\\[\\]|,;:=<>!%.0-9a-eix \\\\]{0,40}") {
        survives(&text);
    }

    #[test]
    fn tokens_in_any_order_do_not_panic(
        parts in proptest::collection::vec(proptest::sample::select(vec![
            "x", "2", "(", ")", "{", "}", "^", "_", "\\frac", "\\sqrt", "\\sin", "=", "<", ",", "|", "\\pm", "+", "-",
            "\\cup", "\\{", "\\}", "1.5", "\\%", "e", "I", "\\infty", "\\int", "dx", "!", "\\begin{pmatrix}",
            "\\end{pmatrix}", "&", "\\\\", "\\text{a}", "f", "'", "^\\circ", "[", "]", "\\log", "\\sum", "\\to", "\\lim",
        ]), 0..24)
    ) {
        survives(&parts.concat());
    }
}
