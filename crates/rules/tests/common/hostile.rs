//! Inputs that a verifier must survive, by name: each is to end soon and in little memory.

#![allow(dead_code, unreachable_pub)]

const MEGABYTE: usize = 1_000_000;

fn filled(piece: &str) -> String {
    piece.repeat(MEGABYTE / piece.len())
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

/// Name and text.
pub fn inputs() -> Vec<(String, String)> {
    let mut inputs: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, text: String| inputs.push((name.to_owned(), text));
    for tower in [
        "5^{5^{5^5}}",
        "9^{9^{9^9}}",
        r"\dfrac{5^{(5^{(5^{(5^5)})}-4)}-5}{16}",
        "10^{-10^{10}}",
        "10^{10^{10}}",
        "2^{10^9}+1",
        "2^{2^{2^{2^{2^2}}}}",
        r"7^{7^{7^7}} \bmod 10",
        "1e999999999",
        "1e-999999999999999999999",
        "0.1^{10^9}",
        "x^{10^{18}}",
        "(x+1)^{10^9}",
        r"\left(1+\frac{1}{10^9}\right)^{10^9}",
        "10000000!",
        r"\frac{1000000!}{999999!}",
        "((((((9!)!)!)!)!)!)!",
        r"\binom{10^7}{5\cdot 10^6}",
        r"\binom{10^{18}}{10^{17}}",
        r"\sum_{k=1}^{10^9} \frac{1}{k}",
        r"\prod_{k=1}^{10^{12}} k^k",
        r"\int_0^{10^{10}} x^{x^x} dx",
        r"\sqrt[10^9]{2}",
        r"\sqrt{\sqrt{\sqrt{\sqrt{\sqrt{\sqrt{\sqrt{2^{10^9}}}}}}}}",
        r"\sin(10^{10^{10}})",
        r"\ln(10^{-10^{10}})",
        r"e^{e^{e^{e^e}}}",
        r"\frac{0}{0}",
        r"\frac{1}{0}",
        r"\gcd(10^{10^{10}}, 7!)",
        r"\log_{1}(5)",
        r"\log_{0}(0)",
        r"0^{0^{0^0}}",
        r"\tan(\frac{\pi}{2})",
        r"(-8)^{1/3}",
        r"i^{i^{i^i}}",
        r"\lfloor 10^{10^{10}} \pi \rfloor",
        r"9999999999999999999999999 \bmod 0",
    ] {
        add(tower, tower.to_owned());
        add(
            &format!("boxed {tower}"),
            format!(r"So it is \boxed{{{tower}}}."),
        );
    }
    for (name, digit) in [("ones", "1"), ("zeros", "0"), ("nines", "9")] {
        add(&format!("a million {name}"), filled(digit));
        add(
            &format!("a million {name} behind the point"),
            format!("0.{}", filled(digit)),
        );
        add(
            &format!("a million {name} in a box"),
            format!(r"\boxed{{{}}}", filled(digit)),
        );
    }
    add(
        "a million digits over a million digits",
        format!(r"\frac{{{}}}{{{}}}", filled("7"), filled("3")),
    );
    for (open, inner, close) in [
        ("(", "1", ")"),
        ("{", "1", "}"),
        ("[", "1", "]"),
        (r"\{", "1", r"\}"),
        (r"\left(", "x", r"\right)"),
        (r"\frac{1}{1+", "x", "}"),
        (r"\sqrt{", "2", "}"),
        ("2^{", "2", "}"),
        ("|", "x", "|"),
        ("-", "1", ""),
        ("+", "1", ""),
        ("f(", "x", ")"),
        (r"\sin ", "x", ""),
        (r"\text{", "a", "}"),
        (r"\boxed{", "1", "}"),
        (r"\begin{pmatrix}", "1", r"\end{pmatrix}"),
        ("$", "1", "$"),
        ("1/", "1", ""),
        ("2^", "2", ""),
        ("n!", "", "!"),
        (r"\not", "=", ""),
        ("<think>", "1", "</think>"),
    ] {
        for depth in [20, 300, 10_000] {
            add(
                &format!("{depth} deep {open}"),
                nested(open, inner, close, depth),
            );
            add(
                &format!("{depth} deep {open}, in a formula"),
                format!("${}$", nested(open, inner, close, depth)),
            );
        }
        add(&format!("a megabyte of {open}"), filled(open));
        add(
            &format!("a megabyte of {open}, in a formula"),
            format!("${}$", filled(open)),
        );
    }
    for piece in [
        r"\boxed{",
        r"\boxed{1} ",
        r"\boxed{1}, ",
        "1+1+",
        " 1",
        "1 ",
        "1,",
        "1, 2, ",
        "$1$ and ",
        "$",
        "$$",
        "$1",
        r"\(",
        r"\[",
        r"\(1\) ",
        "}",
        "{",
        "answer",
        "answer:",
        "the answer is ",
        "final answer is ",
        "Final answer is 1 I hope ",
        "#### ",
        "#### 1\n",
        "therefore ",
        "x=",
        "1=",
        "1<",
        "x",
        "xy",
        r"\pm ",
        r"\pm 1",
        "1 or ",
        "%",
        "1%",
        r"\%",
        "°",
        "−",
        "½",
        "²",
        "\\",
        r"\\",
        "\\frac",
        "\\frac1",
        "^",
        "_",
        "_{",
        "a_",
        "\u{202e}",
        "\u{200b}",
        "\0",
        "\u{1b}[31m",
        "\u{feff}",
        "\u{1d7d9}",
        "１",
        "٣",
        "\n",
        "\t",
        " ",
        "é",
        "e\u{301}",
        "🎉",
        "**",
        "*",
        "`",
        "\"",
        "'",
        ":",
        ";",
        "1:",
        "1;",
        "1e",
        "1.",
        "1/",
        "()",
        "(1,2),",
        r"\{1\},",
        r"\cup[1,2]",
        r"[1,2]\cup",
        "&",
        r"1&",
        r"1\\",
        "not ",
        "million ",
        "five ",
        "twenty-",
        "5 km ",
        "km/",
        "one hundred and ",
        "<answer>",
        "A ",
        "(A)",
        "A, ",
        "no ",
        "I don't know ",
    ] {
        add(&format!("a megabyte of {piece:?}"), filled(piece));
    }
    add("a sum of two thousand", vec!["x_1^2"; 2000].join("+"));
    add(
        "a set of two thousand",
        format!(
            r"\{{{}\}}",
            (0..2000)
                .map(|n| n.to_string())
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    add(
        "a set of surds",
        format!(
            r"\{{{}\}}",
            (2..600)
                .map(|n| format!(r"\sqrt{{{n}}}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    add(
        "a polynomial of eight variables",
        "(a+b+c+d+p+q+r+s)^{40}".to_owned(),
    );
    add(
        "a determinant",
        format!(
            r"\begin{{vmatrix}}{}\end{{vmatrix}}",
            ["a & b & c & d & f & g & h & k"; 8].join(r"\\")
        ),
    );
    add(
        "sums of roots",
        (2..40)
            .map(|n| format!(r"\sqrt{{{n}+\sqrt{{{}}}}}", n + 1))
            .collect::<Vec<_>>()
            .join("+"),
    );
    add(
        "many functions",
        (1..60)
            .map(|n| format!(r"\sin({n}x)\cos({n}y)\ln(x+{n})"))
            .collect::<Vec<_>>()
            .join("+"),
    );
    // What fuzzing found.
    add(
        "a formula that ends behind its clause",
        include_str!("../cases/findings/formula-beyond-its-clause.txt").to_owned(),
    );
    add("nothing", String::new());
    add("spaces", "   \n\t ".to_owned());
    inputs
}
