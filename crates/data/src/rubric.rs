//! Rubrics: several weighted criteria by which a response is judged.
//!
//! A rubric comes from a TOML file, for all responses alike, or from a column of the data, for each row its own, in the shapes
//! of published sets: a list of texts, or of objects with a text and points (HealthBench, arXiv 2505.08775: `criterion`,
//! `points`; Rubrics as Rewards, arXiv 2507.17746: `description`, `title`, `weight`).

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const MOST_CRITERIA: usize = 200;

/// The highest grade of a scale.
const HIGHEST_GRADE: u32 = 100;

/// The criteria that a response is judged by: at least one, and at least one with points above 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rubric {
    criteria: Vec<Criterion>,
}

/// One criterion of a [`Rubric`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// A short name, for the verdict and the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is asked of the response.
    pub text: String,
    /// The points it is worth; negative for what a response should not do.
    #[serde(default = "one")]
    pub points: f64,
    /// The lowest and the highest grade; without a scale a criterion is either met or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<[u32; 2]>,
}

fn one() -> f64 {
    1.0
}

/// The judge's grade for one criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Grade {
    /// Whether it is met.
    Met(bool),
    /// A grade on its scale.
    Level(u32),
}

/// A criterion in a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CriterionVerdict {
    /// The criterion's name, or else its number, from 1.
    pub name: String,
    /// What the judge says.
    pub grade: Grade,
    /// The grade from 0 to 1: 1 is met, or the highest of the scale.
    pub score: f64,
    /// The mean score under the judge's probabilities of all grades; null if these were not recorded.
    pub expected: Option<f64>,
    /// The points that the criterion is worth.
    pub points: f64,
}

/// Why a rubric cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RubricError(String);

impl Criterion {
    /// The words for its grades, lowest first, each with its score from 0 to 1.
    pub fn grades(&self) -> Vec<(String, Grade, f64)> {
        match self.scale {
            None => vec![
                ("false".to_owned(), Grade::Met(false), 0.0),
                ("true".to_owned(), Grade::Met(true), 1.0),
            ],
            Some([low, high]) => (low..=high)
                .map(|level| (level.to_string(), Grade::Level(level), self.of_level(level)))
                .collect(),
        }
    }

    fn of_level(&self, level: u32) -> f64 {
        let [low, high] = self.scale.unwrap_or([0, 1]);
        f64::from(level.saturating_sub(low)) / f64::from(high - low)
    }

    /// The score of a grade, from 0 to 1; `None` if this criterion does not have that grade.
    pub fn score(&self, grade: Grade) -> Option<f64> {
        match (grade, self.scale) {
            (Grade::Met(met), None) => Some(f64::from(u8::from(met))),
            (Grade::Level(level), Some([low, high])) if (low..=high).contains(&level) => {
                Some(self.of_level(level))
            }
            _ => None,
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.text.trim().is_empty() {
            return Err("its text is blank".into());
        }
        if !self.points.is_finite() || self.points == 0.0 {
            let points = self.points;
            return Err(format!("its points are {points}: it would not count"));
        }
        match self.scale {
            Some([low, high]) if low >= high || high > HIGHEST_GRADE => Err(format!(
                "its scale is [{low}, {high}]: it must go from a lower to a higher whole number, at most {HIGHEST_GRADE}"
            )),
            _ => Ok(()),
        }
    }
}

impl Rubric {
    /// A rubric with these criteria.
    /// Errors: what is wrong with one of them, or with all together.
    pub fn new(criteria: Vec<Criterion>) -> Result<Self, RubricError> {
        for (at, criterion) in criteria.iter().enumerate() {
            let checked = criterion.check();
            checked.map_err(|why| RubricError(format!("criterion {}: {why}", at + 1)))?;
        }
        let count = criteria.len();
        if count == 0 || count > MOST_CRITERIA {
            return Err(RubricError(format!(
                "a rubric has from 1 to {MOST_CRITERIA} criteria, this one {count}"
            )));
        }
        if !criteria.iter().any(|criterion| criterion.points > 0.0) {
            return Err(RubricError(
                "no criterion has points above 0: every response would be worth nothing".into(),
            ));
        }
        Ok(Self { criteria })
    }

    /// Reads a rubric's TOML file: `[[criteria]]` with `text` and optionally `name`, `points` and `scale`.
    pub fn from_toml(text: &str) -> Result<Self, RubricError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            criteria: Vec<Criterion>,
        }
        let file: File = toml::from_str(text).map_err(|error| {
            let before = error.span().map(|span| &text[..span.start.min(text.len())]);
            let line = before.map(|before| before.matches('\n').count() + 1);
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            RubricError(format!("{place}{}", error.message()))
        })?;
        Self::new(file.criteria)
    }

    /// Reads the rubric of a row of data: a list of texts, or of objects with a text (`criterion`, `text`, `description`,
    /// `rubric` or `requirement`), points (`points` or `weight`, else 1), a name (`name` or `title`) and a `scale`; or such
    /// a list as JSON in a text, or under `criteria` or `rubrics` in an object.
    pub fn from_json(value: &Value) -> Result<Self, RubricError> {
        let wrong = |what: &str| RubricError(format!("{what}: it must be a list of criteria"));
        match value {
            Value::String(text) => match serde_json::from_str(text) {
                Ok(value @ (Value::Array(_) | Value::Object(_))) => Self::from_json(&value),
                _ => Err(wrong("a text")),
            },
            Value::Object(entries) => {
                match entries.get("criteria").or_else(|| entries.get("rubrics")) {
                    Some(Value::Array(criteria)) => Self::of_list(criteria),
                    _ => Err(wrong("an object without `criteria`")),
                }
            }
            Value::Array(criteria) => Self::of_list(criteria),
            other => Err(wrong(&other.to_string())),
        }
    }

    fn of_list(criteria: &[Value]) -> Result<Self, RubricError> {
        let criteria = criteria.iter().enumerate().map(|(at, value)| {
            of_data(value).map_err(|why| RubricError(format!("criterion {}: {why}", at + 1)))
        });
        Self::new(criteria.collect::<Result<_, _>>()?)
    }

    /// The criteria, in order.
    pub fn criteria(&self) -> &[Criterion] {
        &self.criteria
    }

    /// The criteria as a judge is shown them: numbered, each with its possible grades, without the points.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        for (at, criterion) in self.criteria.iter().enumerate() {
            let grades = match criterion.scale {
                None => "true or false".to_owned(),
                Some([low, high]) => format!("a whole number from {low} to {high}"),
            };
            let gap = if at == 0 { "" } else { "\n" };
            // Writing to a string does not fail.
            let (number, asked) = (at + 1, criterion.text.trim());
            let _ = write!(text, "{gap}{number}. {asked} [{grades}]");
        }
        text
    }

    /// The verdicts on all criteria; `expected` are the mean scores under the judge's probabilities, where recorded.
    /// Errors: when there are more or fewer grades than criteria, or one that its criterion does not have.
    pub fn verdicts(
        &self,
        grades: &[Grade],
        expected: &[Option<f64>],
    ) -> Result<Vec<CriterionVerdict>, RubricError> {
        if grades.len() != self.criteria.len() {
            let (given, asked) = (grades.len(), self.criteria.len());
            return Err(RubricError(format!("{given} grades for {asked} criteria")));
        }
        let verdict = |(at, (criterion, &grade)): (usize, (&Criterion, &Grade))| {
            let name = criterion.name.clone();
            let score = criterion.score(grade).ok_or_else(|| {
                let grade = match grade {
                    Grade::Met(met) => met.to_string(),
                    Grade::Level(level) => level.to_string(),
                };
                RubricError(format!("criterion {} has no grade `{grade}`", at + 1))
            })?;
            Ok(CriterionVerdict {
                name: name.unwrap_or_else(|| (at + 1).to_string()),
                grade,
                score,
                expected: expected.get(at).copied().flatten(),
                points: criterion.points,
            })
        };
        let graded = self.criteria.iter().zip(grades).enumerate();
        graded.map(verdict).collect()
    }
}

/// The score of a response, from 0 to 1: the points that it gets, negative ones deducted, as a share of all positive points.
pub fn weighted_score(verdicts: &[CriterionVerdict]) -> f64 {
    weighted(verdicts.iter().map(|one| (one.points, one.score)))
}

/// The same with the expected scores in place of the scores; `None` if one was not recorded.
pub fn expected_score(verdicts: &[CriterionVerdict]) -> Option<f64> {
    let expected = verdicts.iter().map(|one| Some((one.points, one.expected?)));
    let expected: Vec<(f64, f64)> = expected.collect::<Option<_>>()?;
    (!expected.is_empty()).then(|| weighted(expected.into_iter()))
}

fn weighted(scores: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut got, mut most) = (0.0, 0.0);
    for (points, score) in scores {
        got += points * score;
        most += points.max(0.0);
    }
    (got / most.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
}

/// A criterion in the form that data sets have.
fn of_data(value: &Value) -> Result<Criterion, String> {
    let first = |keys: &[&str]| {
        let mut found = keys.iter().filter_map(|key| value.get(*key));
        found.find(|value| !value.is_null())
    };
    let text = first(&["criterion", "text", "description", "rubric", "requirement"]);
    let Value::String(text) = text.unwrap_or(value) else {
        let keys = value.as_object().into_iter().flat_map(Map::keys);
        return Err(format!(
            "no text under `criterion`, `text`, `description`, `rubric` or `requirement`: it has {}",
            keys.map(String::as_str).collect::<Vec<_>>().join(", ")
        ));
    };
    let points = first(&["points", "weight"]).map(|points| {
        let wrong = || format!("its points are {points}: they must be a number");
        points.as_f64().ok_or_else(wrong)
    });
    let name = first(&["name", "title"]).and_then(Value::as_str);
    let scale = first(&["scale"]).map(|scale| {
        let read = serde_json::from_value(scale.clone());
        read.map_err(|_| format!("its scale is {scale}: write it as [1, 5]"))
    });
    Ok(Criterion {
        name: name.map(str::to_owned),
        text: text.clone(),
        points: points.transpose()?.unwrap_or(1.0),
        scale: scale.transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rubrics_of_published_sets_are_read() {
        let of_healthbench = json!([
            {"criterion": "Advises to see a doctor", "points": 7, "tags": ["level:example"]},
            {"criterion": "Names a drug that does harm", "points": -9, "tags": []},
        ]);
        let of_rewards = json!([{"title": "Dose", "description": "States the dose", "weight": 3}]);
        let rubric = Rubric::from_json(&of_healthbench).unwrap();
        let points: Vec<f64> = rubric.criteria().iter().map(|one| one.points).collect();
        assert_eq!(points, [7.0, -9.0]);
        let in_text = Value::String(of_healthbench.to_string());
        assert_eq!(Rubric::from_json(&in_text).unwrap(), rubric);
        let rubric = Rubric::from_json(&of_rewards).unwrap();
        assert_eq!(rubric.criteria()[0].name.as_deref(), Some("Dose"));
        let texts = Rubric::from_json(&json!(["Is short", "Is polite"])).unwrap();
        assert_eq!(
            texts.shown(),
            "1. Is short [true or false]\n2. Is polite [true or false]"
        );
    }

    #[test]
    fn a_rubric_that_cannot_be_used_says_why() {
        for (value, why) in [
            (json!([]), "from 1 to 200"),
            (json!("do it well"), "a text: it must be a list"),
            (json!([{"points": 3}]), "criterion 1: no text under"),
            (
                json!([{"text": "a", "points": "3"}]),
                "they must be a number",
            ),
            (
                json!([{"text": "a", "points": -1}]),
                "no criterion has points above 0",
            ),
            (json!([{"text": "a", "points": 0}]), "would not count"),
            (
                json!([{"text": "a", "scale": [5, 1]}]),
                "from a lower to a higher",
            ),
            (json!([{"text": " "}]), "blank"),
            (json!({"a": 1}), "without `criteria`"),
        ] {
            let error = Rubric::from_json(&value).unwrap_err().to_string();
            assert!(error.contains(why), "{value}: {error}");
        }
        for (text, why) in [
            (
                "[[criteria]]\ntext = 'a'\npoint = 2",
                "line 3: unknown field `point`",
            ),
            ("criteria = []", "from 1 to 200"),
        ] {
            let error = Rubric::from_toml(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn the_score_is_what_is_got_of_the_points_above_0() {
        let rubric = Rubric::from_toml(
            "[[criteria]]\ntext = 'a'\npoints = 3\n[[criteria]]\ntext = 'b'\nscale = [1, 5]\n\
             [[criteria]]\ntext = 'c'\npoints = -2\n",
        )
        .unwrap();
        let score = |grades: &[Grade]| {
            rubric
                .verdicts(grades, &[])
                .map(|verdicts| weighted_score(&verdicts))
        };
        let (yes, no) = (Grade::Met(true), Grade::Met(false));
        assert_eq!(score(&[yes, Grade::Level(5), no]), Ok(1.0));
        assert_eq!(score(&[yes, Grade::Level(3), no]), Ok(0.875));
        assert_eq!(score(&[yes, Grade::Level(1), yes]), Ok(0.25));
        assert_eq!(score(&[no, Grade::Level(5), yes]), Ok(0.0));
        assert!(score(&[yes, yes, no]).is_err());
        assert!(score(&[yes, Grade::Level(6), no]).is_err());
        assert!(score(&[yes, Grade::Level(1)]).is_err());
        let expected = [Some(0.5), Some(0.5), Some(0.25)];
        let verdicts = rubric.verdicts(&[yes, Grade::Level(3), no], &expected);
        assert_eq!(expected_score(&verdicts.unwrap()), Some(0.375));
    }
}
