//! Pairs as people write them, with the verdict they must get.

use super::{Comparison, Options, compare};
use crate::parse::parse;
use crate::{Config, Status};

fn verdict(gold: &str, pred: &str, options: &Options) -> Comparison {
    let read = |text: &str| parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    compare(&read(gold), &read(pred), options)
}

/// Checks both directions, and reports every row that fails.
fn check(rows: &[(&str, &str, Option<bool>)]) {
    let options = Options::from(&Config::default());
    let mut wrong = Vec::new();
    for (gold, pred, expected) in rows {
        for (a, b) in [(gold, pred), (pred, gold)] {
            let verdict = verdict(a, b, &options);
            if verdict.equal != *expected {
                wrong.push(format!(
                    "{a}  |  {b}: {:?} instead of {expected:?} ({}: {})",
                    verdict.equal, verdict.method, verdict.reason
                ));
            }
            assert!(!verdict.reason.is_empty());
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);
const OPEN: Option<bool> = None;

#[test]
fn numbers() {
    check(&[
        ("5", "5", YES),
        ("\\frac{1}{2}", "0.5", YES),
        ("\\frac{1}{3}", "0.333333", YES),
        ("\\frac{1}{3}", "0.33", NO),
        ("\\pi", "3.141593", YES),
        ("\\pi", "3.14159", NO),
        ("\\pi", "3.1415926535", YES),
        ("\\sqrt{2}", "1.41421356", YES),
        ("\\sqrt{2}", "1.41421357", NO),
        ("\\sqrt{2}", "1.4142135623730951", YES),
        ("2\\sqrt{3}", "\\sqrt{12}", YES),
        ("1e-7", "2e-7", NO),
        ("1.5e10", "15000000000", YES),
        ("204_5", "54", YES),
        ("204_5", "204", NO),
        ("204_5", "204_6", NO),
        ("\\infty", "\\infty", YES),
        ("\\infty", "-\\infty", NO),
        ("\\infty", "5", NO),
        ("\\frac{0}{0}", "\\frac{0}{0}", OPEN),
        ("\\frac{1}{0}", "\\frac{1}{0}", OPEN),
    ]);
}

#[test]
fn what_stands_beside_a_number() {
    check(&[
        ("28\\%", "28", NO),
        ("28\\%", "0.28", YES),
        ("28\\%", "\\frac{7}{25}", YES),
        ("\\$5", "5", YES),
        ("\\$5.00", "5 dollars", YES),
        ("\\$5", "€5", NO),
        ("5 m", "500 cm", YES),
        ("5 cm", "5 m", NO),
        ("5 cm", "5 kg", NO),
        ("5 cm", "5", YES),
        ("90 minutes", "1.5 hours", YES),
        ("180^\\circ", "\\pi", YES),
        ("180^\\circ", "\\pi \\text{ rad}", YES),
        ("90^\\circ", "90", YES),
        ("90^\\circ", "\\pi", NO),
        ("5 apples", "5", YES),
        ("5 apples", "6 apples", NO),
        ("5 apples", "5 oranges", YES),
        ("2 hours and 30 minutes", "150 minutes", YES),
        (
            "9 chickens and 10 rabbits",
            "10 rabbits and 9 chickens",
            YES,
        ),
        ("9 chickens and 10 rabbits", "9 rabbits and 10 chickens", NO),
        ("32 °F", "0 °C", YES),
        ("\\$0.50", "50 cents", YES),
        ("£5", "5 pounds", YES),
        ("5 m/s", "18 km/h", YES),
    ]);
}

#[test]
fn equations_and_their_values() {
    check(&[
        ("x=5", "5", YES),
        ("x=5", "x=5", YES),
        ("x=1", "y=1", NO),
        ("5=x", "x=5", YES),
        ("x=\\frac{1}{3}", "x=0.333333", YES),
        ("f(x)=1", "1", YES),
        ("|AB|=1", "1", YES),
        ("AB=4", "4", YES),
        (
            "\\frac{NO}{BO}=\\frac{1}{\\sqrt{6}}",
            "\\frac{1}{\\sqrt{6}}",
            YES,
        ),
        ("2x+1=5", "5", NO),
        ("2x+1=5", "2", YES),
        ("2x+1=5", "x=2", YES),
        ("2x=4", "x=2", YES),
        ("x^2-4=0", "0", NO),
        ("x^2=1", "x=\\pm 1", YES),
        ("x^2-5x+6=0", "x=2 \\text{ or } x=3", YES),
        ("m+n=113", "113", YES),
        ("2+3=5", "5", YES),
        ("z=1+1=2", "z=3-1=2", YES),
        ("x = 5+5+1 = 11", "x=11", YES),
        ("y=\\frac{1}{x}", "xy=1", YES),
        ("2x+4y-3=0", "y=-\\frac{1}{2}x+\\frac{3}{4}", YES),
        ("2x+4y-3=0", "y=-\\frac{1}{2}x+\\frac{1}{4}", NO),
        ("34x+45y-20z+100=0", "-34x-45y+20z-100=0", YES),
        ("(x-1)^2+(y-2)^2=25", "x^2-2x+y^2-4y-20=0", YES),
        ("(x-1)^2+(y-2)^2=25", "(x-1)^2+(y+2)^2=25", NO),
        ("x^2y=0", "xy=0", YES),
        ("x^5-x-1=0", "x^5-x-2=0", NO),
        ("x^5-x-1=0", "2x^5=2x+2", YES),
        ("f(x)=x^2", "f(t)=t^2", YES),
        ("f(x)=x^2", "x^2", YES),
        ("f(x)=x^2", "y=x^2", YES),
        ("f(x)=x^2", "f(x)=x^3", NO),
        ("x \\equiv 3 \\pmod 7", "x \\equiv 10 \\pmod 7", YES),
        ("x \\equiv 3 \\pmod 7", "x \\equiv 4 \\pmod 7", NO),
        (
            "x=\\frac{\\pi}{4}+k\\pi, k\\in\\mathbb{Z}",
            "x=\\frac{\\pi}{4}+n\\pi, n\\in\\mathbb{Z}",
            YES,
        ),
        (
            "x=\\frac{\\pi}{4}+k\\pi, k\\in\\mathbb{Z}",
            "x=\\frac{\\pi}{4}+k\\pi",
            YES,
        ),
        (
            "x=\\frac{\\pi}{4}+k\\pi, k\\in\\mathbb{Z}",
            "x=\\frac{5\\pi}{4}+k\\pi, k\\in\\mathbb{Z}",
            YES,
        ),
        (
            "x=\\frac{\\pi}{4}+k\\pi, k\\in\\mathbb{Z}",
            "x=\\frac{\\pi}{4}+2k\\pi, k\\in\\mathbb{Z}",
            NO,
        ),
        (
            "k=6, \\frac{4}{5}, -4",
            "k_1=\\frac{4}{5}, k_2=-4, k_3=6",
            YES,
        ),
        ("f^{-1}(x)=2x+1", "2x+1", YES),
        ("dy/dx=2x", "2x", YES),
        ("\\cos C=\\frac{1}{2}", "\\frac{1}{2}", YES),
        ("P(A)=\\frac{2}{3}\\approx 0.667", "\\frac{2}{3}", YES),
        ("\\angle ABC=60^\\circ", "60^\\circ", YES),
        ("\\angle ABC=60^\\circ", "60", YES),
        ("y=2x+1", "2x+1", YES),
        ("y=2x+1", "y=2x-1", NO),
        ("y=2x", "x=\\frac{y}{2}", YES),
        ("x+y=3, x-y=1", "x-y=1, x+y=3", YES),
    ]);
}

#[test]
fn several_values() {
    check(&[
        ("1,2,3", "3,2,1", YES),
        ("1,2,3", "1,2", NO),
        ("\\pm 2021", "-2021, 2021", YES),
        ("\\pm 2021", "2021", NO),
        ("x=1,x=2", "\\{1,2\\}", YES),
        ("x=1 \\text{ or } x=2", "1, 2", YES),
        ("x=1,y=2", "y=2,x=1", YES),
        ("x=1,y=2", "x=2,y=1", NO),
        ("x=1,y=2", "(1,2)", YES),
        ("(x,y)=(1,2)", "(1,2)", YES),
        ("(x,y)=(1,2)", "x=1,y=2", YES),
        ("(x,y)=(1,2)", "(y,x)=(2,1)", YES),
        ("AB=4,CD=5", "4,5", YES),
        ("(1,2),(3,4)", "(3,4),(1,2)", YES),
        ("(1,2),(3,4)", "(2,1),(3,4)", NO),
        ("(1,2)", "\\{1,2\\}", NO),
        ("\\{5\\}", "5", YES),
        ("\\{1,1,2\\}", "\\{1,2\\}", YES),
        ("\\{1,2,3\\}\\cap\\{2,3,4\\}", "\\{2,3\\}", YES),
        ("\\emptyset", "\\text{no solution}", YES),
        ("(1,2),(3,4)", "(1,2),(3,4),(1,2)", YES),
        ("(-5,13)", "A(-5, 13)", YES),
        ("(-5,13)", "A(-5, 12)", NO),
        ("\\frac{1}{2}nm", "\\frac{nm}{2}", YES),
    ]);
}

#[test]
fn regions() {
    check(&[
        ("(0,9)", "[0,9)", NO),
        ("[0,9)", "[0,9)", YES),
        ("(\\frac{3}{5},\\frac{8}{3}]", "(0.6,2.666667]", YES),
        ("1<x<2", "(1,2)", YES),
        ("1<x<2", "2>x>1", YES),
        ("1<x<2", "1<x\\le 2", NO),
        ("x<1", "-x>-1", YES),
        ("2x>4", "x>2", YES),
        ("x>2", "x<2", NO),
        ("x>2", "y>2", NO),
        ("x \\leq 5", "5 \\geq x", YES),
        ("x \\in [-2,7]", "-2 \\le x \\le 7", YES),
        (
            "x>2 \\text{ or } x<-1",
            "(-\\infty,-1)\\cup(2,\\infty)",
            YES,
        ),
        ("x \\neq 5", "(-\\infty,5)\\cup(5,\\infty)", YES),
        ("[1,2]\\cup[2,3]", "[1,3]", YES),
        ("[1,2]\\cup\\{5\\}", "\\{5\\}\\cup[1,2]", YES),
        ("x^2<4", "(-2,2)", YES),
        ("x^2-x-6\\ge 0", "(-\\infty,-2]\\cup[3,\\infty)", YES),
        ("|x-1|<2", "(-1,3)", YES),
        ("\\frac{x-1}{x+2}\\le 0", "(-2,1]", YES),
        ("0<f(x)<1", "(0,1)", YES),
        ("f(2)<f(1)<f(4)", "f(2)<f(1)<f(4)", YES),
        ("x+y<1", "2x+2y<2", YES),
        ("x+y<1", "x+y<2", NO),
        ("x>5", "5", NO),
        ("(0,\\infty)", "x>0", YES),
        ("x^3-6x^2+11x-6>0", "(1,2)\\cup(3,\\infty)", YES),
        ("x^3-6x^2+11x-6=0", "x=1,2,3", YES),
        (
            "x^4-5x^2+6=0",
            "\\{\\sqrt{2},-\\sqrt{2},\\sqrt{3},-\\sqrt{3}\\}",
            YES,
        ),
        ("x^3=2", "\\sqrt[3]{2}", YES),
        ("x^3=2", "\\sqrt{2}", NO),
        ("x^2+y^2<4", "x^2+y^2<9", NO),
        ("x^2+y^2<4", "4>y^2+x^2", YES),
        ("\\sqrt{2}x<2", "x<\\sqrt{2}", YES),
        ("x\\in\\mathbb{R}", "(-\\infty,\\infty)", YES),
        ("(-\\infty,\\infty)", "all real numbers", YES),
        ("(1,2)\\cup(2,3)", "(1,3)\\setminus\\{2\\}", YES),
        ("(1,2)\\cup(2,3)", "(1,3)", NO),
        ("x\\ge 2, x\\ne 5", "[2,5)\\cup(5,\\infty)", YES),
    ]);
}

#[test]
fn matrices_and_ratios() {
    check(&[
        (
            "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}",
            "\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}",
            YES,
        ),
        (
            "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}",
            "\\begin{pmatrix}1&3\\\\2&4\\end{pmatrix}",
            NO,
        ),
        ("\\begin{pmatrix}1\\\\2\\end{pmatrix}", "(1,2)", YES),
        (
            "\\begin{pmatrix}1\\\\2\\end{pmatrix}",
            "\\begin{pmatrix}1&2\\end{pmatrix}",
            NO,
        ),
        ("2:4", "1:2", YES),
        ("2:3", "3:2", NO),
        ("1:2", "\\frac{1}{2}", YES),
        ("1:2:3", "2:4:6", YES),
        ("S_1:S_2=7:32", "7:32", YES),
    ]);
}

#[test]
fn words_and_letters() {
    check(&[
        ("\\text{Evelyn}", "Evelyn", YES),
        ("\\text{Evelyn}", "Briana", NO),
        ("\\text{odd}", "odd", YES),
        ("\\text{even}", "odd", NO),
        ("(A)", "A", YES),
        ("(A)", "(B)", NO),
        ("A, C", "C and A", YES),
        ("Yes", "yes", YES),
        ("Yes", "No", NO),
        ("hexagon", "6", NO),
        ("does not exist", "DNE", YES),
        ("the hexagon", "a hexagon.", YES),
        ("False", "n", NO),
        ("True", "T", YES),
        ("B", "5", NO),
        ("3:45 pm", "15:45", YES),
        ("3:45 pm", "3:45", YES),
        ("3:45 pm", "3:45 am", NO),
        ("3:45", "3:46", NO),
    ]);
}

#[test]
fn other_letters_on_request() {
    let options = Options {
        strict: false,
        ..Options::from(&Config::default())
    };
    for (gold, pred, equal) in [
        ("x-y", "a-b", YES),
        ("x^2+y", "b^2+a", YES),
        ("x^2", "x^3", NO),
        ("(1,2)", "\\{2,1\\}", YES),
    ] {
        assert_eq!(verdict(gold, pred, &options).equal, equal, "{gold} {pred}");
    }
}

#[test]
fn large_sets_are_compared_quickly() {
    let written = |numbers: &mut dyn Iterator<Item = u32>| {
        let parts: Vec<String> = numbers.map(|n| (n * 7 % 2003).to_string()).collect();
        format!("\\{{{}\\}}", parts.join(", "))
    };
    let (up, down) = (written(&mut (0..2000)), written(&mut (0..2000).rev()));
    let less = written(&mut (1..2001).rev());
    let options = Options::from(&Config::default());
    let same = verdict(&up, &down, &options);
    assert_eq!((same.equal, same.status), (YES, Status::Decided));
    assert_eq!(verdict(&up, &less, &options).equal, NO);
}
