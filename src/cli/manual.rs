//! `juror completions` and `juror man`: what shells and `man` know of the commands.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Arguments, Failure, OrFail, say};

/// Writes a shell's completion script to standard output.
pub(super) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "juror", &mut script);
    std::io::stdout().write_all(&script).or_fail()
}

/// Writes `juror.1`, `juror-judge.1` and so on into `folder`.
pub(super) fn pages(folder: &Path) -> Result<(), Failure> {
    let written = || -> anyhow::Result<()> {
        std::fs::create_dir_all(folder)?;
        Ok(clap_mangen::generate_to(Arguments::command(), folder)?)
    };
    written()
        .with_context(|| format!("could not write manual pages into {}", folder.display()))
        .or_fail()?;
    say(&format!(
        "manual pages in {0}: man {0}/juror-judge.1",
        folder.display()
    ));
    Ok(())
}
