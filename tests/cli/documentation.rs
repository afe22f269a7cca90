//! The documentation: links lead somewhere, pages are in the book, jobs run as written.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::Value;

use juror_eval::eval::Miss;
use juror_eval::gsm8k::solver::Configuration;
use juror_judge::attack::Family;

use crate::common::{Folder, Ran, binary, rollouts};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Markdown files below a folder of the repository.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    files(folder, "md", found);
}

/// All files below a folder of the repository whose names have an ending.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "dist"].contains(&&*name) && !name.starts_with('.') {
            files(&path, ending, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == ending)
        {
            found.push(path);
        }
    }
}

/// Nothing that was to be filled in was left.
#[test]
fn pages_have_no_blanks() {
    let blank = Regex::new("@@[A-Z]+@@").unwrap();
    let mut all = Vec::new();
    pages(root(), &mut all);
    for page in all {
        let text = fs::read_to_string(&page).unwrap();
        assert!(!blank.is_match(&text), "{}", page.display());
    }
}

/// Arrows between crates go down only: what each uses of ours is named here. The map of the crates has all of them.
#[test]
fn crates_use_those_below_them_alone() {
    let below: [(&str, &[&str]); 9] = [
        ("algebra", &[]),
        ("base", &[]),
        ("data", &["base"]),
        ("engine", &["base", "hub"]),
        ("eval", &["base", "data", "judge", "rules"]),
        ("hub", &[]),
        ("judge", &["base", "data", "engine", "hub", "rules"]),
        ("math_verify", &["algebra"]),
        ("rules", &["algebra", "math_verify"]),
    ];
    let mut folders: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert!(folders.iter().eq(below.iter().map(|(name, _)| name)));
    let map = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    for (name, allowed) in below {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        let manifest: toml::Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let package = manifest["package"]["name"].as_str().unwrap();
        assert!(
            map.contains(&format!("| `{package}` (`crates/{name}`) |")),
            "{package}"
        );
        let used = manifest["dependencies"].as_table().unwrap().keys();
        let used: Vec<String> = used
            .filter_map(|key| Some(key.strip_prefix("juror-")?.replace('-', "_")))
            .collect();
        for other in &used {
            assert!(allowed.contains(&&**other), "{name} uses {other}");
        }
        // What reads text has no place where expressions are compared.
        let reads = ["regex", "serde", "serde_json", "aho-corasick"];
        let text = reads
            .iter()
            .any(|it| manifest["dependencies"].get(it).is_some());
        assert!(name != "algebra" || !text);
    }
}

/// Arrows between the judge's rooms, and between those of its pipeline, go down only, in the order that the map of the crates gives.
#[test]
fn rooms_of_the_judge_use_those_below_them_alone() {
    let source = root().join("crates/judge/src");
    let rooms = check_arrows("protocol ← ", &source, "crate::");
    for entry in fs::read_dir(&source).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let room = name.trim_end_matches(".rs");
        assert!(
            room == "lib" || rooms.iter().any(|one| one == room),
            "{room} is not on the map"
        );
    }
    check_arrows("text ← ", &source.join("judge"), "crate::judge::");
}

/// Fails where a room of `folder` uses one that stands after it in the map's line that begins with `first`.
fn check_arrows(first: &str, folder: &Path, inside: &str) -> Vec<String> {
    let map = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let order = map.lines().find(|line| line.starts_with(first)).unwrap();
    let rooms: Vec<String> = order.split(" ← ").map(str::to_owned).collect();
    let place = |room: &str| rooms.iter().position(|one| one == room);
    let (mut arrows, mut sources) = (0, Vec::new());
    files(folder, "rs", &mut sources);
    for file in sources {
        let path = file.strip_prefix(folder).unwrap().to_str().unwrap();
        let parts: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
        let Some(own) = place(parts[0]).filter(|_| !parts.contains(&"tests")) else {
            continue;
        };
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let depth = parts.iter().filter(|part| **part != "mod").count();
        let code = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let code = code.collect::<Vec<_>>().join("\n");
        // That would be `inside`, under another name.
        assert!(!code.contains(&"super::".repeat(depth)), "{path}");
        for used in code.split(inside).skip(1) {
            let names = match used.strip_prefix('{') {
                Some(several) => several.split('}').next().unwrap(),
                None => used
                    .split([':', ';', ' ', ',', '(', ')', '<', '>'])
                    .next()
                    .unwrap(),
            };
            for used in names.split(',').map(str::trim) {
                let used = used.split("::").next().unwrap();
                let is_above = place(used).is_some_and(|place| place > own);
                assert!(!is_above, "{path} uses {used}, which is above it");
                arrows += 1;
            }
        }
    }
    assert!(arrows > 10, "{arrows}");
    rooms
}

/// The text of a page without its blocks of code.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    let is_prose = |(place, part): (usize, &str)| (place % 2 == 0).then(|| part.to_owned());
    text.split("\n```")
        .enumerate()
        .filter_map(is_prose)
        .collect()
}

/// A diff shows what changed in a line that is short; rows of tables and code are as long as they are.
#[test]
fn lines_of_prose_are_at_most_160_characters_long() {
    let mut found = Vec::new();
    pages(root(), &mut found);
    let is_long = |line: &str| line.chars().count() > 160 && !line.starts_with('|');
    for page in found {
        let long: Vec<_> = prose(&page)
            .lines()
            .filter(|line| is_long(line))
            .map(str::to_owned)
            .collect();
        assert!(long.is_empty(), "{}: {long:#?}", page.display());
    }
}

/// The anchors of a page's headings, as GitHub and mdbook make them.
fn anchors(page: &Path) -> Vec<String> {
    let prose = prose(page);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        text.chars()
            .filter(kept)
            .collect::<String>()
            .replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// `path` without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}

#[test]
fn links_lead_to_files_and_headings_that_are_there() {
    let mut found = Vec::new();
    pages(root(), &mut found);
    assert!(found.len() > 50);
    let link = Regex::new(r"\]\(([^)\s#]*)(?:#([^)\s]+))?\)").unwrap();
    let mut broken = Vec::new();
    for page in &found {
        for found in link.captures_iter(&prose(page)) {
            let target = &found[1];
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let file = match target {
                "" => page.clone(),
                target => normal(&page.parent().unwrap().join(target)),
            };
            let is_there = file.exists()
                && found.get(2).is_none_or(|anchor| {
                    anchors(&file)
                        .iter()
                        .any(|heading| heading == anchor.as_str())
                });
            if !is_there {
                broken.push(format!("{}: {}", page.display(), &found[0]));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_book_has_every_page_once() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut found = Vec::new();
    pages(&docs, &mut found);
    for page in found {
        let name = page.strip_prefix(&docs).unwrap().to_string_lossy();
        let name = name.replace('\\', "/");
        let times = summary.matches(&format!("]({name})")).count();
        assert_eq!(times, usize::from(name != "SUMMARY.md"), "{name}");
    }
}

#[test]
fn the_guide_lists_what_there_is() {
    let page = |name: &str| fs::read_to_string(root().join("docs/guide").join(name)).unwrap();
    let presets = juror_data::presets().iter();
    let presets = presets.map(|preset| ("data.md", preset.name.as_str()));
    let families = Family::ALL.map(|family| ("attack.md", family.name()));
    let configurations = Configuration::ALL.map(|one| ("gsm8k.md", one.name()));
    for (name, row) in presets.chain(families).chain(configurations) {
        let row = format!("| `{row}`");
        let has_row = page(name).lines().any(|line| line.starts_with(&row));
        assert!(has_row, "docs/guide/{name} has no row {row}");
    }
    for miss in Miss::ALL.map(Miss::name) {
        let is_there = page("eval.md").contains(&format!("`{miss}`"));
        assert!(is_there, "docs/guide/eval.md: {miss}");
    }
    let guide = page("README.md");
    let help = Folder::new().run(&["--help"]).stdout;
    let commands = help.split("Options:").next().unwrap().lines();
    let commands = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for command in commands.filter(|name| !["", "help"].contains(name)) {
        let is_there = guide.contains(&format!("juror {command}"));
        assert!(is_there, "docs/guide/README.md: {command}");
    }
}

/// Runs a script in a folder; `juror` is the program under test.
#[cfg(unix)]
fn bash(folder: &Folder, script: &str, variables: &[(&str, &str)]) -> Ran {
    let path = format!(
        "{}:{}",
        binary().parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = Command::new("bash");
    command
        .args(["-c", script])
        .env("PATH", &path)
        .current_dir(folder.path("."));
    Ran::of(command.envs(variables.iter().copied()).output().unwrap())
}

/// The block of code that follows `before` in a page.
#[cfg(unix)]
fn block<'p>(page: &'p str, before: &str) -> &'p str {
    let rest = page.split_once(before).unwrap().1;
    let (_, rest) = rest.split_once("```").unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    rest.split_once("\n```").unwrap().0
}

#[cfg(unix)]
#[test]
fn the_readme_judges_files_as_written() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let folder = Folder::new();
    let examples = fs::read_to_string(root().join("examples/rollouts.jsonl")).unwrap();
    fs::create_dir(folder.path("examples")).unwrap();
    folder.write("examples/rollouts.jsonl", examples);
    let command = block(&readme, "\n## A first result\n");
    let command = command.replace("cargo run --release --", "juror");
    let ran = bash(&folder, &command, &[]);
    ran.expect(0, &[]);
    // Tokens that were cached and seconds are the machine's.
    let words = |line: &str| {
        let is_measured = ["tokens", "speed"]
            .iter()
            .any(|name| line.trim_start().starts_with(name));
        let words = line.split_whitespace().map(str::to_owned);
        let kept =
            |word: &String| !is_measured || !word.contains(|letter: char| letter.is_ascii_digit());
        words.filter(kept).collect::<Vec<_>>()
    };
    let printed: Vec<_> = ran.stderr.lines().map(words).collect();
    for line in block(&readme, "The command above judges 24 rollouts").lines() {
        assert!(printed.contains(&words(line)), "{line}\n{}", ran.stderr);
    }
    let shown: Value = serde_json::from_str(block(
        &readme,
        "Each line of `verdicts.jsonl` is one verdict",
    ))
    .unwrap();
    let lines = folder.lines("verdicts.jsonl");
    let line = lines.iter().find(|line| line["id"] == shown["id"]).unwrap();
    for (key, value) in shown.as_object().unwrap() {
        if !["confidence", "usage"].contains(&&**key) {
            assert_eq!(line[key], *value, "{key}");
        }
    }
    // Probabilities differ a little between instruction sets.
    for (field, shown) in shown["confidence"].as_object().unwrap() {
        let [shown, given] = [shown, &line["confidence"][field]].map(|it| it.as_f64().unwrap());
        assert!(
            (shown - given).abs() < 1e-3,
            "{field}: {shown}, and {given}"
        );
    }
    let keys = |line: &Value| {
        line.as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(line), keys(&shown));
}

#[cfg(unix)]
#[test]
fn the_jobs_of_the_cluster_page_run_as_written() {
    let page = fs::read_to_string(root().join("docs/guide/cluster.md")).unwrap();
    let scripts: Vec<&str> = page
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("\n```").next())
        .filter(|script| script.starts_with("#!/bin/bash"))
        .collect();
    let [array, merge] = scripts.as_slice() else {
        panic!("{scripts:?}");
    };
    assert!(array.contains("--array=0-7"));
    let folder = Folder::new();
    folder.write("rollouts.jsonl", rollouts(12));
    for task in 0..8 {
        let variables = [
            ("MODEL", "tiny"),
            ("SLURM_ARRAY_TASK_ID", &task.to_string()),
            ("SLURM_ARRAY_TASK_COUNT", "8"),
            ("SLURM_ARRAY_TASK_MIN", "0"),
        ];
        bash(&folder, array, &variables).expect(0, &[]);
    }
    bash(&folder, merge, &[]).expect(0, &["12 (12 ok)"]);
    assert_eq!(folder.lines("verdicts.jsonl").len(), 12);
}
