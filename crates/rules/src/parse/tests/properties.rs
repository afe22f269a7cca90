//! What holds for every text.

use proptest::prelude::*;

use super::super::{ParseError, parse, render};
use crate::algebra::Expr;
use crate::answer::{Answer, Quantity};

/// Pieces that answers are made of, whole and broken, between `¦`.
const PIECES: &str = "\
    1¦12¦3.5¦1,234¦0.(3)¦x¦y¦e¦i¦f(¦(¦)¦[¦]¦{¦}¦\\{¦\\}¦+¦-¦*¦/¦^¦_¦=¦<¦\\le ¦\\frac¦\\sqrt¦\
    \\sqrt[3]¦\\pi ¦\\pm ¦\\text{ cm}¦\\text{and}¦ or ¦,¦;¦:¦|¦\\left|¦\\right)¦!¦'¦%¦\\%¦$¦\
    \\$¦^\\circ¦°¦\\cup ¦∈¦\\begin{pmatrix}¦\\end{pmatrix}¦&¦\\\\¦\\sum_{k=1}^{n}¦\
    \\int_0^1 ¦dx¦\\log_2 ¦\\sin ¦ ¦five¦apples¦A¦(A)¦\\boxed{¦²¦½¦√¦\\overline{3}¦...¦\
    \\ldots¦mod ¦\\pmod¦\\binom¦C¦_2¦\\mathrm{¦\\mathbb{R}¦\\setminus ¦10^¦\\times ¦e5¦\
    \u{200b}¦\0¦é¦🙂¦\\¦~¦.";

/// Arithmetic as text and nothing that is left open.
fn arithmetic() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0_u32..1000).prop_map(|n| n.to_string()),
        (0_u32..100, 0_u32..100).prop_map(|(a, b)| format!("{a}.{b:02}")),
        prop_oneof![
            Just("x"),
            Just("y"),
            Just("n"),
            Just("\\pi"),
            Just("e"),
            Just("i"),
            Just("\\alpha"),
            Just("x_1")
        ]
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} - {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) \\cdot ({b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("\\frac{{{a}}}{{{b}}}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("\\left({a}\\right)^{{{b}}}")),
            inner.clone().prop_map(|a| format!("\\sqrt{{{a}}}")),
            inner
                .clone()
                .prop_map(|a| format!("\\sin\\left({a}\\right)")),
            inner.clone().prop_map(|a| format!("\\ln({a})")),
            inner.clone().prop_map(|a| format!("-({a})")),
            inner.prop_map(|a| format!("|{a}|")),
        ]
    })
}

fn value(answer: &Answer) -> Option<&Expr> {
    match answer {
        Answer::Quantity(Quantity { value, .. }) => Some(value),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        if let Ok(answer) = parse(&text) {
            prop_assert!(render(&answer).len() <= 410);
        }
    }

    #[test]
    fn any_pieces_are_read_or_refused(pieces in prop::collection::vec(prop::sample::select(PIECES.split('¦').collect::<Vec<_>>()), 0..24)) {
        let text = pieces.concat();
        match parse(&text) {
            Ok(answer) => prop_assert!(render(&answer).len() <= 410),
            Err(ParseError::Syntax { at, .. }) => prop_assert!(at <= text.len()),
            Err(_) => {}
        }
    }

    #[test]
    fn arithmetic_is_read_as_a_value(text in arithmetic()) {
        let answer = parse(&text);
        prop_assert!(answer.as_ref().ok().and_then(value).is_some(), "{text}: {answer:?}");
    }

    #[test]
    fn what_is_rendered_is_read_again(text in arithmetic()) {
        if let Ok(answer) = parse(&text) {
            let rendered = render(&answer);
            if !rendered.ends_with('…') {
                let again = parse(&rendered);
                prop_assert!(again.as_ref().ok().and_then(value).is_some(), "{text} as {rendered}: {again:?}");
                if let Ok(again) = again {
                    prop_assert_eq!(render(&again), rendered);
                }
            }
        }
    }

    #[test]
    fn white_space_and_delimiters_do_not_matter(text in arithmetic()) {
        let bare = parse(&text);
        prop_assert_eq!(&parse(&format!("$ {text} $.")), &bare);
        prop_assert_eq!(&parse(&format!("\\( \\displaystyle {text} \\)")), &bare);
        prop_assert_eq!(&parse(&format!("\\boxed{{{text}}}")), &bare);
    }

    #[test]
    fn integers_are_exact(value in any::<i64>()) {
        let read = parse(&value.to_string());
        prop_assert_eq!(read.as_ref().ok().and_then(super::properties::value), Some(&Expr::integer(value)));
    }
}
