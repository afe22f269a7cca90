//! Shapes that are meant to take long.

use super::parse;
use juror_algebra::{Budget, Constant, Expr, Function, Identity, identical};

#[test]
fn hostile_shapes_end() {
    let nest =
        |depth: usize, wrap: fn(Expr) -> Expr| (0..depth).fold(Expr::symbol("x"), |e, _| wrap(e));
    let hostile: Vec<(&str, Expr)> = vec![
        (
            "sin nest",
            nest(Expr::MAX_DEPTH, |e| Expr::Call(Function::Sin, vec![e])),
        ),
        (
            "sqrt nest",
            nest(Expr::MAX_DEPTH, |e| {
                Expr::sqrt(Expr::Add(vec![e, Expr::integer(2)]))
            }),
        ),
        (
            "exp nest",
            nest(Expr::MAX_DEPTH, |e| {
                Expr::power(Expr::Constant(Constant::E), e)
            }),
        ),
        (
            "pow nest",
            nest(Expr::MAX_DEPTH, |e| Expr::power(Expr::integer(3), e)),
        ),
        ("self power", nest(12, |e| Expr::power(e.clone(), e))),
        ("double", nest(13, |e| Expr::Add(vec![e.clone(), e]))),
        (
            "double mul",
            nest(13, |e| Expr::Multiply(vec![e.clone(), Expr::sqrt(e)])),
        ),
        (
            "ln nest",
            nest(Expr::MAX_DEPTH, |e| {
                Expr::Call(Function::Logarithm, vec![e, Expr::Constant(Constant::E)])
            }),
        ),
        (
            "continued",
            nest(Expr::MAX_DEPTH, |e| {
                Expr::Add(vec![Expr::integer(1), Expr::power(e, Expr::integer(-1))])
            }),
        ),
        (
            "square nest",
            nest(Expr::MAX_DEPTH, |e| {
                Expr::power(Expr::Add(vec![e, Expr::integer(1)]), Expr::integer(2))
            }),
        ),
        (
            "long sin",
            Expr::Add(
                (0..5000)
                    .map(|k| {
                        Expr::Call(
                            Function::Sin,
                            vec![Expr::Multiply(vec![Expr::integer(k), Expr::symbol("x")])],
                        )
                    })
                    .collect(),
            ),
        ),
        (
            "long sqrt",
            Expr::Add((2..3000).map(|k| Expr::sqrt(Expr::integer(k))).collect()),
        ),
        (
            "long 1/k",
            Expr::Add(
                (1..10000)
                    .map(|k| Expr::power(Expr::integer(k), Expr::integer(-1)))
                    .collect(),
            ),
        ),
        (
            "long prod",
            Expr::Multiply(
                (1..10000)
                    .map(|k| Expr::Add(vec![Expr::symbol("x"), Expr::integer(k)]))
                    .collect(),
            ),
        ),
        (
            "factorials",
            Expr::Add(
                (9990..10090)
                    .map(|k| Expr::Call(Function::Factorial, vec![Expr::integer(k * 10)]))
                    .collect(),
            ),
        ),
        (
            "const sin nest",
            nest(Expr::MAX_DEPTH, |e| {
                Expr::Call(Function::Sin, vec![Expr::Add(vec![e, Expr::integer(1)])])
            }),
        ),
        (
            "exp of long",
            Expr::power(
                Expr::Constant(Constant::E),
                Expr::Add((1..3000).map(|k| Expr::symbol(&format!("x{k}"))).collect()),
            ),
        ),
        (
            "sum sum",
            parse(r"\sum_{k=1}^{1000} \sum_{j=1}^{1000} \frac{1}{j+k}"),
        ),
        ("sum big", parse(r"\sum_{k=1}^{1000000000} \frac{1}{k}")),
        ("int", parse(r"\int_0^1 x^{300} e^x dx")),
        ("poly", parse("(x+y+z)^{500}-(x-y)^{500}")),
        ("log big", parse(r"\log_{3^{39999}} 3^{40000}")),
    ];
    for (name, expr) in hostile {
        for other in [
            Expr::integer(1),
            Expr::Add(vec![expr.clone(), Expr::integer(0)]),
            Expr::Multiply(vec![
                expr.clone(),
                Expr::Call(Function::Cos, vec![Expr::integer(0)]),
            ]),
        ] {
            let start = std::time::Instant::now();
            let (found, method) = identical(&expr, &other, &mut Budget::default());
            println!("{name}: {found:?} {method} {:?}", start.elapsed());
            // Far above what it takes, for a machine that does other things too.
            assert!(start.elapsed().as_secs() < 5, "{name}");
            if other == Expr::integer(1) {
                assert!(
                    !matches!(found, Identity::Equal | Identity::NumericallyEqual),
                    "{name}"
                );
            } else {
                assert_ne!(found, Identity::Different, "{name}");
            }
        }
    }
}
