//! A step's integers, packed into one copy to the device.

use std::ops::Range;

use candle_core::{CudaDevice, DType};

use super::array::{Array, Slice};
use super::pinned::Pinned;
use crate::model::Result;

/// Sections begin at multiples of 16 bytes.
const ALIGNMENT: usize = 4;

/// Numbers packed section after section.
#[derive(Default)]
pub struct Packer {
    words: Vec<u32>,
}

impl Packer {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
    }

    /// Appends a section and returns its range.
    pub fn push(&mut self, section: &[u32]) -> Range<usize> {
        let start = self.words.len().next_multiple_of(ALIGNMENT);
        self.words.resize(start, 0);
        self.words.extend_from_slice(section);
        start..self.words.len()
    }
}

/// Uploads packed words to the device. There are two buffers in locked host memory, so that the host can fill one while the
/// other is still being read, and one array on the device, which the stream overwrites when the previous step has used it.
pub struct Upload {
    device: CudaDevice,
    staging: [Pinned; 2],
    next: usize,
    words: Array,
}

impl Upload {
    /// An upload with room for so many words; it grows when a step needs more.
    pub fn new(device: &CudaDevice, words: usize) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            staging: [Pinned::zeros(device, words)?, Pinned::zeros(device, words)?],
            next: 0,
            words: Array::zeros(device, words.max(1), DType::U32, "a step's numbers")?,
        })
    }

    /// Queues the copy.
    /// Errors: the driver's refusal; what went wrong on the device before.
    pub fn send(&mut self, packer: &Packer) -> Result<()> {
        let count = packer.words.len();
        if count > self.words.elements() {
            // The old buffers are freed after the work that uses them.
            *self = Self::new(&self.device, count.next_power_of_two())?;
        }
        self.next = (self.next + 1) % self.staging.len();
        let staging = &mut self.staging[self.next];
        staging.write()?[..count].copy_from_slice(&packer.words);
        staging.upload(count, self.words.all())
    }

    /// A section on the device, as it was sent last.
    /// Errors: [`ModelError::Batch`](crate::model::ModelError::Batch) for words that were not sent.
    pub fn section(&self, range: Range<usize>) -> Result<Slice<'_>> {
        self.words.part(range)
    }
}

#[cfg(test)]
mod tests {
    use super::Packer;

    #[test]
    fn sections_are_aligned_and_keep_their_words() {
        let mut packer = Packer::default();
        let first = packer.push(&[1, 2, 3, 4, 5]);
        let empty = packer.push(&[]);
        let second = packer.push(&[6]);
        assert_eq!((first.clone(), empty, second.clone()), (0..5, 8..8, 8..9));
        assert_eq!(packer.words[first], [1, 2, 3, 4, 5]);
        assert_eq!(packer.words[second], [6]);
        packer.clear();
        assert_eq!(packer.push(&[7]), 0..1);
    }
}
