//! What is read and what is equal; inputs that are made to hurt.

use super::*;
use crate::options::Options;
use crate::tests::{floods, table};

/// A value as text; `None` where there is none.
fn text(value: Option<Value>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn verdict(gold: &str, pred: &str, options: &Options) -> Option<bool> {
    let (gold, pred) = (parse_latex(gold)?, parse_latex(pred)?);
    equal(&gold, &pred, options).equal
}

type Row = (String, Option<String>);

#[test]
fn formulas_are_read_by_the_longest_token_and_the_first_alternative() {
    let rows = include_str!("../../tests/cases/formulas.jsonl");
    for (latex, expected) in table::<Row>(rows) {
        assert_eq!(text(parse_latex(&latex)), expected, "{latex}");
    }
}

#[test]
fn arithmetic_is_read_as_python_does() {
    let rows = include_str!("../../tests/cases/arithmetic.jsonl");
    for (source, expected) in table::<Row>(rows) {
        assert_eq!(text(parse_arithmetic(&source)), expected, "{source}");
    }
}

#[test]
fn verdicts_are_math_verifys() {
    let rows = include_str!("../../tests/cases/pairs.jsonl");
    let wrong: Vec<_> = table::<(String, String, bool)>(rows)
        .filter(|(gold, pred, equal)| verdict(gold, pred, &Options::default()) != Some(*equal))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_last_side_of_a_chain_is_tried() {
    let read = |latex: &str| text(parse_latex(latex));
    assert_eq!(read(r"\underline{x}=1=2").as_deref(), Some("2"));
    assert_eq!(read(r"\underline{x}=2"), None);
    assert_eq!(read(r"\underline{x}=1=2,3"), None);
}

#[test]
fn a_lone_i_makes_symbols_complex() {
    assert_eq!(
        verdict(r"x+0\cdot i", "x+1-1", &Options::default()),
        Some(false)
    );
    assert_eq!(verdict("x+i", "i+x", &Options::default()), Some(true));
    assert_eq!(verdict("(1+i)^2", "2i", &Options::default()), Some(false));
}

#[test]
fn numbers_percentages_and_rows_of_formulas() {
    let options = Options::default();
    let judged = |gold: &Value, pred: &Value| equal(gold, pred, &options).equal;
    let read = |digits: &str| number(digits).unwrap();
    assert_eq!(judged(&percent(read("9")), &read("9")), Some(true));
    assert_eq!(judged(&percent(read("9.5")), &read("9.5")), Some(false));
    assert_eq!(judged(&percent(read("9.5")), &read("0.095")), Some(true));
    assert_eq!(judged(&read("1"), &read("0.9999999")), Some(false));
    assert_eq!(judged(&read("13"), &read("13.0")), Some(true));
    assert_eq!(judged(&read("0.0000001"), &read("0.0000002")), Some(true));
    assert!(number("12x").is_none());
    let row = joined(vec![parse_latex("1").unwrap(), parse_latex("2,3").unwrap()]);
    assert_eq!(judged(&row, &parse_latex("1,2,3").unwrap()), Some(true));
}

#[test]
fn settings_bear_on_verdicts() {
    let coarse = Options {
        float_rounding: 2,
        ..Options::default()
    };
    assert_eq!(verdict("3.14159", r"3.1411", &coarse), Some(true));
    assert_eq!(
        verdict("3.14159", r"3.1411", &Options::default()),
        Some(false)
    );
    let loose = Options {
        strict: false,
        ..Options::default()
    };
    assert_eq!(verdict("2x+1", "2t+1", &loose), Some(true));
    assert_eq!(verdict("2x+1", "2t+1", &Options::default()), Some(false));
    let mixed = Options {
        allow_set_relation_comp: true,
        ..Options::default()
    };
    assert_eq!(verdict("(1,2)", "1<x<2", &mixed), Some(true));
    assert_eq!(verdict("(1,2)", "1<x<2", &Options::default()), Some(false));
    assert_eq!(verdict("1<x<2", "(1,2)", &Options::default()), Some(true));
}

fn survives(text: &str) {
    if let Some(value) = parse_latex(text) {
        let _ = equal(&value, &value, &Options::default());
        let one = parse_latex("1+x").unwrap();
        let _ = equal(&value, &one, &Options::default());
        let _ = equal(&one, &value, &Options::default());
        assert!(value.to_string().chars().count() < 500);
    }
    if let Some(value) = parse_arithmetic(text) {
        let _ = equal(&value, &value, &Options::default());
    }
}

#[test]
fn floods_of_one_thing_end() {
    for unit in floods("formula") {
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
    assert_eq!(equal(&gold, &pred, &Options::default()).equal, Some(true));
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
