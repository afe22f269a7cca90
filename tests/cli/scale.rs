//! However many samples there are: memory stays as it is, and nothing is lost or out of order.

use std::fs;
use std::io::Write as _;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{Folder, Ran, row, words};
use serde_json::Value;

const JUDGE: &str = "judge in.jsonl --rules only -o out.jsonl -q";

/// Rollouts of about a kilobyte; every third has a wrong final answer.
fn rollouts(count: usize) -> String {
    let step = "Then I look at it once more, to be sure that nothing was forgotten on the way. ";
    (0..count)
        .map(|at| {
            let said = at + usize::from(at % 3 == 2);
            row(
                &format!("r{at}"),
                &format!("What is {} + {}?", at / 2, at - at / 2),
                &at.to_string(),
                &format!("{}#### {said}", step.repeat(8 + at % 9)),
            )
        })
        .collect()
}

/// The output holds exactly these samples, in order, each with its own verdict.
fn check(output: &str, count: usize) {
    let mut lines = 0;
    for (at, line) in output.lines().enumerate() {
        let verdict: Value = serde_json::from_str(line).unwrap();
        assert_eq!(verdict["index"], at);
        assert_eq!(verdict["id"], format!("r{at}"));
        assert_eq!(verdict["outcome"], at % 3 != 2, "{verdict}");
        lines += 1;
    }
    assert_eq!(lines, count);
}

/// Most memory the process has had so far, in bytes; none where the system does not tell.
fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes = line.trim_start_matches("VmHWM:").trim_end_matches(" kB");
    Some(kilobytes.trim().parse::<u64>().unwrap() << 10)
}

/// Waits for the end; returns the most memory seen.
fn watch(mut child: Child) -> (Ran, u64) {
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        peak = peak_memory(child.id()).unwrap_or(0).max(peak);
        sleep(Duration::from_millis(1));
    }
    (Ran::of(child.wait_with_output().unwrap()), peak)
}

#[test]
fn ten_times_the_samples_take_no_more_memory() {
    let peaks = [2_000, 20_000].map(|count| {
        let folder = Folder::new();
        folder.write("in.jsonl", rollouts(count));
        let (ran, peak) = watch(folder.juror(&words(JUDGE)).spawn().unwrap());
        ran.expect(0, &[]);
        check(&folder.read("out.jsonl"), count);
        peak
    });
    let [few, many] = peaks.map(|peak| peak >> 10);
    // The 18,000 further samples are 18 MB of text, and their verdicts 6 MB; about 150 bytes of bookkeeping each are 3 MB.
    assert!(
        many < few + (8 << 10),
        "{few} kB with 2,000 samples, {many} kB with 20,000"
    );
}

#[test]
fn a_long_run_that_is_killed_goes_on() {
    const SAMPLES: usize = 20_000;
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(SAMPLES));
    let journal = folder.path("out.jsonl.journal");
    let length = || fs::metadata(&journal).map_or(0, |metadata| metadata.len());
    let mut before = 0;
    for kill in 1..=3 {
        let mut child = folder.juror(&words(JUDGE)).spawn().unwrap();
        // A verdict takes about 320 bytes: some quarter of the run each.
        while length() < before + kill * 700_000 && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_micros(200));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(length() > before, "the run was to be at work");
        assert!(!folder.has("out.jsonl"), "killed too late to show anything");
        before = length();
    }
    folder.run_words(JUDGE).expect(0, &[]);
    check(&folder.read("out.jsonl"), SAMPLES);
    let lines = folder.read("out.jsonl.journal").lines().count();
    assert_eq!(lines, 1 + SAMPLES, "no sample twice");
}

#[test]
fn what_cannot_be_read_twice_is_judged_all_the_same() {
    const SAMPLES: usize = 3_000;
    let text = rollouts(SAMPLES);
    let folder = Folder::new();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    folder.write("in.jsonl.gz", gzip.finish().unwrap());
    let judge = ["judge", "--rules", "only", "-q"];

    let ran = folder.run(&[&judge[..], &["in.jsonl.gz"]].concat());
    check(&ran.expect(0, &[]).stdout, SAMPLES);
    let ran = folder.pipe(text.as_bytes(), &[&judge[..], &["-"]].concat());
    check(&ran.expect(0, &[]).stdout, SAMPLES);
    // The journal of one form serves the other: it is the content that counts.
    let to_file = ["-o", "out.jsonl"];
    let ran = folder.pipe(text.as_bytes(), &[&judge[..], &to_file].concat());
    ran.expect(0, &[]);
    fs::remove_file(folder.path("out.jsonl")).unwrap();
    let journal = folder.read("out.jsonl.journal");
    let ran = folder.run(&[&judge[..], &to_file, &["in.jsonl.gz"]].concat());
    ran.expect(0, &[]);
    assert_eq!(folder.read("out.jsonl.journal"), journal);
    check(&folder.read("out.jsonl"), SAMPLES);
    // Copies of the input leave no trace.
    assert_eq!(
        folder.names(),
        ["in.jsonl.gz", "out.jsonl", "out.jsonl.journal"]
    );
}

/// Samples that fit, with one among them whose response is `words` long.
fn with_one_long(plain: &str, words: usize, word: &str) -> String {
    let long = row("long", "What is 1 + 1?", "2", &word.repeat(words));
    let middle = plain.match_indices('\n').nth(10).unwrap().0 + 1;
    format!("{}{long}{}", &plain[..middle], &plain[middle..])
}

/// What a run says of its engine.
fn engine(ran: &Ran) -> String {
    let line = ran.stderr.lines().find(|line| line.starts_with("engine: "));
    line.unwrap().to_owned()
}

/// A response that cannot be judged costs neither memory nor the others' room, whatever it is made of.
#[test]
fn an_over_long_response_is_too_long_and_nothing_else() {
    // By themselves sequences at once follow the number of rows.
    const JUDGE: &str =
        "judge in.jsonl -o out.jsonl --max-new-tokens 4 --max-sequences 16 --device cpu";
    let plain = crate::common::rollouts(20);
    let peaceful = Folder::new();
    peaceful.write("in.jsonl", &plain);
    let (expected, usual) = watch(peaceful.juror(&words(JUDGE)).spawn().unwrap());
    // Text, one word without an end, mostly spaces, other scripts; and a text that is only a little too long.
    for (word, bytes) in [
        ("So I add them again and find 2. ", 20 << 20),
        ("a", 8 << 20),
        ("       a", 8 << 20),
        ("加", 8 << 20),
        ("e\u{301}", 8 << 20),
        ("1", 300_000),
        ("So I add them again and find 2. ", 40_000),
    ] {
        let folder = Folder::new();
        folder.write("in.jsonl", with_one_long(&plain, bytes / word.len(), word));
        let (ran, peak) = watch(folder.juror(&words(JUDGE)).spawn().unwrap());
        ran.expect(3, &["1 too long"]);
        assert_eq!(engine(&ran), engine(&expected), "{word:?}");
        assert!(
            peak < usual + 12 * bytes as u64 + (64 << 20),
            "{word:?}: {} MB, {} MB without it",
            peak >> 20,
            usual >> 20
        );
        let lines = folder.lines("out.jsonl");
        let (long, others): (Vec<Value>, Vec<Value>) =
            lines.into_iter().partition(|line| line["id"] == "long");
        assert_eq!(others.len(), 20);
        assert_eq!(long[0]["status"], "too_long");
        assert!(
            long[0]["error"]
                .as_str()
                .unwrap()
                .contains("exceed the model's context"),
            "{}",
            long[0]["error"]
        );
        assert!(others.iter().all(|line| line["status"] != "too_long"));
        // Taken up again, it is done like the others; with it alone missing too.
        folder.run_words(JUDGE).expect(3, &["21 were done before"]);
        let journal = folder.read("out.jsonl.journal");
        let others: String = journal
            .split_inclusive('\n')
            .filter(|line| !line.contains("too_long"))
            .collect();
        folder.write("out.jsonl.journal", others);
        folder
            .run_words(JUDGE)
            .expect(3, &["20 were done before", "1 too long"]);

        let dry = folder.run(&["judge", "in.jsonl", "--dry-run", "--max-new-tokens", "4"]);
        dry.expect(0, &[]);
        assert!(
            dry.stdout
                .contains("too long: 1 sample is outside the context"),
            "{}",
            &dry.stdout[..500]
        );
        let render = folder.run(&["prompts", "render", "in.jsonl", "--id", "long", "--tokens"]);
        if bytes > 100_000 {
            render.expect(
                1,
                &[
                    "the prompt of \"long\" has at least ",
                    "too long to be judged",
                ],
            );
            folder
                .run(&["bench", "in.jsonl", "--output-tokens", "1"])
                .expect(2, &["the prompt of long has at least "]);
        } else {
            render.expect(0, &[]);
        }
    }
}

#[test]
fn a_model_takes_memory_as_its_work_does() {
    let folder = Folder::new();
    folder.write("in.jsonl", crate::common::rollouts(24));
    let [(usual, peak), (few, least)] = [&[][..], &["--kv-blocks", "300"]].map(|more| {
        let judge = ["judge", "in.jsonl", "-q", "-o", "out.jsonl", "--restart"];
        let child = folder.juror(&[&judge[..], more].concat()).spawn().unwrap();
        let (ran, peak) = watch(child);
        ran.expect(0, &[]);
        (folder.read("out.jsonl"), peak >> 10)
    });
    assert_eq!(usual, few);
    assert!(
        peak < least + (32 << 10),
        "{peak} kB, and {least} kB with 300 blocks"
    );
}
