//! One machine's part of the input.

use std::fmt;

use crate::sample::id_hash;

/// Part `index` of `count` parts of the input, written `index/count`, counting from 0: `0/4`, `1/4`, `2/4`, `3/4`.
///
/// A sample's part is decided by the hash of its id alone, so it does not depend on the order or the files the rows
/// come in, and the parts together hold every sample exactly once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

/// What is told of `auto` where nothing says which part.
const NO_VARIABLES: &str = "\
    `auto` reads SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT, SLURM_PROCID and SLURM_NTASKS (in a step that srun started), or JOB_COMPLETION_INDEX and \
    JOB_COMPLETIONS (which a Kubernetes job does not set by itself): none of these pairs is set; write `i/n`";

/// What is told of variables that do not describe a shard.
fn no_shard(index: &str, count: &str, at: u32, all: u32) -> String {
    format!("{index} and {count} are {at} and {all}, which is no shard: write `i/n`")
}

impl Shard {
    /// Reads `i/n` with `0 <= i < n`.
    /// Errors: when `text` is anything else, as text for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        // `u32::from_str` would take a plus sign.
        let number = |digits: &str| digits.parse().ok().filter(|_| !digits.starts_with('+'));
        let parts = text.split_once('/');
        let parts = parts.and_then(|(index, count)| Some((number(index)?, number(count)?)));
        let shard = parts.map(|(index, count)| Self { index, count });
        shard.filter(|it| it.index < it.count).ok_or_else(|| {
            format!(
                "`{text}` is not a shard: write `i/n` with i from 0 to n - 1, as in `0/4`, `1/4`, `2/4` and `3/4` for four machines, or `auto`"
            )
        })
    }

    /// This process's shard, from the variables that SLURM (job arrays, tasks, or both) and Kubernetes (indexed jobs) set.
    /// Errors: when none are set, or they do not describe a shard, as text for the user.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let number = |name| variable(name)?.trim().parse::<u32>().ok();
        let part = |index: &'static str, first: u32, step: u32, count: &'static str| {
            let (Some(at), Some(all)) = (number(index), number(count)) else {
                return Ok(None);
            };
            let place = at.checked_sub(first).map(|offset| offset / step.max(1));
            match place.filter(|&place| place < all) {
                Some(place) => Ok(Some((place, all))),
                None => Err(no_shard(index, count, at, all)),
            }
        };
        let first = number("SLURM_ARRAY_TASK_MIN").unwrap_or(0);
        let step = number("SLURM_ARRAY_TASK_STEP").unwrap_or(1);
        let [index, count] = ["SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"];
        let array = part(index, first, step, count)?;
        if let (Some((_, 1)), 1..) = (array, first) {
            // One task of a larger array, started again.
            return Err(no_shard(index, count, first, 1));
        }
        // A batch script has the variables of a task too, but only `srun`, which sets SLURM_STEP_ID, starts all tasks.
        let task = match number("SLURM_STEP_ID") {
            Some(_) => part("SLURM_PROCID", 0, 1, "SLURM_NTASKS")?,
            None => None,
        };
        let slurm = match (array, task) {
            (Some((outer, outers)), Some((inner, inners))) => outers
                .checked_mul(inners)
                .map(|count| (outer * inners + inner, count)),
            (one, other) => one.or(other),
        };
        let found = match slurm {
            Some(found) => Some(found),
            None => part("JOB_COMPLETION_INDEX", 0, 1, "JOB_COMPLETIONS")?,
        };
        let (index, count) = found.ok_or(NO_VARIABLES)?;
        Ok(Self { index, count })
    }

    /// Whether the sample with this id is in this shard.
    pub fn contains(&self, id: &str) -> bool {
        id_hash(id) % u64::from(self.count) == u64::from(self.index)
    }

    /// The shard's index, from 0.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The number of shards.
    pub fn count(&self) -> u32 {
        self.count
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shards_count_from_zero() {
        let shard = Shard::parse("3/4").unwrap();
        assert_eq!((shard.index(), shard.count()), (3, 4));
        assert_eq!(shard.to_string(), "3/4");
        for text in [
            "4/4",
            "0/0",
            "1",
            "",
            "/",
            "1/",
            "/2",
            "-1/2",
            "+1/2",
            " 1/2",
            "a/b",
            "1/2/3",
            "0/99999999999",
        ] {
            let message = Shard::parse(text).unwrap_err();
            assert!(message.contains("i from 0 to n - 1"), "{message}");
        }
    }

    #[test]
    fn schedulers_say_which_part() {
        let shard = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(other, _)| *other == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            match Shard::from_environment(variable) {
                Ok(shard) => shard.to_string(),
                Err(error) => error,
            }
        };
        let array = [
            ("SLURM_ARRAY_TASK_ID", "5"),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
        ];
        assert_eq!(
            shard(&[array[0], array[1], ("SLURM_ARRAY_TASK_MIN", "3")]),
            "2/4"
        );
        assert!(shard(&array).contains("5 and 4"), "{}", shard(&array));
        let tasks = [
            ("SLURM_STEP_ID", "0"),
            ("SLURM_PROCID", "1"),
            ("SLURM_NTASKS", "2"),
        ];
        assert_eq!(shard(&tasks), "1/2");
        assert_eq!(
            shard(&[
                array[0],
                array[1],
                ("SLURM_ARRAY_TASK_MIN", "3"),
                tasks[0],
                tasks[1],
                tasks[2],
            ]),
            "5/8"
        );
        let job = [("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "3")];
        assert_eq!(shard(&job), "0/3");
        assert!(shard(&job[..1]).contains("none of these pairs is set"));
    }

    #[test]
    fn a_samples_shard_never_changes() {
        let shard = |id: &str| {
            (0..4).find(|index| {
                Shard {
                    index: *index,
                    count: 4,
                }
                .contains(id)
            })
        };
        let shards: Vec<_> = ["a", "b", "c", "rollout-17"].map(shard).to_vec();
        assert_eq!(shards, vec![Some(3), Some(0), Some(2), Some(1)]);
    }

    proptest! {
        #[test]
        fn shards_partition_the_input(ids in prop::collection::vec(".{0,20}", 0..50), count in 1u32..20) {
            for id in &ids {
                let holders = (0..count).filter(|index| Shard { index: *index, count }.contains(id)).count();
                prop_assert_eq!(holders, 1);
            }
        }
    }

    #[test]
    fn shards_are_of_about_equal_size() {
        let mut sizes = [0_usize; 4];
        for id in 0..4000 {
            for (index, size) in sizes.iter_mut().enumerate() {
                *size += usize::from(
                    Shard {
                        index: index as u32,
                        count: 4,
                    }
                    .contains(&id.to_string()),
                );
            }
        }
        assert!(
            sizes.iter().all(|size| (900..1100).contains(size)),
            "{sizes:?}"
        );
    }
}
