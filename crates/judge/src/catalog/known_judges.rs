//! Known judges, by alias: `models/known-judges.toml`, compiled in.

use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;

use juror_engine::checkpoint::CheckpointError;
use juror_engine::engine::Sampling;
use juror_hub::HubId;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownJudge {
    /// What `--model` takes for it.
    pub alias: String,
    /// `org/name` on the hub.
    pub id: String,
    /// The family it was made from.
    pub base: String,
    /// What it must be asked.
    pub protocol: String,
    /// Further protocols that it was made for.
    #[serde(default)]
    pub(crate) others: Vec<String>,
    /// How it thinks, where that is known.
    pub thinking: Option<Thinking>,
    /// As its makers recommend; none where they leave it to `generation_config.json`.
    pub sampling: Option<Sampling>,
    /// The longest completion that its makers give it.
    pub max_new_tokens: Option<usize>,
    /// As its page states it, where that is known.
    pub licence: String,
    /// What else a user should know.
    pub note: Option<String>,
    /// Billions of parameters that work on a token, where that is known.
    pub active: Option<f64>,
    /// Billions of all parameters, where more are there than work on a token.
    pub total: Option<f64>,
    /// GB of weights, where they are not stored in 16 bits.
    pub(crate) weights: Option<f64>,
    /// What the paper of process-outcome verification measured.
    pub prime: Option<PrimeFigures>,
}

impl KnownJudge {
    /// GB that its weights take as they are on the hub, where that is known.
    pub fn weights(&self) -> Option<f64> {
        self.weights
            .or_else(|| Some(2.0 * self.total.or(self.active)?))
    }
}

/// How a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    None,
    /// In `<think>…</think>`.
    Tags,
    /// In `<think>…</think>`, unless the chat template is told not to.
    Switched,
    /// In gpt-oss' analysis channel.
    Harmony,
}

impl fmt::Display for Thinking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Tags => "<think>",
            Self::Switched => "<think>, can be switched off",
            Self::Harmony => "harmony channels",
        })
    }
}

/// Percent on the benchmark of process-outcome verification (PRIME, <https://arxiv.org/abs/2602.11570>).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrimeFigures {
    /// Outcomes judged right, averaged over subjects.
    pub outcome: f64,
    /// Process and outcome together judged right.
    pub overall: f64,
    pub f1: f64,
    /// Right answers from wrong derivations that were recognised.
    pub lucky_guess: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    judge: Vec<KnownJudge>,
}

const TABLE: &str = include_str!("../../models/known-judges.toml");

/// Every known judge, in the table's order.
pub fn judges() -> &'static [KnownJudge] {
    static JUDGES: LazyLock<Vec<KnownJudge>> = LazyLock::new(|| {
        #[allow(
            clippy::expect_used,
            reason = "a file of the program itself, which a test reads"
        )]
        let table: Table = toml::from_str(TABLE).expect("the table of known judges can be read");
        table.judge
    });
    &JUDGES
}

/// The known judge that an alias, or an id on the hub, names; letter case is of no matter.
pub fn find(name: &str) -> Option<&'static KnownJudge> {
    let same = |other: &str| other.eq_ignore_ascii_case(name);
    let mut judges = judges().iter();
    judges.find(|judge| same(&judge.alias) || same(&judge.id))
}

/// The known judge after which a folder or a file is named: the part of its id after the organisation, whatever follows it
/// (`CompassVerifier-7B-Q8_0.gguf`). The longest of such names counts.
pub fn named_like(path: &Path) -> Option<&'static KnownJudge> {
    let name = path.file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_lowercase();
    let own = |judge: &KnownJudge| {
        let own = judge.id.rsplit('/').next().unwrap_or_default();
        own.to_lowercase()
    };
    let like = judges().iter().filter(|judge| {
        // The hub's cache has `models--org--name`.
        let rest = name.rsplit("--").next().unwrap_or_default();
        let rest = rest.strip_prefix(&own(judge));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    });
    like.max_by_key(|judge| own(judge).len())
}

/// The model on the hub that an alias or a hub id names, either with `@revision` or without; `None` for other names.
pub fn hub_id(name: &str) -> Result<Option<HubId>, CheckpointError> {
    let (alias, revision) = match name.split_once('@') {
        Some((alias, revision)) => (alias, Some(revision)),
        None => (name, None),
    };
    Ok(match find(alias) {
        Some(judge) => Some(HubId::new(&judge.id, revision)?),
        None => HubId::parse(name)?,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_entry_can_be_used() {
        let judges = judges();
        assert!(judges.len() >= 20);
        let mut names = HashSet::new();
        for judge in judges {
            let name = &judge.alias;
            assert!(names.insert(judge.alias.to_lowercase()), "{name} twice");
            assert!(names.insert(judge.id.to_lowercase()), "{} twice", judge.id);
            assert!(
                !name.contains(['/', '@', ' ']) && name.to_lowercase() == *name,
                "{name}"
            );
            assert_ne!(name, "tiny", "an embedded model has this name");
            assert_eq!(hub_id(name).unwrap().unwrap().to_string(), judge.id);
            for protocol in judge.others.iter().chain([&judge.protocol]) {
                assert!(
                    crate::protocol::find(protocol).is_some(),
                    "{name}: {protocol}"
                );
            }
            assert!(!judge.others.contains(&judge.protocol), "{name}");
            assert!(
                !judge.base.is_empty() && !judge.licence.is_empty(),
                "{name}"
            );
            if let Some(sampling) = &judge.sampling {
                assert!((0.0..=2.0).contains(&sampling.temperature), "{name}");
                for share in [sampling.top_p, sampling.min_p] {
                    assert!((0.0..=1.0).contains(&share), "{name}");
                }
            }
            assert!(
                judge
                    .max_new_tokens
                    .is_none_or(|tokens| (1..=1 << 17).contains(&tokens)),
                "{name}"
            );
            assert!(
                judge
                    .active
                    .is_none_or(|billions| (0.1..200.0).contains(&billions)),
                "{name}"
            );
            let (total, active) = (judge.total.unwrap_or(1e3), judge.active.unwrap_or(0.0));
            assert!(active > 0.0 && total > active, "{name}");
            if let Some(prime) = &judge.prime {
                for percent in [
                    Some(prime.outcome),
                    Some(prime.overall),
                    Some(prime.f1),
                    prime.lucky_guess,
                ] {
                    assert!(
                        percent.is_none_or(|percent| (1.0..100.0).contains(&percent)),
                        "{name}"
                    );
                }
                assert!(prime.overall <= prime.outcome, "{name}");
            }
        }
    }

    #[test]
    fn figures_of_the_paper() {
        let prime = |alias: &str| find(alias).unwrap().prime.unwrap();
        for (figure, expected) in [
            (prime("gpt-oss-120b").lucky_guess.unwrap(), 45.92),
            (prime("compass-32b").overall, 73.29),
            (prime("qwen3-8b").f1, 76.62),
            (prime("general-verifier").outcome, 77.13),
        ] {
            assert!(
                (figure - expected).abs() < 1e-9,
                "{figure} is not {expected}"
            );
        }
    }

    #[test]
    fn folders_and_files_named_like_a_judge() {
        let like = |path: &str| {
            let found = named_like(Path::new(path));
            found.map(|judge| judge.alias.as_str())
        };
        for (path, alias) in [
            ("models/CompassVerifier-7B", Some("compass-7b")),
            ("compassverifier-7b/", Some("compass-7b")),
            ("CompassVerifier-32B-Q8_0.gguf", Some("compass-32b")),
            (
                "models--opencompass--CompassVerifier-3B",
                Some("compass-3b"),
            ),
            ("Qwen3-4B-Instruct-2507", Some("qwen3-4b-instruct-2507")),
            ("Qwen3-4Bx", None),
            ("my-judge", None),
            ("/", None),
        ] {
            assert_eq!(like(path), alias, "{path}");
        }
    }

    #[test]
    fn memory_of_weights() {
        let weights = |alias: &str| find(alias).unwrap().weights().unwrap();
        for (alias, expected) in [
            ("qwen3-8b", 16.4),
            ("qwen3-30b-a3b", 61.0),
            ("gpt-oss-20b", 13.8),
        ] {
            assert!((weights(alias) - expected).abs() < 1e-9, "{alias}");
        }
    }

    #[test]
    fn aliases_and_ids_with_revisions() {
        let id = |name: &str| hub_id(name).unwrap().map(|id| id.to_string());
        assert_eq!(id("compass-7b").unwrap(), "opencompass/CompassVerifier-7B");
        assert_eq!(
            id("XVerify-8B@v2").unwrap(),
            "IAAR-Shanghai/xVerify-8B-I@v2"
        );
        assert_eq!(id("qwen/qwen3-8b").unwrap(), "Qwen/Qwen3-8B");
        assert_eq!(id("org/name@main").unwrap(), "org/name");
        for name in ["tiny", "gpt", "compass-7", "./compass-7b", "a/b/c"] {
            assert_eq!(id(name), None, "{name}");
        }
        assert!(hub_id("compass-7b@../x").is_err());
    }

    #[test]
    fn sampling_in_words() {
        let words = |alias: &str| find(alias).unwrap().sampling.unwrap().to_string();
        assert_eq!(words("compass-7b"), "greedy");
        // What keeps all tokens is not said.
        assert_eq!(words("qwen3-8b"), "temperature 0.6, top-p 0.95, top-k 20");
    }
}
