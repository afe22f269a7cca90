//! What nobody should write and somebody will: it ends, without panic, and is never called equal to something else.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::hostile;
use juror_rules::{Config, Profile, Verifier};

/// As small as the stacks of worker threads are.
fn with_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(work).unwrap().join().unwrap();
}

fn verifier(profile: Profile) -> Verifier {
    Verifier::new(profile, Config::default())
}

#[test]
fn strict_never_takes_one_for_another_number() {
    with_small_stack(|| {
        let strict = verifier(Profile::Strict);
        for (name, text) in hostile::inputs() {
            for other in ["123456.789", r"\frac{17}{23}"] {
                for (gold, pred) in [(text.as_str(), other), (other, text.as_str())] {
                    let verification = strict.verify(gold, pred);
                    assert_ne!(
                        verification.equal,
                        Some(true),
                        "{name}: {}",
                        verification.reason
                    );
                    let written = serde_json::to_string(&verification).unwrap();
                    assert!(written.len() < 20_000, "{name}: {} bytes", written.len());
                }
            }
        }
    });
}

#[test]
fn strict_never_finds_a_text_different_from_itself() {
    with_small_stack(|| {
        let strict = verifier(Profile::Strict);
        for (name, text) in hostile::inputs() {
            let verification = strict.verify(&text, &text);
            let absent = verification.status == juror_rules::Status::NoAnswer;
            assert!(
                verification.equal != Some(false) || absent,
                "{name}: {}",
                verification.reason
            );
        }
    });
}

#[test]
fn compat_survives_too() {
    with_small_stack(|| {
        let compat = verifier(Profile::Compat);
        for (_, text) in hostile::inputs() {
            compat.verify(&text, &text);
            compat.verify(&format!("${text}$"), "$5$");
            compat.verify("5", &format!("The final answer is {text}"));
        }
    });
}

#[test]
fn a_long_number_is_compared_digit_by_digit() {
    let strict = verifier(Profile::Strict);
    let digits = "1234567890".repeat(100_000);
    let other = format!("{}1", &digits[..digits.len() - 1]);
    assert_eq!(strict.verify(&digits, &digits).equal, Some(true));
    assert_eq!(strict.verify(&digits, &other).equal, Some(false));
    let boxed = format!(r"The answer is \boxed{{{digits}}}.");
    assert_eq!(strict.verify(&digits, &boxed).equal, Some(true));
}

#[test]
fn numbers_too_large_to_write_down_are_still_compared() {
    let strict = verifier(Profile::Strict);
    for (gold, pred, equal) in [
        (r"2^{10^9}", r"2 \cdot 2^{10^9-1}", true),
        (r"2^{10^9}", r"2^{10^9}+1", false),
        (r"\frac{1000000!}{999999!}", "1000000", true),
        (r"5^{5^{5^5}}", r"5^{5^{3125}}", true),
        (r"\binom{1000}{3}", "166167000", true),
        (r"\frac{1}{2004!}", r"\frac{1}{2006!}", false),
        (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}", false),
        (r"10^{-7}", r"2 \cdot 10^{-7}", false),
    ] {
        let verification = strict.verify(gold, pred);
        let wrong = Some(!equal);
        assert_ne!(
            verification.equal, wrong,
            "{gold} and {pred}: {verification:?}"
        );
        if !gold.contains("5^{5^{5^5}}") {
            assert_eq!(
                verification.equal,
                Some(equal),
                "{gold} and {pred}: {verification:?}"
            );
        }
    }
}

/// The processor time of this thread in milliseconds, where the system tells: other processes do not count.
fn processor_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e6)
}

/// What `crates/rules/fuzz/fuzz_targets/cost` found, and chains of sums and products, of which sixty once took 20 seconds. A
/// release build is to stay below 50 ms for each; this one, beside other tests, below ten times that.
#[test]
fn costly_pairs_end_soon() {
    with_small_stack(|| {
        for row in include_str!("cases/costly.jsonl").lines() {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            let (gold, pred) = (row["gold"].as_str().unwrap(), row["pred"].as_str().unwrap());
            assert!(gold.len() <= 10_000 && pred.len() <= 10_000);
            for profile in [Profile::Strict, Profile::Compat] {
                let Some(from) = processor_time() else { return };
                verifier(profile).verify(gold, pred);
                let spent = processor_time().unwrap() - from;
                assert!(spent < 500.0, "{spent} ms: {profile:?} {gold} {pred}");
            }
        }
    });
}

#[test]
fn what_is_too_costly_is_left_open() {
    for profile in [Profile::Strict, Profile::Compat] {
        for count in [5, 60] {
            let chain = r"\prod_{i=1}^{100} i".repeat(count);
            let verification = verifier(profile).verify("5", &format!(r"\boxed{{{chain}}}"));
            assert_eq!(verification.equal, None, "{profile:?} {verification:?}");
            assert_eq!(verification.status, juror_rules::Status::TooComplex);
        }
        // What is not too costly is decided.
        for (gold, equal) in [("5050", true), ("5051", false)] {
            let verification = verifier(profile).verify(gold, r"$\sum_{i=1}^{100} i$");
            assert_eq!(verification.equal, Some(equal), "{verification:?}");
        }
    }
}

/// The least time of three verifications, in milliseconds.
fn least(strict: &Verifier, gold: &str, pred: &str) -> Option<f64> {
    let mut least = f64::MAX;
    for _ in 0..3 {
        let from = processor_time()?;
        strict.verify(gold, pred);
        least = least.min(processor_time()? - from);
    }
    Some(least)
}

/// Four times the text may take about four times as long, whatever is repeated in it and wherever it stands: reading again from every
/// place, or looking back from it to the beginning, would take sixteen times as long.
#[test]
fn time_grows_with_the_text() {
    let pieces = [
        r"\frac",
        r"\not",
        r"\sqrt{",
        r"\left(",
        "f(",
        "1%",
        "1<",
        "x=",
        "²",
        "é",
        "½",
        "$1$ and ",
        r"\(1\) ",
        r"\boxed{1} ",
        "**",
        "`",
        "~~ ",
        "a~~b ",
        "//",
        "<<",
        "&",
        "\"",
        "'",
        "| 1 ",
        "the answer is ",
        "answer: 1\n",
        "(a) 1, ",
        "A, ",
        "1, ",
        "12",
        "1.",
        "no, ",
        "所以",
        "12个",
        "🎉",
        "one ",
        "abc",
        "$",
        "{",
        "- 1\n",
    ];
    with_small_stack(move || {
        let strict = verifier(Profile::Strict);
        for piece in pieces {
            let text = |length: usize| piece.repeat(length / piece.len());
            for (how, before) in [
                ("itself", ""),
                ("announced", "The final answer is "),
                ("boxed", r"\boxed{"),
            ] {
                let time =
                    |length: usize| least(&strict, "5", &format!("{before}{}", text(length)));
                let (Some(short), Some(long)) = (time(60_000), time(240_000)) else {
                    return;
                };
                assert!(
                    long < 9.0 * short + 40.0,
                    "{piece:?} {how}: {short} ms, of four times as much {long} ms"
                );
            }
        }
    });
}

/// What stands far beside an announced value is not accounted for, and the value left open.
#[test]
fn a_statement_without_end_is_open() {
    let strict = verifier(Profile::Strict);
    for filler in ["and then ", "1% ", "so it goes, "] {
        let pred = format!("The answer is 12 {}", filler.repeat(20_000 / filler.len()));
        assert_ne!(strict.verify("12", &pred).equal, Some(true), "{filler}");
    }
    let pred = format!("The answer is 12. {}", "It was a long way. ".repeat(1_000));
    assert_eq!(strict.verify("12", &pred).equal, Some(true));
}

/// Of more than 1.5 MB the lines at the end are read: an announcement there counts, and nothing else is decided.
#[test]
fn a_text_too_long_is_read_at_its_end() {
    let line = "Step 3: 12 + 7 = 19, so x = 19 and the total is $19.\n";
    let text = line.repeat(2_000_000 / line.len());
    for profile in [Profile::Strict, Profile::Compat] {
        let verdict = |gold: &str, pred: &str| verifier(profile).verify(gold, pred);
        for pred in [format!("The answer is 12.\n{text}"), text.clone()] {
            let verification = verdict("19", &pred);
            assert_eq!(verification.equal, None, "{profile:?}");
            assert_eq!(verification.status, juror_rules::Status::TooComplex);
        }
        // Twice as long as what is read, and no longer to look at.
        let digits = "1234567890".repeat(300_000);
        assert_ne!(verdict(&digits, &format!("{digits}1")).equal, Some(true));
    }
    let strict = verifier(Profile::Strict);
    let announced = format!("<think>{text}</think>{text}\nThe answer is 19.");
    assert_eq!(strict.verify("19", &announced).equal, Some(true));
    assert_eq!(strict.verify("12", &announced).equal, Some(false));
    let thinking = format!("<think>{text}\nThe answer is 19.");
    assert_ne!(strict.verify("19", &thinking).equal, Some(true));
    assert_eq!(strict.verify(&text, &text).equal, Some(true));
}
