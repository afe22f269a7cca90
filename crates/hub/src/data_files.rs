//! Which files of a data set's repository belong to which configuration and split.
//!
//! What the README tells (`configs`, each with its `data_files`) counts. Where it tells nothing, names do, as they are usual on the
//! hub: `data/SPLIT-00000-of-00002.parquet`, `CONFIG/SPLIT-….parquet`, `CONFIG/SPLIT/0000.parquet` of converted data, `test.jsonl`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::front_matter;
use super::splits::{DEFAULT, PART, Split};

/// What describes a repository.
pub(super) const README: &str = "README.md";
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

/// `CONFIG/SPLIT/0000.parquet`, as the hub converts data sets.
static CONVERTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(.+)/([^/]+)/[0-9]{4}\.parquet$").ok());

/// The splits of the wanted configuration that have files of a kind that is read; those of all configurations where names alone
/// tell. Where a README has several configurations and none of them is wanted, each has one split without files: its name is all
/// that a message needs.
///
/// # Errors
/// What is wrong with the README, for the user.
pub(super) fn splits(
    files: &BTreeSet<String>,
    readme: Option<&str>,
    wanted: Option<&str>,
) -> Result<Vec<Split>, String> {
    let configs = match readme {
        Some(text) => front_matter::value(text, "configs")
            .map_err(|why| format!("the configurations in its {README} cannot be read: {why}"))?,
        None => None,
    };
    let rows: Vec<&str> = files
        .iter()
        .map(String::as_str)
        .filter(|file| kind(file).is_some())
        .collect();
    let mut found = Found::default();
    match &configs {
        Some(Value::Array(configs)) => {
            let names: BTreeSet<&str> = configs.iter().map(name_of).collect();
            let one = match (wanted, names.first()) {
                (Some(wanted), _) if names.contains(wanted) => Some(wanted),
                (_, Some(only)) if names.len() == 1 => Some(*only),
                _ => None,
            };
            let Some(one) = one else {
                let mut seen = BTreeSet::new();
                let names = configs.iter().map(name_of);
                let unread = |name: &str| Split {
                    config: name.to_owned(),
                    name: "train".to_owned(),
                    files: Vec::new(),
                };
                return Ok(names
                    .filter(|name| seen.insert(*name))
                    .map(unread)
                    .collect());
            };
            for config in configs.iter().filter(|config| name_of(config) == one) {
                of_config(config, &rows, &mut found)?;
            }
        }
        _ => by_name(&rows, None, &mut found)?,
    }
    let names = |files: Vec<u32>| {
        let names = files.into_iter().filter_map(|at| rows.get(at as usize));
        let names: Vec<&str> = names.copied().collect();
        // The same rows in several kinds of files.
        let first = names.iter().filter_map(|file| kind(file)).min();
        let first = names.into_iter().filter(|file| kind(file) == first);
        first.map(str::to_owned).collect()
    };
    let splits = found.splits.into_iter().map(|(config, name, files)| Split {
        config,
        name,
        files: names(files),
    });
    Ok(splits.collect())
}

/// Comparisons of a file with a byte of a pattern, at most: a README must not make us compare without end.
const MAX_COMPARED: usize = 500_000_000;
/// Patterns of a configuration, at most.
const MAX_PATTERNS: usize = 500;
/// Bytes of a pattern with its folder, at most.
const MAX_PATTERN: usize = 500;
/// Files of all splits of a configuration together, at most.
const MAX_FOUND: usize = 1_000_000;

/// Splits as they are found.
#[derive(Debug, Default)]
struct Found {
    /// Configuration, name, and the places of the files among all that hold rows.
    splits: Vec<(String, String, Vec<u32>)>,
    /// The place of each split.
    places: BTreeMap<(String, String), usize>,
    /// The split and the file of all that was added.
    seen: HashSet<(usize, u32)>,
    compared: usize,
    patterns: usize,
}

impl Found {
    fn add(&mut self, config: &str, split: &str, file: usize) -> Result<(), String> {
        let splits = &mut self.splits;
        let place = self.places.entry((config.to_owned(), split.to_owned()));
        let place = *place.or_insert_with(|| {
            splits.push((config.to_owned(), split.to_owned(), Vec::new()));
            splits.len() - 1
        });
        if self.seen.insert((place, file as u32))
            && let Some((_, _, files)) = self.splits.get_mut(place)
        {
            files.push(file as u32);
        }
        if self.seen.len() > MAX_FOUND {
            return Err(format!(
                "its {README} names more than {MAX_FOUND} files of one configuration"
            ));
        }
        Ok(())
    }

    /// Counts one more look at so many files, by a pattern of so many bytes.
    fn compare(&mut self, files: usize, bytes: usize) -> Result<(), String> {
        self.compared = self
            .compared
            .saturating_add(files.saturating_mul(bytes.max(1)));
        self.patterns += 1;
        if self.compared > MAX_COMPARED || self.patterns > MAX_PATTERNS {
            return Err(format!("its {README} names files by too many patterns"));
        }
        Ok(())
    }
}

/// The name of one of the README's configurations.
fn name_of(config: &Value) -> &str {
    let name = config.get("config_name").and_then(Value::as_str);
    name.unwrap_or(DEFAULT)
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

/// The files of one of the README's configurations.
fn of_config(config: &Value, rows: &[&str], found: &mut Found) -> Result<(), String> {
    let name = name_of(config);
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
            let bytes = pattern.len() + folder.map_or(0, str::len);
            if bytes > MAX_PATTERN {
                return Err(format!(
                    "its {README} names files by a pattern of {bytes} bytes, more than {MAX_PATTERN}"
                ));
            }
            let pattern = match folder {
                Some(folder) if !folder.is_empty() => format!("{folder}/{pattern}"),
                _ => pattern.to_owned(),
            };
            found.compare(rows.len(), pattern.len())?;
            let matcher = glob(&pattern)?;
            for (at, _) in (rows.iter().enumerate()).filter(|(_, file)| matcher.is_match(file)) {
                found.add(name, split, at)?;
            }
        }
        Ok::<(), String>(())
    };
    match config.get("data_files") {
        None => by_name(rows, Some((name, folder.unwrap_or_default())), found)?,
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
fn by_name(rows: &[&str], of: Option<(&str, &str)>, found: &mut Found) -> Result<(), String> {
    found.compare(rows.len(), 1)?;
    let prefix = match of {
        Some((_, folder)) if !folder.is_empty() => format!("{folder}/"),
        _ => String::new(),
    };
    let mut placed: Vec<(String, Option<String>, usize)> = Vec::new();
    for (at, file) in rows.iter().enumerate() {
        let Some(path) = file.strip_prefix(&prefix) else {
            continue;
        };
        let (config, split) = place(path);
        placed.push((of.map_or(config, |(name, _)| name.to_owned()), split, at));
    }
    // A file without a word for a split is one of rows where no other has one either.
    let any_told = placed.iter().any(|(_, split, _)| split.is_some());
    for (config, split, file) in placed {
        match split {
            Some(split) => found.add(&config, &split, file)?,
            None if !any_told => found.add(&config, "train", file)?,
            None => {}
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(files: &[&str], readme: Option<&str>) -> Vec<(String, String, Vec<String>)> {
        wanted(files, readme, None)
    }

    fn wanted(
        files: &[&str],
        readme: Option<&str>,
        wanted: Option<&str>,
    ) -> Vec<(String, String, Vec<String>)> {
        let files = files.iter().map(|&file| file.to_owned()).collect();
        let splits = splits(&files, readme, wanted).unwrap();
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
            wanted(&files, Some(&usual), Some("main")),
            [
                split("main", "test", &["main/a-1.jsonl"]),
                split("main", "train", &["main/b-2.jsonl"]),
            ]
        );
        assert_eq!(
            wanted(&files, Some(&usual), Some("all")),
            [split("all", "train", &["other/c.csv", "other/deep/d.csv"])]
        );
        // Names alone, for a message.
        for none in [None, Some("test")] {
            assert_eq!(
                wanted(&files, Some(&usual), none),
                [split("main", "train", &[]), split("all", "train", &[])]
            );
        }
        let folder = readme("- config_name: x\n  data_dir: other\n- data_files: [test.json]");
        assert_eq!(
            ["x", "default"].map(|config| wanted(&files, Some(&folder), Some(config))),
            [
                [split("x", "train", &["other/c.csv", "other/deep/d.csv"])],
                [split("default", "train", &["test.json"])],
            ]
        );
        assert_eq!(
            of(&["test.csv"], Some("# No YAML")),
            [split("default", "test", &["test.csv"])]
        );
        let broken = splits(&BTreeSet::new(), Some("---\nconfigs: [\n---\n"), None).unwrap_err();
        assert!(broken.contains("README.md cannot be read"), "{broken}");
    }

    #[test]
    fn a_readme_cannot_ask_for_work_without_end() {
        let files: BTreeSet<String> = (0..20_000).map(|at| format!("{at}.csv")).collect();
        for (patterns, part) in [
            (vec!["x".to_owned(); 501].join(", "), "too many patterns"),
            (vec!["x".repeat(400); 63].join(", "), "too many patterns"),
            ("x".repeat(501), "a pattern of 501 bytes"),
            (vec!["*"; 51].join(", "), ""),
        ] {
            let readme = format!(
                "---\nconfigs:\n- data_files: [{}]\n---\n",
                patterns.replace('*', "'*'")
            );
            match splits(&files, Some(&readme), None) {
                Err(error) => assert!(!part.is_empty() && error.contains(part), "{error}"),
                Ok(found) => assert!(part.is_empty() && found[0].files.len() == files.len()),
            }
        }
        let many: String = (0..51).fold(String::new(), |text, at| {
            text + &format!("\n    s{at}: '*'")
        });
        let readme = format!("---\nconfigs:\n- data_files:{many}\n---\n");
        let error = splits(&files, Some(&readme), None).unwrap_err();
        assert!(error.contains("files of one configuration"), "{error}");
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
