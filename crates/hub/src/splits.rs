//! Splits of a data set: which one is meant, and whether all of its files are there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

/// The configuration of data sets without any.
pub(super) const DEFAULT: &str = "default";
/// `FOLDER/SPLIT-00000-of-00002.ending`, the files of one split in parts.
pub(super) static PART: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:(.*)/)?([^/]+?)-([0-9]{5})-of-([0-9]{5})(?:-[^/.]+)?\.").ok()
});
/// The files of a split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) config: String,
    pub(super) name: String,
    /// In the order in which they are read.
    pub(super) files: Vec<String>,
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
    let mut seen = BTreeSet::new();
    let configs = splits.iter().map(|one| one.config.as_str());
    let configs: Vec<&str> = configs.filter(|config| seen.insert(*config)).collect();
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
    use super::super::data_files::splits;
    use super::*;

    #[test]
    fn one_split_is_meant_or_all_are_listed() {
        let files = |names: &[&str]| {
            let files = names.iter().map(|&file| file.to_owned()).collect();
            splits(&files, None, None).unwrap()
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
}
