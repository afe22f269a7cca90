//! Which instructions the inner loops run with, chosen in one place: every loop is a `Kernel` that `run` calls, or a
//! product of `quantized`, and each asks `Instructions::chosen`.
//!
//! A processor has several sets, best first, and all but the best can be chosen too ([`InstructionSet::choose`]), so that
//! tests and benches see on one machine what others run.
//!
//! What a kernel does must be inlined into the function that has the instructions: a call for each vector costs a hundred
//! times its work. `#[inline(always)]` sees to that, which no closure and no iterator over an array by value can have. So
//! vectors are in loops over references or indices, not in closures, and bits become vectors by the macro `pulp::cast!`:
//! what its function checks of addresses with debug assertions keeps them in memory. `tests/instructions` compares speeds.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm256_cvtph_ps;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(target_arch = "x86_64")]
use fearless_simd::{Simd as _, kernel};
#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};
use pulp::{NullaryFnOnce, Scalar, Simd};

use super::panels::PANEL;

/// A set of instructions that inner loops are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstructionSet {
    /// AVX-512 (x86-64-v4). Products of quantised weights use it if there is VNNI too, else AVX2.
    Avx512,
    /// AVX2 with fused multiply-add and half-precision conversion (x86-64-v3).
    Avx2,
    Neon,
    /// Plain loops as the compiler compiles them.
    Plain,
}

/// The requested instruction set is not one of this processor's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this processor runs no {0} instructions; it has {1}", .wanted, .available)]
pub struct UnavailableInstructions {
    wanted: InstructionSet,
    available: String,
}

impl InstructionSet {
    const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Plain];

    /// The sets of this processor, the best first.
    pub fn available() -> Vec<Self> {
        Instructions::all().iter().map(|one| one.set()).collect()
    }

    pub fn chosen() -> Self {
        Instructions::chosen().set()
    }

    /// Makes this process use the set; without a choice it uses the best.
    pub fn choose(self) -> Result<(), UnavailableInstructions> {
        let available = Self::available();
        match available.iter().position(|one| *one == self) {
            Some(index) => {
                CHOSEN.store(index, Ordering::Relaxed);
                Ok(())
            }
            None => Err(UnavailableInstructions {
                wanted: self,
                available: available
                    .iter()
                    .map(Self::to_string)
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Plain => "plain",
        })
    }
}

impl FromStr for InstructionSet {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|one| one.to_string() == name);
        found.ok_or_else(|| "expected avx512, avx2, neon or plain".to_string())
    }
}

/// The index of the chosen set among the available ones.
static CHOSEN: AtomicUsize = AtomicUsize::new(0);

/// An instruction set with the proof that the processor has it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Instructions {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(pulp::aarch64::Neon),
    Plain,
}

impl Instructions {
    /// The sets of this processor, the best first.
    pub(crate) fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Instructions>> = OnceLock::new();
        ALL.get_or_init(|| {
            let mut all = Vec::new();
            #[cfg(target_arch = "x86_64")]
            {
                let level = fearless_simd::Level::new();
                if let Some((simd, token)) = V3::try_new().zip(level.as_avx2()) {
                    if let Some(simd) = V4::try_new() {
                        let vnni = level.as_avx512();
                        all.push(Self::Avx512(Avx512 {
                            simd,
                            vnni,
                            avx2: token,
                        }));
                    }
                    all.push(Self::Avx2(Avx2 { simd, token }));
                }
            }
            #[cfg(target_arch = "aarch64")]
            all.extend(pulp::aarch64::Neon::try_new().map(Self::Neon));
            all.push(Self::Plain);
            all
        })
    }

    /// The set that this process uses: the best, unless another was [chosen](InstructionSet::choose).
    pub(crate) fn chosen() -> Self {
        let chosen = Self::all().get(CHOSEN.load(Ordering::Relaxed));
        chosen.copied().unwrap_or(Self::Plain)
    }

    fn set(self) -> InstructionSet {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => InstructionSet::Avx512,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => InstructionSet::Avx2,
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => InstructionSet::Neon,
            Self::Plain => InstructionSet::Plain,
        }
    }

    #[inline(always)]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(vectors) => vectors.call(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(vectors) => vectors.call(kernel),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(vectors) => vectors.call(kernel),
            Self::Plain => Scalar.call(kernel),
        }
    }
}

/// Runs a kernel with the instructions of this process.
#[inline(always)]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    Instructions::chosen().run(kernel)
}

/// An inner loop, compiled for each instruction set.
pub(crate) trait Kernel {
    type Output;

    /// Does the work. It is `#[inline(always)]`, as is everything that it calls for each vector.
    fn run<V: Vectors>(self, vectors: V) -> Self::Output;
}

/// A function whose loops run with the instructions of this process: its body becomes that of a kernel of its arguments.
macro_rules! vectorized {
    (fn $name:ident<'a $(, $of:ident: $bound:ident)?>($($argument:ident: $type:ty),+ $(,)?) $body:block) => {
        #[inline(always)]
        fn $name<'a $(, $of: $bound)?>($($argument: $type),+) {
            struct Arguments<'a $(, $of)?> {
                $($argument: $type),+
            }
            impl<'a $(, $of: $bound)?> $crate::model::cpu::instructions::Kernel for Arguments<'a $(, $of)?> {
                type Output = ();

                #[inline(always)]
                fn run<V: $crate::model::cpu::instructions::Vectors>(self, _: V) {
                    let Self { $($argument),+ } = self;
                    $body
                }
            }
            $crate::model::cpu::instructions::run(Arguments { $($argument),+ });
        }
    };
}
pub(crate) use vectorized;

pub(crate) trait Vectors: Copy {
    type Simd: Simd;

    fn simd(self) -> Self::Simd;

    /// Runs a kernel in a function of its own that is compiled for the instructions.
    fn call<K: Kernel>(self, kernel: K) -> K::Output;

    /// The 16 integers of a panel's row in `W` vectors.
    #[inline(always)]
    fn widen_integers<const W: usize>(self, row: &[u16; PANEL]) -> [U32s<Self>; W] {
        let mut lanes = [0u32; PANEL];
        for (to, from) in lanes.iter_mut().zip(row) {
            *to = u32::from(*from);
        }
        let mut out = [self.simd().splat_u32s(0); W];
        for (to, from) in out.iter_mut().zip(Self::Simd::as_simd_u32s(&lanes).0) {
            *to = *from;
        }
        out
    }

    /// The 16 numbers in half precision of a panel's row in `W` vectors.
    #[inline(always)]
    fn widen_halves<const W: usize>(self, row: &[u16; PANEL]) -> [F32s<Self>; W] {
        let simd = self.simd();
        let mut out = [simd.splat_f32s(0.0); W];
        let integers = self.widen_integers::<W>(row);
        for (to, from) in out.iter_mut().zip(&integers) {
            *to = widen_half(simd, *from);
        }
        out
    }
}

pub(crate) type F32s<V> = <<V as Vectors>::Simd as Simd>::f32s;
pub(crate) type U32s<V> = <<V as Vectors>::Simd as Simd>::u32s;

/// Converts half-precision numbers in the lower halves of lanes to f32.
#[inline(always)]
fn widen_half<S: Simd>(simd: S, bits: S::u32s) -> S::f32s {
    let size = simd.and_u32s(bits, simd.splat_u32s(0x7fff));
    let size = simd.wrapping_dyn_shl_u32s(size, simd.splat_u32s(13));
    // Changes the exponent's bias from 15 to 127; numbers below 2⁻¹⁴ become normal in doing so.
    let bias = simd.splat_f32s(f32::from_bits((127 + 112) << 23));
    let number = simd.mul_f32s(simd.transmute_f32s_u32s(size), bias);
    let finite = simd.less_than_f32s(number, simd.splat_f32s(65536.0));
    let number = simd.transmute_u32s_f32s(number);
    let infinite = simd.or_u32s(number, simd.splat_u32s(0x7f80_0000));
    let number = simd.select_u32s(finite, number, infinite);
    let sign = simd.and_u32s(bits, simd.splat_u32s(0x8000));
    let sign = simd.wrapping_dyn_shl_u32s(sign, simd.splat_u32s(16));
    simd.transmute_f32s_u32s(simd.or_u32s(number, sign))
}

/// A kernel with its vectors, to be called in a function that has the instructions.
struct Call<K, V>(K, V);

impl<K: Kernel, V: Vectors> NullaryFnOnce for Call<K, V> {
    type Output = K::Output;

    #[inline(always)]
    fn call(self) -> K::Output {
        self.0.run(self.1)
    }
}

impl Vectors for Scalar {
    type Simd = Self;

    #[inline(always)]
    fn simd(self) -> Self {
        self
    }

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

#[cfg(target_arch = "aarch64")]
impl Vectors for pulp::aarch64::Neon {
    type Simd = Self;

    #[inline(always)]
    fn simd(self) -> Self {
        self
    }

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        self.vectorize(Call(kernel, self))
    }
}

#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512 {
    simd: V4,
    /// Whether it has dot products of bytes, as a proof.
    pub(crate) vnni: Option<fearless_simd::Avx512>,
    pub(crate) avx2: fearless_simd::Avx2,
}

#[cfg(target_arch = "x86_64")]
impl Vectors for Avx512 {
    type Simd = V4;

    #[inline(always)]
    fn simd(self) -> V4 {
        self.simd
    }

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        self.simd.vectorize(Call(kernel, self))
    }

    #[inline(always)]
    fn widen_integers<const W: usize>(self, row: &[u16; PANEL]) -> [U32s<Self>; W] {
        let avx512f = self.simd.avx512f;
        [pulp::cast!(avx512f._mm512_cvtepu16_epi32(pulp::cast!(*row))); W]
    }

    #[inline(always)]
    fn widen_halves<const W: usize>(self, row: &[u16; PANEL]) -> [F32s<Self>; W] {
        let avx512f = self.simd.avx512f;
        [pulp::cast!(avx512f._mm512_cvtph_ps(pulp::cast!(*row))); W]
    }
}

#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2 {
    simd: V3,
    pub(crate) token: fearless_simd::Avx2,
}

#[cfg(target_arch = "x86_64")]
impl Vectors for Avx2 {
    type Simd = V3;

    #[inline(always)]
    fn simd(self) -> V3 {
        self.simd
    }

    /// By the token, whose function has the conversion of half precision too; [`V3`]'s has not, and nothing that has it could be inlined there.
    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        self.token.vectorize(
            #[inline(always)]
            || kernel.run(self),
        )
    }

    #[inline(always)]
    fn widen_integers<const W: usize>(self, row: &[u16; PANEL]) -> [U32s<Self>; W] {
        let halves: [[u16; 8]; 2] = pulp::cast!(*row);
        let mut out = [self.simd.splat_u32s(0); W];
        for (to, half) in out.iter_mut().zip(&halves) {
            *to = pulp::cast!(self.simd.avx2._mm256_cvtepu16_epi32(pulp::cast!(*half)));
        }
        out
    }

    #[inline(always)]
    fn widen_halves<const W: usize>(self, row: &[u16; PANEL]) -> [F32s<Self>; W] {
        let halves = widen_by_f16c(self.token, row);
        let mut out = [self.simd.splat_f32s(0.0); W];
        for (to, half) in out.iter_mut().zip(&halves) {
            *to = pulp::cast!(*half);
        }
        out
    }
}

#[cfg(target_arch = "x86_64")]
kernel!(
    /// A panel's row in two vectors.
    #[inline(always)]
    fn widen_by_f16c(avx2: Avx2, row: &[u16; PANEL]) -> [[f32; 8]; 2] {
        let [a, b] = pulp::cast!(*row);
        pulp::cast!([_mm256_cvtph_ps(a), _mm256_cvtph_ps(b)])
    }
);
