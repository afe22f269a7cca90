//! Formulas before and after.

use super::*;

#[test]
fn texts_are_rewritten() {
    for (text, expected) in [
        ("5", "5"),
        (" 5 ", "5"),
        (r"\boxed{5}", "5"),
        (r"\mathrm{T}\mathrm{d}{\rm d}", "Tdd"),
        (
            r"\left[\begin{matrix}1\end{matrix}\right]",
            r"\begin{bmatrix}1\end{bmatrix}",
        ),
        (r"\left( 1, 2 \right]", "( 1, 2 ]"),
        (r"\mleft\{ 1 \mright.", r"\{ 1 \mright."),
        (r"\leftarrow", r"\leftarrow"),
        ("(n)_{k}", r"\frac{(n)!}{((n)-(k))!}"),
        (r"1 \! 2", "1 2"),
        ("f'(x)", "f(x)"),
        (r"\text{ }\displaystyle x$\$", "x"),
        (r"\dfrac{1}{2}", r"\frac{1}{2}"),
        (r"\textbf{x}=1", r"\text{x}=1"),
        ("x .5", "x 0.5"),
        (r"\frac{.5}{2}", r"\frac{0.5}{2}"),
        (".25", "0.25"),
        (".5", r"\frac{1}{2}"),
        ("1 ~= 2", r"1 \approx 2"),
        ("1{,}234", "1,234"),
        ("x and y", "x , y"),
        ("1, and 2", "1, 2"),
        (r"1 \text{ or } 2", "1, 2"),
        ("band and orx", "band , orx"),
        (r"a\ b", "a b"),
        (r"1,\ldots,5", "1 ,5"),
        ("infinity info inf", r"\infty \inftyo \infty"),
        (r"\infty", r"\infty"),
        ("20 percent", r"20\%"),
        ("20percent", "20percent"),
        (r"20\text{percent}", "20%"),
        ("2 sqrt3", r"2\sqrt{3}"),
        ("a\nx\ty", "a x y"),
        (r"\\alpha\\ 1", r"\alpha\\ 1"),
        (
            r"\begin{pmatrix}1\\x\end{pmatrix}",
            r"\begin{pmatrix}1\\x\end{pmatrix}",
        ),
        (r"5 \text{ cm}^2", "5"),
        (r"1-\frac{1}{\mathrm{e}}", r"1-\frac{1}{"),
        ("x+2t", "x+2"),
        ("1/2", r"\frac{1}{2}"),
    ] {
        assert_eq!(normalized(text, Boxes::All), expected, "{text}");
    }
}

#[test]
fn hostile_texts_end() {
    for unit in [
        r"\boxed{",
        r"\boxed{}",
        r"\fbox",
        " ",
        "{ ",
        "{",
        "\\",
        "$",
        "and",
        ",and ",
        r"\text{",
        r"\text{ and",
        "^(",
        "sqrt(",
        r"\frac",
        r"\frac1",
        r"\frac{",
        r"\frac{}",
        r"\frac1{",
        r"\sqrt",
        "(n)_{",
        "(",
        "inf",
        " .",
        "s",
        " percent",
        "1/",
        "\\text {",
    ] {
        let long = unit.repeat(200_000 / unit.len());
        for text in [format!("{long}x"), format!("x{long}}}"), format!("{long}2")] {
            assert!(normalized(&text, Boxes::Last).len() <= 3 * text.len());
        }
    }
}
