//! Which files of a data set's repository belong to which configuration and split.
//!
//! What the README tells (`configs`, each with its `data_files`) counts. Where it tells nothing, names do, as they are usual on the
//! hub: `data/SPLIT-00000-of-00002.parquet`, `CONFIG/SPLIT-….parquet`, `CONFIG/SPLIT/0000.parquet` of converted data, `test.jsonl`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::front_matter;

/// What describes a repository.
pub(super) const README: &str = "README.md";
/// The configuration of data sets without any.
const DEFAULT: &str = "default";
/// Endings of files that are read; all but Parquet also with one of [`COMPRESSED`]. Where a split is there in several kinds, the first counts.
const KINDS: [&[&str]; 4] = [
    &["parquet"],
    &["jsonl", "ndjson"],
    &["json"],
    &["csv", "tsv"],
];
const COMPRESSED: [&str; 2] = [".gz", ".zst"];
/// JSON files that hold no rows.
const NO_ROWS: [&str; 5] = [
    "config.json",
    "dataset_info.json",
    "dataset_infos.json",
    "dataset_dict.json",
    "state.json",
];
/// Splits, and the words in names that mean them.
const WORDS: [(&str, &[&str]); 3] = [
    ("train", &["train", "training"]),
    ("validation", &["validation", "valid", "dev", "val"]),
    ("test", &["test", "testing", "eval", "evaluation"]),
];

/// `FOLDER/SPLIT-00000-of-00002.ending`, the files of one split in parts.
static PART: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:(.*)/)?([^/]+?)-([0-9]{5})-of-([0-9]{5})(?:-[^/.]+)?\.").ok()
});
/// `CONFIG/SPLIT/0000.parquet`, as the hub converts data sets.
static CONVERTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(.+)/([^/]+)/[0-9]{4}\.parquet$").ok());

/// The files of a split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) config: String,
    pub(super) name: String,
    /// In the order in which they are read.
    pub(super) files: Vec<String>,
}

/// All splits that have files of a kind that is read.
///
/// # Errors
/// What is wrong with the README, for the user.
pub(super) fn splits(files: &BTreeSet<String>, readme: Option<&str>) -> Result<Vec<Split>, String> {
    let configs = match readme {
        Some(text) => front_matter::value(text, "configs")
            .map_err(|why| format!("the configurations in its {README} cannot be read: {why}"))?,
        None => None,
    };
    let rows: BTreeSet<&str> = files
        .iter()
        .map(String::as_str)
        .filter(|file| kind(file).is_some())
        .collect();
    let mut found: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut order: Vec<(String, String)> = Vec::new();
    let mut add = |config: &str, split: &str, file: &str| {
        let key = (config.to_owned(), split.to_owned());
        let files = found.entry(key.clone()).or_default();
        if files.is_empty() {
            order.push(key);
        }
        if !files.iter().any(|other| other == file) {
            files.push(file.to_owned());
        }
    };
    match configs {
        Some(Value::Array(configs)) => {
            for config in &configs {
                of_config(config, &rows, &mut add)?;
            }
        }
        _ => by_name(&rows, None, &mut add),
    }
    let splits = order.into_iter().filter_map(|key| {
        let files = found.remove(&key)?;
        // The same rows in several kinds of files.
        let first = files.iter().filter_map(|file| kind(file)).min();
        Some(Split {
            config: key.0,
            name: key.1,
            files: files
                .into_iter()
                .filter(|file| kind(file) == first)
                .collect(),
        })
    });
    Ok(splits.collect())
}

/// The place in [`KINDS`] of a file that holds rows.
fn kind(file: &str) -> Option<usize> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let hidden = file.split('/').any(|part| part.starts_with('.'));
    if hidden || NO_ROWS.contains(&name) {
        return None;
    }
    let bare = COMPRESSED
        .iter()
        .find_map(|ending| name.strip_suffix(ending));
    let (_, ending) = bare.unwrap_or(name).rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    let kind = KINDS
        .iter()
        .position(|kind| kind.contains(&ending.as_str()))?;
    (bare.is_none() || kind > 0).then_some(kind)
}

/// Takes a configuration, a split and a file of it.
type Add<'a> = dyn FnMut(&str, &str, &str) + 'a;

/// The files of one of the README's configurations.
fn of_config(config: &Value, rows: &BTreeSet<&str>, add: &mut Add) -> Result<(), String> {
    let name = config
        .get("config_name")
        .and_then(Value::as_str)
        .unwrap_or(DEFAULT);
    let folder = config.get("data_dir").and_then(Value::as_str);
    let folder = folder.map(|folder| folder.trim_start_matches("./").trim_matches('/'));
    let mut of_split = |split: &str, paths: &Value| {
        let one = paths.as_str().into_iter();
        let several = paths
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        for pattern in one.chain(several) {
            let pattern = pattern.trim_start_matches("./").trim_start_matches('/');
            let pattern = match folder {
                Some(folder) if !folder.is_empty() => format!("{folder}/{pattern}"),
                _ => pattern.to_owned(),
            };
            let matcher = glob(&pattern)?;
            for file in rows.iter().filter(|file| matcher.is_match(file)) {
                add(name, split, file);
            }
        }
        Ok::<(), String>(())
    };
    match config.get("data_files") {
        None => by_name(rows, Some((name, folder.unwrap_or_default())), add),
        Some(Value::Object(splits)) => {
            for (split, paths) in splits {
                of_split(split, paths)?;
            }
        }
        Some(Value::Array(list)) if list.iter().any(Value::is_object) => {
            for entry in list {
                let split = entry
                    .get("split")
                    .and_then(Value::as_str)
                    .unwrap_or("train");
                of_split(split, entry.get("path").unwrap_or(&Value::Null))?;
            }
        }
        Some(paths) => of_split("train", paths)?,
    }
    Ok(())
}

/// A pattern with `*`, `**`, `?` and `[…]`, as data sets have it.
fn glob(pattern: &str) -> Result<Regex, String> {
    let mut text = String::from("^");
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let mut taken = first.len_utf8();
        match first {
            '*' if rest.starts_with("**/") => {
                text += "(?:.*/)?";
                taken = 3;
            }
            '*' if rest.starts_with("**") => {
                text += ".*";
                taken = 2;
            }
            '*' => text += "[^/]*",
            '?' => text += "[^/]",
            '[' if rest.find(']').is_some_and(|end| end > 1) => {
                let end = rest.find(']').unwrap_or_default();
                let inner = &rest[1..end];
                let (not, inner) = match inner.strip_prefix(['!', '^']) {
                    Some(inner) => ("^", inner),
                    None => ("", inner),
                };
                let inner = inner
                    .replace('\\', "\\\\")
                    .replace('[', "\\[")
                    .replace('&', "\\&");
                text.extend(["[", not, &inner.replace('~', "\\~"), "]"]);
                taken = end + 1;
            }
            _ => text += &regex::escape(&rest[..taken]),
        }
        rest = &rest[taken..];
    }
    text += "$";
    Regex::new(&text)
        .map_err(|_| format!("its {README} names files by {pattern:?}, which cannot be read"))
}

/// Configurations and splits by the names of files; with the name of a configuration, those in its folder.
fn by_name(rows: &BTreeSet<&str>, of: Option<(&str, &str)>, add: &mut Add) {
    let prefix = match of {
        Some((_, folder)) if !folder.is_empty() => format!("{folder}/"),
        _ => String::new(),
    };
    let mut placed: Vec<(String, Option<String>, &str)> = Vec::new();
    for file in rows {
        let Some(path) = file.strip_prefix(&prefix) else {
            continue;
        };
        let (config, split) = place(path);
        placed.push((of.map_or(config, |(name, _)| name.to_owned()), split, file));
    }
    // A file without a word for a split is one of rows where no other has one either.
    let any_told = placed.iter().any(|(_, split, _)| split.is_some());
    for (config, split, file) in placed {
        match split {
            Some(split) => add(&config, &split, file),
            None if !any_told => add(&config, "train", file),
            None => {}
        }
    }
}

/// Configuration and split of a file, as its path tells them.
fn place(path: &str) -> (String, Option<String>) {
    let named = |regex: &Option<Regex>| {
        let found = regex.as_ref()?.captures(path)?;
        let folder = found.get(1).map_or("", |folder| folder.as_str());
        Some((
            config_of(folder.split('/')),
            Some(found.get(2)?.as_str().to_owned()),
        ))
    };
    if let Some(found) = named(&PART).or_else(|| named(&CONVERTED)) {
        return found;
    }
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let folders: Vec<&str> = folders.split('/').collect();
    let in_folders = folders.iter().rev().find_map(|folder| split_in(folder));
    let split = split_in(stem).or(in_folders);
    let others = folders
        .into_iter()
        .filter(|folder| split_in(folder).is_none());
    (config_of(others), split.map(str::to_owned))
}

fn config_of<'f>(folders: impl Iterator<Item = &'f str>) -> String {
    let names: Vec<&str> = folders
        .filter(|name| !name.is_empty() && *name != "data")
        .collect();
    if names.is_empty() {
        DEFAULT.to_owned()
    } else {
        names.join("/")
    }
}

/// The split that a word in a name means.
fn split_in(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphabetic());
    words.find_map(|word| {
        let split = WORDS.iter().find(|(_, words)| words.contains(&word))?;
        Some(split.0)
    })
}

/// The one split that is meant.
///
/// # Errors
/// What is missing or not told, with what there is, for the user.
pub(super) fn pick<'s>(
    splits: &'s [Split],
    config: Option<&str>,
    split: Option<&str>,
) -> Result<&'s Split, String> {
    let mut configs: Vec<&str> = Vec::new();
    for one in splits {
        if !configs.contains(&one.config.as_str()) {
            configs.push(&one.config);
        }
    }
    let has = |config: &str, split: &str| {
        splits
            .iter()
            .find(|one| one.config == config && one.name == split)
    };
    let (config, split) = match (config, split, configs.as_slice()) {
        (Some(config), split, _) if configs.contains(&config) => (config, split),
        // With one configuration its name can be left out.
        (Some(split), None, [config]) if has(config, split).is_some() => (*config, Some(split)),
        (Some(config), ..) => {
            return Err(format!(
                "there is no configuration `{config}`: there are {}",
                listed(&configs)
            ));
        }
        (None, split, [config]) => (*config, split),
        (None, ..) => {
            return Err(format!(
                "name one of its configurations, as in `:{}`: {}",
                configs.first().unwrap_or(&DEFAULT),
                listed(&configs)
            ));
        }
    };
    let of_config: Vec<&Split> = splits.iter().filter(|one| one.config == config).collect();
    let names: Vec<&str> = of_config.iter().map(|one| one.name.as_str()).collect();
    match (split, of_config.as_slice()) {
        (Some(split), _) => has(config, split).ok_or_else(|| {
            format!(
                "there is no split `{split}` in configuration `{config}`: there are {}",
                listed(&names)
            )
        }),
        (None, [only]) => Ok(only),
        (None, _) => Err(format!(
            "name one of the splits of configuration `{config}`, as in `:{config}:{}`: {}",
            names.first().unwrap_or(&"test"),
            listed(&names)
        )),
    }
}

/// Names for a message; of very many the first.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 40;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The parts of a split that are not among its files, told by `-00000-of-00003` in the names of others.
pub(super) fn missing_parts(files: &[String]) -> Option<String> {
    let regex = PART.as_ref()?;
    let mut seen: BTreeMap<(&str, &str, usize), BTreeSet<usize>> = BTreeMap::new();
    for file in files {
        let Some(found) = regex.captures(file) else {
            continue;
        };
        let text = |at: usize| found.get(at).map_or("", |text| text.as_str());
        if let (Ok(part), Ok(parts)) = (text(3).parse(), text(4).parse()) {
            seen.entry((text(1), text(2), parts))
                .or_default()
                .insert(part);
        }
    }
    seen.into_iter().find_map(|((_, name, parts), seen)| {
        let absent = (0..parts).find(|part| !seen.contains(part))?;
        Some(format!("{name}-{absent:05}-of-{parts:05}"))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(files: &[&str], readme: Option<&str>) -> Vec<(String, String, Vec<String>)> {
        let files = files.iter().map(|&file| file.to_owned()).collect();
        let splits = splits(&files, readme).unwrap();
        splits
            .into_iter()
            .map(|split| (split.config, split.name, split.files))
            .collect()
    }

    fn split(config: &str, name: &str, files: &[&str]) -> (String, String, Vec<String>) {
        (
            config.to_owned(),
            name.to_owned(),
            files.iter().map(|&file| file.to_owned()).collect(),
        )
    }

    #[test]
    fn names_tell_configurations_and_splits() {
        let usual = [
            "README.md",
            ".gitattributes",
            "data/test-00000-of-00001.parquet",
            "data/train-00000-of-00002.parquet",
            "data/train-00001-of-00002.parquet",
            "dataset_infos.json",
        ];
        assert_eq!(
            of(&usual, None),
            [
                split("default", "test", &usual[2..3]),
                split("default", "train", &usual[3..5]),
            ]
        );
        let converted = [
            "main/test/0000.parquet",
            "main/train/0000.parquet",
            "main/train/0001.parquet",
            "socratic/partial-train/0000.parquet",
        ];
        assert_eq!(
            of(&converted, None),
            [
                split("main", "test", &converted[..1]),
                split("main", "train", &converted[1..3]),
                split("socratic", "partial-train", &converted[3..]),
            ]
        );
        assert_eq!(
            of(&["main/math-00000-of-00001-abc.parquet"], None),
            [split(
                "main",
                "math",
                &["main/math-00000-of-00001-abc.parquet"]
            )]
        );
        assert_eq!(
            of(
                &["gsm8k_test.jsonl", "gsm8k_dev.jsonl.gz", "notes.csv"],
                None
            ),
            [
                split("default", "validation", &["gsm8k_dev.jsonl.gz"]),
                split("default", "test", &["gsm8k_test.jsonl"]),
            ]
        );
        assert_eq!(
            of(&["en/test/a.csv", "de/test.csv"], None),
            [
                split("de", "test", &["de/test.csv"]),
                split("en", "test", &["en/test/a.csv"])
            ]
        );
        // No word anywhere: rows are rows.
        assert_eq!(
            of(&["rows.jsonl", "model.bin"], None),
            [split("default", "train", &["rows.jsonl"])]
        );
        // The same rows twice.
        assert_eq!(
            of(&["test.jsonl", "data/test-00000-of-00001.parquet"], None),
            [split(
                "default",
                "test",
                &["data/test-00000-of-00001.parquet"]
            )]
        );
        assert_eq!(
            of(
                &["a.zip", ".hidden/test.csv", "x.parquet.gz", "attest.txt"],
                None
            ),
            []
        );
    }

    #[test]
    fn a_readme_tells_more_than_names() {
        let readme = |configs: &str| format!("---\nconfigs:\n{configs}\n---\n");
        let files = [
            "main/a-1.jsonl",
            "main/b-2.jsonl",
            "other/c.csv",
            "other/deep/d.csv",
            "test.json",
        ];
        let usual = readme(
            "- config_name: main\n  data_files:\n  - split: test\n    path: main/a-*\n  - split: train\n    path: [\"main/b-[0-9].jsonl\", main/b-2.jsonl]\n- config_name: all\n  data_files: \"**/*.csv\"",
        );
        assert_eq!(
            of(&files, Some(&usual)),
            [
                split("main", "test", &["main/a-1.jsonl"]),
                split("main", "train", &["main/b-2.jsonl"]),
                split("all", "train", &["other/c.csv", "other/deep/d.csv"]),
            ]
        );
        let folder = readme("- config_name: x\n  data_dir: other\n- data_files: [test.json]");
        assert_eq!(
            of(&files, Some(&folder)),
            [
                split("x", "train", &["other/c.csv", "other/deep/d.csv"]),
                split("default", "train", &["test.json"]),
            ]
        );
        assert_eq!(
            of(&["test.csv"], Some("# No YAML")),
            [split("default", "test", &["test.csv"])]
        );
        let broken = splits(&BTreeSet::new(), Some("---\nconfigs: [\n---\n")).unwrap_err();
        assert!(broken.contains("README.md cannot be read"), "{broken}");
    }

    #[test]
    fn one_split_is_meant_or_all_are_listed() {
        let files = |names: &[&str]| {
            let files = names.iter().map(|&file| file.to_owned()).collect();
            splits(&files, None).unwrap()
        };
        let two = files(&[
            "main/test-00000-of-00001.parquet",
            "main/train-00000-of-00001.parquet",
            "socratic/test-00000-of-00001.parquet",
        ]);
        let name = |splits: &[Split], config, split| {
            pick(splits, config, split).map(|split| format!("{}:{}", split.config, split.name))
        };
        assert_eq!(
            name(&two, Some("main"), Some("test")),
            Ok("main:test".to_owned())
        );
        assert_eq!(
            name(&two, Some("socratic"), None),
            Ok("socratic:test".to_owned())
        );
        for (config, split, parts) in [
            (None, None, ["configurations", "main, socratic"]),
            (None, Some("test"), ["configurations", "main, socratic"]),
            (
                Some("test"),
                None,
                ["no configuration `test`", "main, socratic"],
            ),
            (
                Some("main"),
                None,
                ["splits of configuration `main`", "test, train"],
            ),
            (Some("main"), Some("dev"), ["no split `dev`", "test, train"]),
        ] {
            let message = name(&two, config, split).unwrap_err();
            for part in parts {
                assert!(message.contains(part), "{part}: {message}");
            }
        }
        let one = files(&["test.jsonl", "train.jsonl"]);
        for (config, split) in [
            (Some("test"), None),
            (None, Some("test")),
            (Some("default"), Some("test")),
        ] {
            assert_eq!(name(&one, config, split), Ok("default:test".to_owned()));
        }
    }

    #[test]
    fn parts_that_are_not_there_are_told() {
        let files =
            |names: &[&str]| -> Vec<String> { names.iter().map(|&name| name.to_owned()).collect() };
        assert_eq!(
            missing_parts(&files(&[
                "a/x-00000-of-00002.parquet",
                "a/x-00001-of-00002.parquet",
                "y.csv"
            ])),
            None
        );
        assert_eq!(
            missing_parts(&files(&["a/x-00000-of-00002.parquet"])),
            Some("x-00001-of-00002".to_owned())
        );
    }

    proptest! {
        #[test]
        fn every_pattern_is_read_or_refused(pattern in "[a-b*?\\[\\]!^/.&~\\\\é-]{0,12}", path in "[a-b/é.-]{0,8}") {
            if let Ok(regex) = glob(&pattern) {
                // What has no special sign matches itself alone.
                if !pattern.contains(['*', '?', '[']) {
                    prop_assert_eq!(regex.is_match(&path), pattern == path);
                }
            }
            let _ = place(&path);
        }
    }
}
