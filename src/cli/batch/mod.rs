//! `juror batch`: a judge that runs elsewhere, through files in OpenAI's batch format.

pub(super) mod export;
pub(super) mod import;
pub(super) mod run;

use clap::Subcommand;

use super::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum BatchAction {
    /// Write what a judge would be asked as a batch file, for any engine
    Export(Box<export::ExportBatchArguments>),
    /// Answer a batch file with a model here
    Run(Box<run::RunBatchArguments>),
    /// Read an engine's answers to a batch file into verdicts
    Import(Box<import::ImportBatchArguments>),
}

pub(super) fn run(action: BatchAction) -> Result<u8, Failure> {
    match action {
        BatchAction::Export(arguments) => export::run(*arguments),
        BatchAction::Run(arguments) => run::run(*arguments),
        BatchAction::Import(arguments) => import::run(*arguments),
    }
}
