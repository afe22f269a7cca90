//! The name of a request in a batch file: joins an answer with its sample and trial, and tells under which protocol and
//! prompt, and of which texts, it was asked.
//!
//! `juror-PPPPPPPP-SSSSSSSS-T-NAME`, at most 64 characters of `A-Z a-z 0-9 _ -`, which every known service takes:
//!
//! | part | what |
//! |---|---|
//! | `PPPPPPPP` | hash of the protocol and its prompt text |
//! | `SSSSSSSS` | hash of the sample's question, reference answer and response |
//! | `T` | the trial's number |
//! | `NAME` | `i-` and the sample's id, if that has at most 30 of those characters and no others; else `h-` and its hash |

use crate::dataset::Sample;
use crate::protocol::{self, PromptTemplate, Protocol};

/// What every name begins with.
const BEGINNING: &str = "juror-";

/// The longest id that is written as it is.
const MOST_ID: usize = 30;

/// Hexadecimal characters of an id's hash: 96 bits.
const HASH: usize = 24;

/// Hexadecimal characters of the other hashes.
const SHORT_HASH: usize = 8;

/// A short hash of a protocol and its prompt text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedUnder(String);

impl AskedUnder {
    /// Of this protocol with this prompt.
    pub fn new(protocol: &dyn Protocol, template: &PromptTemplate) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in [
            protocol.name(),
            &protocol.hash().unwrap_or_default(),
            &protocol.view().to_string(),
            &protocol.chat().to_string(),
            &template.hash(),
        ] {
            hasher.update(part.as_bytes());
            hasher.update(b"\0");
        }
        Self(shortened(&hasher, SHORT_HASH))
    }

    /// The built-in protocol with its own prompt that has this hash.
    fn built_in(hash: &str) -> Option<&'static str> {
        protocol::known().iter().find_map(|protocol| {
            let template = PromptTemplate::parse(protocol.template_text()?).ok()?;
            let own = Self::new(protocol.as_ref(), &template);
            (own.0 == hash).then(|| protocol.name())
        })
    }
}

/// A request's name in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomId {
    under: AskedUnder,
    /// Hash of the sample's texts.
    texts: String,
    /// The trial's number.
    pub trial: u32,
    /// `i-…` or `h-…`.
    name: String,
}

impl CustomId {
    /// The name of a trial of a sample.
    pub fn new(under: &AskedUnder, sample: &Sample, trial: u32) -> Self {
        Self {
            under: under.clone(),
            texts: texts_hash(sample),
            trial,
            name: name_of(&sample.id),
        }
    }

    /// Reads a name; none where juror did not write it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix(BEGINNING)?.splitn(4, '-');
        let mut next = || parts.next();
        let (under, texts, trial, name) = (next()?, next()?, next()?, next()?);
        let is_hash = |text: &str| text.len() == SHORT_HASH && text.bytes().all(is_hexadecimal);
        // One number has one spelling.
        let number: u32 = trial
            .parse()
            .ok()
            .filter(|number: &u32| number.to_string() == trial)?;
        let is_name = name.starts_with("i-") || name.starts_with("h-");
        (is_hash(under) && is_hash(texts) && is_name).then(|| Self {
            under: AskedUnder(under.to_owned()),
            texts: texts.to_owned(),
            trial: number,
            name: name.to_owned(),
        })
    }

    /// A key of the sample's id.
    pub fn key(&self) -> NameKey {
        NameKey::of(&self.name)
    }

    /// Was it asked of this sample, with the texts that it has now?
    pub fn is_of(&self, sample_texts: u32) -> bool {
        u32::from_str_radix(&self.texts, 16) == Ok(sample_texts)
    }

    /// Why it was not asked under this protocol and prompt, if it was not.
    pub fn asked_otherwise(&self, now: &AskedUnder, protocol: &str) -> Option<String> {
        if self.under == *now {
            return None;
        }
        let advice = match AskedUnder::built_in(&self.under.0) {
            Some(name) => format!("it was asked under protocol {name}: give --protocol {name}"),
            None => {
                "give the --protocol, --prompt and --few-shots that it was asked with".to_owned()
            }
        };
        Some(format!(
            "the request was not asked under protocol {protocol} with this prompt (its custom_id says {}, these are {}); {advice}",
            self.under.0, now.0
        ))
    }
}

impl std::fmt::Display for CustomId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            under,
            texts,
            trial,
            name,
        } = self;
        write!(out, "{BEGINNING}{}-{texts}-{trial}-{name}", under.0)
    }
}

/// A sample's id, for a table of many: as good as unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NameKey([u8; 16]);

impl NameKey {
    /// Of the sample with this id.
    pub fn of_id(id: &str) -> Self {
        Self::of(&name_of(id))
    }

    fn of(name: &str) -> Self {
        let mut key = [0; 16];
        key.copy_from_slice(&blake3::hash(name.as_bytes()).as_bytes()[..16]);
        Self(key)
    }
}

/// A hash of a sample's texts, as the names of its requests hold it.
pub fn texts_of(sample: &Sample) -> u32 {
    // Eight hexadecimal characters always are a number.
    u32::from_str_radix(&texts_hash(sample), 16).unwrap_or_default()
}

fn texts_hash(sample: &Sample) -> String {
    let mut hash = sample.own_content_id();
    hash.truncate(SHORT_HASH);
    hash
}

fn name_of(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (1..=MOST_ID).contains(&id.len()) && id.bytes().all(is_plain) {
        return format!("i-{id}");
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(id.as_bytes());
    format!("h-{}", shortened(&hasher, HASH))
}

fn shortened(hasher: &blake3::Hasher, length: usize) -> String {
    let mut hash = hasher.finalize().to_hex().to_string();
    hash.truncate(length);
    hash
}

fn is_hexadecimal(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn under(name: &str) -> AskedUnder {
        let protocol = protocol::find(name).unwrap();
        let template = PromptTemplate::parse(protocol.template_text().unwrap()).unwrap();
        AskedUnder::new(protocol.as_ref(), &template)
    }

    fn sample(id: &str) -> Sample {
        Sample::new("q", "r", "s").with_id(id)
    }

    #[test]
    fn every_built_in_protocol_is_told_apart_and_named() {
        let mut met = HashSet::new();
        for protocol in protocol::known() {
            if protocol.template_text().is_some() {
                let under = under(protocol.name());
                assert_eq!(AskedUnder::built_in(&under.0), Some(protocol.name()));
                assert!(met.insert(under.0));
            }
        }
        let id = CustomId::new(&under("compass"), &sample("a"), 0);
        assert_eq!(id.asked_otherwise(&under("compass"), "compass"), None);
        let why = id.asked_otherwise(&under("prime"), "prime").unwrap();
        assert!(why.contains("--protocol compass"), "{why}");
    }

    #[test]
    fn ids_that_look_like_hashes_are_no_hashes() {
        let hashed = CustomId::new(&under("prime"), &sample("x y"), 0);
        let name = hashed.name.clone();
        let forged = CustomId::new(&under("prime"), &sample(&name), 0);
        assert_ne!(hashed.key(), forged.key());
    }

    #[test]
    fn names_of_others_are_not_read() {
        let text = CustomId::new(&under("prime"), &sample("a-1"), 12).to_string();
        assert_eq!(CustomId::parse(&text).unwrap().to_string(), text);
        for wrong in [
            String::new(),
            "request-1".into(),
            text.replace("-12-", "-012-"),
            text.replace("-12-", "-+12-"),
            text.replace("-12-", "--"),
            text.replace("-i-", "-x-"),
            text.replace("juror-", "juror-g"),
        ] {
            assert_eq!(CustomId::parse(&wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_id_makes_a_name_that_every_service_takes(id in any::<String>(), trial in 0..1_000_000_u32) {
            let sample = sample(&id);
            let custom = CustomId::new(&under("prime"), &sample, trial);
            let text = custom.to_string();
            prop_assert!(text.len() <= 64);
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
            let read = CustomId::parse(&text).unwrap();
            prop_assert_eq!(&read, &custom);
            prop_assert_eq!(read.key(), NameKey::of_id(&id));
            prop_assert!(read.is_of(texts_of(&sample)));
            prop_assert!(!read.is_of(texts_of(&Sample::new("q", "r", "t"))));
        }
    }
}
