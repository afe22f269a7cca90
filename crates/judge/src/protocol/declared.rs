//! A protocol that is declared: a TOML file ([`declaration`]) and a prompt text.

use std::fmt::Display;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::declaration::{self, AnswerFile, DeclarationError, File, ReferenceFile};
use super::scaffold::{Scaffold, ScaffoldWants};
use super::{PromptTemplate, Protocol, View, form};

/// The name of a built-in protocol, its file and its prompt text.
macro_rules! built_in_file {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../prompts/", $name, ".toml")),
            Some(include_str!(concat!("../../prompts/", $name, ".txt"))),
        )
    };
}

/// The built-in protocols, each with its file and its prompt text; the default first.
const BUILT_IN: &[(&str, &str, Option<&str>)] = &[
    built_in_file!("prime"),
    built_in_file!("prime-outcome"),
    built_in_file!("answer-json"),
    built_in_file!("compass"),
    built_in_file!("compass-cot"),
    // Its licence forbids derivatives: the published text must be given with `--prompt`.
    ("xverify", include_str!("../../prompts/xverify.toml"), None),
    built_in_file!("sci-verifier"),
    built_in_file!("tencent-rlvr"),
    built_in_file!("general-verifier"),
    built_in_file!("verifybench"),
    built_in_file!("first-error"),
    built_in_file!("rubric"),
    built_in_file!("pairwise"),
];

/// Their names, the default first.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _, _)| *name)
}

/// The built-in protocol of that name, read when it is first asked for: compiling the patterns of all takes long.
pub(super) fn built_in(name: &str) -> Option<&'static Arc<Protocol>> {
    static READ: [OnceLock<Arc<Protocol>>; BUILT_IN.len()] =
        [const { OnceLock::new() }; BUILT_IN.len()];
    let place = BUILT_IN.iter().position(|(own, ..)| *own == name)?;
    let (name, text, template) = BUILT_IN[place];
    Some(READ[place].get_or_init(|| {
        #[expect(clippy::expect_used, reason = "files that tests read")]
        let protocol = Protocol::declared(name, text, template).expect("a built-in protocol");
        Arc::new(protocol)
    }))
}

fn wrong(place: &dyn Display, why: &dyn Display) -> DeclarationError {
    DeclarationError(format!("{place}: {why}"))
}

impl Protocol {
    /// Reads a user's protocol: a TOML file, and the prompt text that it names.
    /// Errors: what is missing, of another form, or unknown, with the file and the place in it.
    pub(crate) fn load(path: &Path) -> Result<Self, DeclarationError> {
        let read = |path: &Path| {
            let wrong = |error| format!("could not read {}: {error}", path.display());
            std::fs::read_to_string(path).map_err(|error| DeclarationError(wrong(error)))
        };
        let text = read(path)?;
        let beside = |file: &Path| path.parent().unwrap_or(Path::new("")).join(file);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let origin = path.display().to_string();
        let file = declaration::read(&origin, &text)?;
        let template = file.template.clone();
        let form = file.form();
        let form = form.map_err(|(key, why)| wrong(&format!("{origin}: {key}"), &why))?;
        let mut declared = Self::declare(&origin, &name, file)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(text.as_bytes());
        if let Some(template) = template {
            let beside = beside(&template);
            let text = read(&beside)?;
            PromptTemplate::parse(&text).map_err(|error| wrong(&beside.display(), &error))?;
            declared.template = Some(text);
        }
        let own = declared.form.scaffold(&ScaffoldWants::default());
        if let Some(own) = own.as_ref().and_then(Scaffold::grammar) {
            let place = format!("{origin}: answer.answer_pattern");
            own.check().map_err(|error| wrong(&place, &error))?;
        }
        if let Some(form) = form {
            let beside = beside(form.path());
            let text = read(&beside)?;
            hasher.update(text.as_bytes());
            let source = form.source(text);
            let checked = source.check();
            checked.map_err(|error| wrong(&beside.display(), &error))?;
            declared.grammar = Some(Arc::new(source));
        }
        declared.hash = Some(hasher.finalize().to_hex().to_string());
        Ok(declared)
    }

    /// Reads a protocol from its file's text and its prompt's.
    pub(crate) fn declared(
        name: &str,
        text: &str,
        template: Option<&str>,
    ) -> Result<Self, DeclarationError> {
        let origin = format!("{name}.toml");
        let file = declaration::read(&origin, text)?;
        Ok(Self {
            template: template.map(str::to_owned),
            ..Self::declare(&origin, name, file)?
        })
    }

    /// A protocol without its prompt text.
    fn declare(origin: &str, name: &str, file: File) -> Result<Self, DeclarationError> {
        let value = |key: &str, why: String| wrong(&format!("{origin}: {key}"), &why);
        let view = match &file.view {
            Some(view) => view
                .parse()
                .map_err(|error: super::view::UnknownView| value("view", error.to_string()))?,
            None => View::Full,
        };
        if file.max_new_tokens == Some(0) {
            return Err(value("max_new_tokens", "must be at least 1".into()));
        }
        let sampling = file.sampling;
        if let Some(sampling) = &sampling {
            sampling
                .validate()
                .map_err(|error| value("sampling", error.to_string()))?;
        }
        if file.stop.iter().any(String::is_empty) {
            return Err(value("stop", "holds an empty text".into()));
        }
        let (reads_cut, stops) = match &file.answer {
            AnswerFile::Tags { .. } => (true, false),
            AnswerFile::Labels(labels) => (labels.cut, true),
            AnswerFile::Json(_) | AnswerFile::Step {} | AnswerFile::Rubric {} => (false, true),
        };
        if !file.stop.is_empty() && !stops {
            let why = "changes nothing with the form `tags`, whose last tag ends an answer";
            return Err(value("stop", why.into()));
        }
        let form = form::declared(file.answer, view).map_err(|(key, why)| value(&key, why))?;
        Ok(Self {
            name: name.to_owned(),
            description: file.description,
            template: None,
            view,
            chat: file.chat,
            needs_reference: file.reference == ReferenceFile::Required,
            compares: file.compares,
            stop_texts: file.stop,
            max_new_tokens: file.max_new_tokens,
            sampling,
            form,
            grammar: None,
            reads_cut,
            hash: None,
        })
    }
}
