use super::*;
use juror_data::verdict::Verdict;
use juror_engine::engine::Stats;

/// A run's summary after so many seconds, with so many verdicts.
fn summary(seconds: u64, verdicts: usize, engine: Stats) -> Summary {
    let mut summary = Summary::default();
    summary.elapsed = Duration::from_secs(seconds);
    summary.engine = engine;
    for _ in 0..verdicts {
        summary.add(&Verdict::default());
    }
    summary
}

const WORK: Work = Work {
    prompts: 4900,
    most: Some(21),
};

fn seconds(progressed: Progressed) -> Option<u64> {
    progressed.left.map(|left| left.as_secs())
}

#[test]
fn before_the_first_verdict_the_prompts_say_how_far_a_run_is() {
    let engine = Stats {
        prefill_tokens: 3100,
        running: 4,
        ..Stats::default()
    };
    let now = Work::progressed(Some(&WORK), 4, &summary(62, 0, engine));
    assert_eq!(now.reading, Some((3100, 4900)));
    // 1,884 of 4,984 tokens are left, at 50 a second.
    assert_eq!(seconds(now), Some(37));
    assert!((now.share - 3100.0 / 4984.0).abs() < 1e-9, "{now:?}");

    // Of a judge that writes as much as it likes nothing is said.
    let free = Work { most: None, ..WORK };
    let now = Work::progressed(Some(&free), 4, &summary(62, 0, engine));
    assert_eq!((now.reading, now.left), (Some((3100, 4900)), None));
}

#[test]
fn the_first_of_four_verdicts_makes_no_long_run() {
    let engine = Stats {
        prefill_tokens: 4900,
        generated_tokens: 60,
        running: 3,
        ..Stats::default()
    };
    let free = Work { most: None, ..WORK };
    let now = Work::progressed(Some(&free), 4, &summary(1480, 1, engine));
    assert_eq!(now.reading, None);
    assert!(seconds(now).is_some_and(|left| left < 20), "{now:?}");
    // Of a server's work nothing is known but its answers: three are half done.
    let now = Work::progressed(None, 4, &summary(100, 1, engine));
    assert_eq!(seconds(now), Some(60));
    assert_eq!(
        Work::progressed(None, 4, &summary(100, 0, engine)).left,
        None
    );
}

#[test]
fn a_run_that_goes_on_counts_what_is_left() {
    let mut resumed = summary(
        10,
        3,
        Stats {
            prefill_tokens: 1225,
            generated_tokens: 20,
            ..Stats::default()
        },
    );
    resumed.resumed = 2;
    let now = Work::progressed(Some(&WORK), 4, &resumed);
    // 1,225 of 2,450 tokens are read, and half of what will be is written.
    assert_eq!(seconds(now), Some(10));
    assert!((now.share - 0.75).abs() < 1e-9, "{now:?}");
}
