//! Which rows of the inputs are taken.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use juror_data::{ColumnMap, LineLimit, LoadOptions, Shard};

pub(in crate::cli) const INPUT: &str = "Input";

/// Which rows are taken, and how long they may be.
#[derive(Debug, Clone, Args)]
pub(super) struct RowsArguments {
    /// Longest line that is read; a longer one is a bad line
    #[arg(long, value_name = "N", default_value_t = LineLimit::DEFAULT.0, value_parser = clap::value_parser!(u32).range(1..), help_heading = INPUT)]
    pub(super) max_line_bytes: u32,
    /// Take the first N samples only
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = some_samples, help_heading = INPUT)]
    pub(super) limit: Option<usize>,
    /// Take one of n parts of the input, by the hash of the id; i counts from 0. `auto` asks SLURM's or Kubernetes' variables.
    /// `{shard}` in OUT becomes `i-of-n`
    #[arg(long, value_name = "i/n|auto", value_parser = parse_shard, help_heading = INPUT)]
    pub(super) shard: Option<Shard>,
}

impl RowsArguments {
    /// How these rows are read for `columns`; `output`: where what is made of them goes.
    pub(super) fn options(
        &self,
        columns: ColumnMap,
        skip_bad: bool,
        output: Option<&Path>,
    ) -> LoadOptions {
        LoadOptions {
            columns,
            limit: self.limit,
            shard: self.shard,
            max_line: LineLimit(self.max_line_bytes),
            skip_bad,
            may_skip: true,
            output: output.map(Path::to_owned),
            ..LoadOptions::default()
        }
    }
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    if text == "auto" {
        Shard::from_environment(|name| std::env::var(name).ok())
    } else {
        Shard::parse(text)
    }
}

fn some_samples(text: &str) -> Result<usize, String> {
    if text == "0" {
        return Err(
            "nothing would be judged: give 1 or more; --dry-run counts the samples and judges none"
                .into(),
        );
    }
    whole(1, usize::MAX)(text)
}

/// A parser of whole numbers from `least` to `most`, with a sentence of ours for everything else.
pub(super) fn whole<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Copy,
{
    move |text| {
        let number = text.parse().ok();
        let number = number.filter(|number| least <= *number && *number <= most);
        number.ok_or_else(|| {
            // A bound that is there for the machine alone is not told.
            let bound = most.to_string();
            if bound.len() > 9 {
                format!("must be a whole number, {least} or more")
            } else {
                format!("must be a whole number from {least} to {bound}")
            }
        })
    }
}

/// A parser of numbers in `range`, with a sentence of ours for everything else.
pub(super) fn number(
    range: RangeInclusive<f64>,
    otherwise: &'static str,
) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(otherwise.into()),
    }
}

/// Any number but an infinite one.
pub(super) fn finite(text: &str) -> Result<f64, String> {
    number(f64::MIN..=f64::MAX, "must be a number")(text)
}

/// A parser of values by their names, each with what the help says of it, if anything.
pub(super) fn one_of<T: Clone + Send + Sync + 'static>(
    all: impl IntoIterator<Item = (&'static str, &'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let (mut shown, mut values) = (Vec::new(), Vec::new());
    for (name, help, value) in all {
        let name_alone = PossibleValue::new(name);
        shown.push(if help.is_empty() {
            name_alone
        } else {
            name_alone.help(help)
        });
        values.push((name, value));
    }
    PossibleValuesParser::new(shown).try_map(move |given| {
        let found = values.iter().find(|(name, _)| *name == given);
        found
            .map(|(_, value)| value.clone())
            .ok_or_else(|| format!("there is no {given}"))
    })
}
