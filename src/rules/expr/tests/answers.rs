//! Texts and what is read from them, as a person wrote both down.

use super::{check, read};

#[test]
fn relations() {
    check(
        "Relation",
        &[
            ("f^{-1}(x) = 2x", "f^(-1)(x) = 2*x"),
            (r"x \in [1,2] \cup (3,\infty)", "x ∈ [1, 2] ∪ (3, ∞)"),
            ("(x,y)=(1,2)", "(x, y) = (1, 2)"),
            (r"x \approx 3.14", "x ≈ 3.14"),
            (r"x \equiv 3 \pmod 7", "x = 3 (mod 7)"),
            (r"a < b \le c", "a < b ≤ c"),
            ("2x+3y=5", "2*x + 3*y = 5"),
            (r"\angle ABC = 90^\circ", "∠ABC = 90°"),
            ("AB = 5", "A*B = 5"),
            ("S_{MBCN}:S=7:32", "S_MBCN:S = 7:32"),
            (
                r"\frac{NO}{BO}=\frac{1}{\sqrt{6}}",
                "(N*O)/(B*O) = 1/sqrt(6)",
            ),
            ("f(2) < f(1) < f(4)", "f(2) < f(1) < f(4)"),
            (
                r"F_n = \sum_{k=0}^{n-1} F_k F_{n-k-1}",
                "F_n = sum(F_k*F_(n-k-1), k, 0, n - 1)",
            ),
            (r"x \in [-2,7]", "x ∈ [-2, 7]"),
            ("y = 2x + 3", "y = 2*x + 3"),
            ("f(x) = 2x + 1", "f(x) = 2*x + 1"),
            (r"f(x)=x^2 \text{ for all } x", "f(x) = x^2"),
            ("f(x) = cx for some constant c", "f(x) = c*x"),
            (r"\{x \mid x > 3\}", "x > 3"),
            (r"\{x \in \mathbb{R} : x \ne 2\}", "x ≠ 2"),
            ("|2x-3| < 5", "abs(2*x - 3) < 5"),
            ("-1 < x < 3", "-1 < x < 3"),
            (r"a \leq b", "a ≤ b"),
            (r"2 \le x \leqslant 7", "2 ≤ x ≤ 7"),
            (r"x \geq 5 \text{ cm}", "x ≥ 5 cm"),
            (r"5 \ge x", "5 ≥ x"),
            (r"a \mid b", "a ∣ b"),
            ("7 | n", "7 ∣ n"),
            (r"3 \mid 12", "3 ∣ 12"),
            (r"\gcd(a, b) = 1", "gcd(a, b) = 1"),
            (r"n \equiv 1 \pmod{4}", "n = 1 (mod 4)"),
            ("n ≡ 1 (mod 4)", "n = 1 (mod 4)"),
            (r"x \equiv 2 \bmod 5", "x = 2 (mod 5)"),
            (r"\frac{dy}{dx} = 2x", "dy/dx = 2*x"),
            ("y' = 2y", "y' = 2*y"),
            ("y'' + y = 0", "y'' + y = 0"),
            (r"\vec{v} = 3\hat{i} + 4\hat{j}", "vec(v) = 3*i + 4*j"),
            (r"\bar{x} = 5", "bar(x) = 5"),
            (r"\|v\| = 3", "norm(v) = 3"),
            ("|z| = 2", "abs(z) = 2"),
            (r"\angle A = 30^\circ", "∠A = 30°"),
            (r"AB \parallel CD", "A*B ∥ C*D"),
            (r"AB \perp CD", "A*B ⊥ C*D"),
            (r"\triangle ABC \sim \triangle DEF", "△ABC ∼ △DEF"),
            ("x:y = 2:3", "x:y = 2:3"),
            (r"\pi \approx 3.14", "π ≈ 3.14"),
            ("x ≈ 2.5", "x ≈ 2.5"),
            (r"\overline{abc} = 123", "bar(abc) = 123"),
            ("x = ½", "x = 1/2"),
            ("x≤3", "x ≤ 3"),
            ("x∈ℝ", "x ∈ (-∞, ∞)"),
            ("θ = 30°", "theta = 30°"),
            (r"x \equiv 2 \pmod{5}", "x = 2 (mod 5)"),
            (
                r"f(x) = cx \text{ where } c \text{ is a constant}",
                "f(x) = c*x",
            ),
            (
                r"f(x) = x + c \text{ for all } x \in \mathbb{R}",
                "f(x) = x + c",
            ),
            ("(x, y, z) = (5, 3, 2)", "(x, y, z) = (5, 3, 2)"),
            (r"x \in (0, \infty)", "x ∈ (0, ∞)"),
            (r"x \in \{1, 2, 3\}", "x ∈ {1, 2, 3}"),
            (r"x \notin \{0\}", "x ∉ {0}"),
            (r"S = \{1, 2\}", "S = {1, 2}"),
            (r"|a+b| \le |a|+|b|", "abs(a + b) ≤ abs(a) + abs(b)"),
            ("x in (0,1)", "x ∈ (0, 1)"),
            (r"\(x = 5\)", "x = 5"),
            (r"\[x = 5\]", "x = 5"),
            ("$$x = 5$$", "x = 5"),
            ("**x = 5**", "x = 5"),
            ("`x = 5`", "x = 5"),
            (r"\boxed{x = 5}", "x = 5"),
            ("{x=5}", "x = 5"),
            ("(x = 5)", "x = 5"),
            (r"\frac{1}{3} \approx 0.333", "1/3 ≈ 0.333"),
            ("x^2-5x+6=0", "x^2 - 5*x + 6 = 0"),
            (r"y=-\frac{1}{2}x+\frac{3}{4}", "y = -(1/2)*x + 3/4"),
            (r"\frac{x^{2}}{4}+\frac{y^{2}}{9}=1", "x^2/4 + y^2/9 = 1"),
            ("(x-1)^2+(y+2)^2=9", "(x - 1)^2 + (y + 2)^2 = 9"),
            ("x^{2}+y^{2}-2 x+4 y=0", "x^2 + y^2 - 2*x + 4*y = 0"),
            ("a_{n}=2^{n}-1", "a_n = 2^n - 1"),
            (r"S_n = \frac{n(n+1)}{2}", "S_n = (n*(n + 1))/2"),
            ("T_{10} = 55", "T_10 = 55"),
            (r"\left\{x | -1<x<2\right\}", "-1 < x < 2"),
            (r"\{x|x>1\}", "x > 1"),
            (r"n \in \mathbb{N}_+", "n ∈ ℕ_+"),
            (r"\angle B A C=60^{\circ}", "∠BAC = 60°"),
            ("A B=5", "A*B = 5"),
            (r"S_{\triangle A B C}=\frac{3}{2}", "S_(triangleABC) = 3/2"),
            (
                r"f(x)=\left\{\begin{array}{ll} x^2 & x>0 \\ 0 & x \le 0\end{array}\right.",
                r"f(x) = cases: x^2, x>0; 0, x\le0",
            ),
            (
                r"f(x)=\begin{cases} x^2, & x>0 \\ 0, & x \le 0\end{cases}",
                r"f(x) = cases: x^2, x>0; 0, x\le0",
            ),
            ("(a, b)=(1,2)", "(a, b) = (1, 2)"),
            ("M=(1,2)", "M = (1, 2)"),
            (r"\vec{a}=(1,2)", "vec(a) = (1, 2)"),
            (r"\overrightarrow{AB}=(3,4)", "vec(AB) = (3, 4)"),
            (r"\omega = \sqrt{\frac{k}{m}}", "omega = sqrt(k/m)"),
            ("E = mc^2", "E = m*c^2"),
            (r"\Delta x = v t", "Delta x = v*t"),
            (
                r"\Delta H = -285.8 \text{ kJ/mol}",
                "Delta H = -285.8 kJ/mol",
            ),
            (r"\dot{m} = 5", "dot(m) = 5"),
            (r"\psi(x) = A e^{ikx}", "psi(x) = A*e^(i*k*x)"),
            (
                "y(x) = C_1 e^{x} + C_2 e^{-x}",
                "y(x) = C_1*e^x + C_2*e^(-x)",
            ),
            ("x(t) = 3t + 2", "x(t) = 3*t + 2"),
            (
                r"y=c_1\cos 2t+c_2\sin 2t",
                "y = c_1*cos(2*t) + c_2*sin(2*t)",
            ),
            ("y = Ce^{x}", "y = C*e^x"),
            (r"u(x,t) = \sin(x - ct)", "u(x, t) = sin(x - c*t)"),
            ("0<x<1", "0 < x < 1"),
            (r"0 < x \leq \frac{1}{2}", "0 < x ≤ 1/2"),
            ("|x|<2", "abs(x) < 2"),
            (r"x\ge0", "x ≥ 0"),
            ("a>b>c", "a > b > c"),
            (r"x\ne0", "x ≠ 0"),
            (r"p\mid q", "p ∣ q"),
            (r"x\perp y", "x ⊥ y"),
            (r"-\frac{1}{2} \leq x \leq \frac{1}{2}", "-1/2 ≤ x ≤ 1/2"),
            (
                r"f(x) = \begin{cases} x^2 & \text{if } x > 0 \\ 0 & \text{if } x \leq 0 \end{cases}",
                r"f(x) = cases: x^2, x>0; 0, x\le0",
            ),
            (r"x \in R", "x ∈ (-∞, ∞)"),
            (r"x \in Z", "x ∈ ℤ"),
        ],
    );
}

#[test]
fn lists() {
    check(
        "List",
        &[
            ("1,5", "1, 5"),
            (r"1 \pm \sqrt{5}", "1 + sqrt(5), 1 - sqrt(5)"),
            (r"x = \pm 2", "x = 2, x = -2"),
            ("1, 2, 3", "1, 2, 3"),
            (r"x=1 \text{ or } x=2", "x = 1, x = 2"),
            ("x=1, y=2", "x = 1, y = 2"),
            ("1 and 2", "1, 2"),
            ("(1,2), (3,4)", "(1, 2), (3, 4)"),
            ("x > 3 or x < -2", "x > 3, x < -2"),
            ("p=5,q=2;p=7,q=2", "p = 5, q = 2; p = 7, q = 2"),
            (r"a=4,\,-8,\,-10", "a = 4, a = -8, a = -10"),
            (
                r"x_{1}=10^{\frac{-5+\sqrt{13}}{6}},\quadx_{2}=10^{2}",
                "x_1 = 10^((-5 + sqrt(13))/6), x_2 = 10^2",
            ),
            ("21,16 or 11", "21, 16, 11"),
            ("3, 5, 7", "3, 5, 7"),
            (r"1 \pm \sqrt{19}", "1 + sqrt(19), 1 - sqrt(19)"),
            (
                r"\frac{1 \pm \sqrt{5}}{2}",
                "(1 + sqrt(5))/2, (1 - sqrt(5))/2",
            ),
            (r"y=\pm\sqrt{x}", "y = sqrt(x), y = -sqrt(x)"),
            (r"k\pi, k \in \mathbb{Z}", "k*π, k ∈ ℤ"),
            (
                r"x = \frac{\pi}{4} + k\pi, k \in \mathbb{Z}",
                "x = π/4 + k*π, k ∈ ℤ",
            ),
            (
                r"x = \frac{\pi}{6} + 2k\pi \text{ or } x = \frac{5\pi}{6} + 2k\pi, k \in \mathbb{Z}",
                "x = π/6 + 2*k*π, x = (5*π)/6 + 2*k*π, k ∈ ℤ",
            ),
            (r"x \neq 1, 2", "x ≠ 1, x ≠ 2"),
            ("Tuesday and Thursday", "Tuesday, Thursday"),
            ("Alice, Bob and Carol", "Alice, Bob, Carol"),
            ("x and y", "x, y"),
            ("A or B", "A, B"),
            (r"\pm\infty", "∞, -∞"),
            (r"x < -1 \text{ or } x > 3", "x < -1, x > 3"),
            ("x>1 and x<3", "x > 1, x < 3"),
            (r"a_1, a_2, \ldots, a_n", "a_1, a_2, …, a_n"),
            (r"1, 2, \ldots, 10", "1, 2, …, 10"),
            ("x₁ = 2, x₂ = 3", "x_1 = 2, x_2 = 3"),
            ("red, blue", "red, blue"),
            (r"x = k\pi \text{ for any integer } k", "x = k*π, k ∈ ℤ"),
            (r"x = k\pi (k \in \mathbb{Z})", "x = k*π, k ∈ ℤ"),
            (r"x = 2k\pi, where k is an integer", "x = 2*k*π, k ∈ ℤ"),
            (
                r"f(n) = n \text{ for all positive integers } n",
                "f(n) = n, n ∈ ℤ^+",
            ),
            ("x = 5, y = 3, z = 2", "x = 5, y = 3, z = 2"),
            ("(2, 3), (3, 2)", "(2, 3), (3, 2)"),
            (r"x = 1 \quad y = 2", "x = 1, y = 2"),
            (r"x=1 \\ y=2", "x = 1, y = 2"),
            (r"\begin{cases} x = 1 \\ y = 2 \end{cases}", "x = 1, y = 2"),
            (
                r"\begin{aligned} x &= 1 \\ y &= 2 \end{aligned}",
                "x = 1, y = 2",
            ),
            (r"-1 \pm i\sqrt{3}", "-1 + i*sqrt(3), -1 - i*sqrt(3)"),
            (
                r"\frac{-b \pm \sqrt{b^2-4ac}}{2a}",
                "(-b + sqrt(b^2 - 4*a*c))/(2*a), (-b - sqrt(b^2 - 4*a*c))/(2*a)",
            ),
            (
                r"x_{1,2} = 1 \pm \sqrt{2}",
                "x_1,2 = 1 + sqrt(2), x_1,2 = 1 - sqrt(2)",
            ),
            (r"\pm 1, \pm 2", "1, -1, 2, -2"),
            (r"\pm 1 \text{ and } \pm 2", "1, -1, 2, -2"),
            (r"(\pm 1, \pm 2)", "(1, 2), (-1, -2)"),
            (
                r"x = 2 \pm 3, y = 1 \mp 3",
                "x = 2 + 3, x = 2 - 3, y = 1 - 3, y = 1 + 3",
            ),
            ("x = 5 or 6", "x = 5, x = 6"),
            ("x=2 or 3", "x = 2, x = 3"),
            ("x = 2, 3 or 4", "x = 2, x = 3, x = 4"),
            ("a=1 and b=2", "a = 1, b = 2"),
            ("(x,y) = (1,2), (3,4)", "(x, y) = (1, 2), (x, y) = (3, 4)"),
            (
                "(x, y) = (1, 2) or (3, 4)",
                "(x, y) = (1, 2), (x, y) = (3, 4)",
            ),
            ("x = 1, y = 2 or x = 3, y = 4", "x = 1, y = 2; x = 3, y = 4"),
            ("17 and 19", "17, 19"),
            ("11, 13, and 17", "11, 13, 17"),
            ("1; 2; 3", "1, 2, 3"),
            ("1,2;3,4", "1, 2; 3, 4"),
            ("$1$ and $2$", "1, 2"),
            ("$x=1$, $y=2$", "x = 1, y = 2"),
            (r"\boxed{1}, \boxed{2}", "1, 2"),
            ("$5 and $10", "5 USD, 10 USD"),
            ("1,23,456", "1, 23, 456"),
            ("1,2,3", "1, 2, 3"),
            ("10,20,30", "10, 20, 30"),
            (r"a_n = 3n - 2, n \ge 1", "a_n = 3*n - 2, n ≥ 1"),
            (r"\{x \mid x<-1 \text{ or } x>3\}", "x < -1, x > 3"),
            ("m<-1 或 m>3", "m < -1, m > 3"),
            ("-1或3", "-1, 3"),
            ("3或-1", "3, -1"),
            (r"30^{\circ}, 60^{\circ}, 90^{\circ}", "30°, 60°, 90°"),
            (
                r"x=2 k \pi+\frac{\pi}{3}(k \in \mathbf{Z})",
                "x = 2*k*π + π/3, k ∈ ℤ",
            ),
            (r"x=k \pi, k \in \mathbf{Z}", "x = k*π, k ∈ ℤ"),
            (
                r"\left\{\begin{array}{l}x=1 \\ y=2\end{array}\right.",
                "x = 1, y = 2",
            ),
            (
                r"\left\{\begin{array}{l}x=1, \\ y=2.\end{array}\right.",
                "x = 1, y = 2",
            ),
            (r"2, -1, \frac{1}{2}", "2, -1, 1/2"),
            ("a=1, b=-1", "a = 1, b = -1"),
            (r"a=2 \text{ and } b=3", "a = 2, b = 3"),
            (
                r"(a,b,c) = (1,2,3) \text{ or } (3,2,1)",
                "(a, b, c) = (1, 2, 3), (a, b, c) = (3, 2, 1)",
            ),
            ("(0,0),(1,1)", "(0, 0), (1, 1)"),
            (r"(-1, 2) \text{ and } (3, 4)", "(-1, 2), (3, 4)"),
            ("A(1,2), B(3,4)", "A(1, 2), B(3, 4)"),
            (r"\frac{5}{12} \text{ or } \frac{7}{12}", "5/12, 7/12"),
            (r"1,2,\dots,n", "1, 2, …, n"),
            (r"k=\pm1", "k = 1, k = -1"),
            (r"k = -1 \pm \sqrt{2}", "k = -1 + sqrt(2), k = -1 - sqrt(2)"),
            (
                r"$5\text{ apples and }3\text{ oranges}$",
                "5 apples, 3 oranges",
            ),
            (
                r"\{x \in \mathbb{R} \mid x < 1 \text{ or } x > 2\}",
                "x < 1, x > 2",
            ),
            (
                r"\left\{\begin{aligned} x &= 1 \\ y &= 2 \end{aligned}\right.",
                "x = 1, y = 2",
            ),
        ],
    );
}

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

#[test]
fn what_is_not_read_whole_is_an_error() {
    let texts = [
        "45 + ",
        r"\frac{1}{",
        r"x = 3 \text{ apples} + 2",
        "The answer is 5",
        r"x \to \infty",
        "5 mod",
        r"x = 2 \text{ if } a > 0",
        "f(x)=0 for all x > 0",
        "[1 2 3]",
        r"\pm(1, 2)",
        "x if y",
        r"x \text{ is } 5",
        "The value is $5$",
        "10 m/s to the right",
        "20 N upward",
        r"\mathcal{L}\{f\}",
        r"\checkmark",
    ];
    for text in texts {
        assert_eq!(read(text).0, "Error", "{text}");
    }
}
