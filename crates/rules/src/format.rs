//! Where a response has its answer, by a format of one's own.

use regex::Regex;

/// Which part of a response is its answer, where somebody knows it better than the rules: they then read that part alone.
///
/// ```
/// use juror_rules::AnswerFormat;
///
/// let format = AnswerFormat::pattern(r"RESULT\((.*?)\)")?;
/// assert_eq!(format.answer("RESULT(4), no: RESULT(5)"), Some("5"));
/// assert_eq!(format.answer("The answer is 5."), None);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AnswerFormat(Option<Regex>);

impl AnswerFormat {
    /// The last match of a regular expression: its first group that took part, or all of it where no group did. The
    /// [syntax](https://docs.rs/regex/latest/regex/#syntax) has no look-around and no references to groups.
    ///
    /// # Errors
    /// What is wrong with the expression, as text for the user.
    pub fn pattern(text: &str) -> Result<Self, String> {
        Regex::new(text)
            .map(|pattern| Self(Some(pattern)))
            .map_err(|error| error.to_string())
    }

    /// The part of `response` that is its answer; `None` where nothing in it has this format.
    pub fn answer<'t>(&self, response: &'t str) -> Option<&'t str> {
        let Some(pattern) = &self.0 else {
            return Some(response);
        };
        let found = pattern.captures_iter(response).last()?;
        let group = found.iter().skip(1).flatten().next();
        Some(group.or(found.get(0))?.as_str())
    }
}

#[cfg(test)]
mod tests;
