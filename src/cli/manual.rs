//! `juror completions` and `juror man`: what shells and `man` know of the commands.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;

use super::output::{self, ForceArgument};
use super::{Arguments, Failure, OrFail, say};
use juror_data::output::Mark;

/// Writes a shell's completion script to standard output.
pub(super) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "juror", &mut script);
    std::io::stdout().write_all(&script).or_fail()
}

/// Writes `juror.1`, `juror-judge.1` and so on into `folder`.
pub(super) fn pages(folder: &Path, force: ForceArgument) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("could not make the folder {}", folder.display()))
        .or_fail()?;
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let mut outputs = output::outputs(force);
    let mut pages = Vec::new();
    for page in all_of(command) {
        let mut text = Vec::new();
        page.render(&mut text).or_fail()?;
        let path = folder.join(page.get_filename());
        let mark = Mark::Beginning(title(&text));
        pages.push((outputs.open(&path, mark).or_usage()?, text));
    }
    for (file, text) in pages {
        file.write(|writer| writer.write_all(&text)).or_fail()?;
    }
    say(&format!(
        "manual pages in {0}: man {0}/juror-judge.1",
        folder.display()
    ));
    Ok(())
}

fn all_of(command: clap::Command) -> Vec<Man> {
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    let mut pages: Vec<Man> = shown.cloned().flat_map(all_of).collect();
    pages.push(Man::new(command));
    pages
}

/// How a page begins, up to its title and section: what follows is the version.
fn title(page: &[u8]) -> String {
    let text = String::from_utf8_lossy(page);
    let line = text.find(".TH ").unwrap_or(0);
    let end = text[line..].match_indices(' ').nth(2);
    let end = end.map_or(text.len(), |(at, _)| line + at);
    text[..end].to_owned()
}
