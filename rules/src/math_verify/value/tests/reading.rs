//! What is read, what is not, and as what.

use super::super::*;

fn text(latex: &str) -> String {
    parse_latex(latex).map_or_else(|| "none".to_owned(), |value| value.to_string())
}

#[test]
fn formulas_are_read_by_the_longest_token_and_the_first_alternative() {
    let cases = [
        (r"2\frac{1}{3}", "7/3"),
        ("2(3)", "5"),
        ("-3\\frac{1}{2}", "-7/2"),
        (r"3.1\frac{1}{2}", "3.1*1/2"),
        ("x(y)", "x(y)"),
        ("x(y+1)", "x*(y + 1)"),
        (r"\sin 2x/3", "sin(2*x*(3)**(-1))"),
        (r"\sin x\cos y", "sin(x)*cos(y)"),
        (r"\sin(x)y", "sin(x)*y"),
        (r"\sin^2 x", "(sin(x))**(2)"),
        (r"\sin^{-1} x", "arcsin(x)"),
        (r"\pie", "pi*E"),
        (r"\inftyo", "oo*o"),
        ("I^2", "I"),
        ("i", "i"),
        ("E", "e"),
        ("2E3", "2000"),
        ("204_5", "204"),
        (r"\gamma", "EulerGamma"),
        (r"\Delta x", "delta*x"),
        (r"\text{ A b(c) }", "abc"),
        (r"\overline{AB}", "bar{ab}"),
        ("x_{12}", "x_{12}"),
        ("x_{1}", "x_1"),
        ("12:30", "2/5"),
        (r"x\approx 3.5", "3.5"),
        (r"\pi\approx 3.14", "pi"),
        ("12,345", "12345"),
        ("12, 345", "{12, 345}"),
        ("0,500", "0.5"),
        ("1;2", "{1, 2}"),
        ("1,2;3,4", "{(1, 2), (3, 4)}"),
        ("(1,2)", "(1, 2)"),
        ("(2,1)", "(2, 1)"),
        ("(2,1]", "EmptySet"),
        ("[1,1]", "{1}"),
        ("(1,2,3)", "(1, 2, 3)"),
        (r"\{1,2\}", "{1, 2}"),
        ("{1}", "{1}"),
        ("x=1,2", "x = {1, 2}"),
        ("a=1,b=2", "{a = 1, b = 2}"),
        ("a<b<c", "a < b and b < c"),
        (r"x\in[0,1)", "x = [0, 1)"),
        (r"\pm 2", "{-2, 2}"),
        (r"1\pm x", "{1 + x, 1 + -1*x}"),
        (r"50\%", "50*(1/100)"),
        (r"30^\circ", "30"),
        ("x'", "x"),
        ("x^T", "x"),
        (r"\binom{5}{2}", "10"),
        ("f(x,y)", "f(x, y)"),
        (r"\frac{d}{dx}x^2", "derivative((x)**(2), x)"),
        (r"\int_0^1 x\,dx", "integral(x, x, 0, 1)"),
        (r"\log 8", "logarithm(8, 10)"),
        (r"\log_2 8", "logarithm(8, 2)"),
        (r"\gcd(12,18)", "(6)"),
        (r"\begin{vmatrix}1&2\\3&4\end{vmatrix}", "-2"),
    ];
    for (latex, expected) in cases {
        assert_eq!(text(latex), expected, "{latex}");
    }
}

#[test]
fn what_has_no_reading_has_none() {
    for latex in [
        "",
        "12.",
        r"\underline{x}",
        r"\frac{1\pm 2}{3}",
        r"\log_e 6",
        r"\max\{1,2\}",
        r"\{x\mid x>1\}",
        "tr",
        r"\left(1\right)",
        "(1,2)^T",
        "x + ",
        r"3 \pmod{7}, k\in\mathbb{Z}",
        r"\mathbb{P}",
        "\u{c}1",
    ] {
        assert_eq!(text(latex), "none", "{latex}");
    }
}

#[test]
fn the_last_side_of_a_chain_is_tried() {
    assert_eq!(text(r"\underline{x}=1=2"), "2");
    assert_eq!(text(r"\underline{x}=2"), "none");
    assert_eq!(text(r"\underline{x}=1=2,3"), "none");
}

#[test]
fn a_lone_i_makes_symbols_complex() {
    let verdict = |gold, pred| {
        let (gold, pred) = (parse_latex(gold)?, parse_latex(pred)?);
        equal(&gold, &pred, &Config::default()).equal
    };
    assert_eq!(verdict(r"x+0\cdot i", "x+1-1"), Some(false));
    assert_eq!(verdict("x+i", "i+x"), Some(true));
    assert_eq!(verdict("(1+i)^2", "2i"), Some(false));
}

#[test]
fn arithmetic_is_read_as_python_does() {
    let cases = [
        ("1+2*3", "1 + 2*3"),
        ("2**3**2", "(2)**((3)**(2))"),
        ("-2^2", "-1*(2)**(2)"),
        ("1/2", "1*(2)**(-1)"),
        ("2**-1", "(2)**(-1)"),
        (" 3 - 4 ", "3 + -4"),
        ("7//2", "3"),
    ];
    for (source, expected) in cases {
        let read = parse_arithmetic(source).map(|value| value.to_string());
        assert_eq!(read.as_deref(), Some(expected), "{source}");
    }
    for source in [
        "", "1 2", "2(3)", "(2)(3)", "1+", "(1", "1..2", "007+1", "2×3", "()",
    ] {
        assert_eq!(parse_arithmetic(source), None, "{source}");
    }
}

#[test]
fn numbers_percentages_and_rows_of_formulas() {
    let config = Config::default();
    let judged = |gold: &Value, pred: &Value| equal(gold, pred, &config).equal;
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
    let verdict = |gold: &str, pred: &str, config: &Config| {
        equal(
            &parse_latex(gold).unwrap(),
            &parse_latex(pred).unwrap(),
            config,
        )
        .equal
    };
    let coarse = Config {
        float_rounding: 2,
        ..Config::default()
    };
    assert_eq!(verdict("3.14159", r"3.1411", &coarse), Some(true));
    assert_eq!(
        verdict("3.14159", r"3.1411", &Config::default()),
        Some(false)
    );
    let loose = Config {
        strict: false,
        ..Config::default()
    };
    assert_eq!(verdict("2x+1", "2t+1", &loose), Some(true));
    assert_eq!(verdict("2x+1", "2t+1", &Config::default()), Some(false));
    let mixed = Config {
        allow_set_relation_comp: true,
        ..Config::default()
    };
    assert_eq!(verdict("(1,2)", "1<x<2", &mixed), Some(true));
    assert_eq!(verdict("(1,2)", "1<x<2", &Config::default()), Some(false));
    assert_eq!(verdict("1<x<2", "(1,2)", &Config::default()), Some(true));
}

#[test]
fn relations_sets_and_solutions() {
    let verdict = |gold: &str, pred: &str| {
        let (gold, pred) = (parse_latex(gold)?, parse_latex(pred)?);
        equal(&gold, &pred, &Config::default()).equal
    };
    for (gold, pred, expected) in [
        ("xy=0", "x^2y=0", true),
        ("x^2=1", "x^4=1", false),
        ("x^2+1=0", "x^2+2=0", true),
        (r"\sin x=6", r"2\sin x=7", true),
        ("f(x)=2x+1", "f(x)=2x+2", false),
        ("2x=4", "x=2", false),
        ("2x>4", "x>2", false),
        (r"0<y<\infty", r"(0,\infty)", true),
        (r"y\geq 7", r"[17,\infty)", false),
        (r"(-\infty,1)\cup(2,3)", r"(2,3)\cup(-\infty,1)", true),
        (r"\{1,2,3\}\cap\{2,3,4\}", r"\{2,3\}", false),
        ("(3,1)", r"\{1,3\}", false),
        (r"\{1,3\}", "(3,1)", true),
        ("(2,1]", "(3,2]", true),
        (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}", true),
        (r"\sqrt[3]{-8}", "-2", false),
        (r"\sqrt{x^2}", "|x|", true),
        (r"\sqrt{xy}", r"\sqrt{x}\sqrt{y}", false),
        (r"\ln(x^2)", r"2\ln x", false),
        ("x", r"\frac{2x}{2}", false),
        (r"\text{ba}", "ba", true),
        ("0.1+0.2", r"\frac{3}{10}", false),
    ] {
        assert_eq!(verdict(gold, pred), Some(expected), "{gold} / {pred}");
    }
}
