//! Help that fits a screen: commands in groups, and of the many options of `juror judge` those that most runs need.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{Arg, Args as _, Command};

use super::table::{columns, wrapped};
use super::{EXIT_CODES, STYLES};

/// The most columns of a line, as in clap's own help.
const MOST_COLUMNS: usize = 100;

const NAMES: usize = 16;

/// The commands, by what they are for.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Judge", &["judge", "verify", "serve", "merge", "batch"]),
    (
        "Measure",
        &["eval", "calibrate", "gsm8k", "attack", "bench", "correlate"],
    ),
    ("Look, label, build", &["view", "label", "build"]),
    ("Models and prompts", &["models", "prompts", "cache"]),
    ("Shell", &["completions", "man", "help"]),
];

/// The arguments of `juror judge` that `-h` shows.
const OF_JUDGE: [&str; 11] = [
    "inputs", "output", "model", "protocol", "columns", "limit", "rules", "reward", "reason",
    "keep", "eval",
];

const EXAMPLES: &str = "\
Examples:
  juror judge rollouts.jsonl -o verdicts.jsonl
  juror judge rows.csv --columns question=body,reference=gold,response=output -o verdicts.csv
  juror judge labelled.jsonl --model Qwen/Qwen3-8B -o verdicts.jsonl --eval

All options (prompts, sampling, devices, caches, panels, shards, …): `juror judge --help`.";

/// Finds, in words that the command has parsed, a long option of ours with one dash: `-out x` would be `-o ut` and an input `x`.
pub(super) fn one_dash(mut command: &Command, words: &[OsString]) -> Option<String> {
    let mut is_value = false;
    for word in words.iter().skip(1) {
        let text = word.to_string_lossy();
        if text == "--" {
            break;
        }
        // Some options take a value that begins with a dash.
        let taking = |option: &Arg| {
            option.is_allow_hyphen_values_set() && option.get_long() == text.strip_prefix("--")
        };
        let is_taken = command.get_arguments().any(taking);
        if std::mem::replace(&mut is_value, is_taken && text.starts_with("--")) {
            continue;
        }
        if let Some(found) = command.find_subcommand(&*text) {
            command = found;
            continue;
        }
        let rest = text.strip_prefix('-').unwrap_or_default();
        let name = rest.split('=').next().unwrap_or_default();
        let longs = command.get_arguments().filter_map(Arg::get_long);
        let mut longs = longs.filter(|long| !matches!(*long, "help" | "version"));
        if let Some(long) = longs.find(|long| name.len() > 2 && long.starts_with(name)) {
            let what = "has one dash and is read letter by letter";
            return Some(format!("`-{name}` {what}: write `--{long}`"));
        }
    }
    None
}

/// The command line, with help that fits a screen.
pub(super) fn command(command: Command) -> Command {
    let template = grouped(&command);
    command
        .help_template(template)
        .mut_subcommand("judge", |judge| {
            judge.defer(|judge| {
                let judge =
                    super::judge::JudgeArguments::augment_args(judge).mut_args(|argument| {
                        let is_shown = OF_JUDGE.contains(&argument.get_id().as_str());
                        argument.hide_short_help(!is_shown)
                    });
                let whole = judge.get_after_help().cloned().unwrap_or_default();
                let examples = format!("{EXAMPLES}\n\n{EXIT_CODES}");
                judge.after_help(examples).after_long_help(whole)
            })
        })
}

fn grouped(command: &Command) -> String {
    let (header, literal) = (STYLES.get_header(), STYLES.get_literal());
    let columns = columns().unwrap_or(MOST_COLUMNS).min(MOST_COLUMNS);
    let columns = columns.saturating_sub(NAMES);
    let mut template = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        // Writing to a text does not fail.
        let _ = writeln!(template, "\n{header}{title}:{header:#}");
        for name in names {
            let about = match command.find_subcommand(name) {
                Some(found) => found.get_about().map(ToString::to_string),
                // clap adds it later; what was not built in is not listed.
                None if *name == "help" => {
                    Some("Print the help of a command: `juror help judge`".to_owned())
                }
                None => None,
            };
            for (at, line) in
                (about.iter()).flat_map(|about| wrapped(about, columns).into_iter().enumerate())
            {
                let name = if at == 0 { name } else { "" };
                let _ = writeln!(template, "  {literal}{name:<12}{literal:#}  {line}");
            }
        }
    }
    let _ = write!(template, "\n{header}Options:{header:#}\n");
    template + "{options}{after-help}"
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::Arguments;
    use super::*;

    #[test]
    fn a_value_that_begins_with_a_dash_is_no_option() {
        let mut command = Arguments::command();
        command.build();
        let words = |line: &str| line.split(' ').map(Into::into).collect::<Vec<_>>();
        let read = |line: &str| super::one_dash(&command, &words(line));
        assert_eq!(read("juror verify --gold -for --pred -for"), None);
        assert!(read("juror judge in.jsonl -out x").is_some());
        assert!(read("juror judge --limit 3 -out x").is_some());
    }

    /// Its options are made later than the list, and what they come from may have a comment of its own.
    #[test]
    fn a_command_says_of_itself_what_the_list_says() {
        let (list, mut built) = (Arguments::command(), Arguments::command());
        built.build();
        for listed in list.get_subcommands() {
            let own = built.find_subcommand(listed.get_name()).unwrap();
            let abouts = [own, listed].map(|one| one.get_about().unwrap().to_string());
            assert_eq!(abouts[0], abouts[1], "{}", listed.get_name());
        }
    }

    #[test]
    fn every_command_is_in_a_group() {
        let mut command = Arguments::command();
        command.build();
        for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            let name = one.get_name();
            let groups = GROUPS.iter().filter(|(_, names)| names.contains(&name));
            assert_eq!(groups.count(), 1, "{name}");
        }
        let judge = command.find_subcommand("judge").unwrap();
        for name in OF_JUDGE {
            assert!(
                judge.get_arguments().any(|own| own.get_id() == name),
                "{name}"
            );
        }
    }
}
