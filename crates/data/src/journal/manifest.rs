//! Everything that decides what the verdicts of a run are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::contents::shortened;
use juror_base::terminal::escaped;

/// Everything that decides what the verdicts of a run are: two runs with equal manifests give the same verdicts.
///
/// A journal keeps it as its first line. Any field added here is compared, unless it is listed as one of origin only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The journal's format: [`Manifest::FORMAT`].
    pub format: u32,
    pub juror: String,
    /// The judge model; none with rules alone.
    pub model: Option<Identity>,
    /// The hash of the adapter that is merged into the model, which is in the model's hash too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// The hub's commit that the model was taken from, `org/name@commit`. Recorded but not compared: if the hash is the same, so are the verdicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_origin: Option<String>,
    /// The protocol, few-shots and a user's own prompt included.
    pub protocol: Identity,
    /// The chat template's options, and the date it wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatIdentity>,
    pub sampling: SamplingSettings,
    /// The seed of every random choice.
    pub seed: u64,
    /// Generations for each sample.
    pub trials: u32,
    /// The part the rules play.
    pub rules: String,
    pub reward: String,
    /// How sure the judge must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_confidence: Option<f64>,
    /// The values of `--dtype`, `--quantize` and `--kv-dtype`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// How answers are constrained; empty if they are free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constrained: Option<String>,
    pub reason: bool,
    /// The hash of the judge's own solutions, where it is shown them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_answer: Option<String>,
    /// Whether prompt and completion are kept with every verdict.
    pub raw: bool,
    pub input: InputIdentity,
    /// The data sets of the hub that the input comes from, with their commits, `org/name@commit:config:split`, several separated by spaces. Recorded but not
    /// compared: if the fingerprint is the same, so are the samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_origin: Option<String>,
    /// One machine's part of the input, as `i/n`.
    pub shard: Option<String>,
}

impl Manifest {
    /// The journal's format: every line has a checksum.
    pub const FORMAT: u32 = 2;

    /// Fields that record where something came from, not what it is, and so are not compared.
    const TOLD_ALONE: [&str; 2] = ["model_origin", "data_origin"];

    /// What differs between this manifest and another, one line per field, with the names of the two; empty if nothing does.
    pub(crate) fn listed_differences(&self, name: &str, other: &Self, other_name: &str) -> String {
        let other = serde_json::to_string(other)
            .and_then(|text| serde_json::from_str(&text))
            .unwrap_or(Value::Null);
        let (here, there) = (format!("in {name}"), format!("in {other_name}"));
        listing(&self.differences(&other), &there, &here)
    }

    /// Every field that differs between this manifest and the one in a journal, down to the single value.
    pub(crate) fn differences(&self, earlier: &Value) -> Vec<Difference> {
        let mut differences = Vec::new();
        // Serialised and parsed, as the earlier manifest was, so that numbers do not differ by how they were read.
        let now = serde_json::to_string(self)
            .and_then(|text| serde_json::from_str(&text))
            .unwrap_or(Value::Null);
        compare(String::new(), Some(earlier), Some(&now), &mut differences);
        let is_another = differences.iter().any(|one| one.field == "model.hash");
        // The same files under another name are the same model; a name says which one it was where they differ.
        differences.retain(|Difference { field, .. }| {
            !Self::TOLD_ALONE.contains(&&**field) && (is_another || field != "model.name")
        });
        differences
    }
}

/// A name for people and a hash of the content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub name: String,
    pub hash: String,
}

/// The chat template's options; each is absent if the template's own default applies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatIdentity {
    /// Whether the model is to think (`enable_thinking`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
    /// How long it is to think (`reasoning_effort`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// The text of the role `system`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Other variables of the template, as they were written.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// A chat template that replaces the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Identity>,
    /// How the model writes its thinking, if the user said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_style: Option<String>,
    /// The date that the template wrote, with the time if it wrote that too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Whether samples outside the judge's domain are judged too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force_domain: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SamplingSettings {
    /// 0 is greedy.
    pub temperature: f32,
    /// Choose among this many likeliest tokens.
    pub top_k: Option<u32>,
    /// Choose among the likeliest tokens that make up this much.
    pub top_p: Option<f32>,
    /// Choose among tokens at least this likely, compared with the likeliest.
    pub min_p: Option<f32>,
    pub max_new_tokens: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputIdentity {
    /// [`Loaded::fingerprint`](crate::Loaded::fingerprint).
    pub fingerprint: String,
    /// Samples accepted, all shards together.
    pub samples: usize,
    /// The keys that go into the verdicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
}

/// One value that differs between two manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where it is, as `sampling.temperature`.
    pub(crate) field: String,
    /// What the journal says, as JSON; `nothing` if it has no such field.
    pub(crate) journal: String,
    pub(crate) now: String,
}

/// The differences, one line each, with names for the two sides. A foreign file may have any number of fields, so the list is cut.
pub(super) fn listing(differences: &[Difference], there: &str, here: &str) -> String {
    const LISTED: usize = 40;
    let line = |difference: &Difference| {
        let meaning = match difference.field.as_str() {
            "input.fingerprint" => " (other rows, or other keys read from them)",
            _ => "",
        };
        let texts = [&difference.field, &difference.journal, &difference.now];
        let [field, was, is] = texts.map(|text| shortened(text));
        let line = format!("{field}: {was} {there}, {is} {here}{meaning}");
        format!("  {}", escaped(&line))
    };
    let mut lines: Vec<String> = differences.iter().take(LISTED).map(line).collect();
    if differences.len() > LISTED {
        lines.push(format!("  … and {} more", differences.len() - LISTED));
    }
    lines.join("\n")
}

fn compare(
    field: String,
    earlier: Option<&Value>,
    now: Option<&Value>,
    differences: &mut Vec<Difference>,
) {
    if earlier == now {
        return;
    }
    let (Some(Value::Object(before)), Some(Value::Object(after))) = (earlier, now) else {
        let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
        let (journal, now) = (text(earlier), text(now));
        return differences.push(Difference {
            field,
            journal,
            now,
        });
    };
    let dot = if field.is_empty() { "" } else { "." };
    let added = after.keys().filter(|key| !before.contains_key(*key));
    for key in before.keys().chain(added) {
        let field = format!("{field}{dot}{key}");
        compare(field, before.get(key), after.get(key), differences);
    }
}
