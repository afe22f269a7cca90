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
        "~~ ",
        "a~~b ",
        "<<",
        "// ",
        "&amp",
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

/// Derivations of 4.5 MB, as a model writes them that does not stop: with an answer at the end, at the beginning, or none.
pub fn derivations() -> impl Iterator<Item = (String, String)> {
    let lines = [
        (
            "steps",
            "Step 3: 12 + 7 = 19, so x = 19 and the total is $19.\n",
        ),
        ("equations", r"$$x^2 - 5x + 6 = (x - 2)(x - 3) = 0$$ "),
        (
            "aligned equations",
            "\\begin{align*} a &= 2b + 3 \\\\ b &= \\frac{a - 3}{2} \\end{align*}\n",
        ),
        (
            "formulas",
            r"Then $\frac{x^2 - 1}{x - 1} = x + 1$, and \(y = 2x\). ",
        ),
        (
            "answers",
            "The answer is 12. Wait, that is wrong: the answer is 13.\n",
        ),
        ("final answers", "**Final Answer:** (B) 12 cm\n\n"),
        ("hashes", "48/2=<<48/2=24>>24 clips.\n#### 24\n"),
        ("boxes", r"So \boxed{12}, or rather \boxed{13}. "),
        ("nested boxes", r"\boxed{\text{a } \boxed{12} \frac{1}{2}} "),
        ("one line", "and then 12 more of them, which is 4 times 3, "),
        ("choices", "Option (B) cannot be right, since A is (C). "),
        ("labelled parts", "(a) 3, (b) 5; "),
        ("table", "| 12 | apples | 3.5 kg |\n"),
        ("cells without lines", "| 12 "),
        ("code", "assert f([1, 2], 'ab') == {'a': 3}\n"),
        ("fences", "```python\nprint(12)\n```\n"),
        ("prices", "It costs $12 and then $15 more. "),
        ("quotes", "\"12\" said 'he', \u{201c}not 13\u{201d}. "),
        ("numbered list", "1. **Cubes**: 3\n2. *Spheres*: 7\n"),
        ("corrections", "No, wait. Actually, that is not right. "),
        ("thoughts", "<think>so 12?</think> "),
        ("tags", "<p>so <b>12</b>&nbsp;of them</p>\n"),
        ("Chinese", "所以她一共有12个苹果，答案是12。"),
        ("German", "Die Antwort ist 1.234,5 Euro, also nicht 12. "),
        ("Hindi", "उत्तर १२ है। "),
        ("emoji", "🎉 12 ✅ \u{200d}"),
        ("combining marks", "e\u{301}a\u{308}12 "),
        ("a word", "abcdefghij"),
        ("a word of capitals", "ABCD"),
        ("letters and digits", "a1b2"),
    ];
    lines.into_iter().flat_map(|(name, line)| {
        let text = line.repeat(4_500_000 / line.len());
        [
            ("then an announcement", format!("{text}\nThe answer is 19.")),
            ("then a box", format!("{text}\n\\boxed{{19}}")),
            (
                "behind an announcement",
                format!("The answer is 19.\n{text}"),
            ),
            ("behind a box", format!("\\boxed{{19}}\n\n{text}")),
            ("alone", text),
        ]
        .map(|(place, text)| (format!("{name}, {place}"), text))
    })
}

/// Numbers of a million digits and more.
pub fn numbers() -> Vec<(String, String)> {
    let digits = |piece: &str, count: usize| piece.repeat(count / piece.len());
    [
        ("a million digits", digits("1234567890", 1_000_000)),
        ("4.5 million digits", digits("1234567890", 4_500_000)),
        (
            "a million decimals",
            format!("0.{}", digits("1234567890", 1_000_000)),
        ),
        (
            "a million digits, a million decimals",
            format!("{0}.{0}", digits("1234567890", 1_000_000)),
        ),
        (
            "grouped",
            format!(
                "1,{}",
                digits("234,567,890,", 1_000_000).trim_end_matches(',')
            ),
        ),
        (
            "grouped by spaces",
            format!("1 {}", digits("234 567 890 ", 1_000_000).trim_end()),
        ),
        (
            "a negative one",
            format!("-{}", digits("1234567890", 1_000_000)),
        ),
        (
            "a fraction of them",
            format!("{0}/{0}1", digits("1234567890", 500_000)),
        ),
        (
            "a sum of them",
            format!("{0}+{0}", digits("1234567890", 500_000)),
        ),
        (
            "a power of ten",
            format!("1.{} \\times 10^{{5}}", digits("1234567890", 1_000_000)),
        ),
        (
            "a percentage",
            format!("{}%", digits("1234567890", 1_000_000)),
        ),
        ("money", format!("${}", digits("1234567890", 1_000_000))),
        ("metres", format!("{} m", digits("1234567890", 1_000_000))),
        (
            "hexadecimal",
            format!("0x{}", digits("12345abcde", 1_000_000)),
        ),
        ("in words", digits("one hundred million ", 1_000_000)),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .into()
}
