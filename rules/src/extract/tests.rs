//! What real responses look like, and what is found in them.
use super::*;

/// The answer of a response, `∅` where there is none.
fn found(text: &str) -> String {
    match extract(text, Role::Prediction, &Config::default()) {
        Extraction::Found(found) => found.text.into_owned(),
        Extraction::NoAnswer { .. } => "∅".to_owned(),
    }
}

fn gold(text: &str) -> String {
    match extract(text, Role::Gold, &Config::default()) {
        Extraction::Found(found) => found.text.into_owned(),
        Extraction::NoAnswer { .. } => "∅".to_owned(),
    }
}

fn check(cases: &[(&str, &str)], of: fn(&str) -> String) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(text, expected)| {
            let found = of(text);
            (found != *expected).then(|| format!("{text:?}\n    found {found:?}, not {expected:?}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn boxes_first() {
    check(
        &[
            (r"Thus $x = \boxed{5}$.", "5"),
            (r"The answer is \boxed{5}.", "5"),
            (r"\[\boxed{\frac{1}{2}}\]", r"\frac{1}{2}"),
            (r"**Final Answer:** $\boxed{42}$", "42"),
            (r"\boxed{5}. Wait, actually the answer is 6.", "6"),
            (
                r"\boxed{5}. Wait, let me double-check: 2+3=5. Yes, the answer is correct.",
                "5",
            ),
            (r"The answer is 4. So \boxed{5}.", "5"),
            (
                r"\boxed{200} and later. Final Answer: The final answer is $10,455$. I hope it is correct.",
                "10,455",
            ),
            (r"so the total is \boxed{4", "∅"),
            (r"We get 5. \boxed{", "∅"),
            (
                r"Hence, the degree of $p(x)$ (which is the constant polynomial 1) is $\boxed{0}.$",
                "0",
            ),
            (
                r"Therefore, $\boxed{\text{Evelyn}}$ is our answer.",
                r"\text{Evelyn}",
            ),
            (r"\boxed{\text{(B)}}", "B"),
            (r"\boxed{B}", "B"),
            (r"The correct option is $\boxed{\textbf{(C) } 12}$.", "C"),
            (r"\boxed{1} papers and \boxed{2} bins", "1, 2"),
            (r"Thus $\boxed{x=1}$ or $\boxed{x=2}$.", "x=1, x=2"),
            (
                r"It is worth $\boxed{\$16,\!386.20}$ at the end.",
                r"\$16,\!386.20",
            ),
            (
                r"$\begin{align*} x &= 1 + 1 \\ &= \boxed{2} \end{align*}$",
                "2",
            ),
            (r"\boxed{x \in (-\infty, 3]}", r"x \in (-\infty, 3]"),
            (
                "\\boxed{\n\\begin{pmatrix} 0 & 3 \\\\ 0 & -1 \\end{pmatrix}\n}",
                r"\begin{pmatrix} 0 & 3 \\ 0 & -1 \end{pmatrix}",
            ),
            (
                r"The intermediate sum is \boxed{20}; adding 1 we get \boxed{21}",
                "21",
            ),
            (r"$\boxed{12}$ cm", "12 cm"),
            (r"The final answer is $\boxed{8}$ hours.", "8 hours"),
            (r"<answer>\boxed{7}</answer>", "7"),
        ],
        found,
    );
}

#[test]
fn phrases() {
    check(
        &[
            ("The answer is 5.", "5"),
            ("So the answer is $5$.", "5"),
            ("Final answer: 42", "42"),
            ("**Answer:** 42", "42"),
            ("**Answer**: $x = 5$", "x = 5"),
            ("### Answer\n\n42", "42"),
            ("#### 72", "72"),
            ("Natalia sold 48/2 = 24 clips.\n48+24 = 72\n#### 72", "72"),
            ("#### $1,234", "$1,234"),
            ("#### Step 1: add 3\nWe get 5.\n#### 8", "8"),
            ("The answer to the question is 17.", "17"),
            ("The final answer is that Tom has 5 apples.", "5 apples"),
            ("Answer: 5 apples", "5 apples"),
            ("<answer>5</answer>", "5"),
            ("<answer> 12 cm </answer>", "12 cm"),
            ("The answer is 3/4, since 6/8 = 3/4.", "3/4"),
            ("The answer is x = 5, not 6.", "x = 5"),
            ("The answer is not 7 but 9.", "9"),
            ("The answer is either 5 or 6.", "5 or 6"),
            ("The answer is between 5 and 6.", "5 and 6"),
            ("The answer is Evelyn.", "Evelyn"),
            ("The answer is no real solutions.", "no real solutions"),
            ("Answer: cannot be determined", "cannot be determined"),
            ("The answer is 5! Hope this helps.", "5"),
            ("The answer is \\frac{1}{2}.", "\\frac{1}{2}"),
            ("the answer is $\\frac{1}{2}$ or 0.5.", "\\frac{1}{2}"),
            ("The answer is (3, 4).", "(3, 4)"),
            ("The answer is $$\\sqrt{2}$$", "\\sqrt{2}"),
            ("The answer is:\n\\[ x = 3 \\]", "x = 3"),
            ("The answer is:\n\n```\n42\n```", "42"),
            ("Answer: `42`", "42"),
            (
                "the final answer is $28 \\%$. I hope it is correct.",
                "28 \\%",
            ),
            (
                "Final Answer: The final answer is $(0, 0)$. I hope it is correct.",
                "(0, 0)",
            ),
            ("Final Answer: The largest $n$ is 34.", "34"),
            ("If the answer is 7, check: no. The answer is 8.", "8"),
            ("The answer is 5 because 2 + 3 = 5.", "5"),
            ("Therefore, the answer is **18**.", "18"),
            ("The answer is 1,234.50 dollars.", "1,234.50 dollars"),
            ("The answer is $1,234.50.", "$1,234.50"),
            ("The answer is -5.", "-5"),
            ("The answer is 5 or 6.", "5 or 6"),
            (
                "So, the answer is 9 chickens and 10 rabbits.",
                "9 chickens, 10 rabbits",
            ),
            (
                "The answer is 3 hours and 20 minutes.",
                "3 hours and 20 minutes",
            ),
            ("5 is the answer.", "5"),
            ("The answers are 3 and 4.", "3 and 4"),
            ("The solutions are $x=1$ and $x=2$.", "x=1, x=2"),
            ("Answer: $5$ cm", "5 cm"),
            ("Answer: $5 million", "$5 million"),
            ("The answer is 12%.", "12%"),
            ("The answer is approximately 3.14.", "3.14"),
            ("The answer is about $3.5$ kg.", "3.5 kg"),
            ("To answer this, add 3 and 4. The total is 7.", "7"),
            ("I first got the answer 5. But the answer should be 6.", "6"),
            ("The answer is five.", "five"),
            ("The answer is twenty-five days.", "twenty-five days"),
            ("Answer: x^2 + 1", "x^2 + 1"),
            ("Answer: y = 2x + 3", "y = 2x + 3"),
            ("The answer is $x > 3$.", "x > 3"),
            ("Answer: {1, 2, 3}", "{1, 2, 3}"),
            ("Answer: [0, 1) ∪ (2, 3]", "[0, 1) ∪ (2, 3]"),
            ("Answer: 3:4", "3:4"),
            ("Answer: 10:30 am", "10:30 am"),
            ("**Final Answer**\n\nThe area is $12$ cm².", "12 cm²"),
            ("The final answer is:\n\n**$36$**", "36"),
        ],
        found,
    );
}

#[test]
fn unannounced() {
    check(
        &[
            ("There are 12 ways.", "12 ways"),
            ("It takes five days.", "five days"),
            ("48 + 24 = 72", "72"),
            ("She sold 48 + 24 = 72 clips altogether.", "72 clips"),
            ("In May she sold 24.\nSo she sold 48 + 24 = 72", "72"),
            (
                "She needs 3 hours and 20 minutes.",
                "3 hours and 20 minutes",
            ),
            ("Therefore, Tom has 5 apples left.", "5 apples"),
            ("So the volume is 100 m2.", "100 m2"),
            ("Janet makes 9 * $2 = **$18** per day.", "$18"),
            ("Thus, $x = 5$.", "x = 5"),
            ("Hence the roots are $x = 1$ and $x = 2$.", "x = 1, x = 2"),
            ("The value is \\(\\frac{3}{4}\\).", "\\frac{3}{4}"),
            ("We have $f(-2)+f(-1)=1+2=3$.", "3"),
            (
                "So we get\n\\[\n\\begin{aligned} a &= 1+2 \\\\ &= 3 \\end{aligned}\n\\]",
                "3",
            ),
            ("It costs $5 and $6, so $11 in total.", "$11"),
            ("The number of values of $n$ is 5.", "5"),
            ("There are 12 possible values of $B$.", "12 values"),
            ("The total is 15. I hope this helps!", "15"),
            (
                "The total is 15. Let me know if you have any questions.",
                "15",
            ),
            ("The population will be 5000 in 2025.", "5000"),
            ("The ratio is 3:4.", "3:4"),
            (
                "Therefore, the investment is worth $16,386.16 after 5 years.",
                "$16,386.16",
            ),
            (
                "After 3 hours, the car has travelled 180 miles.",
                "180 miles",
            ),
            ("Since $a = 2$ and $b = 3$, the sum is $5$.", "5"),
            ("So the bill comes to $1,234.50.", "$1,234.50"),
            ("not 7 but 9", "9"),
            ("The minimum error increases by 100%.", "100%"),
            ("We went through step 1 and step 2.", "∅"),
            ("So 12 is the number of ways to choose 2 of 4.", "12"),
            (
                "P(A) = 2/3 Therefore, the probability that Alice wins the game is 2/3. <|im_start|>user",
                "2/3",
            ),
            ("The solution is $x != 5$", "x != 5"),
            (
                "The identity matrix is $ \\begin{pmatrix}1 & 0 \\\\ 0 & 1\\end{pmatrix} $.",
                "\\begin{pmatrix}1 & 0 \\\\ 0 & 1\\end{pmatrix}",
            ),
            (
                "There are 9 chickens and 10 rabbits.",
                "9 chickens, 10 rabbits",
            ),
            ("The area is 25π.", "25π"),
            ("The train leaves at 10:30 am.", "10:30 am"),
            ("So x = 3 or x = -2.", "x = 3 or x = -2"),
            ("x equals 5", "5"),
            ("So Mary has $5 left.", "$5"),
            (
                "Therefore the area is 12√3 square units.",
                "12√3 square units",
            ),
            ("Thus we need 4 more tickets.", "4 tickets"),
        ],
        found,
    );
}

#[test]
fn bare_answers() {
    check(
        &[
            ("5", "5"),
            ("x^2+1", "x^2+1"),
            ("(1,2)", "(1,2)"),
            ("\\sqrt{2}", "\\sqrt{2}"),
            ("A", "A"),
            ("Evelyn", "Evelyn"),
            ("x = 5", "x = 5"),
            ("12 cm", "12 cm"),
            ("$5$", "5"),
            ("$125$ miles", "125 miles"),
            ("**5**", "5"),
            ("*5*", "5"),
            ("`5`", "5"),
            ("\"5\"", "5"),
            ("(5)", "(5)"),
            ("-.5", "-.5"),
            ("−5", "-5"),
            ("≈5", "≈5"),
            ("US$5", "$5"),
            ("-$5", "-$5"),
            ("$-5", "$-5"),
            ("５", "5"),
            ("5!", "5!"),
            ("1e-5", "1e-5"),
            ("2\\sqrt{3}", "2\\sqrt{3}"),
            (
                "\\left(3,\\frac\\pi2\\right)",
                "\\left(3,\\frac\\pi2\\right)",
            ),
            ("no solution", "no solution"),
            ("x \\in [-2,7]", "x \\in [-2,7]"),
            ("$x=1$ or $x=2$", "x=1, x=2"),
            ("2 1/2", "2 1/2"),
            ("12 345", "12 345"),
            ("1,234,567", "1,234,567"),
            ("28 pct", "28 pct"),
            ("\\frac{1}{2} \\text{ cm}", "\\frac{1}{2} \\text{ cm}"),
            ("90^\\circ", "90^\\circ"),
            ("45°", "45°"),
            ("3 + 4i", "3 + 4i"),
            ("\\{1, 2\\}", "\\{1, 2\\}"),
            (
                "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
                "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
            ),
            ("True", "True"),
            ("a^2 - b^2", "a^2 - b^2"),
            ("y = -\\frac{1}{2}x + 3", "y = -\\frac{1}{2}x + 3"),
            ("17 red marbles", "17 marbles"),
            ("<think>5</think>\n6", "6"),
            ("\u{1b}[1m5\u{1b}[0m", "5"),
            ("5 m/s^2", "5 m/s^2"),
            ("x < 5", "x < 5"),
            ("-3 \\le x < 4", "-3 \\le x < 4"),
            ("5:30 PM", "5:30 PM"),
            ("$\\text{odd}$", "\\text{odd}"),
        ],
        found,
    );
}

#[test]
fn choices() {
    check(
        &[
            ("The answer is (A).", "A"),
            ("The answer is A.", "A"),
            ("The correct answer is B: 42", "B"),
            ("Answer: C. Paris", "C"),
            ("C) Paris", "C"),
            ("The correct option is D.", "D"),
            ("**Answer: B**", "B"),
            ("The answer is **B**.", "B"),
            ("The answer is option A", "A"),
            ("The correct choice is (b).", "B"),
            ("The answer is A and C.", "A, C"),
            ("Answer: A, C", "A, C"),
            ("The answer is a prime number, 7.", "7"),
            ("A quick check shows the correct option is D", "D"),
            ("$\\textbf{(A)}$", "A"),
            ("Answer: (C) $12$", "C"),
            ("The answer is $\\text{B}$", "B"),
            ("The best answer is B because the others fail.", "B"),
        ],
        found,
    );
}

#[test]
fn nothing() {
    check(
        &[
            ("", "∅"),
            ("   \n ", "∅"),
            ("I cannot determine the answer.", "∅"),
            ("I don't know.", "∅"),
            ("Sorry, I can't help with that.", "∅"),
            ("As an AI, I cannot answer 5 questions.", "∅"),
            ("<think>The answer is 5", "∅"),
            ("<think>5</think>", "∅"),
            ("We add 3 and 4, so the total is", "∅"),
            ("We have 3 + 4 =", "∅"),
            ("So the total is $\\frac{1}{2", "∅"),
            ("First we compute 3 * 4 = 12. Then we", "∅"),
            ("The answer is", "∅"),
            ("The answer is \\boxed{}", "∅"),
            ("Let me think about this problem step by step.", "∅"),
        ],
        found,
    );
}

#[test]
fn references() {
    check(
        &[
            ("5", "5"),
            ("$5$", "5"),
            ("18 red marbles", "18 marbles"),
            ("So she has 5.\n#### 5", "5"),
            ("#### 1,234", "1,234"),
            (
                "By symmetry, we find that the answer is $\\boxed{\\frac{1}{2}}$.",
                "\\frac{1}{2}",
            ),
            ("$x_1 = 2$ and $x_2 = 3$", "x_1 = 2, x_2 = 3"),
            (
                "The midpoints form a regular hexagon",
                "The midpoints form a regular hexagon",
            ),
            ("$$-793 < a < 10$$", "-793 < a < 10"),
            ("A", "A"),
            (
                "(-\\infty, 3) \\cup (5, \\infty)",
                "(-\\infty, 3) \\cup (5, \\infty)",
            ),
            ("$21,16$ or $11$", "21,16, 11"),
            (
                "\\boxed{x = -5,\\ p = \\frac{14}{3}} ",
                "x = -5,\\ p = \\frac{14}{3}",
            ),
            (
                "f(x) = \\begin{cases} 1 & x > 0 \\\\ 0 & x \\le 0 \\end{cases}",
                "f(x) = \\begin{cases} 1 & x > 0 \\\\ 0 & x \\le 0 \\end{cases}",
            ),
            ("No solution", "No solution"),
            (
                "$\\frac{NO}{BO}=\\frac{1}{\\sqrt{6}}$",
                "\\frac{NO}{BO}=\\frac{1}{\\sqrt{6}}",
            ),
            ("x^2+y^2=4", "x^2+y^2=4"),
            ("\\text{Monday}", "\\text{Monday}"),
            ("7, -2", "7, -2"),
            ("3\\frac{1}{2}", "3\\frac{1}{2}"),
        ],
        gold,
    );
}

const PIECES: &[&str] = &[
    "\\boxed{",
    "\\boxed{5}",
    " 1",
    "1+1+",
    "$",
    "$$",
    "answer is ",
    "the answer is 5 ",
    "answer: ",
    "#### ",
    "#### 5\n",
    "(",
    "((1",
    "{",
    "}",
    "[",
    "\\(",
    "\\)",
    "\\[",
    "$1$ and ",
    "$5 ",
    "1,",
    "1, ",
    "a ",
    "A ",
    "A, ",
    "\\frac{",
    "\\text{",
    "**",
    "* ",
    "_",
    "\"",
    "`",
    "```\n",
    ". ",
    ".\n",
    "\n",
    " ",
    "\t",
    "1. ",
    "no. ",
    "=",
    "x = ",
    "1 = ",
    "-",
    "- ",
    "|",
    "|1|+",
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "wait, ",
    "\u{0}",
    "\u{1b}[1m",
    "\u{200f}",
    "é",
    "5 apples and ",
    "twenty ",
    "one hundred and ",
    "\\begin{align}",
    "\\end{align}",
    "\\begin{pmatrix}",
    "\\\\",
    "\\",
    "&",
    "\\boxed 5 ",
    "\\,",
    "5\\,",
    "5 \\text{ cm} ",
    "5 m/s per ",
    "so ",
    "if ",
    "because ",
    "The answer is \\boxed{5}. ",
    "Answer\n",
    "answer ",
    "1,000",
    "9",
    "5!",
    "√",
    "π",
    "½",
    "5 or ",
    "not ",
    "not 5 but ",
    "either ",
    "$x$",
    "\\boxed{a}, ",
    "x=1, ",
    "{|",
    "(|1|+",
    ":",
    "5:",
    "5-",
    "5 -",
    "\\{",
    "é.",
    "e.g. ",
    "I don't know ",
    "\"'",
    "\\quad",
    "= ",
    "=>",
    "sqrt(",
    "a^",
    "<|im_end|>",
    "<|im_start|>",
    "\\\\frac",
    "5\n\n",
    "a\nb. ",
];

/// Much of anything ends soon, and without panic: quadratic time would take minutes.
#[test]
fn much_of_anything() {
    for piece in PIECES {
        let text = piece.repeat(300_000 / piece.len());
        for role in [Role::Prediction, Role::Gold] {
            let start = std::time::Instant::now();
            let _ = extract(&text, role, &Config::default());
            let took = start.elapsed();
            assert!(took.as_secs() < 5, "{piece:?} {role:?}: {took:?}");
            if took.as_millis() > 60 {
                eprintln!("{piece:?} {role:?}: {took:?}");
            }
        }
    }
}

#[test]
fn more_ways_to_write_it() {
    check(
        &[
            ("# Answer\n\n|-3|", "|-3|"),
            ("The correct answer is: 5 * 10**-7", "5 * 10**-7"),
            (
                "# Answer\n\n\\angle ABC = 315^\\circ",
                "\\angle ABC = 315^\\circ",
            ),
            ("# Answer\n\n0.(733)", "0.(733)"),
            (
                "# Answer\n\nx \\equiv 18 (\\bmod 25)",
                "x \\equiv 18 (\\bmod 25)",
            ),
            ("$\\fbox{$x^2+2x-18$}$", "x^2+2x-18"),
            ("We go through them.\n\nB. 12", "B"),
            ("We go through them.\n\nA) -7", "A"),
            ("We go through them.\n\n**C. $2\\sqrt{3}$**", "C"),
            ("# Answer\n\n0.\\overline{31}", "0.\\overline{31}"),
            ("# Answer\n\n\\sec^2 x", "\\sec^2 x"),
            (
                "# Answer\n\n\\int_{0}^{1} t^{5} dt",
                "\\int_{0}^{1} t^{5} dt",
            ),
            ("It has length $24$.\n\n\\boxed{?}", "∅"),
            ("# Answer\n\n\\frac{11!}{8!}", "\\frac{11!}{8!}"),
            ("# Answer\n\n(n+1)\\cdot n!", "(n+1)\\cdot n!"),
            (
                "# Answer\n\n\\sum\\limits_{i=0}^{10} 2^i",
                "\\sum\\limits_{i=0}^{10} 2^i",
            ),
            ("\\[ \\boxed{\\{ \\}} \\]", "\\{ \\}"),
            (
                "# Answer\n\n\\frac{1}{5}\\begin{pmatrix}1 \\\\ 2\\end{pmatrix}",
                "\\frac{1}{5}\\begin{pmatrix}1 \\\\ 2\\end{pmatrix}",
            ),
            (
                "Answer: f(x) = \\begin{cases} 1 & x > 0 \\\\ 0 & x \\le 0 \\end{cases}",
                "f(x) = \\begin{cases} 1 & x > 0 \\\\ 0 & x \\le 0 \\end{cases}",
            ),
            ("Option D is correct.", "D"),
            (
                "Option E can be ruled out.\n\nSo, option B is correct.",
                "B",
            ),
            ("We compare both sides. I choose (C).", "C"),
            ("The answer is \"both\".", "both"),
            ("| step | amount |\n|---|---|\n| total | 23 |", "23"),
            ("# Answer\n\n{11 \\choose 3}", "{11 \\choose 3}"),
            ("Answer: $4=(x-5)^2+y^2$", "4=(x-5)^2+y^2"),
            ("0=-5x+3y+3", "0=-5x+3y+3"),
            (
                "the answer is $\\begin{cases}x=4 \\\\ y=0\\end{cases}$",
                "\\begin{cases}x=4 \\\\ y=0\\end{cases}",
            ),
            (
                "# Answer\n\n\\begin{cases}x=4 \\\\ y=0\\end{cases}",
                "\\begin{cases}x=4 \\\\ y=0\\end{cases}",
            ),
            (
                "# Answer\n\n\\left\\langle x, 20 \\right\\rangle",
                "\\left\\langle x, 20 \\right\\rangle",
            ),
            ("# Answer\n\n1 \\text{ and } 12", "1 \\text{ and } 12"),
            (
                "# Answer\n\nk \\equiv 8 \\ (\\text{mod } 15)",
                "k \\equiv 8 \\ (\\text{mod } 15)",
            ),
            ("The answer is n ≡ 4 (mod 15).", "n ≡ 4 (mod 15)"),
            ("**Answer:** 78C in base 16", "78C_{16}"),
            ("**Answer:** A3F in base 16", "A3F_{16}"),
            ("<answer>3602 (base 7)</answer>", "3602_{7}"),
            ("111101001 in base 2", "111101001_{2}"),
            (
                "The answer is 312 meters per second squared.",
                "312 meters per second squared",
            ),
            ("Answer: 9 to 7", "9:7"),
            ("**Final Answer: 2 to 5 to 8**", "2:5:8"),
            ("Answer:\n7:59 p.m.", "7:59 p.m."),
            ("the answer is \\ln 5", "\\ln 5"),
            ("Hence, the answer is ln 8", "ln 8"),
            ("Hence, the answer is 4*5!", "4*5!"),
            (
                "**Answer:** (-infinity, -8) U (5, infinity)",
                "(-infinity, -8) U (5, infinity)",
            ),
            (
                "(B) is tempting, but it ignores the second condition. It is so.\n\n$\\mathrm{D}$",
                "D",
            ),
            (
                "(A) is tempting, but it ignores the second condition. It is so.\n\nB.",
                "B",
            ),
            ("<answer>Graph A</answer>", "Graph A"),
            (
                "True, since the second case is symmetric to the first.",
                "True",
            ),
            ("**No**, as the computation above shows.", "No"),
            ("Yes, because both sides agree for every $n$.", "Yes"),
            (
                "Each box holds 33 pencils and there are 26 boxes.\n\nA: 858",
                "858",
            ),
        ],
        found,
    );
}

#[test]
fn settings_have_their_effect() {
    use crate::config::ExtractionTarget;
    let text_of = |text: &str, config: &Config| match extract(text, Role::Prediction, config) {
        Extraction::Found(found) => found.text.into_owned(),
        Extraction::NoAnswer { .. } => "∅".to_owned(),
    };
    let with = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        config
    };
    let both = r"\boxed{5}. The final answer is $6$.";
    assert_eq!(text_of(both, &Config::default()), "6");
    assert_eq!(text_of(both, &with(|it| it.boxed_match_priority = 0)), "5");
    assert_eq!(text_of(both, &with(|it| it.boxed_match_priority = -1)), "6");
    let boxed = r"So $x = \boxed{5}$.";
    assert_eq!(
        text_of(boxed, &with(|it| it.boxed_match_priority = -1)),
        "x = 5"
    );
    let announced = with(|it| it.try_extract_without_anchor = false);
    assert_eq!(text_of("It is 5.", &announced), "∅");
    assert_eq!(text_of("5", &announced), "∅");
    assert_eq!(text_of("The answer is 5.", &announced), "5");
    let latex = with(|it| it.extract = vec![ExtractionTarget::Latex]);
    assert_eq!(text_of("It is $5$.", &latex), "5");
    assert_eq!(text_of("It is 5.", &latex), "∅");
    let expr = with(|it| it.extract = vec![ExtractionTarget::Expr]);
    assert_eq!(text_of("The answer is 5.", &expr), "5");
    assert_eq!(text_of("The answer is $5$.", &expr), "∅");
    let letters = with(|it| {
        it.extract = vec![ExtractionTarget::String {
            strings: vec!["A".to_owned(), "B".to_owned(), "C".to_owned()],
            lowercase: true,
        }];
    });
    for (text, expected) in [
        ("The answer is B.", "b"),
        (r"\boxed{\text{C}}", "c"),
        ("A quick check shows that it is (C).", "c"),
        ("The answer is 5.", "∅"),
    ] {
        assert_eq!(text_of(text, &letters), expected, "{text}");
    }
}

mod properties {
    use super::*;
    use crate::config::ExtractionTarget;
    use proptest::prelude::*;

    proptest! {
        /// No text panics, and what is found is a tidy part of an answer.
        #[test]
        fn any_mixture_is_read(
            parts in prop::collection::vec(prop_oneof![prop::sample::select(PIECES).prop_map(str::to_owned), ".{0,4}"], 0..24),
            priority in -1i32..120,
            kinds in 0usize..4,
        ) {
            let text = parts.concat();
            let mut config = Config { boxed_match_priority: priority, ..Config::default() };
            match kinds {
                0 => config.extract = vec![ExtractionTarget::Latex],
                1 => config.extract = vec![ExtractionTarget::Expr],
                2 => config.extract = vec![ExtractionTarget::String { strings: vec!["A".to_owned(), "é".to_owned()], lowercase: false }],
                _ => {}
            }
            for role in [Role::Prediction, Role::Gold] {
                let found = candidates(&text, role, &config);
                prop_assert!(found.len() <= 8);
                for one in found {
                    prop_assert!(!one.text.trim().is_empty(), "{text:?}");
                }
            }
        }
    }
}

#[test]
fn settled_without_announcement() {
    check(
        &[
            ("The probability is ¾.", "¾"),
            ("So $x$ equals ⅚.", "⅚"),
            ("Tom ate ⅔ of the cake.", "⅔"),
            (
                "**C) 12 m/s²**\n\nBecause the net force is 24 N and the mass is 2 kg.",
                "C",
            ),
            (
                "B. Paris\n\nExplanation: Paris has been the capital since 987.",
                "B",
            ),
            (
                "The best option is C. Options A and B ignore friction and D has the wrong sign.",
                "C",
            ),
            ("The right choice is D. A, B and C are distractors.", "D"),
            ("The best choice is to buy 5 pens.", "5 pens"),
            ("The best option is not A.", "∅"),
            ("A) 5\nB) 6\n\nWe compute 2+4 = 6.", "6"),
            ("A. Setup\nWe add 2 and 3.\nB. Solve\nWe get 5.", "5"),
            ("January 1 of that year falls on a **Tuesday**.", "Tuesday"),
            ("The tallest of the 5 friends is **Marta**.", "Marta"),
            ("We prove it by **induction**.", "∅"),
            ("Tom has 5 apples, and he is **happy**.", "5 apples"),
            (
                "**Yes**, such a colouring exists: colour the point $(x,y)$ by the parity of $x+y$.",
                "Yes",
            ),
            ("No, because $2+2=4$.", "No"),
            ("**False.** For example take $x=2$.", "False"),
            ("We compare.\n\n**No.** There are 3 counterexamples.", "No"),
            ("Yes, we can compute it. The total is 5.", "5"),
            ("Yes, that is right. The total is 5.", "5"),
            ("So x = 5.\n\nYes, x = 5 works.", "x = 5"),
            (
                "Is 7 prime?\n\nYes, 7 is prime, so the sum is 2+3+5+7 = 17.",
                "17",
            ),
            ("True for $n=2$. Therefore the statement is false.", "false"),
            ("The statement is **false**.", "false"),
            ("We compare the terms. So, D.", "D"),
            ("Thus, (A) and (C).", "A, C"),
        ],
        found,
    );
}

#[test]
fn answers_left_open() {
    check(
        &[
            ("Answer: N/A", "∅"),
            ("Answer: TBD", "∅"),
            ("#### N/A", "∅"),
            ("**Final Answer:** [Your answer here]", "∅"),
            (r"\boxed{\phantom{0}}", "∅"),
            (r"\boxed{\text{?}}", "∅"),
            (r"\boxed{\ldots}", "∅"),
            (r"\boxed{\square}", "∅"),
            (r"\boxed{\text{[answer]}}", "∅"),
            (r"\boxed{\text{N/A}}", "∅"),
            (r"\boxed{\text{none}}", r"\text{none}"),
            ("Answer: None", "None"),
        ],
        found,
    );
}
