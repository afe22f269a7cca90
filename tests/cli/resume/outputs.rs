//! Outputs that are no file of their own: nothing is renamed over them, and what was there before stays.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::process::{Command, Stdio};

use crate::common::{Folder, Ran, binary, json_lines, rollouts};

/// Commands that write rows to a file, with `OUT` in its place; the last value is what its output begins with.
const COMMANDS: [(&[&str], &str); 3] = [
    (
        &["judge", "in.jsonl", "--rules", "only", "-q", "-o", "OUT"],
        "{\"id\":\"r0\"",
    ),
    (
        &["verify", "pairs.jsonl", "-q", "-o", "OUT"],
        "{\"id\":null",
    ),
    (
        &["verify", "pairs.jsonl", "-q", "--explain", "-o", "OUT"],
        "0\ngold",
    ),
];

fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    folder.write(
        "pairs.jsonl",
        "{\"gold\": \"1\", \"pred\": \"1\"}\n{\"gold\": \"1\", \"pred\": \"2\"}\n",
    );
    folder
}

fn to<'a>(command: &[&'a str], out: &'a str) -> Vec<&'a str> {
    command
        .iter()
        .map(|part| if *part == "OUT" { out } else { part })
        .collect()
}

/// Runs a line of shell in which `juror …` is the command.
fn shell(folder: &Folder, script: &str, arguments: &[&str]) -> Ran {
    let output = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(binary())
        .args(arguments)
        .current_dir(folder.path("."))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran::of(output)
}

#[cfg(target_os = "linux")]
#[test]
fn a_redirected_file_keeps_what_was_in_it() {
    for (command, begins) in COMMANDS {
        let folder = prepared();
        symlink("/dev/stdout", folder.path("stdout-by-link")).unwrap();
        symlink("stdout-by-link", folder.path("link-to-link")).unwrap();
        for (out, number) in [
            ("/dev/stdout", 1),
            ("/dev/fd/1", 1),
            ("/proc/self/fd/1", 1),
            ("stdout-by-link", 1),
            ("link-to-link", 1),
            ("/dev/stderr", 2),
            ("/dev/fd/7", 7),
            ("/proc/thread-self/fd/7", 7),
        ] {
            // Longer than what is written, so that anything written at the beginning leaves a trace.
            let long = "what was there before\n".repeat(1000);
            for (redirect, before) in [(">", ""), (">>", long.as_str())] {
                folder.write("log", before);
                let inode = fs::metadata(folder.path("log")).unwrap().ino();
                let script = format!(
                    "{{ echo first >&{number}; \"$0\" \"$@\"; echo last >&{number}; }} {number}{redirect} log"
                );
                shell(&folder, &script, &to(command, out)).expect(0, &[]);
                let text = folder.read("log");
                let what = format!(
                    "{command:?} {out} {redirect}: {}",
                    &text[..text.len().min(300)]
                );
                let rest = text
                    .strip_prefix(before)
                    .expect(&what)
                    .strip_prefix("first\n")
                    .expect(&what);
                assert!(rest.contains(begins), "{what}");
                assert!(rest.ends_with("last\n"), "{what}");
                if command[0] == "judge" {
                    let verdicts = json_lines(rest.strip_suffix("last\n").unwrap());
                    assert_eq!(verdicts.len(), 3, "{what}");
                }
                assert_eq!(
                    fs::metadata(folder.path("log")).unwrap().ino(),
                    inode,
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn links_keep_leading_where_they_led() {
    for (command, begins) in COMMANDS {
        let folder = prepared();
        fs::create_dir(folder.path("elsewhere")).unwrap();
        folder.write("elsewhere/file", "old ".repeat(10_000));
        symlink("elsewhere/file", folder.path("link")).unwrap();
        symlink("elsewhere/new", folder.path("dangling")).unwrap();
        folder.write("one", "old ".repeat(10_000));
        fs::hard_link(folder.path("one"), folder.path("two")).unwrap();
        for (out, written) in [
            ("link", "elsewhere/file"),
            ("dangling", "elsewhere/new"),
            ("one", "two"),
        ] {
            let before = fs::metadata(folder.path(written))
                .map(|file| file.ino())
                .ok();
            let mut command = to(command, out);
            // What no run wrote is not written over.
            if before.is_some() {
                folder.run(&command).expect(2, &["pass --force"]);
            }
            command.push("--force");
            folder.run(&command).expect(0, &[]);
            let text = folder.read(written);
            assert!(text.starts_with(begins), "{command:?} {out}: {text}");
            assert!(!text.contains("old old"), "{command:?} {out}");
            assert_eq!(folder.read(out), text);
            let after = fs::metadata(folder.path(written)).unwrap().ino();
            assert!(
                before.is_none_or(|before| before == after),
                "{command:?} {out}"
            );
        }
        for link in ["link", "dangling"] {
            assert!(
                fs::symlink_metadata(folder.path(link))
                    .unwrap()
                    .is_symlink()
            );
        }
    }
}

#[test]
fn pipes_and_devices_are_written_to() {
    for (command, begins) in COMMANDS {
        let folder = prepared();
        let made = Command::new("mkfifo")
            .arg(folder.path("pipe"))
            .status()
            .unwrap();
        assert!(made.success());
        let script = "cat pipe > read & \"$0\" \"$@\"; code=$?; wait; exit $code";
        shell(&folder, script, &to(command, "pipe")).expect(0, &[]);
        assert!(
            folder.read("read").starts_with(begins),
            "{command:?}: {}",
            folder.read("read")
        );
        let pipe = fs::symlink_metadata(folder.path("pipe"))
            .unwrap()
            .file_type();
        assert!(!pipe.is_file(), "{command:?}");
        folder.run(&to(command, "/dev/null")).expect(0, &[]);
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let full = folder.run(&to(command, "/dev/full"));
        full.expect(1, &["could not write /dev/full", "No space left"]);
    }
}

/// The files of figures and of a trace are written like any other output.
#[test]
fn what_bench_writes_replaces_no_more_than_an_output_does() {
    let folder = prepared();
    let bench = |json| {
        [
            "bench",
            "in.jsonl",
            "--samples=1",
            "--output-tokens=1",
            "--json",
            json,
        ]
    };
    for name in ["file", "one", "log", "others"] {
        folder.write(name, "first\n");
    }
    symlink("file", folder.path("link")).unwrap();
    fs::hard_link(folder.path("one"), folder.path("two")).unwrap();
    for (out, written) in [("link", "file"), ("two", "one")] {
        let there = format!("{out} is there");
        folder.run(&bench(out)).expect(2, &[&there, "--force"]);
        folder
            .run(&[&bench(out)[..], &["--force"]].concat())
            .expect(0, &[]);
        assert!(folder.read(written).starts_with("{\n"));
    }
    for (script, out, log) in [
        ("\"$0\" \"$@\" >> log", "/dev/stdout", "log"),
        ("\"$0\" \"$@\" 7>> others", "/dev/fd/7", "others"),
    ] {
        shell(&folder, script, &bench(out)).expect(0, &[]);
        assert!(folder.read(log).starts_with("first\n{\n"));
    }
    folder
        .run(&bench("/dev/full"))
        .expect(1, &["could not write /dev/full", "No space left"]);
}

#[test]
fn what_fails_before_it_is_whole_changes_no_linked_file() {
    let folder = prepared();
    folder.write("pairs.jsonl.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03cut short");
    folder.write("one", "kept");
    fs::hard_link(folder.path("one"), folder.path("two")).unwrap();
    symlink("one", folder.path("link")).unwrap();
    for out in ["two", "link"] {
        folder
            .run(&["verify", "pairs.jsonl.gz", "-o", out, "--force"])
            .expect(2, &["cut short or damaged"]);
        assert_eq!(folder.read("one"), "kept");
    }
}

#[test]
fn an_input_is_not_written_to_under_another_name() {
    let folder = prepared();
    fs::hard_link(folder.path("in.jsonl"), folder.path("other.jsonl")).unwrap();
    symlink("in.jsonl", folder.path("link.jsonl")).unwrap();
    let before = folder.read("in.jsonl");
    for out in ["other.jsonl", "link.jsonl"] {
        for command in ["judge", "verify"] {
            folder
                .run(&[command, "in.jsonl", "-o", out])
                .expect(2, &[out, "is an input, and would be replaced"]);
        }
        assert_eq!(folder.read("in.jsonl"), before);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_journal_lies_beside_what_is_in_a_folder_and_beside_nothing_else() {
    let folder = prepared();
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let out = memory.path().join("out.jsonl");
    let judge = [
        "judge",
        "in.jsonl",
        "--rules",
        "only",
        "-o",
        out.to_str().unwrap(),
    ];
    folder.run(&judge).expect(0, &[]);
    folder.run(&judge).expect(0, &["3 were done before"]);
    for out in ["/dev/stdout", "/proc/self/fd/1", "/dev/null"] {
        let ran = folder.run_words(&format!("judge in.jsonl --rules only --skip-bad -o {out}"));
        ran.expect(
            2,
            &["--skip-bad sets bad lines aside in a file next to the output"],
        );
    }
}

#[test]
fn files_that_killed_runs_left_are_removed_by_the_next() {
    for command in [COMMANDS[0].0, COMMANDS[1].0] {
        let folder = prepared();
        for name in [".out.jsonl.juror-a1B2c3.tmp", ".out.jsonl.juror-ZZZZZZ.tmp"] {
            folder.write(name, "half of it");
        }
        let others = [
            ".out.jsonl.juror-busy00.tmp",
            ".other.jsonl.juror-a1B2c3.tmp",
            ".out.jsonl.backup.tmp",
            "out.jsonl.juror-a1B2c3.tmp",
        ];
        for name in others {
            folder.write(name, "somebody else's");
        }
        // Another run that is still writing.
        let busy = fs::File::open(folder.path(others[0])).unwrap();
        busy.lock().unwrap();
        folder.run(&to(command, "out.jsonl")).expect(0, &[]);
        let left: Vec<String> = folder
            .names()
            .into_iter()
            .filter(|name| name.contains(".tmp"))
            .collect();
        let mut expected: Vec<&str> = others.to_vec();
        expected.sort_unstable();
        assert_eq!(left, expected, "{command:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn no_room_for_a_copy_of_standard_input_is_a_failure_and_no_wrong_usage() {
    let folder = prepared();
    folder.write("many.jsonl", rollouts(2_000));
    // A limit on the size of files stands for the full disk.
    let script = "trap '' XFSZ; ulimit -f 64; cat many.jsonl | \"$0\" \"$@\"";
    for more in [&["-o", "out.jsonl"][..], &[]] {
        let arguments = [&["judge", "-", "--rules", "only"], more].concat();
        shell(&folder, script, &arguments).expect(
            1,
            &[
                "could not keep a copy of stdin, which cannot be read twice, in a temporary file",
                "make room",
            ],
        );
    }
}
