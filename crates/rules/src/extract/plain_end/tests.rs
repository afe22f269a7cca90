use super::*;
use crate::extract::candidates;

/// What a search finds first.
fn sought(text: &str, role: Role) -> Option<Found<'_>> {
    candidates(text, role, &Config::default())
        .into_iter()
        .next()
}

#[test]
fn a_plain_end_is_what_a_search_finds() {
    let heads = [
        "It takes 2/2=<<2/2=1>>1 bolt of white fiber\nSo it takes 2+1=<<2+1=3>>3 bolts.",
        "She has $5.\nPeter has $6, so they have 50% more: $11 (not 12)!",
        "The answer is 12.\nWait, no.",
        "Is it 12? If so, the final value is 13.\nBut it isn't",
        "Therefore,",
        "THE FINAL ANSWER IS",
        "Das ENDERGEBNIS ist",
        "I cannot solve this.",
        "1. five\n2. six",
        "5'3\" is 63 inches - or 12 x 5 + 3 per cent",
    ];
    let mut plain = 0;
    for head in heads {
        for number in ["18", "0", "007", "123456789012345"] {
            for mark in ["####", "A:"] {
                let text = format!("{head}\n{mark} {number}");
                let found = found(&text, Role::Prediction, &Config::default());
                plain += usize::from(found.is_some());
                if found.is_some() {
                    assert_eq!(found, sought(&text, Role::Prediction), "{text}");
                }
            }
            let gold = found(number, Role::Gold, &Config::default());
            assert!(gold.is_some());
            assert_eq!(gold, sought(number, Role::Gold));
        }
    }
    assert_eq!(plain, 72);
}

#[test]
fn a_stated_number_is_what_a_search_finds() {
    let heads = [
        "",
        "So 2+1=<<2+1=3>>3 bolts.\nTherefore, the answer",
        "The answer is 12. No: the answer",
        "Answer",
        "A: Tim has 4*3=12 marbles. The answer",
        "Final answer",
        "The final answer is 4.\nSo the answer",
        "I doubt that the answer",
        "It is not true that the answer",
        "If it were so, the answer",
        "One might think the answer",
        "The least likely answer",
        "The answer cannot be that the answer",
        "1 2\nB: 5\nThe answer",
        "Q: 5\nThe correct answer",
        "La respuesta",
        "The answer is not 12, and not 13; the correct option",
        "The total, which is the answer,",
    ];
    let mut plain = 0;
    for head in heads {
        for verb in [" is ", ": ", " is: ", " is not ", " = ", " es "] {
            for number in ["18", "-7", "0", "007", "2024"] {
                for end in ["", ".", ".\n", "!", " apples.", "?"] {
                    let text = format!("{head}{verb}{number}{end}");
                    let found = found(&text, Role::Prediction, &Config::default());
                    plain += usize::from(found.is_some());
                    if found.is_some() {
                        assert_eq!(found, sought(&text, Role::Prediction), "{text}");
                    }
                }
            }
        }
    }
    assert!(plain > 100, "{plain}");
}

#[test]
fn a_box_in_a_sentence_is_what_a_search_finds() {
    let heads = [
        "It costs ",
        "So he has\n",
        "It is not ",
        "Some say ",
        "x = ",
        "at most ",
        "Answer: ",
        "The answer is ",
    ];
    let tails = [
        " dollars.",
        " dollars every day at the farmers' market.",
        " miles from home",
        " or more.",
        ", not 16.",
        " is wrong.",
        ". Wait, that is wrong.",
        ". No, the answer is 6.",
        ". 7 is also correct.",
        " m of it",
        " m, m an integer.",
        " x 3",
        " squared",
        ". The answer is 5.",
        " kg and 5 g.",
        " hours and 30 minutes.",
        "% of it",
        " per cent",
        " cents",
        " apples!",
        "\nso",
        " 5' tall",
        ". Actually 13.",
        " times as many",
        "-year-old",
        ", or rather 13",
    ];
    let mut plain = 0;
    for head in heads {
        for tail in tails {
            for (open, close) in [("", ""), ("$", "$")] {
                for number in ["18", "-7", "75.0", "1.5"] {
                    let text = format!("{head}{open}\\boxed{{{number}}}{close}{tail}");
                    let found = found(&text, Role::Prediction, &Config::default());
                    plain += usize::from(found.is_some());
                    if found.is_some() {
                        assert_eq!(found, sought(&text, Role::Prediction), "{text}");
                    }
                }
            }
        }
    }
    assert!(plain > 50, "{plain}");
}

#[test]
fn what_else_may_count_is_searched() {
    let texts = [
        "<think>5\n#### 18",
        "\\boxed{5}\n#### 18",
        "Q: How many?\nA: 5\n\nQ: And then?\nA: 18",
        "A: 5\nB: 6\nA: 18",
        "The final answer is\nA: 18",
        "[answer]5[/answer]\n#### 18",
    ];
    for text in texts {
        assert_eq!(
            found(text, Role::Prediction, &Config::default()),
            None,
            "{text}"
        );
    }
}

#[test]
fn a_box_at_the_end_is_what_a_search_finds() {
    let heads = [
        "",
        "So it takes 2+1=<<2+1=3>>3 bolts.\nTherefore, the final answer is ",
        "She has $5 and $6.\nThat makes ",
        "The final answer is 12. No: ",
        "Is it 12? If so, the final value is 13.\nBut it isn't, it is ",
        "It is not ",
        "at least ",
        "-",
        "x > ",
        "The answer is 12. Some people say ",
        "1. five\n2. six\n",
        "A: ",
        "So the total is 3",
        "0.",
        "So x >= ",
        "So x != ",
    ];
    let mut plain = 0;
    for head in heads {
        for (open, close) in [("", ""), ("$", "$"), ("", ".\n"), ("$", "$."), ("$", "")] {
            let text = format!("{head}{open}\\boxed{{18}}{close}");
            let found = found(&text, Role::Prediction, &Config::default());
            plain += usize::from(found.is_some());
            if found.is_some() {
                assert_eq!(found, sought(&text, Role::Prediction), "{text}");
            }
        }
    }
    assert!(plain > 15, "{plain}");
}
