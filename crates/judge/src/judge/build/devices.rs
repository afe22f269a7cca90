//! From the devices that were asked for to those that hold a model: one each, or several together.

use candle_core::Device;

use super::EngineOptions;
use juror_engine::model::{DeviceChoice, ModelError};

#[derive(Debug, Clone)]
pub struct ModelDevices {
    /// As the user names them: `cuda:0`; of several `cuda:0,1`.
    pub name: String,
    /// Open; one at least.
    pub all: Vec<Device>,
}

/// Opens devices, in groups of as many as hold one model together, in the order in which they are named. One GPU that is named alone is the first of its group.
/// Errors: [`ModelError::Device`] for one that cannot be opened; [`ModelError::Unsupported`] for several together that are no NVIDIA GPUs, or
/// a number that does not divide.
pub fn open_devices(
    choices: &[DeviceChoice],
    options: &EngineOptions,
) -> Result<Vec<ModelDevices>, ModelError> {
    let groups = groups(choices, options.devices_of_a_model())?;
    let open = |group: Vec<DeviceChoice>| {
        Ok(ModelDevices {
            name: name(&group),
            all: group
                .into_iter()
                .map(DeviceChoice::open)
                .collect::<Result<_, _>>()?,
        })
    };
    groups.into_iter().map(open).collect()
}

/// Checks that devices can be taken `count` at a time.
pub fn check_devices(choices: &[DeviceChoice], count: usize) -> Result<(), ModelError> {
    groups(choices, count).map(drop)
}

fn groups(choices: &[DeviceChoice], count: usize) -> Result<Vec<Vec<DeviceChoice>>, ModelError> {
    if count == 1 {
        return Ok(choices.iter().map(|&choice| vec![choice]).collect());
    }
    let refuse = |why: String| {
        Err(ModelError::Unsupported(format!(
            "--tensor-parallel {count} {why}"
        )))
    };
    let of_gpu = |choice: &DeviceChoice| match choice {
        DeviceChoice::Cuda(ordinal) => Some(*ordinal),
        DeviceChoice::Auto => Some(0),
        DeviceChoice::Cpu | DeviceChoice::Metal => None,
    };
    let mut gpus = Vec::new();
    for choice in choices {
        match of_gpu(choice) {
            Some(gpu) => gpus.push(gpu),
            None => return refuse(format!("is for NVIDIA GPUs, not for {choice}")),
        }
    }
    if let [first] = gpus[..] {
        gpus = (first..first + count).collect();
    }
    if !gpus.len().is_multiple_of(count) {
        return refuse(format!(
            "takes GPUs {count} at a time, and {} are named: name a multiple of {count}",
            gpus.len()
        ));
    }
    let groups = gpus.chunks(count);
    Ok(groups
        .map(|group| group.iter().copied().map(DeviceChoice::Cuda).collect())
        .collect())
}

fn name(group: &[DeviceChoice]) -> String {
    let (first, others) = group.split_at(group.len().min(1));
    let others = others.iter().map(|choice| match choice {
        DeviceChoice::Cuda(ordinal) => ordinal.to_string(),
        other => other.to_string(),
    });
    let all = first.iter().map(ToString::to_string).chain(others);
    all.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use DeviceChoice::{Auto, Cpu, Cuda};

    #[test]
    fn gpus_are_taken_together_in_the_order_in_which_they_are_named() {
        let four = [Cuda(3), Cuda(0), Cuda(1), Cuda(2)];
        let named = |count| -> Vec<String> {
            groups(&four, count)
                .unwrap()
                .iter()
                .map(|group| name(group))
                .collect()
        };
        assert_eq!(named(1), ["cuda:3", "cuda:0", "cuda:1", "cuda:2"]);
        assert_eq!(named(2), ["cuda:3,0", "cuda:1,2"]);
        assert_eq!(named(4), ["cuda:3,0,1,2"]);
        // One alone is the first.
        assert_eq!(groups(&[Cuda(2)], 2).unwrap(), [[Cuda(2), Cuda(3)]]);
        assert_eq!(groups(&[Auto], 2).unwrap(), [[Cuda(0), Cuda(1)]]);
    }

    #[test]
    fn what_cannot_be_taken_together_is_refused() {
        let why = |choices: &[DeviceChoice], count| groups(choices, count).unwrap_err().to_string();
        assert_eq!(
            why(&[Cpu], 2),
            "--tensor-parallel 2 is for NVIDIA GPUs, not for cpu"
        );
        let three = [Cuda(0), Cuda(1), Cuda(2)];
        assert_eq!(
            why(&three, 2),
            "--tensor-parallel 2 takes GPUs 2 at a time, and 3 are named: name a multiple of 2"
        );
        assert_eq!(groups(&[Cpu], 1).unwrap(), [[Cpu]]);
    }
}
