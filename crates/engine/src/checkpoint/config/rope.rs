//! The keys of the rotary embedding, in both generations of transformers.

use serde_json::Value;

use super::keys::{Keys, is_nothing, same, short};
use crate::checkpoint::Result;
use crate::checkpoint::families::Family;

/// The rotary embedding of queries and keys (<https://arxiv.org/abs/2104.09864>).
#[derive(Debug, Clone, PartialEq)]
pub struct Rope {
    pub theta: f64,
    /// How many of a head's numbers are rotated, from the first on; even.
    pub(crate) dims: usize,
    /// Whether the two numbers of a pair are neighbours instead of half of [`Self::dims`] apart.
    pub(crate) interleaved: bool,
    /// How it is stretched for contexts longer than the original one.
    pub scaling: RopeScaling,
}

/// Queries that grow with their position: by `1 + beta · ln(1 + ⌊position / original⌋)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionScale {
    /// `llama_4_scaling_beta`
    pub beta: f64,
    /// The original context, `original_max_position_embeddings`.
    pub original_positions: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RopeScaling {
    None,
    /// All are divided by a factor.
    Linear {
        factor: f64,
    },
    /// Some of the pairs, the first ones, turn; exponents are those of the whole head, and the other pairs stand still.
    Proportional {
        /// How many pairs turn, by `partial_rotary_factor`.
        turned: usize,
        /// All are divided by this, `factor`.
        factor: f64,
    },
    Llama3 {
        /// Low frequencies are divided by this, `factor`.
        factor: f64,
        /// Frequencies with fewer turns over the original context than this are low, `low_freq_factor`.
        low_turns: f64,
        /// Frequencies with more turns than this stay, `high_freq_factor`; those between are blended.
        high_turns: f64,
        /// The original context, `original_max_position_embeddings`.
        original_positions: f64,
    },
    /// `YaRN` (<https://arxiv.org/abs/2309.00071>).
    Yarn {
        /// Low frequencies are divided by this, `factor`.
        factor: f64,
        /// Frequencies with more turns over the original context than this stay, `beta_fast`.
        fast_turns: f64,
        /// Frequencies with fewer turns than this are low, `beta_slow`; those between are blended.
        slow_turns: f64,
        /// Whether the blending begins and ends at whole frequencies, `truncate`.
        truncate: bool,
        /// The original context, `original_max_position_embeddings`.
        original_positions: f64,
        /// What cosines and sines are multiplied with, `attention_factor`.
        attention_factor: f64,
    },
    /// `LongRoPE` (<https://arxiv.org/abs/2402.13753>): one divisor for each frequency, and another set of divisors for
    /// sequences longer than the original context.
    LongRope {
        /// `short_factor`, one for each pair.
        short: Vec<f64>,
        /// `long_factor`, one for each pair.
        long: Vec<f64>,
        /// The original context, `original_max_position_embeddings`.
        original_positions: usize,
        /// What cosines and sines are multiplied with, `attention_factor`.
        attention_factor: f64,
    },
}

/// The keys of the rotary embedding: `rope_scaling` (transformers 4) or `rope_parameters` (5).
struct RopeKeys<'a> {
    keys: &'a Keys<'a>,
    /// `rope_scaling` or `rope_parameters`
    name: &'static str,
    values: Option<&'a Value>,
}

impl<'a> RopeKeys<'a> {
    fn new(keys: &'a Keys<'a>) -> Result<Self> {
        // An empty one says nothing, as in transformers.
        let given = |key| keys.get(key).filter(|value| !is_nothing(value));
        let (scaling, parameters) = (given("rope_scaling"), given("rope_parameters"));
        let (name, values) = match (scaling, parameters) {
            (Some(scaling), Some(parameters)) if !same(scaling, parameters) => {
                return keys.fail("both rope_scaling and rope_parameters are given, and differ");
            }
            (None, parameters) => ("rope_parameters", parameters),
            (scaling, _) => ("rope_scaling", scaling),
        };
        if let Some(value) = values
            && !value.is_object()
        {
            return keys.fail(format!("{name} is {}, not an object", short(value)));
        }
        Ok(Self { keys, name, values })
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.values?.get(key).filter(|value| !value.is_null())
    }

    fn named(&self, key: &str) -> String {
        format!("{}.{key}", self.name)
    }

    fn number(&self, key: &str) -> Result<f64> {
        self.keys.positive(&self.named(key), self.get(key))
    }

    fn number_or(&self, key: &str, default: f64) -> Result<f64> {
        self.get(key).map_or(Ok(default), |_| self.number(key))
    }

    /// A list of positive numbers, one for each pair.
    fn factors(&self, key: &str, pairs: usize) -> Result<Vec<f64>> {
        let numbers = match self.get(key) {
            Some(Value::Array(list)) => list
                .iter()
                .map(|value| value.as_f64().filter(|x| *x > 0.0 && x.is_finite()))
                .collect::<Option<Vec<f64>>>(),
            _ => None,
        };
        match numbers {
            Some(numbers) if numbers.len() == pairs => Ok(numbers),
            _ => self.keys.fail(format!(
                "{} is not a list of {pairs} positive numbers",
                self.named(key)
            )),
        }
    }

    /// The original context, given beside the other keys or at the top level.
    fn original_positions(&self) -> Result<f64> {
        let key = "original_max_position_embeddings";
        let on_top = self.keys.get(key);
        self.keys
            .positive(&self.named(key), self.get(key).or(on_top))
    }

    /// Fails on the first key that does not belong to this kind of scaling.
    fn refuse_unknown(&self, scaling: &RopeScaling, of_family: &str) -> Result<()> {
        const ALL: &str = "rope_type type rope_theta partial_rotary_factor factor original_max_position_embeddings";
        let own = match scaling {
            RopeScaling::None | RopeScaling::Linear { .. } | RopeScaling::Proportional { .. } => "",
            RopeScaling::Llama3 { .. } => "low_freq_factor high_freq_factor",
            RopeScaling::Yarn { .. } => {
                "beta_fast beta_slow truncate attention_factor mscale mscale_all_dim finetuned"
            }
            RopeScaling::LongRope { .. } => "short_factor long_factor attention_factor",
        };
        let is_known = |key: &str| {
            [ALL, own, of_family]
                .iter()
                .any(|keys| keys.split_whitespace().any(|known| known == key))
        };
        let given = self.values.and_then(Value::as_object).into_iter().flatten();
        let unknown = given
            .filter(|(_, value)| !value.is_null())
            .find(|(key, _)| !is_known(key));
        match unknown {
            None => Ok(()),
            Some((key, value)) => self.keys.fail(format!(
                "{} ({}) is not supported here",
                self.named(key),
                short(value)
            )),
        }
    }
}

/// How queries grow with their position, in a family in which they do.
pub(super) fn position_scale(keys: &Keys, family: &Family) -> Result<Option<PositionScale>> {
    if !family.scales_by_position {
        return Ok(None);
    }
    let rope = RopeKeys::new(keys)?;
    let key = "llama_4_scaling_beta";
    if rope.get(key).is_some_and(|beta| beta.as_f64() == Some(0.0)) {
        return Ok(None);
    }
    Ok(Some(PositionScale {
        beta: rope.number(key)?,
        original_positions: rope.original_positions()?,
    }))
}

impl Rope {
    /// One that leaves everything as it is.
    pub(crate) fn still() -> Self {
        Self {
            theta: 1.0,
            dims: 0,
            interleaved: false,
            scaling: RopeScaling::None,
        }
    }

    /// The length up to which sequences use the first of two sets of angles; `None` if there is one set.
    pub fn short_context(&self) -> Option<usize> {
        match self.scaling {
            RopeScaling::LongRope {
                original_positions, ..
            } => Some(original_positions),
            _ => None,
        }
    }

    /// The context that angles are stretched to, if the checkpoint names the original context and the factor.
    pub fn stretched_context(&self) -> Option<usize> {
        match self.scaling {
            RopeScaling::Yarn {
                factor,
                original_positions,
                ..
            } => Some((factor * original_positions) as usize),
            _ => None,
        }
    }

    /// Reads the keys for heads of `head_dim` numbers, with the family's default for the base.
    pub(super) fn parse(
        keys: &Keys,
        head_dim: usize,
        family: &Family,
        default_theta: Option<f64>,
    ) -> Result<Self> {
        let rope = RopeKeys::new(keys)?;
        if !head_dim.is_multiple_of(2) {
            return keys.fail(format!(
                "head_dim is {head_dim}, but the rotary embedding needs an even one"
            ));
        }
        let theta = keys.get("rope_theta");
        let other = rope.get("rope_theta");
        let differs = |theta| other.is_some_and(|other| !same(theta, other));
        if theta.is_some_and(differs) {
            return keys.fail(format!(
                "rope_theta and {} differ",
                rope.named("rope_theta")
            ));
        }
        let mut theta = match theta.or(other) {
            None => match default_theta {
                Some(theta) => theta,
                None => return keys.fail("no rope_theta"),
            },
            theta => keys.positive("rope_theta", theta)?,
        };
        let on_top = keys.get("partial_rotary_factor");
        let partial = match rope.get("partial_rotary_factor").or(on_top) {
            None => 1.0,
            share => keys.positive("partial_rotary_factor", share)?,
        };
        // Rounded down, as in transformers.
        let dims = (head_dim as f64 * partial) as usize;
        if dims == 0 || dims > head_dim || dims % 2 == 1 {
            return keys.fail(format!(
                "partial_rotary_factor {partial} rotates {dims} of a head's {head_dim} numbers"
            ));
        }
        let kind = rope.get("rope_type").or_else(|| rope.get("type"));
        let kind = match kind {
            // transformers 5 may leave it out where nothing is stretched; transformers 4 has the key only where something is.
            None if rope.name == "rope_parameters" || rope.values.is_none() => "default",
            Some(Value::String(kind)) => kind,
            _ => return keys.fail(format!("{} does not say its rope_type", rope.name)),
        };
        let mut of_family = if family.scales_by_position {
            "llama_4_scaling_beta max_position_embeddings"
        } else {
            ""
        };
        let (turned, dims) = match kind {
            "proportional" => (dims / 2, head_dim),
            _ => (0, dims),
        };
        let scaling = match kind {
            "default" => RopeScaling::None,
            "proportional" => RopeScaling::Proportional {
                turned,
                factor: rope.number_or("factor", 1.0)?,
            },
            "dynamic" if family.stretches_base && rope.get("alpha").is_some() => {
                let width = dims as f64;
                theta *= rope.number("alpha")?.powf(width / (width - 2.0));
                // Numbers of other kinds of stretching stand beside it, and are not used.
                of_family = "alpha beta_fast beta_slow mscale mscale_all_dim";
                RopeScaling::None
            }
            "linear" => RopeScaling::Linear {
                factor: rope.number("factor")?,
            },
            "llama3" => llama3(&rope)?,
            "yarn" => yarn(&rope)?,
            "longrope" | "su" => long_rope(&rope, dims / 2)?,
            other => {
                return keys.fail(format!(
                    "{} of type {other:?} is not supported, only default, linear, llama3, yarn, longrope and proportional",
                    rope.name
                ));
            }
        };
        rope.refuse_unknown(&scaling, of_family)?;
        if !matches!(scaling, RopeScaling::LongRope { .. }) {
            // Some tools write it beside the other sizes; the scaling has its own.
            keys.get("original_max_position_embeddings");
        }
        Ok(Self {
            theta,
            dims,
            interleaved: family.rotates_neighbours,
            scaling,
        })
    }
}

fn llama3(rope: &RopeKeys) -> Result<RopeScaling> {
    let (low_turns, high_turns) = (
        rope.number("low_freq_factor")?,
        rope.number("high_freq_factor")?,
    );
    if high_turns <= low_turns {
        return rope.keys.fail(format!(
            "{} must be above low_freq_factor",
            rope.named("high_freq_factor")
        ));
    }
    Ok(RopeScaling::Llama3 {
        factor: rope.number("factor")?,
        low_turns,
        high_turns,
        original_positions: rope.original_positions()?,
    })
}

fn yarn(rope: &RopeKeys) -> Result<RopeScaling> {
    let original_positions = match rope.original_positions() {
        // transformers' default where the key is missing.
        Err(_) if rope.get("original_max_position_embeddings").is_none() => {
            rope.keys.size("max_position_embeddings")? as f64
        }
        positions => positions?,
    };
    let factor = rope.number("factor")?;
    // The paper's temperature, which makes up for attention's loss of sharpness over a longer context.
    let temperature = |share: f64| {
        if factor <= 1.0 {
            1.0
        } else {
            0.1 * share * factor.ln() + 1.0
        }
    };
    let attention_factor = match rope.get("attention_factor") {
        Some(_) => rope.number("attention_factor")?,
        // As in transformers, zero is none.
        None => match ["mscale", "mscale_all_dim"].map(|key| {
            let share = rope.get(key).filter(|share| share.as_f64() != Some(0.0));
            share.map(|_| rope.number(key)).transpose()
        }) {
            [Ok(Some(share)), Ok(Some(of_all))] => temperature(share) / temperature(of_all),
            [share, of_all] => share.and(of_all).map(|_| temperature(1.0))?,
        },
    };
    Ok(RopeScaling::Yarn {
        factor,
        fast_turns: rope.number_or("beta_fast", 32.0)?,
        slow_turns: rope.number_or("beta_slow", 1.0)?,
        truncate: rope.get("truncate").is_none_or(|value| value != false),
        original_positions,
        attention_factor,
    })
}

fn long_rope(rope: &RopeKeys, pairs: usize) -> Result<RopeScaling> {
    let original_positions = rope.original_positions()?;
    let positions = rope.keys.size("max_position_embeddings")? as f64;
    let factor = rope.number_or("factor", positions / original_positions)?;
    let attention_factor = match rope.get("attention_factor") {
        Some(_) => rope.number("attention_factor")?,
        None if factor <= 1.0 => 1.0,
        None => (1.0 + factor.ln() / original_positions.ln()).sqrt(),
    };
    Ok(RopeScaling::LongRope {
        short: rope.factors("short_factor", pairs)?,
        long: rope.factors("long_factor", pairs)?,
        original_positions: original_positions as usize,
        attention_factor,
    })
}
