//! What a judge is asked, as the user says it.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::columns::ColumnArguments;
use super::inputs::read;
use super::say;
use juror_data::rubric::Rubric;
use juror_data::{ColumnMap, Field, Needs, RubricNeed};
use juror_judge::protocol::{self, FieldName, PromptTemplate, Protocol};

/// A protocol and its prompt, without a model.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct PromptChoice {
    /// What the judge is asked, how it is read: a name of `juror prompts list`, or your own file; verifybench, first-error,
    /// rubric and pairwise need no reference [default: a known judge's, else prime]
    #[arg(long, value_name = "NAME|FILE.toml", help_heading = super::engine::JUDGE)]
    pub(super) protocol: Option<String>,
    /// Your own prompt text, with `{{question}}`, `{{student_answer}}`, `{{reference_answer}}` and, if you like, `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = super::engine::JUDGE)]
    pub(super) prompt: Option<PathBuf>,
    /// Text for the prompt's `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = super::engine::JUDGE)]
    pub(super) few_shots: Option<PathBuf>,
    /// Criteria for every response, a TOML file; `--protocol rubric` without it takes each row's own
    #[arg(long, value_name = "FILE.toml", help_heading = super::engine::JUDGE)]
    pub(super) rubric: Option<PathBuf>,
}

impl PromptChoice {
    pub(super) fn named_protocol(&self) -> Result<Option<Arc<Protocol>>> {
        let by_rubric = self.rubric.is_some().then_some("rubric");
        let named = self.protocol.as_deref().or(by_rubric);
        Ok(named.map(protocol::resolve).transpose()?)
    }

    /// What rows are read for under a protocol, where `columns` says which key holds what.
    pub(super) fn columns(
        &self,
        columns: &ColumnArguments,
        protocol: &Protocol,
    ) -> Result<ColumnMap> {
        let columns = columns.map()?;
        let needs_rubric = protocol.form.needs_rubric();
        let rubric = match &self.rubric {
            None if needs_rubric => RubricNeed::OfRow,
            None => RubricNeed::None,
            Some(_) if !needs_rubric => bail!(
                "--rubric has no meaning under protocol {}, which does not judge by criteria: use --protocol rubric",
                protocol.name
            ),
            Some(path) => {
                let rubric = Rubric::from_toml(&read(path)?);
                RubricNeed::Of(Arc::new(
                    rubric.with_context(|| path.display().to_string())?,
                ))
            }
        };
        let needs = Needs {
            question: true,
            response: true,
            reference: protocol.needs_reference,
            messages: false,
            steps: protocol.yields().first_error,
            other: protocol.compares,
            rubric,
        };
        for (field, is_read) in [
            (Field::Steps, needs.steps),
            (Field::Rubric, needs.rubric == RubricNeed::OfRow),
            (Field::Other, needs.other),
        ] {
            if columns.names(field) && !is_read {
                bail!(
                    "--columns {field}=… changes nothing here: under protocol {} no {field} is read from the rows",
                    protocol.name
                );
            }
        }
        Ok(columns.with_needs(needs))
    }

    /// The protocol that is named, else `default`, else prime; and its prompt text.
    pub(super) fn resolve(&self, default: Option<&str>) -> Result<(Arc<Protocol>, PromptTemplate)> {
        let protocol = match self.named_protocol()? {
            Some(protocol) => protocol,
            None => protocol::resolve(default.unwrap_or("prime"))?,
        };
        self.with_template(protocol)
    }

    pub(super) fn with_template(
        &self,
        protocol: Arc<Protocol>,
    ) -> Result<(Arc<Protocol>, PromptTemplate)> {
        let mut template = match (&self.prompt, protocol.template.as_deref()) {
            (Some(path), _) => {
                PromptTemplate::parse(&read(path)?).with_context(|| path.display().to_string())?
            }
            (None, Some(text)) => {
                PromptTemplate::parse(text).with_context(|| protocol.name.clone())?
            }
            (None, None) => bail!(
                "protocol {} comes without its prompt text: give one with --prompt FILE",
                protocol.name
            ),
        };
        if let (Some(path), None, None) = (&self.prompt, &self.protocol, &self.rubric)
            && let Some((asked, mut readers)) = protocol.asked_otherwise(template.text())
        {
            readers.push("a file of your own (docs/protocols/own.md)");
            let (path, readers, name) = (path.display(), readers.join(", "), &protocol.name);
            say(&format!(
                "WARNING: {path} asks for `{asked}`, and answers are written and read as protocol {name} has them: name another with --protocol: {readers}"
            ));
        }
        for (field, needs) in [
            (FieldName::Rubric, protocol.form.needs_rubric()),
            (FieldName::OtherAnswer, protocol.compares),
        ] {
            let name = &protocol.name;
            match (needs, template.has(field)) {
                (true, false) => {
                    bail!("the prompt has no `{{{{ {field} }}}}`, which protocol {name} needs")
                }
                (false, true) => bail!(
                    "the prompt has `{{{{ {field} }}}}`, of which protocol {name} knows nothing"
                ),
                _ => {}
            }
        }
        if let Some(path) = &self.few_shots {
            template = template
                .with_few_shots(&read(path)?)
                .with_context(|| path.display().to_string())?;
        }
        Ok((protocol, template))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_help_says_which_protocols_need_no_reference() {
        let mut command = crate::cli::Arguments::command();
        command.build();
        let judge = command.find_subcommand("judge").unwrap();
        let mut options = judge.get_arguments();
        let protocol = options.find(|it| it.get_id() == "protocol").unwrap();
        let help = protocol.get_help().unwrap().to_string();
        let said = help.split("; ").find(|it| it.contains("need no reference"));
        let words = said.unwrap().replace(',', "");
        let words: Vec<&str> = words.split(' ').collect();
        for protocol in juror_judge::protocol::known() {
            let is_said = words.contains(&protocol.name.as_str());
            assert_eq!(is_said, !protocol.needs_reference, "{}", protocol.name);
        }
    }
}
