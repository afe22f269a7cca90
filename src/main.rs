//! The `juror` command: arguments in, exit code out.
//!
//! | room | what it is for |
//! |---|---|
//! | [`cli`] | arguments into options, results into text; one file per subcommand |
//! | [`verify`] | the rules on a stream of pairs (`juror verify`) |
//! | [`mod@bench`] | how fast a judge is, measured (`juror bench`) |

mod bench;
mod cli;
mod verify;

use std::process::ExitCode;

use juror_engine::text::chat_template::probe;

fn main() -> ExitCode {
    // The program starts itself to try a model's chat template.
    probe::child().unwrap_or_else(cli::main)
}
