//! Prefetching. A product that reads its weights once computes while they arrive from memory, instead of waiting for them
//! first.

pub(crate) const LINE: usize = 64;
/// How far ahead of a single pass memory is prefetched, in bytes of each piece.
const DISTANCE: usize = 4 << 10;

/// Prefetches the cache line of an address, which may be any, into the second-level cache; the program does not wait for it. The first
/// level can wait for so few lines at a time that memory would be read at half its speed.
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    // Every such processor has SSE, so the check is resolved at compile time.
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        sse._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Prefetching while `P` pieces of memory are read side by side, once or pass after pass. Each pass prefetches its share, at
/// regular intervals of lines, so that memory traffic is even.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ahead<const P: usize> {
    pieces: [*const u8; P],
    length: usize,
    /// The distance from the end of a piece to the piece that comes next.
    gap: usize,
    /// How far ahead of reading memory is prefetched.
    distance: usize,
    /// What is prefetched next, in bytes from the beginning of each piece.
    next: usize,
    /// The distance from there to the line after.
    interval: usize,
}

impl<const P: usize> Ahead<P> {
    /// For reading pieces that are `stride` numbers apart in pass number `pass` of `passes`: with a single pass it
    /// prefetches what is read a little later, with several the `P` pieces that come next.
    #[inline(always)]
    pub(crate) fn new<T>(pieces: [&[T]; P], stride: usize, (pass, passes): (usize, usize)) -> Self {
        let length = pieces.first().map_or(0, |piece| size_of_val(*piece));
        let distance = match passes {
            1 => length.min(DISTANCE),
            _ => length,
        };
        Self {
            pieces: pieces.map(|piece| piece.as_ptr().cast()),
            length,
            gap: (P * stride * size_of::<T>()).wrapping_sub(length),
            distance,
            next: distance + pass * LINE,
            interval: passes * LINE,
        }
    }

    #[inline(always)]
    pub(crate) fn none() -> Self {
        Self {
            pieces: [std::ptr::null(); P],
            length: 0,
            gap: 0,
            distance: 0,
            next: usize::MAX,
            interval: LINE,
        }
    }

    /// Called when the bytes below `end` of each piece are about to be read.
    #[inline(always)]
    pub(crate) fn until(&mut self, end: usize) {
        while self.next < end + self.distance {
            let beyond = if self.next < self.length { 0 } else { self.gap };
            for piece in self.pieces {
                prefetch(piece.wrapping_add(self.next.wrapping_add(beyond)));
            }
            self.next += self.interval;
        }
    }
}
