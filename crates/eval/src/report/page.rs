//! What all pages share: templates with auto-escape, the stylesheet, and the policy on which styles and scripts may run.

use std::fmt::Write as _;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior};
use ring::digest::{SHA256, digest};
use serde::Serialize;

use super::text;

pub(crate) const STYLE: &str = include_str!("report.css");

/// The templates. Every value is escaped, with invisible characters made visible. The filter `text` makes HTML of a text,
/// with its formulas; `fixed` writes a number with two decimals.
static TEMPLATES: LazyLock<Result<Environment<'static>, String>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    templates.set_syntax(syntax.build().map_err(|error| error.to_string())?);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.set_formatter(escape);
    templates.add_filter("text", |text: &str| {
        Value::from_safe_string(text::html(text))
    });
    templates.add_filter("fixed", |number: f64| format!("{number:.2}"));
    let own = [
        ("record.html", include_str!("record.html")),
        ("report.html", include_str!("report.html")),
    ];
    #[cfg(feature = "serve")]
    let others = crate::view::TEMPLATES
        .into_iter()
        .chain(crate::label::TEMPLATES);
    #[cfg(not(feature = "serve"))]
    let others = [];
    for (name, source) in own.into_iter().chain(others) {
        let added = templates.add_template(name, source);
        added.map_err(|error| format!("{error:#}"))?;
    }
    Ok(templates)
});

/// Writes a value as HTML: a string is escaped unless it is HTML already.
fn escape(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    match value.as_str() {
        Some(text) if !value.is_safe() => Ok(out.write_str(&text::plain(text))?),
        _ => minijinja::escape_formatter(out, state, value),
    }
}

pub(crate) fn render(template: &str, values: impl Serialize) -> Result<String, Error> {
    let templates = TEMPLATES
        .as_ref()
        .map_err(|why| Error::new(ErrorKind::SyntaxError, why.clone()))?;
    let template = templates.get_template(template)?;
    template.render(Value::from(Serde(values)))
}

/// The Content-Security-Policy of a page that contains these styles and scripts, and needs nothing else.
pub(crate) fn policy(styles: &[&str], scripts: &[&str]) -> String {
    let mut policy = "default-src 'none'; base-uri 'none'; form-action 'none'".to_owned();
    for (directive, sources) in [("style-src", styles), ("script-src", scripts)] {
        if sources.is_empty() {
            continue;
        }
        // Writing to a string does not fail.
        let _ = write!(policy, "; {directive}");
        for source in sources {
            let hash = STANDARD.encode(digest(&SHA256, source.as_bytes()));
            let _ = write!(policy, " 'sha256-{hash}'");
        }
    }
    policy
}
