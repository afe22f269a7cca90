//! The name of a request in a batch file: joins an answer with its sample and trial, and tells under which protocol and
//! prompt, and of which texts, it was asked.
//!
//! `juror-PPPPPPPP-SSSSSSSS-NAME-T`, at most 64 characters of `A-Z a-z 0-9 _ -`, which every known service takes:
//!
//! | part | what |
//! |---|---|
//! | `PPPPPPPP` | hash of the protocol and its prompt text |
//! | `SSSSSSSS` | hash of the sample's question, reference answer, response, steps and rubric |
//! | `NAME` | `i-` and the sample's id, if that has at most 30 of those characters and no others; else `h-` and its hash |
//! | `T` | the trial's number |
//!
//! The import makes the same names of the same rows: none is taken apart but for the trial.

use crate::protocol::{self, PromptTemplate, Protocol};
use juror_data::Sample;

const BEGINNING: &str = "juror-";

/// The longest id that is written as it is.
const MOST_ID: usize = 30;

/// The names of the requests of one protocol and prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CustomIds {
    beginning: String,
}

impl CustomIds {
    pub(crate) fn new(protocol: &Protocol, template: &PromptTemplate) -> Self {
        let parts = [
            &protocol.name,
            protocol.hash.as_deref().unwrap_or_default(),
            &protocol.view.to_string(),
            &protocol.chat.to_string(),
            &template.hash(),
        ];
        let hash = short_hash(parts.join("\0").as_bytes(), 8);
        Self {
            beginning: format!("{BEGINNING}{hash}-"),
        }
    }

    /// What the names of a sample's requests begin with; after it are `-` and the trial.
    pub(crate) fn of_sample(&self, sample: &Sample) -> String {
        let mut texts = vec![sample.own_content_id()];
        texts.extend(sample.steps.iter().cloned());
        if !sample.other_answer.is_empty() {
            texts.push(format!("other\0{}", sample.other_answer));
        }
        // A rubric always can be written.
        texts.extend(
            sample
                .rubric
                .iter()
                .filter_map(|rubric| serde_json::to_string(rubric.as_ref()).ok()),
        );
        let texts = short_hash(texts.join("\0").as_bytes(), 8);
        let id = sample.id.as_str();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let name = if (1..=MOST_ID).contains(&id.len()) && id.bytes().all(is_plain) {
            format!("i-{id}")
        } else {
            format!("h-{}", short_hash(id.as_bytes(), 24))
        };
        format!("{}{texts}-{name}", self.beginning)
    }

    pub(crate) fn of_trial(&self, sample: &Sample, trial: u32) -> String {
        format!("{}-{trial}", self.of_sample(sample))
    }

    /// Why a name is of no request of this protocol and prompt.
    pub(crate) fn refused(&self, custom_id: &str, protocol: &str) -> Option<String> {
        if custom_id.starts_with(&self.beginning) {
            return None;
        }
        let shown: String = custom_id.chars().take(80).collect();
        if !custom_id.starts_with(BEGINNING) {
            return Some(format!(
                "the custom_id `{shown}` is not one that `juror batch export` wrote"
            ));
        }
        let built_in = protocol::known().find(|own| {
            let template = own.template.as_deref().map(PromptTemplate::parse);
            let Some(Ok(template)) = template else {
                return false;
            };
            custom_id.starts_with(&Self::new(own.as_ref(), &template).beginning)
        });
        let advice = match built_in {
            Some(own) => format!(
                "it was asked under protocol {name}: give --protocol {name}",
                name = own.name
            ),
            None => "give the --protocol, --prompt and --few-shots that it was asked with".into(),
        };
        Some(format!(
            "the request `{shown}` was not asked under protocol {protocol} with this prompt; {advice}"
        ))
    }
}

/// A name as its sample's part and its trial, if it has both.
pub(crate) fn split(custom_id: &str) -> Option<(&str, u32)> {
    let (sample, trial) = custom_id.rsplit_once('-')?;
    // One number has one spelling.
    let number: u32 = trial.parse().ok()?;
    (number.to_string() == trial).then_some((sample, number))
}

fn short_hash(bytes: &[u8], length: usize) -> String {
    let mut hash = blake3::hash(bytes).to_hex().to_string();
    hash.truncate(length);
    hash
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn under(name: &str) -> CustomIds {
        let protocol = protocol::find(name).unwrap();
        let template = PromptTemplate::parse(protocol.template.as_deref().unwrap()).unwrap();
        CustomIds::new(protocol.as_ref(), &template)
    }

    fn sample(id: &str) -> Sample {
        Sample::new("q", "r", "s").with_id(id)
    }

    #[test]
    fn every_built_in_protocol_is_told_apart_and_named() {
        let mut met = HashSet::new();
        for protocol in protocol::known() {
            if protocol.template.as_deref().is_some() {
                assert!(met.insert(under(&protocol.name).beginning));
            }
        }
        let id = under("compass").of_trial(&sample("a"), 0);
        assert_eq!(under("compass").refused(&id, "compass"), None);
        let why = under("prime").refused(&id, "prime").unwrap();
        assert!(why.contains("--protocol compass"), "{why}");
        assert!(under("prime").refused("request-1", "prime").is_some());
    }

    #[test]
    fn ids_that_look_like_hashes_are_no_hashes() {
        let hash = format!("h-{}", short_hash(b"x y", 24));
        let ids = under("prime");
        assert_ne!(ids.of_sample(&sample("x y")), ids.of_sample(&sample(&hash)));
    }

    #[test]
    fn a_trial_has_one_spelling() {
        assert_eq!(split("juror-a-12"), Some(("juror-a", 12)));
        for wrong in ["", "12", "a-012", "a-+12", "a-", "a-x"] {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_id_makes_a_name_that_every_service_takes(id in any::<String>(), trial in 0..1_000_000_u32) {
            let (ids, sample) = (under("prime"), sample(&id));
            let name = ids.of_trial(&sample, trial);
            prop_assert!(name.len() <= 64);
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
            let own = ids.of_sample(&sample);
            prop_assert_eq!(split(&name), Some((own.as_str(), trial)));
            prop_assert_ne!(own, ids.of_sample(&Sample::new("q", "r", "t").with_id(&id)));
        }
    }
}
