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
    // What a generated token takes is not known yet.
    assert_eq!(now.left, None);
    assert!((now.share - 3100.0 / 4984.0).abs() < 1e-9, "{now:?}");

    // 20 ms for each token of a prompt, and 500 ms for a generated one: 25 of the others.
    let both = Stats {
        generated_tokens: 4,
        model_time: Duration::from_secs(64),
        decode_time: Duration::from_secs(2),
        ..engine
    };
    let now = Work::progressed(Some(&WORK), 4, &summary(64, 0, both));
    let (done, all) = (3100.0 + 25.0 * 4.0, 4900.0 + 25.0 * 84.0);
    assert!((now.share - done / all).abs() < 1e-9, "{now:?}");
    // 1,800 tokens of prompts and 80 generated ones: 36 s and 40 s. By tokens alike it would be 38 s in all.
    assert_eq!(seconds(now), Some(76));

    // Of a judge that writes as much as it likes nothing is said.
    let free = Work { most: None, ..WORK };
    let now = Work::progressed(Some(&free), 4, &summary(64, 0, both));
    assert_eq!((now.reading, now.left), (Some((3100, 4900)), None));
}

/// A run whose clock is kept here: of 8 prompts of 500 tokens, each 1 ms, then 8 answers of 40 tokens, each 60 ms.
#[test]
fn a_run_that_begins_with_prompts_promises_what_it_keeps() {
    let work = Work {
        prompts: 4000,
        most: Some(40),
    };
    let whole: f64 = 4.0 + 320.0 * 0.06;
    for read in (500..=4000).step_by(500) {
        // One answer is written beside each prompt but the first.
        let generated = 40 * (read / 500 - 1);
        let seconds = read as f64 * 0.001 + generated as f64 * 0.06;
        let engine = Stats {
            prefill_tokens: read,
            generated_tokens: generated,
            model_time: Duration::from_secs_f64(seconds),
            decode_time: Duration::from_secs_f64(generated as f64 * 0.06),
            running: 1,
            ..Stats::default()
        };
        let mut now = summary(0, 0, engine);
        now.elapsed = engine.model_time;
        let left = Work::progressed(Some(&work), 8, &now).left;
        match (generated, left) {
            (0, left) => assert_eq!(left, None),
            (_, left) => {
                let promised = left.unwrap().as_secs_f64() + seconds;
                assert!((promised - whole).abs() < 1e-6, "{promised} of {whole}");
            }
        }
    }
}

#[test]
fn the_first_of_four_verdicts_makes_no_long_run() {
    let engine = Stats {
        prefill_tokens: 4900,
        generated_tokens: 60,
        model_time: Duration::from_secs(1480),
        decode_time: Duration::from_secs(10),
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
            model_time: Duration::from_secs(10),
            decode_time: Duration::from_secs(5),
            ..Stats::default()
        },
    );
    resumed.resumed = 2;
    let now = Work::progressed(Some(&WORK), 4, &resumed);
    // 1,225 of 2,450 tokens are read, and half of what will be is written.
    assert_eq!(seconds(now), Some(10));
    assert!((now.share - 0.75).abs() < 1e-9, "{now:?}");
}
