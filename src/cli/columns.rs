//! Where the fields of a sample are in a row, as the user says it.

use std::ffi::OsStr;
use std::fmt::Write as _;

use anyhow::anyhow;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Args, Command};

use super::inputs::quoted;
use super::rows::one_of;
use super::{Failure, OrFail};
use crate::cli::rows::INPUT;
use juror_data::{ColumnError, ColumnMap, Preset, presets};
use juror_eval::eval::LabelColumns;

/// Which keys of a row hold what.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ColumnArguments {
    /// Which key holds what: question=…, reference=…, response=…, id=…, steps=…, rubric=…, other=…; KEY may be a path, as in `outputs[*].text`
    #[arg(long, value_name = "FIELD=KEY", value_delimiter = ',', help_heading = INPUT)]
    columns: Vec<String>,
    /// The shape of the rows [default: recognised for each row by its keys]
    ///
    /// A row that may be of several is an error, which names them.
    #[arg(long, value_name = "NAME", value_parser = PresetParser, help_heading = INPUT)]
    preset: Option<&'static Preset>,
    /// Where a server put all of an answer into `reasoning_content`, as servers do whose chat template opens the thinking and whose
    /// model does not end it, read it there: a response in chat messages, and what a judge with an --endpoint answers
    #[arg(long, help_heading = INPUT)]
    pub(super) answer_in_reasoning: bool,
}

impl ColumnArguments {
    /// Refuses these options where no rows are read, for this reason.
    pub(super) fn refuse(&self, why: &str) -> Result<(), Failure> {
        match self.as_given().trim_start() {
            "" => Ok(()),
            given => Err(anyhow!("{given} {why}")).or_usage(),
        }
    }

    /// The columns of rows that juror itself writes; where a judge's answer is stays as it was said.
    pub(super) fn of_own_rows(&self) -> Self {
        let mut own = Self::of_plain_rows("reference=reference_answer", "response=response");
        own.answer_in_reasoning = self.answer_in_reasoning;
        own
    }

    /// The columns of rows with a question and an id under these names.
    pub(super) fn of_plain_rows(reference: &str, response: &str) -> Self {
        let fields = ["question=question", reference, response, "id=id"];
        Self {
            columns: fields.map(str::to_owned).into(),
            preset: Preset::named("plain"),
            ..Self::default()
        }
    }

    /// The options as they were given on the command line, with a space before each.
    pub(super) fn as_given(&self) -> String {
        let mut text = String::new();
        for column in &self.columns {
            let _ = write!(text, " --columns {}", quoted(column));
        }
        if let Some(preset) = self.preset {
            let _ = write!(text, " --preset {}", preset.name);
        }
        if self.answer_in_reasoning {
            text.push_str(" --answer-in-reasoning");
        }
        text
    }

    pub(super) fn map(&self) -> Result<ColumnMap, ColumnError> {
        let columns = ColumnMap::parse(&self.columns)?.with_preset(self.preset);
        Ok(columns.with_reasoning(self.answer_in_reasoning))
    }
}

pub(super) fn parse_label_columns(columns: &[String]) -> Result<LabelColumns, Failure> {
    LabelColumns::parse(columns)
        .map_err(|why| anyhow!("--label-columns: {why}"))
        .or_usage()
}

/// Reads the name of a preset. They take long to read, so the option has a paragraph for `--help` alone: without, its values were looked for one.
#[derive(Clone)]
struct PresetParser;

impl TypedValueParser for PresetParser {
    type Value = &'static Preset;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let all = presets().iter();
        let all = all.map(|preset| (preset.name.as_str(), preset.about.as_str(), preset));
        one_of(all).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
        let value = |it: &'static Preset| PossibleValue::new(&*it.name).help(&*it.about);
        Some(Box::new(presets().iter().map(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_our_own_are_judged_by_answers_where_they_were_said_to_be() {
        for answer_in_reasoning in [false, true] {
            let given = ColumnArguments {
                answer_in_reasoning,
                columns: vec!["question=body".to_owned()],
                ..ColumnArguments::default()
            };
            let own = given.of_own_rows();
            assert_eq!(own.answer_in_reasoning, answer_in_reasoning);
            assert_eq!(own.columns[0], "question=question");
        }
    }
}
