//! Lines without an end and lines that are too long: refused while they are read, in bounded memory.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{gzip, ids};
use crate::common::{Folder, row};

/// Runs the command with no more than this much memory for its addresses, in kilobytes.
#[cfg(target_os = "linux")]
fn with_memory(folder: &Folder, kilobytes: usize, arguments: &[&str]) -> crate::common::Ran {
    let output = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\""))
        // Threads take addresses too.
        .env("RAYON_NUM_THREADS", "2")
        .arg(crate::common::binary())
        .args(arguments)
        .current_dir(folder.path("."))
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    crate::common::Ran::of(output)
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_without_an_end_is_refused_while_it_is_read() {
    const LIMIT: &str = "--max-line-bytes=1000000";
    let folder = Folder::new();
    // Small files of much text without a newline.
    let zeros = vec![b'0'; 1 << 20];
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    let mut zst = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zst.long_distance_matching(true).unwrap();
    zst.window_log(27).unwrap();
    for _ in 0..100 {
        gz.write_all(&zeros).unwrap();
        zst.write_all(&zeros).unwrap();
    }
    fs::create_dir(folder.path("bombs")).unwrap();
    folder.write("bombs/in.jsonl.gz", gz.finish().unwrap());
    folder.write("bombs/in.jsonl.zst", zst.finish().unwrap());
    std::os::unix::fs::symlink("/dev/zero", folder.path("zero.jsonl")).unwrap();
    for (input, line) in [
        (
            "/dev/zero",
            "/dev/zero:1: a row, or space before one, of more than ",
        ),
        (
            "zero.jsonl",
            "zero.jsonl:1: a row, or space before one, of more than ",
        ),
        (
            "bombs/in.jsonl.gz",
            "bombs/in.jsonl.gz:1: a row, or space before one, of more than ",
        ),
        (
            "bombs/in.jsonl.zst",
            "bombs/in.jsonl.zst:1: a row, or space before one, of more than ",
        ),
        (
            "bombs",
            "bombs/in.jsonl.gz:1: a row, or space before one, of more than ",
        ),
    ] {
        for command in [
            &["judge", "--rules", "only"][..],
            &["judge", "--rules", "only", "--skip-bad", "-o", "out.jsonl"],
            &["judge", "--dry-run"],
            &["verify"],
            &["verify", "-o", "out.jsonl"],
            &["prompts", "render"],
            &["prompts", "render", "--id", "r7"],
            &["bench"],
        ] {
            let arguments = [command, &[input, LIMIT]].concat();
            if command[0] == "verify" && input == "bombs" {
                continue;
            }
            let ran = with_memory(&folder, 2 << 20, &arguments);
            ran.expect(2, &[line, "--max-line-bytes"]);
            assert!(!folder.has("out.jsonl"));
        }
    }
    // The limit that holds where none is given.
    with_memory(&folder, 2 << 20, &["judge", "--rules", "only", "/dev/zero"]).expect(
        2,
        &["/dev/zero:1: a row, or space before one, of more than "],
    );
    for option in ["--prompt", "--few-shots", "--chat-template"] {
        let ran = with_memory(
            &folder,
            2 << 20,
            &["judge", "in.jsonl", option, "/dev/zero"],
        );
        ran.expect(2, &["could not read /dev/zero", "longer than 16 MiB"]);
    }
}

#[test]
fn a_line_that_is_too_long_is_a_bad_line() {
    let long = row("long", "q", "1", &"1".repeat(5_000));
    let exactly = row("exactly", "q", "1", &"1".repeat(2_000));
    let limit = format!("--max-line-bytes={}", exactly.len() - 1);
    let input = format!(
        "{}{long}{exactly}{}",
        row("first", "q", "1", "1"),
        row("last", "q", "2", "2")
    );
    let dos = input.replace('\n', "\r\n");
    let unended = format!("{}{}", input, long.trim_end());
    let endings: [(&str, Vec<u8>, usize); 4] = [
        ("in.jsonl", input.clone().into_bytes(), 1),
        ("dos.jsonl", format!("\u{feff}{dos}").into_bytes(), 1),
        ("unended.jsonl", unended.into_bytes(), 2),
        ("in.jsonl.gz", gzip(&input), 1),
    ];
    for (name, content, bad) in endings {
        let folder = Folder::new();
        folder.write(name, content);
        let ran = folder.run(&["judge", "--rules", "only", name, &limit, "-o", "out.jsonl"]);
        let longer = format!("longer than {} bytes", exactly.len() - 1);
        let named = match bad {
            1 => format!("  {name}:2: {longer}"),
            _ => format!("  2 lines ({name}:2, {name}:5): {longer}"),
        };
        ran.expect(2, &[&named, "--max-line-bytes", "--skip-bad"]);
        assert!(!folder.has("out.jsonl"));
        let ran = folder.run_words(&format!(
            "judge --rules only {name} {limit} -o out.jsonl --skip-bad"
        ));
        ran.expect(0, &[]);
        assert_eq!(
            ids(&folder.lines("out.jsonl")),
            ["first", "exactly", "last"]
        );
        let rejected = folder.lines("out.jsonl.rejected.jsonl");
        assert_eq!(rejected.len(), bad);
        let text = rejected[0]["text"].as_str().unwrap();
        assert!(long.starts_with(text) && text.len() == 1024, "{text}");
        // A longer limit takes all.
        if bad == 1 {
            let ran = folder.run_words(&format!(
                "judge --rules only {name} --max-line-bytes=6000 -q"
            ));
            assert_eq!(ran.expect(0, &[]).lines().len(), 4);
        }
    }
    let folder = Folder::new();
    folder.write("in.jsonl", &input);
    let ran = folder.run(&["verify", "in.jsonl", &limit]);
    let lines = ran.expect(3, &[]).lines();
    assert_eq!(lines.len(), 4);
    assert!(
        lines[1]["error"].as_str().unwrap().contains("longer than "),
        "{}",
        lines[1]
    );
    for limit in ["0", "4294967296", "x"] {
        folder
            .run(&["judge", "in.jsonl", "--max-line-bytes", limit])
            .expect(2, &["--max-line-bytes"]);
    }
}
