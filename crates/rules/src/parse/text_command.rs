//! `\text{…}` and `\mathrm{…}`: words, units, names, or formulas after all.

use super::lexer::Lexer;
use super::parser::Parsed;
use super::token::{Kind, Named, Space};
use super::{command, markup, units};
use crate::algebra::{BinderKind, Constant, Function};

/// The argument of a command for words (or, if `name`, for an upright name), which begins at the current place.
pub(super) fn words(lexer: &mut Lexer<'_>, start: usize, name: bool) -> Parsed<()> {
    if lexer.byte(0) == Some(b'*') {
        lexer.skip(1);
    }
    let Some((content, end)) = markup::group(lexer) else {
        // Without a group, or a very long one: its content is read like everything else.
        return Ok(());
    };
    let words = content.trim_matches(|c: char| c.is_whitespace() || c == '~');
    let words = words
        .trim_start_matches("\\ ")
        .trim_start_matches("\\,")
        .trim();
    let words = words
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .filter(|inner| {
            inner.len() > 2 && inner.chars().all(|c| c.is_ascii_lowercase() || c == ' ')
        })
        .unwrap_or(words);
    if words.is_empty() || matches!(words, "." | "?" | "!") {
        lexer.seek(end);
        lexer.spaced(Space::Some);
        return Ok(());
    }
    let sign = match words {
        "\\%" | "%" => Some(Kind::Percent),
        "\\$" | "$" => Some(Kind::Currency("USD")),
        "¢" => Some(Kind::Word("cents")),
        _ => {
            let mut characters = words.chars();
            match (characters.next(), characters.next()) {
                (Some(one), None) => command::character(one),
                _ => None,
            }
        }
    };
    if let Some(sign) = sign
        && !matches!(
            sign,
            Kind::Open(_) | Kind::Close(_) | Kind::Greek(_) | Kind::Constant(Constant::Pi)
        )
    {
        if words == "$" {
            lexer.pass_dollar();
        }
        lexer.seek(end);
        return lexer.push(sign, start);
    }
    // `\text{Var}(X)`: a name, too.
    let called = words.len() > 1
        && words.bytes().all(|it| it.is_ascii_alphabetic())
        && words.starts_with(|it: char| it.is_ascii_uppercase())
        && lexer.bytes().get(end) == Some(&b'(');
    if name || called {
        return upright_name(lexer, words, start, end);
    }
    if words.starts_with(|c: char| c.is_ascii_digit() || "+-=<>$\\(.".contains(c))
        && !words.starts_with("\\textdegree")
    {
        return Ok(());
    }
    let plain = !words.contains(['=', '$', '\\', '(', '<', '>', '+', '^', '_', '{', '/', '|'])
        && !words.contains(|c: char| c.is_ascii_digit());
    if !plain && units::unit(words).is_none() && !is_label(words) {
        return Ok(());
    }
    let following = lexer
        .text()
        .get(end..)
        .and_then(|rest| rest.chars().find(|c| !c.is_whitespace()));
    lexer.seek(end);
    match words {
        "cis" | "lcm" | "gcd" | "arcsin" | "arccos" | "arctan" | "sgn" | "sin" | "cos" | "tan"
        | "log" | "ln" | "max" | "min" | "exp"
            if matches!(following, Some('(' | '\\' | '{')) || words == "cis" =>
        {
            if let Some(kind) = is_function_name(words) {
                return lexer.push_atom(kind, start);
            }
        }
        "mod" => return lexer.push(Kind::Modulo, start),
        _ => {}
    }
    // What joins items may stand before the words, after them, or alone.
    if let Some(kind) = connective(words.trim_matches([',', ' '])) {
        if words.contains(',') {
            lexer.push(Kind::Comma, start)?;
        }
        return lexer.push(kind, start);
    }
    if let Some((first, rest)) = words.split_once(' ')
        && let Some(kind) = connective(first)
    {
        lexer.push(kind, start)?;
        return lexer.push(Kind::Text(rest.trim()), start);
    }
    let last = words
        .rsplit_once(' ')
        .and_then(|(rest, last)| Some((rest, connective(last)?)));
    let comma = || Some((words.strip_suffix(',')?, Kind::Comma));
    let Some((rest, kind)) = last.or_else(comma) else {
        return lexer.push(Kind::Text(words), start);
    };
    let rest = rest.trim_end_matches([',', ' ']);
    if !rest.is_empty() {
        lexer.push(Kind::Text(rest), start)?;
    }
    lexer.push(kind, start)
}

fn connective(word: &str) -> Option<Kind<'static>> {
    match word {
        "and" | "And" | "&" => Some(Kind::And),
        "or" | "Or" => Some(Kind::Or),
        _ => None,
    }
}

fn upright_name<'t>(lexer: &mut Lexer<'t>, words: &'t str, start: usize, end: usize) -> Parsed<()> {
    let following = lexer
        .text()
        .get(end..)
        .and_then(|rest| rest.chars().find(|c| !c.is_whitespace()));
    let after_value = matches!(lexer.last(), Some(Kind::Number(_) | Kind::Close(_)));
    let unit = after_value && units::unit(words).is_some();
    if let Some(kind) = is_function_name(words)
        && (!unit || matches!(following, Some('(' | '_' | '\\')))
    {
        lexer.seek(end);
        return lexer.push_atom(kind, start);
    }
    let letters = words
        .chars()
        .all(|c| c.is_alphabetic() || matches!(c, ' ' | '.' | '~' | '-' | '\''));
    if letters || units::unit(words).is_some() {
        lexer.seek(end);
        if let Some(kind) = connective(words) {
            return lexer.push(kind, start);
        }
        return lexer.push_atom(Kind::Name(words), start);
    }
    Ok(())
}

/// Words with a slash or brackets that are no formula.
fn is_label(words: &str) -> bool {
    words.contains(' ')
        && words.chars().all(|c| {
            c.is_alphabetic() || matches!(c, ' ' | '/' | '(' | ')' | '-' | ',' | '.' | '\'')
        })
        && words
            .split([' ', '/'])
            .filter(|word| word.len() > 2)
            .count()
            >= 2
}

/// Function names that are also units.
fn is_function_name(name: &str) -> Option<Kind<'static>> {
    match name {
        "lim" => Some(Kind::Big(BinderKind::Limit)),
        "pi" => Some(Kind::Constant(Constant::Pi)),
        "mod" => Some(Kind::Modulo),
        "arcsinh" => Some(Kind::Function(Named::One(Function::Arsinh))),
        _ if name.len() >= 2 => command::function(name),
        _ => None,
    }
}
