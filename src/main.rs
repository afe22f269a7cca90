//! The `juror` command: arguments in, exit code out.

mod bench;
mod cli;
mod verify;

use std::process::ExitCode;

use juror_engine::text::chat_template::probe;

fn main() -> ExitCode {
    // The program starts itself to try a model's chat template.
    probe::child().unwrap_or_else(cli::main)
}
