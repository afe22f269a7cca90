//! Commands of LaTeX: what they emit, and what they only say about the looks.

use super::command::{self, Action};
use super::lexer::Lexer;
use super::parser::Parsed;
use super::token::{Bracket, Environment, Kind, Side, Space};
use super::{signs, text_command};

/// Control characters: a tab that was the `\t` of a command in a string with escapes, and noise. Others are rewritten before an answer is read.
pub(super) fn control(lexer: &mut Lexer<'_>) -> Parsed<()> {
    let start = lexer.pos();
    let rest = lexer.text().get(start + 1..).unwrap_or("");
    let is_tab = lexer.bytes()[start] == b'\t';
    let lost = ["text", "times", "tfrac", "theta"]
        .into_iter()
        .find(|name| is_tab && rest.starts_with(&name[1..]));
    if let Some(action) = lost.and_then(command::command) {
        lexer.seek(start + lost.map_or(1, str::len));
        return act(lexer, action, start);
    }
    lexer.skip(1);
    lexer.spaced(Space::Some);
    Ok(())
}

/// A command, or a line break.
pub(super) fn backslash(lexer: &mut Lexer<'_>) -> Parsed<()> {
    let start = lexer.pos();
    lexer.skip(1);
    let Some(next) = lexer.rest().chars().next() else {
        return Ok(());
    };
    if next == '\\' {
        return two_backslashes(lexer, start);
    }
    if next == '(' || next == ')' || next == '[' || next == ']' {
        // What is left of the delimiters of a formula.
        lexer.skip(1);
        lexer.spaced(Space::Some);
        return Ok(());
    }
    if !next.is_ascii_alphabetic() {
        lexer.skip(next.len_utf8());
        let name = lexer.text().get(start + 1..lexer.pos()).unwrap_or("");
        let action = match name {
            "\n" | "\t" | "\r" | "," | ";" | ":" | " " | ">" => Action::Space(Space::Some),
            _ => command::command(name).unwrap_or(Action::Emit(Kind::Other)),
        };
        return act(lexer, action, start);
    }
    let length = crate::lexicon::letters(lexer.rest(), usize::MAX);
    let name = lexer.rest().get(..length).unwrap_or("");
    if let Some(action) = command::command(name) {
        lexer.skip(length);
        return act(lexer, action, start);
    }
    if let Some(rest) = name.strip_prefix("mathbb").or(name.strip_prefix("Bbb")) {
        lexer.skip(length - rest.len());
        return blackboard(lexer, start);
    }
    for glued in ["qquad", "quad", "cdot", "times", "displaystyle", "pi"] {
        if name.starts_with(glued)
            && let Some(action) = command::command(glued)
        {
            lexer.skip(glued.len());
            return act(lexer, action, start);
        }
    }
    lexer.skip(length);
    lexer.push(Kind::Other, start)
}

/// `\\`: a line break, or a command whose backslash was escaped.
pub(super) fn two_backslashes(lexer: &mut Lexer<'_>, start: usize) -> Parsed<()> {
    lexer.skip(1);
    let length = crate::lexicon::letters(lexer.rest(), 24);
    let name = lexer.rest().get(..length).unwrap_or("");
    let table = lexer.is_within(Bracket::Environment, 8);
    let gap = row_gap(lexer.rest());
    if gap > 0 {
        lexer.skip(gap);
        return end_row(lexer, table, start);
    }
    let known = command::command(name).is_some() || name.starts_with("mathbb");
    let short = length < 2 || matches!(name, "in" | "to" | "it" | "pi" | "mu" | "nu" | "xi");
    let sign = |it: u8| b"()[]{},;!%".contains(&it);
    if known && !(table && short) || !table && lexer.byte(0).is_some_and(sign) {
        lexer.seek(start + 1);
        return backslash(lexer);
    }
    end_row(lexer, table, start)
}

/// A line break. `table`: an environment is open nearby.
fn end_row(lexer: &mut Lexer<'_>, table: bool, start: usize) -> Parsed<()> {
    match (lexer.in_table(), table) {
        (true, _) if lexer.last() == Some(Kind::Row) => Ok(()),
        (false, true) => lexer.push(Kind::Other, start),
        _ => lexer.push(Kind::Row, start),
    }
}

/// The length of the `[4pt]` that sets rows further apart; 0 if there is none.
fn row_gap(text: &str) -> usize {
    let text = &text[..text.floor_char_boundary(24)];
    let Some((inside, _)) = text.strip_prefix('[').and_then(|it| it.split_once(']')) else {
        return 0;
    };
    let number = inside.trim_end_matches(|it: char| it.is_ascii_lowercase());
    let unit = &inside[number.len()..];
    let measured = matches!(
        unit,
        "pt" | "em" | "ex" | "cm" | "mm" | "in" | "px" | "mu" | "bp"
    ) && number.trim().parse::<f32>().is_ok();
    if measured { inside.len() + 2 } else { 0 }
}

/// `\mathbb{R}`.
pub(super) fn blackboard(lexer: &mut Lexer<'_>, start: usize) -> Parsed<()> {
    let rest = lexer.rest();
    let trimmed = rest.trim_start();
    let skipped = rest.len() - trimmed.len();
    let (letter, length) = match trimmed.as_bytes() {
        [b'{', letter, b'}', ..] => (*letter, 3),
        [b'{', b' ', letter, b'}', ..] => (*letter, 4),
        [letter, ..] => (*letter, 1),
        [] => (0, 0),
    };
    let domain = match letter {
        b'R' => 'ℝ',
        b'Z' => 'ℤ',
        b'N' => 'ℕ',
        b'Q' => 'ℚ',
        b'C' => 'ℂ',
        _ => {
            lexer.next.grouping = true;
            return Ok(());
        }
    };
    lexer.skip(skipped + length);
    lexer.push_atom(Kind::Domain(domain), start)
}

/// Carries out a command that ends at the current place.
pub(super) fn act(lexer: &mut Lexer<'_>, action: Action, start: usize) -> Parsed<()> {
    if !matches!(action, Action::Emit(_) | Action::Delimiter(_) | Action::Not) {
        lexer.next.grouping = true;
    }
    match action {
        Action::Emit(kind) => emit(lexer, kind, start),
        Action::Skip => Ok(()),
        Action::SkipGroup => {
            skip_group(lexer);
            Ok(())
        }
        Action::Space(space) => {
            lexer.spaced(space);
            Ok(())
        }
        Action::Delimiter(side) => {
            let rest = lexer.rest();
            lexer.skip(rest.len() - rest.trim_start().len());
            lexer.next.side = Some(side);
            Ok(())
        }
        Action::Text => text_command::words(lexer, start, false),
        Action::Name => text_command::words(lexer, start, true),
        Action::Begin => begin(lexer, start),
        Action::End => {
            let environment = environment_name(lexer);
            let aligned = ["aligned", "gathered", "align", "align*"];
            let system = |name| aligned.contains(&name) && lexer.in_table();
            if environment.is_some_and(|it| system(it) || table(it).is_some()) {
                lexer.drop_row();
                return lexer.close(Bracket::Environment, start);
            }
            Ok(())
        }
        Action::Not => {
            lexer.next.negated = true;
            Ok(())
        }
    }
}

/// A command that is a token.
pub(super) fn emit(lexer: &mut Lexer<'_>, kind: Kind<'static>, start: usize) -> Parsed<()> {
    let side = lexer.next.side.take();
    match kind {
        Kind::Open(Bracket::Square) => lexer.open(kind, Bracket::Square, start),
        Kind::Open(Bracket::Set) if begins_table(lexer) => {
            lexer.next.cases = true;
            Ok(())
        }
        Kind::Open(bracket) => lexer.open(kind, bracket, start),
        Kind::Close(bracket) => lexer.close(bracket, start),
        Kind::Bar(known) => {
            let side = side.filter(|_| known == Side::Unknown).unwrap_or(known);
            lexer.push(Kind::Bar(side), start)
        }
        Kind::Relation(_) => {
            let kind = signs::negate(lexer, kind);
            lexer.push(kind, start)
        }
        Kind::Letter(_)
        | Kind::Greek(_)
        | Kind::Constant(_)
        | Kind::Structure(_)
        | Kind::Accent(_)
        | Kind::Function(_) => {
            lexer.push_atom(kind, start)?;
            lexer.next.grouping = true;
            Ok(())
        }
        _ => {
            lexer.push(kind, start)?;
            lexer.next.grouping = matches!(
                kind,
                Kind::Big(_) | Kind::Congruence | Kind::Caret | Kind::Underscore
            );
            Ok(())
        }
    }
}

/// Does a table begin right here?
pub(super) fn begins_table(lexer: &Lexer<'_>) -> bool {
    let rest = lexer.rest().trim_start();
    let environments = ["array}", "aligned}", "matrix}", "gathered}", "align"];
    rest.strip_prefix("\\begin{")
        .is_some_and(|it| environments.iter().any(|own| it.starts_with(own)))
}

/// `\begin{…}`, with the columns of an array.
pub(super) fn begin(lexer: &mut Lexer<'_>, start: usize) -> Parsed<()> {
    let Some(environment) = environment_name(lexer) else {
        return lexer.push(Kind::Other, start);
    };
    let mut known = table(environment);
    if std::mem::take(&mut lexer.next.cases) {
        known = Some(Environment::Cases);
    }
    let Some(kind) = known else {
        return Ok(());
    };
    if environment == "array" {
        lexer.next.grouping = true;
        skip_group(lexer);
    }
    lexer.open(Kind::Begin(kind), Bracket::Environment, start)
}

/// The name in braces after `\begin` and `\end`.
pub(super) fn environment_name<'t>(lexer: &mut Lexer<'t>) -> Option<&'t str> {
    let rest = lexer.rest();
    let open = rest.find(|c: char| !c.is_whitespace())?;
    let inner = rest.get(open..)?.strip_prefix('{')?;
    let length = inner.bytes().take(32).position(|byte| byte == b'}')?;
    let name = inner.get(..length)?;
    lexer.skip(open + length + 2);
    Some(name.trim())
}

/// Passes over a group in braces, if one is next and ends soon.
pub(super) fn skip_group(lexer: &mut Lexer<'_>) {
    if let Some((_, end)) = group(lexer) {
        lexer.seek(end);
    }
}

/// The group in braces that is next, if it ends soon: its content, and where it ends.
pub(super) fn group<'t>(lexer: &Lexer<'t>) -> Option<(&'t str, usize)> {
    let rest = lexer.rest();
    let trimmed = rest.trim_start();
    let inner = trimmed.strip_prefix('{')?;
    let from = lexer.pos() + rest.len() - inner.len();
    let mut depth = 0_usize;
    let mut escaped = false;
    for (at, byte) in inner.bytes().take(300).enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some((inner.get(..at)?, from + at + 1)),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Environments whose cells are told apart.
fn table(name: &str) -> Option<Environment> {
    Some(match name.trim_end_matches('*') {
        "matrix" | "pmatrix" | "bmatrix" | "Bmatrix" | "smallmatrix" | "array" | "psmallmatrix"
        | "bsmallmatrix" => Environment::Matrix,
        "vmatrix" | "Vmatrix" => Environment::Determinant,
        "cases" | "dcases" | "rcases" => Environment::Cases,
        _ => return None,
    })
}
