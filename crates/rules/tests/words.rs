//! What words do is rows of a table: the rooms whose code is free of words stay so, and in all code they only become fewer.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// How many literals with a word there are in the crate's code at most. It only goes down.
const MOST: usize = 1650;

/// The rooms without one.
const FREE: [&str; 13] = [
    "answer.rs",
    "compare/dispatch.rs",
    "compare/linear.rs",
    "compare/quotient.rs",
    "compare/rename.rs",
    "extract/beside.rs",
    "extract/beside/table.rs",
    "extract/listed.rs",
    "extract/sentences.rs",
    "format.rs",
    "parse/arrange.rs",
    "parse/lexemes.rs",
    "parse/token.rs",
];

/// All files of code under `folder`, without tests.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains("test") {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
    found
}

/// The string literals of a file that hold a word: two letters, of any script, that stand together. What begins with `@` or `<` names a list
/// or a shape, and the places of `beside.tsv` are names too.
fn words(code: &str, places: &[&str]) -> Vec<String> {
    let code = code.split("#[cfg(test)]").next().unwrap_or("");
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for line in lines {
        let line = line
            .replace("\\\\", "")
            .replace("\\\"", "")
            .replace("'\"'", "");
        for literal in line.split('"').skip(1).step_by(2) {
            let mut runs = literal.split(|it: char| !it.is_alphabetic());
            let word = runs.any(|it| it.chars().nth(1).is_some());
            if word && !literal.starts_with(['@', '<']) && !places.contains(&literal) {
                found.push(literal.to_owned());
            }
        }
    }
    found
}

#[test]
fn words_are_rows_of_a_table() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let table = fs::read_to_string(source.join("lexicon/beside.tsv")).unwrap();
    let places: Vec<&str> = table
        .lines()
        .filter_map(|row| row.split('\t').nth(1))
        .collect();
    let mut all = 0;
    for path in files(&source) {
        let name = path
            .strip_prefix(&source)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        let found = words(&fs::read_to_string(&path).unwrap(), &places);
        let free = FREE.contains(&&*name);
        assert!(
            !free || found.is_empty(),
            "{name} holds words, which belong in a table: {found:?}"
        );
        all += found.len();
    }
    assert!(
        all <= MOST,
        "{all} literals with a word in code, {MOST} at most: words belong in a table"
    );
}

#[test]
fn a_word_is_found() {
    let code =
        "let it = among(word, &[\"least\", \"@list\", \"%\"]);\n// \"comment\"\nif it == \"не\" {}";
    assert_eq!(words(code, &[]), ["least", "не"]);
}
