//! The extraction methods of GSM8K by name.
//!
//! A GSM8K score means nothing without the method that read the answers. Each method has its own pattern, its own
//! normalisation and its own equality, and none is mended here:
//!
//! | method | extraction | equality |
//! |---|---|---|
//! | `official` | the first `#### n` | the strings, without commas; `72` ≠ `72.0` |
//! | `strict-match` | the first `#### n`, as in lm-evaluation-harness | the normalised strings, ignoring case |
//! | `flexible-extract` | the last number, as in lm-evaluation-harness | the same |
//! | `multi` | `####`, `\boxed`, "the answer is", "answer:", the last number; the last match of the first that matches | the normalised strings, else \|a − b\| < 1e-6 |

use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

use crate::{pattern, patterns};

/// How the final answer of a GSM8K response is found and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gsm8kMethod {
    /// That of the data set's own code (arXiv 2110.14168).
    Official,
    /// `strict-match` of lm-evaluation-harness.
    StrictMatch,
    /// `flexible-extract` of lm-evaluation-harness.
    FlexibleExtract,
    /// Five patterns in order of trust.
    Multi,
}

impl Gsm8kMethod {
    /// Every method.
    #[rustfmt::skip]
    pub const ALL: [Self; 4] = [Self::Official, Self::StrictMatch, Self::FlexibleExtract, Self::Multi];

    /// The name on the command line and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Official => "official",
            Self::StrictMatch => "strict-match",
            Self::FlexibleExtract => "flexible-extract",
            Self::Multi => "multi",
        }
    }

    /// The final answer of a response, normalised as the method does; `None` is the `[invalid]` of the reports.
    ///
    /// ```
    /// use juror_rules::Gsm8kMethod;
    ///
    /// let response = "She has $1,200 left.";
    /// assert_eq!(Gsm8kMethod::FlexibleExtract.extract(response).as_deref(), Some("1200"));
    /// assert_eq!(Gsm8kMethod::StrictMatch.extract(response), None);
    /// ```
    pub fn extract(self, response: &str) -> Option<String> {
        let found = match self {
            Self::Official | Self::StrictMatch => MARKED.captures(response)?.get(1)?,
            Self::FlexibleExtract => FLEXIBLE.find_iter(response).last()?,
            Self::Multi => MULTI.iter().find_map(|pattern| {
                let groups = pattern.captures_iter(response);
                let groups = groups.filter_map(|found| found.get(1));
                // A lone comma or dash matches most of the patterns of `multi`, but it is no answer.
                let said = groups.filter(|it| it.as_str().contains(char::is_alphanumeric));
                said.last()
            })?,
        };
        Some(self.normalise(found.as_str()))
    }

    /// What the method compares with: the normalised answer of a data-set row, a bare answer or a solution that ends in `#### n`.
    pub fn expected(self, answer: &str) -> String {
        match self {
            Self::StrictMatch | Self::FlexibleExtract => self.normalise(answer),
            Self::Official | Self::Multi => self.normalise(&ground_truth(answer)),
        }
    }

    /// Are two answers, as [`Self::extract`] and [`Self::expected`] give them, the same by this method?
    pub fn equal(self, found: &str, expected: &str) -> bool {
        if found == expected {
            return true;
        }
        self == Self::Multi
            && match (found.parse::<f64>(), expected.parse::<f64>()) {
                (Ok(a), Ok(b)) => (a - b).abs() < 1e-6,
                _ => false,
            }
    }

    /// An answer in the form in which the method compares.
    fn normalise(self, answer: &str) -> String {
        match self {
            Self::Official => answer.trim().replace(',', ""),
            Self::StrictMatch | Self::FlexibleExtract => {
                let bare = answer.trim().replace([',', '$'], "");
                let bare = match bare.rfind("#### ") {
                    Some(at) => &bare[at + "#### ".len()..],
                    None => &bare,
                };
                bare.strip_suffix('.').unwrap_or(bare).to_lowercase()
            }
            Self::Multi => {
                let bare = answer.replace([',', '$'], "");
                let bare = bare.trim();
                let bare = bare.strip_suffix('.').unwrap_or(bare);
                let bare = NUMBER_AND_UNIT
                    .captures(bare)
                    .and_then(|parts| parts.get(1))
                    .map_or(bare, |number| number.as_str());
                match bare.split_once('.') {
                    Some((whole, zeros)) if zeros.bytes().all(|byte| byte == b'0') => {
                        whole.to_owned()
                    }
                    _ => bare.to_owned(),
                }
            }
        }
    }
}

impl fmt::Display for Gsm8kMethod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

patterns! {
    MARKED = r"#### (\-?[0-9\.,]+)";
    FLEXIBLE = r"(-?[$0-9.,]{2,})|(-?[0-9]+)";
}

static MULTI: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    [
        pattern(r"####\s*([\d,.\-]+)"),
        pattern(r"\\boxed\{([^}]+)\}"),
        pattern(r"[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)"),
        pattern(r"(?i)answer\s*:\s*\$?([\d,.\-]+)"),
        pattern(r"(-?[\d,]+\.?\d*)"),
    ]
});
patterns! {
    NUMBER_AND_UNIT = r"^(-?(?:\d+\.?\d*|\.\d+))\s*(?:\\?[%°\p{L}](?:[^\d+*/=^]|\^\d|\^\{\d\})*)?$";
}

/// The answer of a data-set row: what follows the last `####` (or everything, without one), trimmed, commas removed.
pub(super) fn ground_truth(answer: &str) -> String {
    let answer = answer.rfind("####").map_or(answer, |at| &answer[at + 4..]);
    answer.trim().replace(',', "")
}
