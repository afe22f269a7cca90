//! `generation_config.json`: the generation settings that a model's makers recommend.

use serde_json::Value;

use juror_engine::checkpoint::CheckpointError;
use juror_engine::engine::Sampling;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GenerationDefaults {
    pub(crate) sampling: Option<Sampling>,
    pub max_new_tokens: Option<usize>,
}

/// `top_k` where the file does not set it: the default of transformers, whose format the file has.
const TOP_K: usize = 50;

/// The temperature of several trials where no file sets one.
const TRIALS_TEMPERATURE: f64 = 0.7;

/// Settings that would change what is generated and are not applied, and what each is when it changes nothing. Any of them may be null or an empty list too.
const NOT_APPLIED: &str = include_str!("not_applied.tsv");

impl GenerationDefaults {
    /// How tokens are chosen where the user does not say: as recommended, else greedily; with several trials, of which all
    /// greedy ones would be the same, with some temperature.
    pub fn sampling_for(&self, trials: u32) -> Sampling {
        match self.sampling {
            Some(sampling) if trials == 1 || sampling.temperature > 0.0 => sampling,
            _ if trials > 1 => Sampling {
                temperature: TRIALS_TEMPERATURE,
                ..Sampling::GREEDY
            },
            _ => Sampling::GREEDY,
        }
    }

    /// Reads the file's text. Also gives a line for each setting in it that is not applied.
    /// Errors: [`CheckpointError::Config`] naming `path` and the key that holds no number where there must be one.
    pub(crate) fn read(text: &str, path: &str) -> Result<(Self, Vec<String>), CheckpointError> {
        let fail = |message: String| CheckpointError::Config {
            path: path.to_owned(),
            message,
        };
        let json: Value = serde_json::from_str(text).map_err(|error| fail(error.to_string()))?;
        let number = |key: &str| match json.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_f64()
                .map(Some)
                .ok_or_else(|| fail(format!("{key} ({value}) is not a number"))),
        };
        let count = |key: &str| {
            let whole = number(key)?;
            match whole {
                None => Ok(None),
                // Some write -1 for no limit.
                Some(-1.0) => Ok(Some(0)),
                Some(count) if count >= 0.0 && count.fract() == 0.0 && count < 1e15 => {
                    Ok(Some(count as usize))
                }
                Some(count) => Err(fail(format!("{key} ({count}) is not a count"))),
            }
        };
        let recommended = Sampling {
            temperature: number("temperature")?.unwrap_or(1.0),
            top_k: count("top_k")?.unwrap_or(TOP_K),
            top_p: number("top_p")?.unwrap_or(1.0),
            min_p: number("min_p")?.unwrap_or(0.0),
        };
        let samples = match json.get("do_sample") {
            None | Some(Value::Null) => false,
            Some(value) => value
                .as_bool()
                .ok_or_else(|| fail(format!("do_sample ({value}) is neither true nor false")))?,
        };
        let defaults = Self {
            sampling: samples.then_some(recommended),
            max_new_tokens: count("max_new_tokens")?.filter(|&tokens| tokens > 0),
        };
        let notes = crate::rows(NOT_APPLIED)
            .filter_map(|(key, neutral)| {
                let neutral = neutral.parse().ok()?;
                let value = json.get(key).filter(|value| asks(value, neutral))?;
                Some(format!(
                    "{path}: {key} {value} is not applied: juror does not have it"
                ))
            })
            .collect();
        Ok((defaults, notes))
    }
}

fn asks(value: &Value, neutral: f64) -> bool {
    match value {
        Value::Null => false,
        Value::Array(entries) => !entries.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        Value::Number(number) => number
            .as_f64()
            .is_none_or(|number| (number - neutral).abs() > 1e-9),
        Value::Bool(value) => *value,
        Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(GenerationDefaults, Vec<String>), String> {
        GenerationDefaults::read(text, "generation_config.json").map_err(|error| error.to_string())
    }

    #[test]
    fn sampling_is_recommended_only_where_the_model_is_to_be_sampled() {
        let (greedy, notes) = read(r#"{"temperature": 0.6, "top_p": 0.9}"#).unwrap();
        assert_eq!((greedy, notes.len()), (GenerationDefaults::default(), 0));
        let (sampled, notes) =
            read(r#"{"do_sample": true, "temperature": 0.6, "top_k": -1, "top_p": 0.95, "min_p": null, "max_new_tokens": 77}"#)
                .unwrap();
        assert_eq!(notes, Vec::<String>::new());
        assert_eq!(sampled.max_new_tokens, Some(77));
        let sampling = sampled.sampling.unwrap();
        assert!((sampling.temperature - 0.6).abs() < 1e-9 && (sampling.top_p - 0.95).abs() < 1e-9);
        assert_eq!(sampling.top_k, 0);
        // As in transformers; 0 is all.
        for (said, top_k) in [("", 50), (r#", "top_k": null"#, 50), (r#", "top_k": 0"#, 0)] {
            let (sampled, _) = read(&format!(r#"{{"do_sample": true{said}}}"#)).unwrap();
            assert_eq!(sampled.sampling.unwrap().top_k, top_k, "{said}");
        }
    }

    #[test]
    fn what_is_not_applied_is_said_and_what_is_no_number_refused() {
        let (_, notes) = read(
            r#"{"repetition_penalty": 1.05, "typical_p": 1.0, "num_beams": 1, "suppress_tokens": [], "bad_words_ids": [[3]]}"#,
        )
        .unwrap();
        assert_eq!(notes.len(), 2);
        assert!(notes[0].contains("repetition_penalty 1.05"), "{notes:?}");
        assert!(notes[1].contains("bad_words_ids"), "{notes:?}");
        for wrong in [
            r#"{"temperature": "hot"}"#,
            r#"{"top_k": 1.5}"#,
            r#"{"do_sample": 1}"#,
            "[",
        ] {
            assert!(read(wrong).unwrap_err().contains("generation_config.json"));
        }
    }
}
