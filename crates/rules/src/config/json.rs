//! Settings from JSON, in every form in which they are written.
//!
//! ```json
//! {"extract": ["latex", "expr"], "boxed_match_priority": 0, "float_rounding": 6}
//! {"extract": [{"string": ["A", "B", "AB"]}]}
//! {"extract": [{"type": "latex", "boxed_match_priority": 0}, {"type": "string", "strings": ["A"], "lowercase": false}]}
//! {"extract": ["string"], "strings": ["A", "B", "C", "D", "E"]}
//! ```
//!
//! A key that is absent or null keeps its default; an unknown one is an error.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value};

use super::{Config, ExtractionTarget};

const KEYS: &str = "extract, boxed_match_priority, try_extract_without_anchor, float_rounding, numeric_precision, \
                    strict, allow_set_relation_comp, extraction_mode, fallback_mode, decimal, percent, cents, boxed_only, normalization, strings, lowercase";

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::deserialize(deserializer)?;
        config(map).map_err(D::Error::custom)
    }
}

fn config(mut map: Map<String, Value>) -> Result<Config, String> {
    map.retain(|_, value| !value.is_null());
    let mut take = |key: &'static str| map.remove(key).map(|value| (key, value));
    let targets = take("extract");
    let strings = take("strings").map(|(key, value)| list_of_strings(key, value));
    let lowercase = take("lowercase").map(|(key, value)| read(key, value));
    let (strings, lowercase) = (strings.transpose()?, lowercase.transpose()?);
    let mut config = Config::default();
    for (key, value) in map {
        config.set(&key, value)?;
    }
    if let Some((_, targets)) = targets {
        let targets = match targets {
            Value::Array(targets) => targets,
            target => vec![target],
        };
        if targets.is_empty() {
            return Err("`extract` must name at least one of latex, expr, string".to_owned());
        }
        let targets = targets.into_iter().map(|target| config.target(target));
        config.extract = targets.collect::<Result<_, _>>()?;
    }
    for target in &mut config.extract {
        if let ExtractionTarget::String {
            strings: own,
            lowercase: folded,
        } = target
        {
            if let Some(strings) = &strings {
                own.clone_from(strings);
            }
            *folded = lowercase.unwrap_or(*folded);
        }
    }
    Ok(config)
}

impl Config {
    fn set(&mut self, key: &str, value: Value) -> Result<(), String> {
        match key {
            "boxed_match_priority" => self.boxed_match_priority = read(key, value)?,
            "try_extract_without_anchor" => self.try_extract_without_anchor = read(key, value)?,
            "float_rounding" => self.float_rounding = read(key, value)?,
            "numeric_precision" => self.numeric_precision = read(key, value)?,
            "strict" => self.strict = read(key, value)?,
            "allow_set_relation_comp" => self.allow_set_relation_comp = read(key, value)?,
            "extraction_mode" => self.extraction_mode = read(key, value)?,
            "fallback_mode" => self.fallback_mode = read(key, value)?,
            "decimal" => self.decimal = Some(read(key, value)?),
            "percent" => self.percent = read(key, value)?,
            "cents" => self.cents = read(key, value)?,
            "boxed_only" => self.boxed_only = read(key, value)?,
            "normalization" => self.normalization = read(key, value)?,
            _ => return Err(format!("there is no setting `{key}`; there is {KEYS}")),
        }
        Ok(())
    }

    /// One entry of `extract`; settings of this configuration that stand inside it are set as well.
    fn target(&mut self, target: Value) -> Result<ExtractionTarget, String> {
        let (name, settings) = match target {
            Value::String(name) => (name, Value::Null),
            Value::Object(mut map) => match (map.remove("type"), map.len()) {
                (Some(Value::String(name)), _) => (name, Value::Object(map)),
                (Some(other), _) => return Err(format!("`type` must be a name, not {other}")),
                // There is exactly one.
                (None, 1) => map.into_iter().next().unwrap_or_default(),
                (None, _) => {
                    return Err(
                        "an object in `extract` needs a `type`: latex, expr or string".into(),
                    );
                }
            },
            other => {
                return Err(format!(
                    "`extract` must name latex, expr or string, not {other}"
                ));
            }
        };
        let mut target = match name.as_str() {
            "latex" => ExtractionTarget::Latex,
            "expr" => ExtractionTarget::Expr,
            "string" => ExtractionTarget::letters(),
            _ => {
                return Err(format!(
                    "there is no target `{name}` in `extract`; there is latex, expr, string"
                ));
            }
        };
        match (settings, &mut target) {
            (Value::Null, _) => {}
            (list @ Value::Array(_), ExtractionTarget::String { strings, .. }) => {
                *strings = list_of_strings("string", list)?;
            }
            (Value::Object(map), target) => {
                for (key, value) in map {
                    match (key.as_str(), &mut *target) {
                        (_, _) if value.is_null() => {}
                        ("strings", ExtractionTarget::String { strings, .. }) => {
                            *strings = list_of_strings(&key, value)?;
                        }
                        ("lowercase", ExtractionTarget::String { lowercase, .. }) => {
                            *lowercase = read(&key, value)?;
                        }
                        _ => self.set(&key, value)?,
                    }
                }
            }
            (other, _) => {
                return Err(format!(
                    "the settings of `{name}` must be an object, not {other}"
                ));
            }
        }
        Ok(target)
    }
}

fn read<T: serde::de::DeserializeOwned>(key: &str, value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| format!("`{key}`: {error}"))
}

fn list_of_strings(key: &str, value: Value) -> Result<Vec<String>, String> {
    let strings: Vec<String> = read(key, value)?;
    if strings.is_empty() || strings.iter().any(String::is_empty) {
        return Err(format!("`{key}` must hold strings that are not empty"));
    }
    Ok(strings)
}

#[cfg(test)]
mod tests;
