//! The splits of a data set, by the paths of its Parquet files, and the one that is meant.

use std::collections::{BTreeMap, BTreeSet};

/// The prefix of a folder's name if the hub converted only the beginning of a split. No split has a dash in its name.
pub(crate) const PARTIAL: &str = "partial-";
/// The most files in one folder of the hub's conversion.
const FOLDER: usize = 10_000;
/// The configuration of data sets without any.
const DEFAULT: &str = "default";

/// The files of a split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) config: String,
    /// With [`PARTIAL`] in front if it is cut short.
    pub(crate) name: String,
    /// The files in reading order.
    pub(crate) files: Vec<String>,
    /// The first missing file, judging by the numbers of the others.
    pub(crate) lacks: Option<String>,
}

/// The program that laid out the files of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The hub, on its branch of converted files: `CONFIG/SPLIT/0000.parquet`, with [`PARTIAL`] before the name if it is cut
    /// short; beyond 10,000 files `CONFIG/SPLIT-part0/0000.parquet` and so on.
    Converted,
    /// Python's `datasets`: `data/SPLIT-00000-of-00002.parquet`, `CONFIG/SPLIT-00000-of-00002.parquet`.
    Pushed,
}

/// The splits that have files in a layout, by configuration and name.
pub(crate) fn splits(files: &BTreeSet<String>, layout: Layout) -> Vec<Split> {
    let mut found: BTreeMap<(&str, &str), Vec<(&String, FilePlace)>> = BTreeMap::new();
    for file in files {
        let place = match layout {
            Layout::Converted => converted(file),
            Layout::Pushed => pushed(file),
        };
        if let Some(place) = place {
            let split = found.entry((place.config, place.split)).or_default();
            split.push((file, place));
        }
    }
    let split = |((config, name), files): ((&str, &str), Vec<(&String, FilePlace)>)| Split {
        lacks: lacks(&files),
        config: config.to_owned(),
        name: name.to_owned(),
        files: files.into_iter().map(|(file, _)| file.clone()).collect(),
    };
    found.into_iter().map(split).collect()
}

/// What a file's path says about it.
struct FilePlace<'p> {
    config: &'p str,
    split: &'p str,
    number: usize,
    /// How many files the split has, if the name tells.
    of: Option<usize>,
}

fn converted(path: &str) -> Option<FilePlace<'_>> {
    let (config, rest) = path.split_once('/')?;
    let (folder, file) = rest.split_once('/')?;
    let number = digits(file.strip_suffix(".parquet")?, 4)?;
    let part = folder
        .rsplit_once("-part")
        .and_then(|(split, part)| Some((split, digits(part, 1)?)));
    let (split, part) = part.unwrap_or((folder, 0));
    Some(FilePlace {
        config,
        split,
        number: part * FOLDER + number,
        of: None,
    })
}

fn pushed(path: &str) -> Option<FilePlace<'_>> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    // Older files have a hash after their numbers.
    let (name, of) = file.strip_suffix(".parquet")?.split_once("-of-")?;
    let (split, number) = name.rsplit_once('-')?;
    Some(FilePlace {
        config: if matches!(folder, "" | "data") {
            DEFAULT
        } else {
            folder
        },
        split,
        number: digits(number, 5)?,
        of: Some(digits(of.split('-').next()?, 5)?),
    })
}

/// Parses a number of `count` digits.
fn digits(text: &str, count: usize) -> Option<usize> {
    let plain = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// The first number, as text, that is missing among a split's files.
fn lacks(files: &[(&String, FilePlace)]) -> Option<String> {
    let numbers: BTreeSet<usize> = files.iter().map(|(_, place)| place.number).collect();
    let told = files.iter().filter_map(|(_, place)| place.of).max();
    let count = told.unwrap_or(numbers.last()? + 1);
    let absent = (0..count).find(|number| !numbers.contains(number))?;
    let split = files.first()?.1.split;
    Some(match told {
        Some(of) => format!("{split}-{absent:05}-of-{of:05}"),
        None if count > FOLDER => format!(
            "{split}-part{}/{:04}.parquet",
            absent / FOLDER,
            absent % FOLDER
        ),
        None => format!("{split}/{absent:04}.parquet"),
    })
}

/// Picks the one split that the user means.
pub(crate) fn pick<'s>(
    splits: &'s [Split],
    config: Option<&str>,
    split: Option<&str>,
) -> Result<&'s Split, String> {
    let configs: BTreeSet<&str> = splits.iter().map(|one| one.config.as_str()).collect();
    let configs: Vec<&str> = configs.into_iter().collect();
    let has = |config: &str, split: &str| {
        let mut of_config = splits.iter().filter(|one| one.config == config);
        let whole = of_config.clone().find(|one| one.name == split);
        whole.or_else(|| of_config.find(|one| one.name.strip_prefix(PARTIAL) == Some(split)))
    };
    let (config, split) = match (config, split, configs.as_slice()) {
        (Some(config), split, _) if configs.contains(&config) => (config, split),
        // If there is one configuration, its name can be left out.
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

/// Names for a message; only the first if there are many.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 40;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[&str], layout: Layout) -> Vec<Split> {
        let files = files.iter().map(|&file| file.to_owned()).collect();
        splits(&files, layout)
    }

    /// `config:split files…`, with absent files in brackets.
    fn shown(files: &[&str], layout: Layout) -> Vec<String> {
        let line = |split: Split| {
            let lacks = split
                .lacks
                .map_or_else(String::new, |file| format!(" [{file}]"));
            let Split {
                config,
                name,
                files,
                ..
            } = split;
            format!("{config}:{name} {}{lacks}", files.join(" "))
        };
        of(files, layout).into_iter().map(line).collect()
    }

    #[test]
    fn what_the_hub_converted_lies_in_folders() {
        let files = [
            ".gitattributes",
            "README.md",
            "en/partial-train/0000.parquet",
            "en/partial-train/0001.parquet",
            "en/test/0000.parquet",
            "en/test/0002.parquet",
            "en/test/index.duckdb",
            "en/test/0000.parquet.gz",
            "en/test/00000.parquet",
            "x y/train-part0/9999.parquet",
            "x y/train-part1/0000.parquet",
            "a/b/c/0000.parquet",
            "train/0000.parquet",
            "0000.parquet",
        ];
        assert_eq!(
            shown(&files, Layout::Converted),
            [
                "en:partial-train en/partial-train/0000.parquet en/partial-train/0001.parquet",
                "en:test en/test/0000.parquet en/test/0002.parquet [test/0001.parquet]",
                "x y:train x y/train-part0/9999.parquet x y/train-part1/0000.parquet [train-part0/0000.parquet]",
            ]
        );
        assert_eq!(shown(&files, Layout::Pushed), Vec::<String>::new());
    }

    #[test]
    fn what_datasets_pushed_tells_how_many_files_there_are() {
        let files = [
            "data/test-00000-of-00001.parquet",
            "data/train-00000-of-00002-0123456789abcdef.parquet",
            "data/train-00001-of-00002-fedcba9876543210.parquet",
            "main/test-00000-of-00002.parquet",
            "test-00000-of-1.parquet",
            "test.parquet",
            "train-00001-of-00002.jsonl",
            "é-00000-of-00001.parquet",
        ];
        assert_eq!(
            shown(&files, Layout::Pushed),
            [
                format!("default:test {}", files[0]),
                format!("default:train {} {}", files[1], files[2]),
                format!("default:é {}", files[7]),
                format!("main:test {} [test-00001-of-00002]", files[3]),
            ]
        );
        assert_eq!(of(&files, Layout::Converted), []);
    }

    #[test]
    fn one_split_is_meant_or_all_are_listed() {
        let two = of(
            &[
                "main/partial-train/0000.parquet",
                "main/test/0000.parquet",
                "socratic/test/0000.parquet",
            ],
            Layout::Converted,
        );
        let name = |splits: &[Split], config, split| {
            pick(splits, config, split).map(|split| format!("{}:{}", split.config, split.name))
        };
        for (config, split, found) in [
            ("main", Some("test"), "main:test"),
            ("main", Some("train"), "main:partial-train"),
            ("main", Some("partial-train"), "main:partial-train"),
            ("socratic", None, "socratic:test"),
        ] {
            assert_eq!(name(&two, Some(config), split), Ok(found.to_owned()));
        }
        let (configurations, splits) = ("main, socratic", "partial-train, test");
        for (config, split, parts) in [
            (None, None, ["configurations", configurations]),
            (None, Some("test"), ["configurations", configurations]),
            (
                Some("test"),
                None,
                ["no configuration `test`", configurations],
            ),
            (
                Some("main"),
                None,
                ["splits of configuration `main`", splits],
            ),
            (Some("main"), Some("dev"), ["no split `dev`", splits]),
        ] {
            let message = name(&two, config, split).unwrap_err();
            for part in parts {
                assert!(message.contains(part), "{part}: {message}");
            }
        }
        let one = of(
            &["default/test/0000.parquet", "default/train/0000.parquet"],
            Layout::Converted,
        );
        for (config, split) in [
            (Some("test"), None),
            (None, Some("test")),
            (Some("default"), Some("test")),
        ] {
            assert_eq!(name(&one, config, split), Ok("default:test".to_owned()));
        }
    }
}
