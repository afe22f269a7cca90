//! How GGML stores the numbers of a tensor.

/// How a tensor's numbers are stored, under GGML's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(non_camel_case_types, reason = "GGML's names")]
pub enum StorageType {
    F32,
    F16,
    /// The upper half of an f32.
    BF16,
    /// 32 nibbles and a scale.
    Q4_0,
    /// 32 nibbles, a scale and a minimum.
    Q4_1,
    /// 32 numbers of 5 bits and a scale.
    Q5_0,
    /// 32 numbers of 5 bits, a scale and a minimum.
    Q5_1,
    /// 32 bytes and a scale.
    Q8_0,
    /// 256 nibbles with scales and minima of eight parts.
    Q4_K,
    /// 256 numbers of 5 bits with scales and minima of eight parts.
    Q5_K,
    /// 256 numbers of 6 bits with scales of sixteen parts.
    Q6_K,
    /// 32 numbers of E2M1 and an exponent.
    MXFP4,
}

/// Number of the type in files, type, numbers in a block, bytes of a block.
const TYPES: [(u32, StorageType, u64, u64); 12] = [
    (0, StorageType::F32, 1, 4),
    (1, StorageType::F16, 1, 2),
    (2, StorageType::Q4_0, 32, 18),
    (3, StorageType::Q4_1, 32, 20),
    (6, StorageType::Q5_0, 32, 22),
    (7, StorageType::Q5_1, 32, 24),
    (8, StorageType::Q8_0, 32, 34),
    (12, StorageType::Q4_K, 256, 144),
    (13, StorageType::Q5_K, 256, 176),
    (14, StorageType::Q6_K, 256, 210),
    (30, StorageType::BF16, 1, 2),
    (39, StorageType::MXFP4, 32, 17),
];

/// Unsupported types by their numbers, for messages.
const OTHER_TYPES: &str = "9=Q8_1 10=Q2_K 11=Q3_K 15=Q8_K 16=IQ2_XXS 17=IQ2_XS 18=IQ3_XXS 19=IQ1_S 20=IQ4_NL \
    21=IQ3_S 22=IQ2_S 23=IQ4_XS 24=I8 25=I16 26=I32 27=I64 28=F64 29=IQ1_M 34=TQ1_0";

impl StorageType {
    pub(super) fn from_number(number: u32) -> Result<Self, String> {
        if let Some((_, kind, ..)) = TYPES.iter().find(|(known, ..)| *known == number) {
            return Ok(*kind);
        }
        let mut others = OTHER_TYPES.split(' ');
        let name = others.find_map(|one| one.strip_prefix(&format!("{number}=")));
        let name = name.map_or_else(|| format!("type {number}"), str::to_owned);
        let names = TYPES.map(|(_, kind, ..)| format!("{kind:?}")).join(", ");
        Err(format!(
            "is stored as {name}, which is not supported; supported: {names}"
        ))
    }

    /// The numbers in a block, and its bytes.
    pub(crate) fn block(self) -> (usize, usize) {
        TYPES
            .iter()
            .find(|(_, kind, ..)| *kind == self)
            .map_or((1, 1), |(.., numbers, bytes)| {
                (*numbers as usize, *bytes as usize)
            })
    }
}
