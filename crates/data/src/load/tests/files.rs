//! Files, folders, compression.

use super::*;

#[test]
fn compression_is_told_by_the_content() {
    let content = rows(50);
    let plain = Files::one(&content).rows(&LoadOptions::default()).unwrap();
    let (first, second) = content.split_at(content.len() / 2);
    let skippable = [b"\x50\x2a\x4d\x18\x03\0\0\0abc".as_slice(), &zstd(&content)].concat();
    let cases = [
        gzip(&content),
        [gzip(first), gzip(second)].concat(),
        zstd(&content),
        [zstd(first), zstd(second)].concat(),
        skippable,
    ];
    for bytes in cases {
        for name in ["rows.jsonl", "rows.jsonl.gz", "rows.json.zst", "rows"] {
            let loaded = Files::new(&[(name, bytes.as_slice())])
                .load(&[name], &LoadOptions::default())
                .unwrap();
            assert_eq!(loaded.samples, plain.samples);
        }
    }
    // A plain file under a compressed file's name, as some downloads leave it.
    let loaded = Files::new(&[("rows.jsonl.gz", content.as_bytes())])
        .load(&["rows.jsonl.gz"], &LoadOptions::default());
    assert_eq!(loaded.unwrap().samples, plain.samples);
}

#[test]
fn compressed_files_that_are_cut_short_are_never_read_as_whole() {
    let content = rows(20);
    for (name, bytes) in [
        ("rows.jsonl.gz", gzip(&content)),
        ("rows.jsonl.zst", zstd(&content)),
    ] {
        let files = Files::new(&[("good.jsonl", row(99).as_bytes())]);
        for skip_bad in [false, true] {
            for length in 0..bytes.len() {
                if skip_bad && (1..4).contains(&length) {
                    // Too short to be recognised as compressed: a bad line, set aside as asked.
                    continue;
                }
                fs::write(files.path(name), &bytes[..length]).unwrap();
                let options = LoadOptions {
                    skip_bad,
                    ..LoadOptions::default()
                };
                let message = files.message(files.load(&["good.jsonl", name], &options));
                assert!(message.contains(name), "{length}: {message}");
            }
        }
    }
    let mut damaged = gzip(&content);
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    let files = Files::new(&[("rows.jsonl.gz", damaged.as_slice())]);
    let message = files.message(files.load(&["rows.jsonl.gz"], &LoadOptions::default()));
    assert!(
        message.starts_with(
            "rows.jsonl.gz is cut short or damaged: its gzip data break off after line "
        ),
        "{message}"
    );
}

#[test]
fn folders_are_read_whole_and_sorted() {
    let line = |id: usize| row(id).into_bytes();
    let files = Files::new(&[
        ("in/b.jsonl", &line(1)),
        ("in/a.ndjson", &line(0)),
        ("in/c/d.json", &line(2)),
        ("in/c/e.JSONL.gz", &gzip(&row(3))),
        ("in/z.jsonl.zst", &zstd(&row(4))),
        ("in/README.md", b"# not rows"),
        ("in/.hidden.jsonl", b"not rows"),
        ("in/verdicts.jsonl", b"{}"),
        ("in/verdicts.jsonl.journal", b"{}"),
        ("in/verdicts.jsonl.rejected.jsonl", b"{}"),
        ("in/earlier.csv", b"verdicts of another run"),
        ("in/earlier.csv.journal", b"{}"),
        ("none/README.md", b""),
    ]);
    let options = LoadOptions {
        output: Some(files.path("in/verdicts.jsonl")),
        ..LoadOptions::default()
    };
    assert_eq!(
        ids(&files.load(&["in"], &options).unwrap()),
        ["r0", "r1", "r2", "r3", "r4"]
    );
    assert_eq!(
        files.message(files.load(&["none"], &options)),
        "none holds no file to read: juror looks for names that end in .jsonl, .ndjson, .json, .csv, .tsv, .parquet or .eval (also with .gz or .zst), and leaves out outputs with a journal beside them"
    );
    assert!(
        files
            .message(files.load(&["in/verdicts.jsonl"], &options))
            .contains("is the output as well as an input")
    );
}

#[test]
fn a_file_named_twice_is_refused() {
    let files = Files::new(&[("in/a.jsonl", rows(1).as_bytes())]);
    let message = files.message(files.load(&["in/a.jsonl", "in/../in"], &LoadOptions::default()));
    assert_eq!(
        message,
        "in/../in/a.jsonl is in/a.jsonl once more: every row would be judged twice; name it once"
    );
    let message = load(&["-".into(), "-".into()], &LoadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(message.starts_with("- is - once more"), "{message}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_loops_end() {
    let files = Files::new(&[("blobs/x", rows(1).as_bytes()), ("in/README.md", b"")]);
    std::os::unix::fs::symlink("../blobs/x", files.path("in/a.jsonl")).unwrap();
    assert_eq!(
        files
            .load(&["in"], &LoadOptions::default())
            .unwrap()
            .accepted,
        1
    );
    std::os::unix::fs::symlink("../in", files.path("in/loop")).unwrap();
    assert!(
        files
            .message(files.load(&["in"], &LoadOptions::default()))
            .contains("once more")
    );
}

#[test]
fn inputs_that_cannot_be_read_say_so() {
    let files = Files::new(&[
        ("rows.parquet", b"PAR1xxxx"),
        ("in/data.parquet", b"PAR1xxxx"),
        ("rows.xz", b"\xfd7zXZ\0"),
        ("rows.bz2", b"BZh91AY&SY"),
        ("rows.zip", b"PK\x03\x04..."),
        ("empty.jsonl", b"\n \n"),
    ]);
    let message = |name: &str| files.message(files.load(&[name], &LoadOptions::default()));
    assert!(
        message("rows.parquet").starts_with("rows.parquet cannot be read as Parquet after row 0: ")
    );
    assert!(message("in").starts_with("in/data.parquet cannot be read as Parquet"));
    assert!(message("rows.xz").contains("compressed with xz, which is not read: unpack it"));
    assert!(message("rows.bz2").contains("bzip2"));
    assert!(message("rows.zip").contains("zip archive"));
    assert_eq!(
        message("empty.jsonl"),
        "no rows in empty.jsonl: the input is empty"
    );
    let failed = r#"{"id": 1, "epoch": 1, "input": "q", "target": "a", "output": {"model": "m"}, "error": {"message": "down"}}"#;
    let log = Files::one(failed).rows(&LoadOptions::default());
    let told = log.unwrap_err().to_string();
    assert!(
        told.ends_with("each of 1 ended with an error, which it holds in place of a response"),
        "{told}"
    );
    assert!(message("missing.jsonl").starts_with("could not read missing.jsonl: No such file"));
    assert!(
        load(&[], &LoadOptions::default())
            .unwrap_err()
            .to_string()
            .starts_with("no input: name")
    );
}
