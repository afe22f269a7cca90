//! Tokens of the LaTeX dialect: the longest one wins, and a command needs no boundary (`\pie` is `\pi` and `e`).

use super::vocabulary::{
    ACCENTS, COMMANDS, ENVIRONMENTS, LONG_OPERATORS, POSTFIXES, SKIPPED, WORDS, single,
};

/// What a token is. Names that the grammar never asks for are [`Kind::Stray`]: they lex, and then nothing parses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Transpose,
    Degree,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
    OpenParen,
    CloseParen,
    OpenParenVisual,
    CloseParenVisual,
    OpenGroup,
    CloseGroup,
    OpenBrace,
    CloseBrace,
    OpenBraceVisual,
    CloseBraceVisual,
    OpenBraceCommand,
    CloseBraceCommand,
    OpenBracket,
    CloseBracket,
    OpenBrack,
    CloseBrack,
    Phantom,
    Boxed,
    Bar,
    OpenVert,
    CloseVert,
    Vert,
    Norm,
    OpenFloor,
    CloseFloor,
    OpenCorner,
    CloseCorner,
    OpenCeiling,
    CloseCeiling,
    OpenUpperCorner,
    CloseUpperCorner,
    Limit,
    Approaches,
    Integral,
    Sum,
    Product,
    /// A function of one argument.
    Function,
    /// `\gamma` without a space behind it: the function or the constant.
    Gamma,
    /// A name that is a function of one argument inside `\operatorname{}`, and nothing anywhere else.
    Name,
    /// Likewise, of several.
    MultiName,
    Root,
    /// A function of several arguments.
    Multi,
    Fraction,
    Binomial,
    Choose,
    OperatorName,
    MatrixStart,
    MatrixEnd,
    ArrayStart,
    ArrayEnd,
    DeterminantStart,
    DeterminantEnd,
    Column,
    Row,
    Underscore,
    Caret,
    Colon,
    Semicolon,
    Comma,
    Differential,
    ExpE,
    CapitalE,
    Letter,
    Number,
    Scientific,
    In,
    Assign,
    Equal,
    Approximately,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    NotEqual,
    Bang,
    PercentNumber,
    Greek,
    OtherSymbol,
    Symbol,
    NamedSet,
    Accent,
    Union,
    Intersection,
    SetMinus,
    PlusMinus,
    EmptySet,
    Superset,
    Subset,
    NotIn,
    Stray,
}

/// A token with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
}

/// How many tokens are read at most.
const LIMIT: usize = 4_000;

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' ')
}

/// The length of a number at the beginning.
fn number_length(rest: &[u8]) -> usize {
    let digits = |from: usize| {
        rest[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let whole = digits(0);
    if rest.get(whole) == Some(&b'.') {
        let decimals = digits(whole + 1);
        if decimals > 0 {
            return whole + 1 + decimals;
        }
    }
    whole
}

/// A number, with what makes it a percentage or scientific notation.
fn number(rest: &str) -> Option<(Kind, usize)> {
    let bytes = rest.as_bytes();
    let length = number_length(bytes);
    if length == 0 {
        return None;
    }
    let after_space = length + usize::from(bytes.get(length).is_some_and(|byte| is_space(*byte)));
    if bytes[after_space..].starts_with(b"\\%") {
        return Some((Kind::PercentNumber, after_space + 2));
    }
    if bytes.get(after_space) == Some(&b'%') {
        return Some((Kind::PercentNumber, after_space + 1));
    }
    if bytes.get(length) == Some(&b'E') {
        let tail = &rest[length + 1..];
        let sign = tail
            .chars()
            .next()
            .filter(|next| {
                matches!(single(*next), Some(Kind::Plus | Kind::Minus)) && next.is_ascii()
                    || matches!(next, '−' | '∸' | '∔' | '⊕' | '⊞')
            })
            .map_or(0, char::len_utf8);
        let digits = tail[sign..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            return Some((Kind::Scientific, length + 1 + sign + digits));
        }
    }
    Some((Kind::Number, length))
}

/// `d` and the variable behind it.
fn differential_length(rest: &[u8]) -> Option<usize> {
    if rest.first() != Some(&b'd') {
        return None;
    }
    let at = 1 + rest[1..].iter().take_while(|byte| is_space(**byte)).count();
    match rest.get(at)? {
        byte if byte.is_ascii_alphabetic() => Some(at + 1),
        b'\\' => {
            let letters = rest[at + 1..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphabetic())
                .count();
            (letters > 0).then_some(at + 1 + letters)
        }
        _ => None,
    }
}

/// What the lexer found.
enum Found {
    Token(Kind, usize),
    Skip(usize),
}

/// A token that begins with a backslash.
fn command(rest: &str) -> Option<Found> {
    let bytes = rest.as_bytes();
    for (text, kind) in ENVIRONMENTS {
        if rest.starts_with(text) {
            return Some(Found::Token(*kind, text.len()));
        }
    }
    let opening = "\\begin{array}{";
    if let Some(columns) = rest.strip_prefix(opening) {
        let width = columns
            .bytes()
            .take_while(|byte| matches!(byte, b'c' | b'l' | b'r'))
            .count();
        if columns.as_bytes().get(width) == Some(&b'}') {
            return Some(Found::Token(Kind::ArrayStart, opening.len() + width + 1));
        }
    }
    match bytes.get(1)? {
        b',' | b':' | b';' | b'!' => return Some(Found::Skip(2)),
        b'$' => {
            return Some(if rest[2..].starts_with("\\infty") {
                Found::Token(Kind::Symbol, 8)
            } else {
                Found::Skip(2)
            });
        }
        b'(' => return Some(Found::Token(Kind::OpenParenVisual, 2)),
        b')' => return Some(Found::Token(Kind::CloseParenVisual, 2)),
        b'{' => return Some(Found::Token(Kind::OpenBraceVisual, 2)),
        b'}' => return Some(Found::Token(Kind::CloseBraceVisual, 2)),
        b'|' => return Some(Found::Token(Kind::Norm, 2)),
        b'\\' => return Some(Found::Token(Kind::Row, 2)),
        _ => {}
    }
    let letters = bytes[1..]
        .iter()
        .take(20)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    for length in (1..=letters).rev() {
        let name = &rest[1..=length];
        let end = length + 1;
        if ACCENTS.binary_search(&name).is_ok() {
            let open = end + usize::from(bytes.get(end).is_some_and(|byte| is_space(*byte)));
            if bytes.get(open) == Some(&b'{')
                && let Some(close) = rest[open..].find('}')
            {
                return Some(Found::Token(Kind::Accent, open + close + 1));
            }
        }
        if SKIPPED.binary_search(&name).is_ok() {
            return Some(Found::Skip(end));
        }
        if let Ok(index) = COMMANDS.binary_search_by(|(command, _)| (*command).cmp(name)) {
            let (_, kind) = COMMANDS[index];
            let space = usize::from(bytes.get(end) == Some(&b' '));
            return Some(match kind {
                Kind::Greek | Kind::OtherSymbol => Found::Token(kind, end + space),
                Kind::Gamma if space == 1 => Found::Token(Kind::Greek, end + 1),
                Kind::Symbol if name == "infty" && rest[end..].starts_with("\\%") => {
                    Found::Token(kind, end + 2)
                }
                Kind::Symbol if name == "infty" && rest[end..].starts_with('%') => {
                    Found::Token(kind, end + 1)
                }
                _ => Found::Token(kind, end),
            });
        }
    }
    None
}

/// The token at the beginning of a text that is not empty.
fn first(rest: &str) -> Option<Found> {
    let bytes = rest.as_bytes();
    let byte = *bytes.first()?;
    if is_space(byte) {
        let width = bytes.iter().take_while(|byte| is_space(**byte)).count();
        return Some(Found::Skip(width));
    }
    if byte == b'\\' {
        return command(rest);
    }
    if byte.is_ascii_digit() || byte == b'.' {
        if let Some((kind, length)) = number(rest) {
            return Some(Found::Token(kind, length));
        }
        return Some(Found::Token(Kind::Stray, 1));
    }
    if byte == b'^' {
        for (text, kind) in POSTFIXES {
            if rest.starts_with(text) {
                return Some(Found::Token(*kind, text.len()));
            }
        }
    }
    for (text, kind) in LONG_OPERATORS {
        if rest.starts_with(text) {
            return Some(Found::Token(*kind, text.len()));
        }
    }
    if byte.is_ascii_alphabetic() {
        let differential = differential_length(bytes).unwrap_or(0);
        let word = WORDS
            .iter()
            .filter(|(word, _)| rest.starts_with(word))
            .max_by_key(|(word, _)| word.len());
        if let Some((word, kind)) = word
            && word.len() > differential
        {
            return Some(Found::Token(*kind, word.len()));
        }
        if differential > 0 {
            return Some(Found::Token(Kind::Differential, differential));
        }
    }
    let character = rest.chars().next()?;
    let kind = single(character)?;
    let mut length = character.len_utf8();
    if matches!(kind, Kind::Greek | Kind::OtherSymbol) && bytes.get(length) == Some(&b' ') {
        length += 1;
    }
    Some(Found::Token(kind, length))
}

/// The tokens of a text; `None` where a character begins none, or there are too many.
pub(super) fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut found = Vec::with_capacity(text.len().min(LIMIT) / 2 + 4);
    let mut at = 0;
    while at < text.len() {
        match first(&text[at..])? {
            Found::Skip(length) => at += length,
            Found::Token(kind, length) => {
                if found.len() == LIMIT {
                    return None;
                }
                found.push(Token {
                    kind,
                    text: &text[at..at + length],
                });
                at += length;
            }
        }
    }
    Some(found)
}
