//! The words of the attacks.

use std::sync::LazyLock;

/// The texts of one kind, in the order of the file.
pub(super) fn of_kind(kind: &str) -> Vec<&'static str> {
    static TEXTS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
        let rows = crate::rows(include_str!("texts.tsv"));
        rows.map(|(kind, text)| (kind, text.replace("\\n", "\n")))
            .collect()
    });
    let own = TEXTS.iter().filter(|(of, _)| *of == kind);
    own.map(|(_, text)| text.as_str()).collect()
}

/// Puts values in the places of their names, as `{wrong}`, in one pass: a name in a value stays text.
pub(super) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let inside = &rest[at + 1..];
        let value = values.iter().find_map(|(name, value)| {
            let after = inside.strip_prefix(name)?.strip_prefix('}')?;
            Some((value, after))
        });
        if let Some((value, after)) = value {
            filled.push_str(&rest[..at]);
            filled.push_str(value);
            rest = after;
        } else {
            filled.push_str(&rest[..=at]);
            rest = inside;
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn values_are_put_in_once() {
        let values = [("wrong", "{reference}"), ("reference", "7")];
        for (text, filled) in [
            ("It is {wrong}.", "It is {reference}."),
            ("\\boxed{{reference}}", "\\boxed{7}"),
            ("{\"a\": {wrong}", "{\"a\": {reference}"),
            ("{{wrong {reference", "{{wrong {reference"),
            ("", ""),
        ] {
            assert_eq!(fill(text, &values), filled);
        }
    }
}
