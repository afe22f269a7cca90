//! Whatever the text, a page of it contains only text and formulas.

use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;

use super::numbers::{grouped, p_value, threshold, with_interval};
use super::plot::{Axis, Mark, Plot, bar};
use super::record::{Answers, Article, Judgement, Tag, Text};
use super::text::{html, plain};

/// Matches every tag that a text may become.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    let value = r"[a-zA-Z0-9. -]*";
    let names = "display|displaystyle|scriptlevel|mathvariant|stretchy|symmetric|largeop|movablelimits|width|linethickness|minsize|maxsize|class";
    let elements = "math|mrow|mi|mn|mo|mtext|mspace|msqrt|mroot|mfrac|msub|msup|msubsup|munder|mover|munderover|mtable|mtr|mtd";
    let pattern = format!(
        r#"^<(?:/(?:{elements}|span|i)|(?:{elements})(?: (?:{names})="{value}")*|span class="display"|i class="hidden")>$"#
    );
    Regex::new(&pattern).unwrap()
});

static ANY_TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new("<[^<>]*>").unwrap());

static ENTITY: LazyLock<Regex> = LazyLock::new(|| Regex::new("&(?:amp|lt|gt|quot|#39);").unwrap());

/// Asserts that the HTML of a text is text and whitelisted tags, which are closed in order.
fn assert_safe(html: &str) {
    let mut open = Vec::new();
    for tag in ANY_TAG.find_iter(html) {
        let tag = tag.as_str();
        assert!(TAG.is_match(tag), "{tag} in {html}");
        match tag.strip_prefix("</") {
            Some(name) => assert_eq!(open.pop(), name.strip_suffix('>'), "{html}"),
            None => open.push(&tag[1..tag.find([' ', '>']).unwrap()]),
        }
    }
    assert!(open.is_empty(), "{open:?} left open in {html}");
    let text = ANY_TAG.replace_all(html, "");
    let text = ENTITY.replace_all(&text, "");
    assert!(!text.contains(['<', '>', '&', '"', '\'']), "{text}");
    let hidden = |character: char| {
        juror_base::terminal::is_hidden(character) && !"\n\t\u{2061}".contains(character)
    };
    assert!(!text.contains(hidden), "{text:?}");
}

#[test]
fn formulas_become_mathml() {
    for (text, expected) in [
        ("$x$", "<math display=\"inline\"><mi>x</mi></math>"),
        (
            "so \\(x<1\\).",
            "so <math display=\"inline\"><mi>x</mi><mo>&lt;</mo><mn>1</mn></math>.",
        ),
        (
            "$$a \\& b$$",
            "<span class=\"display\"><math display=\"block\"><mi>a</mi><mi>&amp;</mi><mi>b</mi></math></span>",
        ),
        (
            r"\[\boxed{42}\]",
            "<span class=\"display\"><math display=\"block\"><mrow class=\"boxed\"><mrow><mn>42</mn></mrow></mrow></math></span>",
        ),
        (
            r"$\frac12\text{ a<b &amp; c}$",
            "<math display=\"inline\"><mfrac><mn>1</mn><mn>2</mn></mfrac><mtext>\u{a0}a&lt;b &amp;amp; c</mtext></math>",
        ),
        (
            "$a~b$",
            "<math display=\"inline\"><mi>a</mi><mspace width=\"0.25em\"></mspace><mi>b</mi></math>",
        ),
        (
            r"$x\!\color{red}y\hspace{9999em}$",
            "<math display=\"inline\"><mi>x</mi><mspace width=\"0em\"></mspace><mi>y</mi><mspace width=\"4em\"></mspace></math>",
        ),
    ] {
        let html = html(text);
        assert_eq!(html, expected, "{text}");
        assert_safe(&html);
    }
}

#[test]
fn common_formulas_are_understood() {
    for formula in [
        r"\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}",
        r"\begin{aligned} a &= b + c \\ &= d \end{aligned}",
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
        r"f(x) = \begin{cases} 1 & x > 0 \\ 0 & \text{otherwise} \end{cases}",
        r"\begin{array}{|c|c|} \hline a & b \\ \hline \end{array}",
        r"\sum_{i=1}^n i = \tfrac{n(n+1)}{2} \tag{1}",
        r"\left( \frac{a}{b} \right)^2 \implies \lim_{x \to 0} \sin x",
        r"\mathrm{H_2O} \rightleftharpoons \mathbb{R}^3 \cdot \vec{v} \times \hat{n}",
        r"\operatorname*{arg\,max}_x",
        r"\underbrace{a+b}_{\text{sum}} \le \overline{z} \quad \angle ABC = 60^\circ",
        r"\boxed{\frac{3}{4}} \therefore 5\ \text{m/s} \approx 10\% \; \mbox{or so}",
        r"\sqrt[3]{8} \neq \binom{n}{k} \pmod{7} \nonumber",
    ] {
        let html = html(&format!("\\[{formula}\\]"));
        assert_safe(&html);
        let is_known_gap = formula.contains("arg");
        assert_eq!(html.contains("<math"), !is_known_gap, "{formula}: {html}");
    }
}

#[test]
fn what_is_no_formula_stays_text() {
    for text in [
        "it costs $5 and $10 more",
        "$<<80+50=130>>130 in all, and $<<130-2=128>>128 are left",
        "the value is $80,000+$50,000=$130,000",
        "a $5 toy costs him$and",
        "he has $3.50 left of the$",
        "$ x $",
        "\\$x\\$",
        "$x",
        "\\(x",
        "\\[x\\)",
        "a \\\\[2pt] b",
        "$$x$",
        "$$$$",
        "$\\def\\a{b}\\a$",
        "$\\newcommand{\\a}{b}\\a$",
        "$\\let\\a=b$",
        "$x %hidden\n$",
        "$\\href{javascript:alert(1)}{x}$",
        "$\\style{color:red}{x}$",
        "$\\class{a}{x}$",
        "$\\unicode{x3c}$",
        "$\\htmlData{a=b}{x}$",
        "$\\includegraphics{x}$",
        "$\\operatorname{<script>}$",
        "$\\mathop{<img src=x onerror=alert(1)>}$",
        "$\\operatorname{\\foo}$",
        "$\\sideset{hidden}{}x$",
        "$\\phantom{hidden}$",
        "$}{$",
        "$a\u{202e}b$",
        "$\\frac{1}{$",
        "$x\n\ny$",
    ] {
        let html = html(text);
        assert!(!html.contains("<math"), "{text}: {html}");
        assert_safe(&html);
    }
}

#[test]
fn text_is_escaped_and_hidden_characters_are_shown() {
    assert_eq!(
        html("<script>alert('x')</script> & \"quoted\""),
        "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;quoted&quot;"
    );
    assert_eq!(
        html("a\r\nb\rc\u{202e}\u{0}\tü"),
        "a\nb<i class=\"hidden\">\\r</i>c<i class=\"hidden\">\\u{202e}</i><i class=\"hidden\">\\u{0}</i>\tü"
    );
    assert_eq!(plain("\"\u{200b}<"), "&quot;\\u{200b}&lt;");
    assert_eq!(html("{{7*7}} {% raw %}"), "{{7*7}} {% raw %}");
}

/// Work and depth are bounded: none of these may take long, or overflow a small stack.
#[test]
fn hostile_formulas_are_bounded() {
    let repeated = |unit: &str, times: usize| unit.repeat(times);
    let texts = [
        format!("${}x{}$", repeated("{", 2000), repeated("}", 2000)),
        format!("${}x$", repeated("\\sqrt", 390)),
        format!("${}$", repeated("\\sqrt", 2000)),
        format!("${}x$", repeated("\\frac1", 390)),
        format!("${}x$", repeated("\\underset a", 390)),
        format!("${}x$", repeated("\\relax ", 390)),
        format!("${}x$", repeated("\\text a", 390)),
        format!("${}x$", repeated("\\operatorname a", 270)),
        format!("${}x$", repeated("^", 4000)),
        format!("${}$", repeated("a_", 2000)),
        format!("${}x$", repeated("\\left(", 390)),
        format!(
            "$\\begin{{array}}{{{}}}{}\\end{{array}}$",
            repeated("|", 2000) + "c",
            repeated("a\\\\", 380)
        ),
        format!("${}$", repeated("\\sqrt[", 390)),
        format!("${}$", repeated("\\begin{matrix}", 280)),
        repeated("\\(", 200_000),
        repeated("\\[\\(", 200_000),
        repeated("$", 200_001),
        repeated("$a", 200_001),
        repeated("$$a$", 100_000),
        repeated("$x ", 100_000),
        "\\(".to_owned() + &repeated("x", 1_000_000),
    ];
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(move || {
            for text in texts {
                let html = html(&text);
                assert!(
                    html.len() <= 80 * text.len() + 4096,
                    "{} of {}",
                    html.len(),
                    text.len()
                );
                assert_safe(&html);
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

/// Pieces of texts and formulas, and some that are not allowed in them.
const PIECES: [&str; 96] = [
    "$",
    "$",
    "$",
    "$$",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "{",
    "}",
    "{",
    "}",
    "x",
    "1",
    "2.5",
    " ",
    "\n",
    "+",
    "=",
    "<",
    ">",
    "&",
    "^",
    "_",
    "'",
    "\"",
    "\\",
    "\\\\",
    "%",
    "#",
    "~",
    "é",
    "\u{202e}",
    "\u{0}",
    "\u{301}",
    "\u{e000}",
    "😀",
    "|",
    "[",
    "]",
    "(",
    ")",
    "-",
    "<script>",
    "</script>",
    "<img src=x onerror=alert(1)>",
    "</math>",
    "<!--",
    "]]>",
    "javascript:",
    "{{7*7}}",
    "{% x %}",
    "\\text",
    "\\text{",
    "\\operatorname{",
    "\\operatorname",
    "\\mathop{",
    "\\mathrm{",
    "\\href{",
    "\\style{",
    "\\class{",
    "\\unicode{",
    "\\char",
    "\\char38",
    "\\char60 ",
    "\\frac",
    "\\frac{",
    "\\sqrt",
    "\\sqrt[",
    "\\left(",
    "\\left.",
    "\\right)",
    "\\begin{array}{|c|}",
    "\\end{array}",
    "\\begin{cases}",
    "\\end{cases}",
    "\\begin{align}",
    "\\end{align}",
    "\\color{red}",
    "\\textcolor{red}{",
    "\\boxed{",
    "\\hspace{9em}",
    "\\kern-9em",
    "\\genfrac",
    "\\not",
    "\\overset",
    "\\Space{1em}{1em}{1em}",
    "\\def\\a{",
    "\\a",
    "\\hline",
    "\\limits",
    "\\mathbb{",
    "\\bf",
    "\\displaystyle",
    "\\big",
    "\\tag{",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_other_tags(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24)) {
        assert_safe(&html(&pieces.concat()));
        // As formulas, whatever delimiters are in them.
        assert_safe(&html(&format!("\\[{}\\]", pieces.concat())));
    }

    #[test]
    fn no_characters_make_other_tags(text in any::<String>()) {
        assert_safe(&html(&text));
        assert_safe(&html(&format!("${text}$")));
    }

    #[test]
    fn text_without_formulas_can_be_read_back(text in "[^$\\\\\\p{C}]*") {
        let back = html(&text)
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&");
        // Characters of the format class are shown as escapes.
        prop_assume!(!text.contains(juror_base::terminal::is_hidden));
        prop_assert_eq!(back, text);
    }
}

#[test]
fn texts_are_cut_in_their_middle() {
    let text = Text::cut(&format!("{}é{}", "a".repeat(6000), "ü".repeat(4000)));
    assert_eq!(text.head, "a".repeat(6000));
    assert_eq!(text.left_out, 1001);
    assert_eq!(text.tail, "ü".repeat(3000));
    let whole = "ü".repeat(9000);
    let text = Text::cut(&whole);
    assert_eq!((text.head, text.left_out), (whole, 0));
}

/// A long question is folded where it is asked for; a record without texts says how to give them.
#[test]
fn records_fold_and_say_what_they_lack() {
    let long = "How many? ".repeat(90);
    let record = |question: &str, folds| {
        let record = Article {
            question: Some(Text::cut(question)).filter(|_| !question.is_empty()),
            folds,
            without_texts: "give some",
            ..Article::default()
        };
        record.html().unwrap()
    };
    assert!(record(&long, true).contains("<details class=\"fold\">"));
    assert!(record(&long, true).contains("900 characters: How many?"));
    for open in [record(&long, false), record("How many?", true)] {
        assert!(
            !open.contains("fold") && !open.contains("give some"),
            "{open}"
        );
    }
    let bare = record("", true);
    assert!(
        bare.contains("No texts are here: give some.") && bare.contains("without texts"),
        "{bare}"
    );
}

#[test]
fn bars_show_a_part_of_the_scale() {
    let whole = bar(0.75, Some([0.5, 1.0]), [0.0, 1.0]);
    assert!(
        whole.contains("M50.0 5H98.0") && whole.contains("M74.0 0V10"),
        "{whole}"
    );
    let part = bar(0.75, Some([0.5, 1.0]), [0.5, 1.0]);
    assert!(
        part.contains("M2.0 5H98.0") && part.contains("M50.0 0V10"),
        "{part}"
    );
}

#[test]
fn records_escape_everything() {
    let hostile = "\"><script>alert(1)</script>{{7*7}}\u{202e}";
    let said = Answers {
        process: Some(false),
        outcome: Some(true),
        overall: None,
    };
    let record = Article {
        anchor: "r1".into(),
        id: hostile.into(),
        trial: Some(2),
        subject: Some(hostile.into()),
        answer_type: Some(hostile.into()),
        tags: vec![Tag {
            name: "false_pass",
            text: "false pass".into(),
        }],
        facets: vec![hostile.into()],
        question: Some(Text::cut(hostile)),
        reference: Some(Text::cut("$x$")),
        response: Some(Text::cut(hostile)),
        label: Some(Answers::default()),
        judgements: vec![Judgement {
            judge: hostile.into(),
            place: hostile.into(),
            status: hostile.into(),
            said,
            process_probability: Some(0.125),
            reason: Some(Text::cut(hostile)),
            raw: Some(Text::cut(hostile)),
            error: Some(hostile.into()),
            ..Judgement::default()
        }],
        rules: Some(true),
        open: true,
        brief: true,
        folds: true,
        without_texts: "give some",
    };
    let html = record.html().unwrap();
    for no in ["<script", "49", "\u{202e}"] {
        assert!(!html.contains(no), "{no} in {html}");
    }
    assert!(html.contains("data-in=\"&quot;&gt;&lt;script&gt;"));
    assert!(html.contains("<math"));
    assert!(html.contains("0.12") || html.contains("0.13"));
}

/// Matches every tag of a plot.
static PLOT_TAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^<(?:/?(?:svg|title|desc|text)|(?:svg|title|desc|text|path|rect|circle)(?: [a-zA-Z-]+="[^"<>]*")+/?)>$|^</(?:rect|circle)>$|^<title>$"#).unwrap()
});

#[test]
fn plots_keep_to_their_place_and_escape_names() {
    let hostile = "\"><script>alert(1)</script>\u{202e}";
    let point = |at: [f64; 2]| Mark::Point {
        at,
        interval: Some([-1.0, 7.0]),
        radius: 4.0,
        class: "other",
        name: hostile.into(),
        title: hostile.into(),
    };
    let centre = Regex::new(r#" c([xy])="([0-9.-]+)""#).unwrap();
    for x in [
        Axis::linear(hostile, 0.0, 40.0),
        Axis::linear("one value", 3.0, 3.0),
        Axis::powers("powers", [0.0, 2.0, 90_000.0].into_iter()),
        Axis::powers("none", std::iter::empty()),
    ] {
        let plot = Plot {
            id: "p".into(),
            title: hostile.into(),
            description: hostile.into(),
            x,
            y: Axis::shares(hostile, 0.0, 1.0),
            marks: vec![
                point([-5.0, 0.5]),
                point([1e9, 3.0]),
                point([f64::MIN_POSITIVE, 0.0]),
                Mark::Column {
                    width: [1.0, 2.0],
                    height: 0.5,
                    class: "",
                    title: hostile.into(),
                },
                Mark::Line {
                    ends: [[0.0, 0.0], [1.0, 1.0]],
                    class: "ideal",
                },
            ],
        };
        let svg = plot.svg(super::plot::SIZE);
        for tag in ANY_TAG.find_iter(&svg) {
            assert!(PLOT_TAG.is_match(tag.as_str()), "{}", tag.as_str());
        }
        assert!(!svg.contains("<script") && !svg.contains('\u{202e}'));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        // No point lies outside of the picture.
        for place in centre.captures_iter(&svg) {
            let most = if &place[1] == "x" { 560.0 } else { 340.0 };
            let place: f64 = place[2].parse().unwrap();
            assert!((0.0..=most).contains(&place), "{svg}");
        }
        // Few ticks, and at least two on an axis of shares: 0 % and 100 %.
        assert!(svg.contains(">0 %<") && svg.contains(">100 %<"));
        assert!(svg.matches("<text").count() < 40, "{svg}");
    }
}

#[test]
fn figures_as_text() {
    assert_eq!(grouped(0), "0");
    assert_eq!(grouped(999), "999");
    assert_eq!(grouped(1000), "1,000");
    assert_eq!(grouped(1_234_567), "1,234,567");
    assert_eq!(with_interval(0.5, Some([0.25, 0.75])), "50.0 (25.0–75.0)");
    assert_eq!(threshold(0.000_04), "< 0.001");
    assert_eq!(p_value(0.000_1), "< 0.001");
    assert_eq!(p_value(0.04), "0.040");
}
