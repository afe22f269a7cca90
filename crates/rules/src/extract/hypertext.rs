//! Tags and entities of HTML around and in an answer.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::clean::replaced;
use super::words;
use crate::pattern;

/// How long the attributes of a tag are at most, in bytes.
const LONGEST: usize = 200;
#[rustfmt::skip]
const ENTITIES: [(&str, &str); 14] = [
    ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&nbsp;", " "), ("&times;", "×"), ("&minus;", "-"), ("&le;", "≤"),
    ("&ge;", "≥"), ("&deg;", "°"), ("&pi;", "π"), ("&radic;", "√"), ("&quot;", "\""), ("&#39;", "'"), ("&#36;", "$"),
];

/// The text without tags, raised and lowered text in LaTeX, entities as their signs; `None` where there are none.
pub(super) fn without_tags(text: &str) -> Option<String> {
    static MARK: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"<(/?)([a-z]+)([ /][^<>]*)?>|&#?[0-9A-Za-z_]+;"));
    // `a<b>c` compares: a tag is closed somewhere.
    let mut closed = vec!["br"];
    if text.contains("</") {
        let names = words::LOOKS.iter().chain(["sup", "sub"]);
        closed.extend(names.filter(|name| text.contains(&format!("</{name}>"))));
    }
    replaced(&MARK, text, |found: &Captures<'_>| {
        let part = |group| found.get(group).map_or("", |it| it.as_str());
        let closes = !part(1).is_empty();
        let written = match part(2) {
            "" => ENTITIES.iter().find(|it| it.0 == part(0)).map(|it| it.1),
            name if !closed.contains(&name) || part(3).len() > LONGEST => None,
            "sup" if !closes => Some("^{"),
            "sub" if !closes => Some("_{"),
            "sup" | "sub" => Some("}"),
            "br" => Some("\n"),
            _ => Some(""),
        };
        written.unwrap_or(part(0)).to_owned()
    })
}
