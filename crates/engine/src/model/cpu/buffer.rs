//! Memory of weights, keys and values.

use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// Numbers, or groups of them, at first of zero bytes: pages of the system, which take up memory as they are used, and are the system's
/// again when they are dropped. An allocator keeps what it gets back, and a judge that is put to sleep would free little.
pub(crate) struct Buffer<T>(MmapMut, PhantomData<T>);

impl<T: Pod> Buffer<T> {
    pub(crate) fn zeroed(count: usize) -> io::Result<Self> {
        let bytes = count.saturating_mul(size_of::<T>());
        Ok(Self(MmapMut::map_anon(bytes)?, PhantomData))
    }

    /// The same in large pages, where the system has them: for what will be filled whole, and read from end to end.
    pub(crate) fn whole(count: usize) -> io::Result<Self> {
        let megabytes = count.saturating_mul(size_of::<T>()) / 1_000_000;
        let refused = |why: io::Error| {
            let what = format!("the system refuses {megabytes} MB for a weight ({why})");
            let remedy =
                "end other programs, take a smaller model, or a smaller type with --quantize";
            io::Error::new(io::ErrorKind::OutOfMemory, format!("{what}: {remedy}"))
        };
        let buffer = Self::zeroed(count).map_err(refused)?;
        #[cfg(target_os = "linux")]
        let _ = buffer.0.advise(memmap2::Advice::HugePage);
        Ok(buffer)
    }
}

// Pages begin where any number may, and hold whole ones.
impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.0)
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Buffer;
    use crate::model::ModelError;
    use crate::model::cpu::quantized::Q8Group;

    #[test]
    fn numbers_begin_as_zeros_and_are_what_was_written() {
        for count in [0, 1, 3, 1024, 1025, 70_000] {
            let mut numbers = Buffer::<u32>::zeroed(count).unwrap();
            assert_eq!(numbers.len(), count);
            assert!(numbers.iter().all(|x| *x == 0));
            for (i, x) in numbers.iter_mut().enumerate() {
                *x = i as u32;
            }
            assert!(numbers.iter().enumerate().all(|(i, x)| *x == i as u32));
            assert_eq!(Buffer::<Q8Group>::zeroed(count).unwrap().len(), count);
        }
        assert!(Buffer::<f32>::zeroed(usize::MAX).is_err());
        let refused = Buffer::<f32>::whole(1 << 60).err().unwrap();
        let said = ModelError::from(candle_core::Error::from(refused)).to_string();
        assert!(
            said.starts_with("out of memory: the system refuses 4611686018427 MB"),
            "{said}"
        );
        assert!(said.ends_with("with --quantize"), "{said}");
    }
}
