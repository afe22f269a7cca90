use super::{LengthDistribution, Workload};

#[test]
fn lengths_are_read_and_written() {
    for text in ["300", "200-4000", "lognormal:800,0.6"] {
        assert_eq!(
            text.parse::<LengthDistribution>().unwrap().to_string(),
            text
        );
    }
    for text in [
        "",
        "-5",
        "9-3",
        "lognormal:0,1",
        "lognormal:5",
        "3.5",
        "many",
    ] {
        assert!(text.parse::<LengthDistribution>().is_err(), "{text}");
    }
}

#[test]
fn draws_follow_their_distribution() {
    let draws = |lengths: LengthDistribution| -> Vec<usize> {
        let mut draws: Vec<usize> = (0..4000).map(|i| lengths.draw(7, i, 0)).collect();
        draws.sort_unstable();
        draws
    };
    let range = draws(LengthDistribution::Range(10, 19));
    assert_eq!((range[0], range[3999]), (10, 19));
    let normal = draws(LengthDistribution::LogNormal(800.0, 0.6));
    assert!(normal[2000].abs_diff(800) < 40, "{}", normal[2000]);
    // One standard deviation up: 800 · e^0.6 = 1458.
    assert!(normal[3365].abs_diff(1458) < 110, "{}", normal[3365]);
    assert!(normal[3999] <= 6400);
}

#[test]
fn groups_share_their_question_and_all_share_the_template() {
    let workload = Workload {
        samples: 6,
        template: 20,
        input: LengthDistribution::Range(30, 50),
        output: LengthDistribution::Fixed(0),
        trials: 2,
        group: 3,
        seed: 1,
    };
    let jobs = workload.jobs(1000);
    assert_eq!(jobs.len(), 12);
    let common = |a: usize, b: usize| {
        let pairs = jobs[a].prompt.iter().zip(&jobs[b].prompt);
        pairs.take_while(|(a, b)| a == b).count()
    };
    assert_eq!(jobs[0], jobs[1], "two trials of one sample");
    assert!((35..45).contains(&common(0, 2)), "one question");
    assert!((20..23).contains(&common(0, 6)), "another question");
    assert!(
        jobs.iter()
            .all(|job| job.output == 1 && job.prompt.len() <= 70)
    );
    assert_eq!(workload.jobs(1000), jobs);
}
