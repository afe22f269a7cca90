//! The `juror` command: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    juror::cli::main()
}
