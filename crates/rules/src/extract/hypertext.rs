//! Tags and entities of HTML around and in an answer.

/// Tags that only say how a text looks.
const LOOKS: [&str; 16] = [
    "b", "i", "u", "em", "strong", "code", "span", "p", "div", "pre", "tt", "mark", "big", "small",
    "center", "font",
];
/// How long an entity is at most, in bytes.
const LONGEST_ENTITY: usize = 8;
#[rustfmt::skip]
const ENTITIES: [(&str, &str); 14] = [
    ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&nbsp;", " "), ("&times;", "×"), ("&minus;", "-"), ("&le;", "≤"),
    ("&ge;", "≥"), ("&deg;", "°"), ("&pi;", "π"), ("&radic;", "√"), ("&quot;", "\""), ("&#39;", "'"), ("&#36;", "$"),
];

/// The text without tags, raised and lowered text in LaTeX, entities as their signs; `None` where there are none.
pub(super) fn without_tags(text: &str) -> Option<String> {
    // `a<b>c` compares: a tag is closed somewhere.
    let mut closed = vec!["br"];
    if text.contains("</") {
        let names = LOOKS.into_iter().chain(["sup", "sub"]);
        closed.extend(names.filter(|name| text.contains(&format!("</{name}>"))));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (length, written) = tag(rest, &closed)
            .or_else(|| entity(rest))
            .unwrap_or((1, &rest[..1]));
        out.push_str(written);
        rest = &rest[length..];
    }
    out.push_str(rest);
    (out != text).then_some(out)
}

/// The length of the tag that `part` begins with, if it is one of those that are closed, and what is written instead.
fn tag(part: &str, closed: &[&str]) -> Option<(usize, &'static str)> {
    let inner = part.strip_prefix('<')?;
    let (closes, inner) = match inner.strip_prefix('/') {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    let name = &inner[..inner.bytes().take_while(u8::is_ascii_lowercase).count()];
    let end = inner[..inner.floor_char_boundary(200)].find('>')?;
    let attributes = &inner[name.len()..end];
    if !attributes.is_empty() && !attributes.starts_with([' ', '/']) {
        return None;
    }
    let length = part.len() - inner.len() + end + 1;
    let written = match (name, closes) {
        ("sup", false) => "^{",
        ("sub", false) => "_{",
        ("sup" | "sub", true) => "}",
        ("br", _) => "\n",
        _ => "",
    };
    closed.contains(&name).then_some((length, written))
}

fn entity(part: &str) -> Option<(usize, &'static str)> {
    let near = &part.as_bytes()[..part.len().min(LONGEST_ENTITY)];
    if !near.contains(&b';') {
        return None;
    }
    let found = ENTITIES.iter().find(|(name, _)| part.starts_with(name))?;
    Some((found.0.len(), found.1))
}
