//! Where a response has its answer, by a format of one's own.

use std::borrow::Cow;

use regex::Regex;

use crate::extract;

/// Which part of a response is its answer, where somebody knows it better than the rules: they then read that part alone.
///
/// ```
/// use juror_rules::AnswerFormat;
///
/// let format = AnswerFormat::pattern(r"RESULT\((.*?)\)")?;
/// assert_eq!(format.answer("RESULT(4), no: RESULT(5)").as_deref(), Some("5"));
/// assert_eq!(format.answer("The answer is 5."), None);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AnswerFormat(Kind);

#[derive(Debug, Clone, Default)]
enum Kind {
    #[default]
    Any,
    Pattern(Regex),
    Boxed,
}

impl AnswerFormat {
    /// The last match of a regular expression: its first group that took part, or all of it where no group did. The
    /// [syntax](https://docs.rs/regex/latest/regex/#syntax) has no look-around and no references to groups.
    ///
    /// # Errors
    /// What is wrong with the expression, as text for the user.
    pub fn pattern(text: &str) -> Result<Self, String> {
        Regex::new(text)
            .map(|pattern| Self(Kind::Pattern(pattern)))
            .map_err(|error| error.to_string())
    }

    /// What the last `\boxed{…}` holds that is no part of the thinking.
    #[must_use]
    pub fn boxed() -> Self {
        Self(Kind::Boxed)
    }

    /// The part of `response` that is its answer; `None` where nothing in it has this format.
    pub fn answer<'t>(&self, response: &'t str) -> Option<Cow<'t, str>> {
        match &self.0 {
            Kind::Any => Some(Cow::Borrowed(response)),
            Kind::Pattern(pattern) => {
                let found = pattern.captures_iter(response).last()?;
                let group = found.iter().skip(1).flatten().next();
                Some(Cow::Borrowed(group.or(found.get(0))?.as_str()))
            }
            Kind::Boxed => extract::last_box(response).map(Cow::Owned),
        }
    }
}

#[cfg(test)]
mod tests;
