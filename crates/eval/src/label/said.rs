//! What a person says of a response, and the key for it.

/// What a person may say of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// The final answer and the derivation are right.
    Right,
    /// The final answer is wrong; the derivation is not judged.
    WrongAnswer,
    /// The final answer is wrong, by a slip after a sound derivation.
    SoundDerivation,
    /// The final answer is right but its derivation is not: a lucky guess.
    FlawedDerivation,
}

impl Said {
    /// Every answer, in the order in which they are offered.
    pub const ALL: [Self; 4] = [
        Self::Right,
        Self::WrongAnswer,
        Self::FlawedDerivation,
        Self::SoundDerivation,
    ];

    pub fn key(self) -> char {
        match self {
            Self::Right => 't',
            Self::WrongAnswer => 'f',
            Self::FlawedDerivation => 'p',
            Self::SoundDerivation => 'd',
        }
    }

    pub fn of_key(key: char) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|said| said.key() == key.to_ascii_lowercase())
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Right => "right, answer and derivation",
            Self::WrongAnswer => "wrong answer",
            Self::FlawedDerivation => "right answer, flawed derivation",
            Self::SoundDerivation => "wrong answer, sound derivation",
        }
    }

    /// Whether the final answer is right.
    pub(crate) fn outcome(self) -> bool {
        matches!(self, Self::Right | Self::FlawedDerivation)
    }

    /// Whether the derivation is right; `None` where it was not judged.
    pub(crate) fn process(self) -> Option<bool> {
        match self {
            Self::Right | Self::SoundDerivation => Some(true),
            Self::WrongAnswer => None,
            Self::FlawedDerivation => Some(false),
        }
    }

    pub(crate) fn overall(self) -> bool {
        self == Self::Right
    }
}
