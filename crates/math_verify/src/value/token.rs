//! Tokens of the LaTeX dialect: the longest one wins, and a command needs no boundary (`\pie` is `\pi` and `e`).

use std::sync::LazyLock;

/// How many tokens are read at most.
const LIMIT: usize = 4_000;

/// Declares the kinds of tokens, in two groups.
macro_rules! tokens {
    (factor { $($factor:ident)* } other { $($other:ident)* }) => {
        /// The kind of a token.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Token { $($factor,)* $($other,)* }

        impl Token {
            /// May a factor begin with this token?
            pub(super) fn begins_factor(self) -> bool {
                matches!(self, $(Self::$factor)|*)
            }

            fn by_name(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($factor) => Some(Self::$factor),)*
                    $(stringify!($other) => Some(Self::$other),)*
                    _ => None,
                }
            }
        }
    };
}

// `Function` takes one argument, `Multi` several; `Name` and `MultiName` are their names inside `\operatorname{}`, and
// nothing anywhere else. `Gamma` is the function or the constant. `Stray` is read, and then nothing parses.
tokens! {
    factor {
        OpenParen OpenGroup OpenBrace OpenBraceVisual OpenBraceCommand OpenBracket OpenBrack Phantom
        Boxed Bar OpenVert Vert Norm OpenFloor OpenCorner OpenCeiling OpenUpperCorner Limit Integral
        Sum Product Function Gamma Root Multi Fraction Binomial OperatorName MatrixStart ArrayStart
        DeterminantStart Differential ExpE CapitalE Letter Number Scientific PercentNumber Greek
        OtherSymbol Symbol Accent
    }
    other {
        Transpose Degree Plus Minus Times Divide Modulo CloseParen OpenParenVisual CloseParenVisual
        CloseGroup CloseBrace CloseBraceVisual CloseBraceCommand CloseBracket CloseBrack CloseVert
        CloseFloor CloseCorner CloseCeiling CloseUpperCorner Approaches Name MultiName Choose
        MatrixEnd ArrayEnd DeterminantEnd Column Row Underscore Caret Colon Semicolon Comma In
        Assign Equal Approximately Less LessOrEqual Greater GreaterOrEqual NotEqual Bang NamedSet
        Union Intersection SetMinus PlusMinus EmptySet Superset Subset NotIn Stray Space
    }
}

impl Token {
    /// May the name of a symbol begin with this token?
    pub(super) fn begins_name(self) -> bool {
        matches!(
            self,
            Self::Letter | Self::Greek | Self::OtherSymbol | Self::Accent
        )
    }
}

/// A token with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lexeme<'t> {
    pub kind: Token,
    pub text: &'t str,
}

/// Spellings by [`bucket`], in each the longest first.
static VOCABULARY: LazyLock<Vec<Vec<(&'static str, Token)>>> = LazyLock::new(|| {
    let mut buckets = vec![Vec::new(); 512];
    for line in include_str!("vocabulary.txt").lines() {
        let mut words = line.split(' ');
        let Some(token) = words.next().and_then(Token::by_name) else {
            continue;
        };
        for word in words {
            buckets[bucket(word)].push((word, token));
        }
    }
    for bucket in &mut buckets {
        bucket.sort_by_key(|(word, _): &(&str, Token)| std::cmp::Reverse(word.len()));
    }
    buckets
});

/// The first byte of a text; after a backslash the second.
fn bucket(text: &str) -> usize {
    match text.as_bytes() {
        [b'\\', second, ..] => 256 + usize::from(*second),
        [first, ..] => usize::from(*first),
        [] => 0,
    }
}

/// The longest spelling at the beginning of a text, and the length of the token.
fn spelled(rest: &str) -> Option<(Token, usize)> {
    let fits = |(word, token): &(&str, Token)| {
        let end = word.len();
        let following = rest.strip_prefix(word)?;
        Some(match token {
            Token::Accent => {
                let inside = following.strip_prefix(is_space).unwrap_or(following);
                let close = inside.strip_prefix('{')?.find('}')?;
                (*token, rest.len() - inside.len() + close + 2)
            }
            Token::Greek | Token::OtherSymbol if following.starts_with(' ') => (*token, end + 1),
            Token::Gamma if following.starts_with(' ') => (Token::Greek, end + 1),
            _ => (*token, end),
        })
    };
    VOCABULARY[bucket(rest)].iter().find_map(fits)
}

fn is_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' ')
}

/// The length of what is left of `text` without leading characters of a class.
fn run(text: &str, class: impl Fn(char) -> bool) -> usize {
    text.len() - text.trim_start_matches(class).len()
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// A number, with what makes it a percentage or scientific notation.
fn number(rest: &str) -> Option<(Token, usize)> {
    let mut length = run(rest, is_digit);
    if let Some(following) = rest[length..].strip_prefix('.') {
        let decimals = run(following, is_digit);
        length += if decimals > 0 { 1 + decimals } else { 0 };
    }
    if length == 0 {
        return None;
    }
    let following = &rest[length..];
    let unspaced = following.strip_prefix(is_space).unwrap_or(following);
    for sign in ["\\%", "%"] {
        if let Some(following) = unspaced.strip_prefix(sign) {
            return Some((Token::PercentNumber, rest.len() - following.len()));
        }
    }
    if let Some(exponent) = following.strip_prefix('E') {
        let sign = match spelled(exponent) {
            Some((Token::Plus | Token::Minus, sign)) => sign,
            _ => 0,
        };
        let digits = run(&exponent[sign..], is_digit);
        if digits > 0 {
            return Some((Token::Scientific, length + 1 + sign + digits));
        }
    }
    Some((Token::Number, length))
}

/// `d` and the variable after it: a letter or a command.
fn differential(rest: &str) -> usize {
    let Some(following) = rest.strip_prefix('d') else {
        return 0;
    };
    let variable = following.trim_start_matches(is_space);
    let before = rest.len() - variable.len();
    let letter = |c: char| c.is_ascii_alphabetic();
    match variable.strip_prefix('\\').map(|name| run(name, letter)) {
        None if variable.starts_with(letter) => before + 1,
        None | Some(0) => 0,
        Some(name) => before + 1 + name,
    }
}

/// `\begin{array}{ccc}`.
fn array(rest: &str) -> Option<usize> {
    let columns = rest.strip_prefix("\\begin{array}{")?;
    let following = columns.trim_start_matches(['c', 'l', 'r']);
    Some(rest.len() - following.strip_prefix('}')?.len())
}

/// The token at the beginning of a text that is not empty, and its length.
fn first(rest: &str) -> Option<(Token, usize)> {
    let first = rest.chars().next()?;
    match first {
        _ if is_space(first) => Some((Token::Space, run(rest, is_space))),
        '\\' => spelled(rest).or_else(|| Some((Token::ArrayStart, array(rest)?))),
        '.' | '0'..='9' => number(rest).or_else(|| spelled(rest)),
        'a'..='z' | 'A'..='Z' => {
            let (word, length) = spelled(rest).unwrap_or((Token::Letter, 1));
            let differential = differential(rest);
            Some(if differential >= length {
                (Token::Differential, differential)
            } else {
                (word, length)
            })
        }
        _ => spelled(rest),
    }
}

/// The tokens of a text; `None` where a character begins none, or there are too many.
pub(super) fn tokens(text: &str) -> Option<Vec<Lexeme<'_>>> {
    let mut found = Vec::with_capacity(text.len().min(LIMIT) / 2 + 4);
    let mut rest = text;
    while !rest.is_empty() {
        let (kind, length) = first(rest)?;
        let (text, following) = rest.split_at(length);
        rest = following;
        if kind == Token::Space {
            continue;
        }
        if found.len() == LIMIT {
            return None;
        }
        found.push(Lexeme { kind, text });
    }
    Some(found)
}

#[cfg(test)]
mod tests;
