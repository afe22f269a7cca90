//! What people write around formulas, and what must not be taken for one.

use super::{check, read};

#[test]
fn quantity() {
    check(
        "Quantity",
        &[
            ("3 x 4 matrix", "3*4 matrix"),
            ("2x2", "2*2"),
            ("H_2O", "H_2*O"),
            ("10-15", "10 - 15"),
            ("2 mod 3", "(2 mod 3)"),
            ("1st", "1 st"),
            ("5th", "5 th"),
            ("21st", "21 st"),
            ("10^6 people", "10^6 people"),
            ("6*7", "6*7"),
            (r"100 \div 4", "100/4"),
            (r"\frac{1}{2} \times 3", "(1/2)*3"),
            (r"\frac{1}{2}(3)", "(1/2)*3"),
            ("12 units", "12 units"),
            ("12 u", "12*u"),
            ("5 × 3 cm", "5*3 cm"),
            ("3 m 20 cm", "16/5 m"),
            ("5 km 300 m", "53/10 km"),
            ("3 hr", "3 hr"),
            (r"\$3 \text{ per hour}", "3 per hour USD"),
            ("$15/hour", "15 per hour USD"),
            ("15 dollars per hour", "15 per hour USD"),
            ("$2.50 per pound", "2.50 per pound USD"),
            ("0.05 dollars", "0.05 USD"),
            ("5c", "5*c"),
            ("EUR 50", "50 EUR"),
            ("50 EUR", "50 EUR"),
            ("£3.50", "3.50 GBP"),
            ("3.50£", "3.50 GBP"),
            ("1,50 €", "1.50 EUR"),
            ("1.234,50 €", "1234.50 EUR"),
            ("2^{-3}", "2^(-3)"),
            ("2^-3", "2^(-3)"),
            ("2^{1/2}", "2^(1/2)"),
            ("4^{3/2}", "4^(3/2)"),
            ("8^(2/3)", "8^(2/3)"),
            ("(-8)^{1/3}", "(-8)^(1/3)"),
            ("e", "e"),
            ("e^2", "e^2"),
            ("i", "i"),
            ("2i", "2*i"),
            ("i^2", "i^2"),
            ("-i", "-i"),
            (r"\ell", "ℓ"),
            ("IV", "I*V"),
        ],
    );
}

#[test]
fn text() {
    check(
        "Text",
        &[
            ("H2O", "H2O"),
            ("CO2", "CO2"),
            ("C6H12O6", "C6H12O6"),
            ("NaCl", "NaCl"),
            (r"\mathrm{H}_2\mathrm{O}", "H2O"),
            (r"\text{H}_2\text{O}", "H2O"),
            ("x is even", "x is even"),
            ("n is odd", "n is odd"),
            ("Case 2", "Case 2"),
            ("Step 1", "Step 1"),
            ("Room 101", "Room 101"),
            ("Chapter 5, Section 2", "Chapter 5, Section 2"),
            ("II", "II"),
            ("III", "III"),
        ],
    );
}

#[test]
fn list() {
    check(
        "List",
        &[
            ("v = 3 m/s, t = 2 s", "v = 3 m/s, t = 2 s"),
            (r"3 \pm 0.1", "3 + 1/10, 3 - 1/10"),
            (r"3.0 \pm 0.1 \text{ cm}", "3 + 1/10 cm, 3 - 1/10 cm"),
            ("5 ± 2 cm", "5 + 2 cm, 5 - 2 cm"),
            ("(2,3) and (4,5)", "(2, 3), (4, 5)"),
            ("A=5, B=3", "A = 5, B = 3"),
            (r"a \in \mathbb{R}, b \neq 0", "a ∈ (-∞, ∞), b ≠ 0"),
            (r"x = 0 \text{ or } \pi", "x = 0, x = π"),
            (
                r"\theta = \frac{\pi}{6}, \frac{5\pi}{6}",
                "theta = π/6, theta = (5*π)/6",
            ),
            (r"\sin x = \pm 1", "sin(x) = 1, sin(x) = -1"),
        ],
    );
}

#[test]
fn relation() {
    check(
        "Relation",
        &[
            (r"6 \times 4 = 24", "6*4 = 24"),
            ("2 + 3 = 5", "2 + 3 = 5"),
            ("ans = 5", "ans = 5"),
            ("x=5.", "x = 5"),
            ("x=5,", "x = 5"),
            ("y=3x+2;", "y = 3*x + 2"),
            (r"-\infty < x < \infty", "-∞ < x < ∞"),
            (r"x \in (-\infty, \infty)", "x ∈ (-∞, ∞)"),
            (r"x \in \emptyset", "x ∈ ∅"),
        ],
    );
}

#[test]
fn tuple() {
    check(
        "Tuple",
        &[("point (2,3)", "(2, 3)"), ("the point (2, 3)", "(2, 3)")],
    );
}

#[test]
fn choice() {
    check(
        "Choice",
        &[
            ("A: 5", "(A)"),
            ("B", "(B)"),
            ("D.", "(D)"),
            ("Answer: B", "(B)"),
        ],
    );
}

#[test]
fn union() {
    check(
        "Union",
        &[(r"(-\infty, a) \cup (a, \infty)", "(-∞, a) ∪ (a, ∞)")],
    );
}

#[test]
fn refused() {
    let texts = [
        "x2",
        "v0",
        "1.2.3",
        "between 5 and 10",
        "from 3 to 5",
        "at least 5",
        "more than 10",
        "less than 5",
        "5 modulo 7",
        r"\frac{3}{4} of 12",
        "50% of 20",
        "1/2 of x",
        "x increased by 3",
        "2 plus 3",
        "five plus two",
        "3 times x",
        "sqrt 2 over 2",
        "x squared",
        "pi over 4",
        "x^2 where x > 0",
        "x = 3 (twice)",
        "x = 3 (double root)",
        "5 (five)",
        "5 (since 2+3=5)",
        "12 cm by 5 cm",
        "12 cm × 5 cm",
        "b)",
    ];
    for text in texts {
        assert_eq!(read(text).0, "Error", "{text}");
    }
}
