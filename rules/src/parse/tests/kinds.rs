//! Sets, tuples, matrices, choices, times and words.

use super::check;

#[test]
fn sets() {
    check(
        "Set",
        &[
            (r"\{1\pm\sqrt{5},-2\}", "{1 + sqrt(5), 1 - sqrt(5), -2}"),
            (r"\{1,2\}", "{1, 2}"),
            ("{1,2}", "{1, 2}"),
            (r"\emptyset", "∅"),
            ("no solution", "∅"),
            (r"\varnothing", "∅"),
            ("no real solutions", "∅"),
            ("There are no solutions", "∅"),
            (r"\text{no solution}", "∅"),
            (r"\{(1,2),(3,4)\}", "{(1, 2), (3, 4)}"),
            (r"\left\{\frac{1}{2}, 3\right\}", "{1/2, 3}"),
            (r"\{5\}", "{5}"),
            (r"\{100,200\}", "{100, 200}"),
            (r"\{1,2,\ldots,n\}", "{1, 2, …, n}"),
            (r"\{2,4,6,...\}", "{2, 4, 6, …}"),
            (r"\text{No solution}", "∅"),
        ],
    );
}

#[test]
fn tuples() {
    check(
        "Tuple",
        &[
            (r"\langle 1,2,3\rangle", "(1, 2, 3)"),
            (
                r"\\left( \\frac{4}{3}, -\\frac{1}{3} \\right)",
                "(4/3, -1/3)",
            ),
            (r"\left( 3, \frac{\pi}{2} \right)", "(3, π/2)"),
            ("(6,31,-1)", "(6, 31, -1)"),
            ("(-1, 1)", "(-1, 1)"),
            ("(1; 2)", "(1, 2)"),
            ("(1, 2)^T", "(1, 2)"),
            ("[1, 2, 3]", "(1, 2, 3)"),
            ("<1, 2, 3>", "(1, 2, 3)"),
            (r"\langle -1, 0, 2 \rangle", "(-1, 0, 2)"),
            ("(100,200)", "(100, 200)"),
            ("(1,000, 2,000)", "(1000, 2000)"),
            ("(1,234, 5,678)", "(1234, 5678)"),
            ("(1,2, 3)", "(1, 2, 3)"),
            ("(12, 345)", "(12, 345)"),
            ("(1, 234)", "(1, 234)"),
            (r"\left(\frac{1}{2}, \frac{3}{4}\right)", "(1/2, 3/4)"),
        ],
    );
}

#[test]
fn intervals() {
    check(
        "Interval",
        &[
            (r"(-\infty, 3)", "(-∞, 3)"),
            ("[0,9)", "[0, 9)"),
            ("]0,9[", "(0, 9)"),
            ("(0,9]", "(0, 9]"),
            (r"\left[-\frac{\pi}{4}, \frac{\pi}{4}\right)", "[-π/4, π/4)"),
            (r"\mathbb{R}", "(-∞, ∞)"),
            (r"[0, \infty)", "[0, ∞)"),
            ("(0, 1]", "(0, 1]"),
            ("[-1, 1]", "[-1, 1]"),
            (r"\left]0, 1\right[", "(0, 1)"),
            ("]0, 1]", "(0, 1]"),
            ("[0; 1)", "[0, 1)"),
            ("all real numbers", "(-∞, ∞)"),
            (r"\left(\frac{1}{2},+\infty\right)", "(1/2, ∞)"),
            (r"[1,+\infty)", "[1, ∞)"),
            (r"\left[-\frac{1}{4},+\infty\right)", "[-1/4, ∞)"),
        ],
    );
}

#[test]
fn unions() {
    check(
        "Union",
        &[
            (r"(-\infty, -5] \cup [1, \infty)", "(-∞, -5] ∪ [1, ∞)"),
            (r"(1, 2) \cup (3, 4)", "(1, 2) ∪ (3, 4)"),
            (
                r"\left( -\infty, -3 \right) \cup \left( 3, \infty \right)",
                "(-∞, -3) ∪ (3, ∞)",
            ),
            (r"(-\infty,0) \cup (0,\infty)", "(-∞, 0) ∪ (0, ∞)"),
            (r"A \cup B", "A ∪ B"),
            (r"(-\infty,-1)\cup(3,+\infty)", "(-∞, -1) ∪ (3, ∞)"),
            (r"(0,1)\cup(1,2)", "(0, 1) ∪ (1, 2)"),
        ],
    );
}

#[test]
fn intersections() {
    check(
        "Intersection",
        &[
            (r"A \cap B", "A ∩ B"),
            (r"\{1,2,3\} \cap \{2,3\}", "{1, 2, 3} ∩ {2, 3}"),
        ],
    );
}

#[test]
fn differences() {
    check(
        "Difference",
        &[
            (r"\mathbb{R} \setminus \{1\}", r"(-∞, ∞) \ {1}"),
            (r"\mathbb{R} \setminus \{-1, 1\}", r"(-∞, ∞) \ {-1, 1}"),
            (r"\mathbb{R} \backslash \{0\}", r"(-∞, ∞) \ {0}"),
            (r"\mathbb{R} - \{0\}", r"(-∞, ∞) \ {0}"),
            (r"(-\infty, \infty) \setminus \{0\}", r"(-∞, ∞) \ {0}"),
            ("All real numbers except 0", r"(-∞, ∞) \ {0}"),
            (
                "all real numbers except x = 1 and x = 2",
                r"(-∞, ∞) \ {1, 2}",
            ),
        ],
    );
}

#[test]
fn matrix_and_determinants() {
    check(
        "Matrix",
        &[
            (
                r"\begin{pmatrix}1 & 2\\3 & 4\end{pmatrix}",
                "[[1, 2], [3, 4]]",
            ),
            ("[[1,2],[3,4]]", "[[1, 2], [3, 4]]"),
            (
                r"\begin{pmatrix} 1/5 \\ -18/5 \end{pmatrix}",
                "[[1/5], [-18/5]]",
            ),
            (
                r"\begin{pmatrix} -1/3 & 0 \\ 1 & 2\end{pmatrix}",
                "[[-1/3, 0], [1, 2]]",
            ),
            (
                r"\begin{pmatrix} 1 \\ 2 \\ 3 \end{pmatrix}",
                "[[1], [2], [3]]",
            ),
            (
                r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}",
                "[[a, b], [c, d]]",
            ),
            (
                r"\left[\begin{array}{cc} 1 & 2 \\ 3 & 4 \end{array}\right]",
                "[[1, 2], [3, 4]]",
            ),
            (
                r"\frac{1}{2}\begin{pmatrix} 1 \\ 2 \end{pmatrix}",
                "[[(1/2)*1], [(1/2)*2]]",
            ),
            (r"\begin{pmatrix} 1 & 2 \end{pmatrix}^T", "[[1], [2]]"),
        ],
    );
}

#[test]
fn choice_letters() {
    check(
        "Choice",
        &[
            ("A", "(A)"),
            ("(A)", "(A)"),
            (r"\text{(A)}", "(A)"),
            (r"\textbf{(B)}", "(B)"),
            ("A and C", "(A), (C)"),
            ("Option B", "(B)"),
            ("(B) 5", "(B)"),
            (r"\text{(C)}", "(C)"),
            ("A, B", "(A), (B)"),
            ("A, C, D", "(A), (C), (D)"),
            ("ABC", "(A), (B), (C)"),
            ("(A), (C)", "(A), (C)"),
            ("[A]", "(A)"),
            ("B. 12", "(B)"),
            ("C) 5", "(C)"),
            (r"(D) \frac{1}{2}", "(D)"),
            (r"\textbf{(E)}\ 17", "(E)"),
            (r"\mathbf{(A)}", "(A)"),
            (r"\text{A}", "(A)"),
            (r"\text{A and B}", "(A), (B)"),
            (r"\text{(A) and (C)}", "(A), (C)"),
            (r"\textbf{A}", "(A)"),
            ("A,B,D", "(A), (B), (D)"),
            ("ABD", "(A), (B), (D)"),
            ("ACD", "(A), (C), (D)"),
        ],
    );
}

#[test]
fn ratios() {
    check(
        "Ratio",
        &[
            ("3:4", "3:4"),
            ("3 to 4", "3:4"),
            ("12:30", "12:30"),
            ("2:3:4", "2:3:4"),
            ("1 : 2", "1:2"),
            ("6 : 2", "6:2"),
            ("5 to 7", "5:7"),
            ("3:15", "3:15"),
            ("1{:}3{:}4", "1:3:4"),
        ],
    );
}

#[test]
fn times() {
    check(
        "Time",
        &[
            ("3:45 p.m.", "03:45 p.m."),
            ("12:30 PM", "12:30 p.m."),
            ("5:00 p.m.", "05:00 p.m."),
            ("7 o'clock", "07:00"),
            (r"\text{7:30 p.m.}", "07:30 p.m."),
            ("12 o'clock", "12:00"),
            (r"\text{9 a.m.}", "09:00 a.m."),
        ],
    );
}

#[test]
fn truths() {
    check(
        "Truth",
        &[
            ("Yes", "yes"),
            ("False", "no"),
            ("No", "no"),
            ("yes, because it is", "yes"),
            (r"\text{Yes}", "yes"),
            (r"\text{True}", "yes"),
            ("yes", "yes"),
        ],
    );
}

#[test]
fn texts() {
    check(
        "Text",
        &[
            ("none", "none"),
            ("DNE", "does not exist"),
            (r"\text{Evelyn}", "Evelyn"),
            ("odd", "odd"),
            (r"\text{odd}", "odd"),
            (
                r"\begin{cases} x & x>0 \\ -x & x<0 \end{cases}",
                "cases: x, x>0; -x, x<0",
            ),
            (r"\text{even}", "even"),
            (r"\{ (x,y) : x + y = 1\}", "{ (x,y) : x + y = 1}"),
            ("Monday", "Monday"),
            ("January 5", "January 5"),
            ("May 17, 2020", "May 17, 2020"),
            ("2020-05-17", "2020-05-17"),
            ("12/25/2020", "12/25/2020"),
            ("undefined", "undefined"),
            ("infinitely many", "infinitely many"),
            ("all positive integers", "all positive integers"),
            (r"\{x | x = 2k, k \in Z\}", r"{x | x = 2k, k \in Z}"),
            (
                r"\left\{\begin{array}{ll} x^2 & x>0 \\ 0 & x \le 0\end{array}\right.",
                r"cases: x^2, x>0; 0, x\le0",
            ),
            (r"\text{Neither}", "Neither"),
            ("neither", "neither"),
            (r"\text{None of the above}", "none of the above"),
            (r"\text{DNE}", "does not exist"),
            (r"\text{infinitely many}", "infinitely many"),
            (r"\text{Increasing}", "Increasing"),
            ("isosceles", "isosceles"),
            ("right triangle", "right triangle"),
            ("equilateral triangle", "equilateral triangle"),
            ("a circle", "a circle"),
            ("line", "line"),
            ("ellipse", "ellipse"),
            ("x-axis", "x-axis"),
            ("y-axis", "y-axis"),
            ("parabola opening upward", "parabola opening upward"),
            ("Tuesday", "Tuesday"),
            ("March 14", "March 14"),
        ],
    );
}
