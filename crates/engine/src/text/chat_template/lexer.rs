//! Splits a template's text into tokens, as Jinja does with `trim_blocks` and `lstrip_blocks`.

use super::work::Fault;

/// What a template is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// Text outside of tags.
    Data(String),
    VariableBegin,
    VariableEnd,
    BlockBegin,
    BlockEnd,
    Name(String),
    Text(String),
    Integer(i128),
    Float(f64),
    Operator(&'static str),
    End,
}

/// Operators, the longest first, so that the first match is the right one.
const OPERATORS: [&str; 27] = [
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}",
    ">", "<", "=", ".", ":", "|", ",", ";", "!",
];

/// Tokens, each with its line.
pub(super) fn tokens(source: &str) -> Result<Vec<(Token, usize)>, Fault> {
    let mut source = source.replace("\r\n", "\n").replace('\r', "\n");
    if source.ends_with('\n') {
        source.pop();
    }
    let mut lexer = Lexer {
        rest: &source,
        line: 1,
        line_starts: true,
        tokens: Vec::new(),
    };
    if let Err(fault) = lexer.run() {
        return Err(format!("{fault} (line {})", lexer.line));
    }
    lexer.tokens.push((Token::End, lexer.line));
    Ok(lexer.tokens)
}

struct Lexer<'s> {
    rest: &'s str,
    line: usize,
    /// Whether the last tag ended a line, or there was none yet.
    line_starts: bool,
    tokens: Vec<(Token, usize)>,
}

/// White space as Python's `str` counts it: Unicode's, and the four separators.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1C}'..='\u{1F}')
}

impl<'s> Lexer<'s> {
    fn run(&mut self) -> Result<(), Fault> {
        while let Some(at) = tag_begins(self.rest) {
            let data = self.take(at);
            let tag = &self.rest[..2];
            let sign = sign_of(&self.rest[2..]);
            self.data_before(data, sign, tag != "{{");
            self.take(2 + usize::from(sign.is_some()));
            match tag {
                "{#" => {
                    let end = self.rest.find("#}").ok_or("a comment does not end")?;
                    let last = self.rest[..end].chars().next_back();
                    self.take(end + 2);
                    self.after_tag(last == Some('-'), last != Some('+'));
                }
                "{{" => {
                    self.push(Token::VariableBegin);
                    self.code("}}", Token::VariableEnd)?;
                }
                _ => {
                    if let Some((length, minus)) = opens_raw(self.rest) {
                        self.take(length);
                        self.after_tag(minus, false);
                        self.raw()?;
                    } else {
                        self.push(Token::BlockBegin);
                        self.code("%}", Token::BlockEnd)?;
                    }
                }
            }
        }
        let data = self.take(self.rest.len());
        self.data(data);
        Ok(())
    }

    fn push(&mut self, token: Token) {
        self.tokens.push((token, self.line));
    }

    /// Takes so many bytes, counting lines.
    fn take(&mut self, length: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn data(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(Token::Data(text.to_owned()));
        }
    }

    /// Adds the text before a tag: without space at its end if the tag has a minus, without the indent of a block without a sign.
    fn data_before(&mut self, text: &str, sign: Option<char>, is_block: bool) {
        let shown = match sign {
            Some('-') => text.trim_end_matches(is_space),
            None if is_block => self.without_indent(text),
            _ => text,
        };
        self.data(shown);
    }

    /// Text before a block, without the indent of the block if it begins its line.
    fn without_indent<'t>(&self, text: &'t str) -> &'t str {
        let line = text.rfind('\n').map_or(0, |at| at + 1);
        let begins_line = line > 0 || self.line_starts;
        if begins_line && text[line..].chars().all(is_space) {
            &text[..line]
        } else {
            text
        }
    }

    /// Skips what the end of a tag swallows: all white space after a minus, else the line's end if `trims`.
    fn after_tag(&mut self, minus: bool, trims: bool) {
        let space = if minus {
            self.rest.len() - self.rest.trim_start_matches(is_space).len()
        } else {
            usize::from(trims && self.rest.starts_with('\n'))
        };
        let swallowed = self.take(space);
        self.line_starts = swallowed.ends_with('\n');
    }

    /// Text up to `endraw`.
    fn raw(&mut self) -> Result<(), Fault> {
        let mut from = 0;
        loop {
            let at = from
                + self.rest[from..]
                    .find("{%")
                    .ok_or("a raw block does not end")?;
            let after = &self.rest[at + 2..];
            let sign = sign_of(after);
            let name = after[usize::from(sign.is_some())..].trim_start_matches(is_space);
            let Some(end) = name.strip_prefix("endraw") else {
                from = at + 2;
                continue;
            };
            let Some((mark, last)) = tag_ends(end) else {
                from = at + 2;
                continue;
            };
            self.data_before(&self.rest[..at], sign, true);
            self.take(self.rest.len() - mark.len());
            self.after_tag(last == Some('-'), last.is_none());
            return Ok(());
        }
    }

    /// The tokens of a tag, up to its end.
    fn code(&mut self, end: &str, last: Token) -> Result<(), Fault> {
        let mut open = Vec::new();
        loop {
            let space = self.rest.len() - self.rest.trim_start_matches(is_space).len();
            self.take(space);
            if open.is_empty() {
                let minus = self
                    .rest
                    .strip_prefix('-')
                    .is_some_and(|rest| rest.starts_with(end));
                let plus = end == "%}" && self.rest.starts_with("+%}");
                if minus || plus || self.rest.starts_with(end) {
                    self.push(last);
                    self.take(2 + usize::from(minus || plus));
                    self.after_tag(minus, end == "%}" && !plus);
                    return Ok(());
                }
            }
            let Some(first) = self.rest.chars().next() else {
                return Err("a tag does not end".into());
            };
            if first.is_ascii_digit() {
                self.number()?;
            } else if first.is_alphanumeric() || first == '_' {
                let is_name = |character: char| character.is_alphanumeric() || character == '_';
                let length = self.rest.find(|character| !is_name(character));
                let name = self.take(length.unwrap_or(self.rest.len()));
                self.push(Token::Name(name.to_owned()));
            } else if matches!(first, '"' | '\'') {
                self.text(first)?;
            } else {
                let Some(operator) = OPERATORS.into_iter().find(|one| self.rest.starts_with(one))
                else {
                    return Err(format!("unexpected character {first:?}"));
                };
                match operator {
                    "(" => open.push(")"),
                    "[" => open.push("]"),
                    "{" => open.push("}"),
                    ")" | "]" | "}" if open.pop() != Some(operator) => {
                        return Err(format!("unexpected '{operator}'"));
                    }
                    _ => {}
                }
                self.push(Token::Operator(operator));
                self.take(operator.len());
            }
        }
    }

    fn number(&mut self) -> Result<(), Fault> {
        let rest = self.rest;
        let digits = |text: &str| {
            text.find(|character: char| !(character.is_ascii_digit() || character == '_'))
                .unwrap_or(text.len())
        };
        for (prefix, base) in [
            ("0x", 16),
            ("0X", 16),
            ("0o", 8),
            ("0O", 8),
            ("0b", 2),
            ("0B", 2),
        ] {
            if let Some(number) = rest.strip_prefix(prefix) {
                let length = number
                    .find(|character: char| !(character.is_digit(base) || character == '_'))
                    .unwrap_or(number.len());
                let number = i128::from_str_radix(&number[..length].replace('_', ""), base);
                self.push(Token::Integer(
                    number.map_err(|_| "a number cannot be read")?,
                ));
                self.take(2 + length);
                return Ok(());
            }
        }
        let mut length = digits(rest);
        let mut is_float = false;
        let after_dot = matches!(self.tokens.last(), Some((Token::Operator("."), _)));
        if !after_dot {
            if let Some(fraction) = rest[length..].strip_prefix('.')
                && fraction.starts_with(|character: char| character.is_ascii_digit())
            {
                length += 1 + digits(fraction);
                is_float = true;
            }
            if let Some(exponent) = rest[length..].strip_prefix(['e', 'E']) {
                let signed = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                if signed.starts_with(|character: char| character.is_ascii_digit()) {
                    length += 1 + exponent.len() - signed.len() + digits(signed);
                    is_float = true;
                }
            }
        }
        let written = rest[..length].replace('_', "");
        let token = if is_float {
            written.parse().ok().map(Token::Float)
        } else {
            written.parse().ok().map(Token::Integer)
        };
        self.push(token.ok_or_else(|| {
            format!(
                "{} is too large a number",
                &written[..written.len().min(40)]
            )
        })?);
        self.take(length);
        Ok(())
    }

    fn text(&mut self, quote: char) -> Result<(), Fault> {
        let mut end = None;
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            if character == '\\' {
                characters.next();
            } else if character == quote {
                end = Some(at);
                break;
            }
        }
        let end = end.ok_or("a text in quotes does not end")?;
        self.push(Token::Text(unescaped(&self.rest[1..end])?));
        self.take(end + 1);
        Ok(())
    }
}

/// Where the next tag begins.
fn tag_begins(text: &str) -> Option<usize> {
    text.match_indices('{')
        .map(|(at, _)| at)
        .find(|at| matches!(text.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#')))
}

/// The sign `-` or `+` at the beginning of `text`, which is the beginning or the end of a tag.
fn sign_of(text: &str) -> Option<char> {
    let first = text.chars().next();
    first.filter(|sign| matches!(sign, '-' | '+'))
}

/// The text after the end of a block's tag and the sign of that end, if only space comes before it.
fn tag_ends(text: &str) -> Option<(&str, Option<char>)> {
    let text = text.trim_start_matches(is_space);
    let sign = sign_of(text);
    let rest = text[usize::from(sign.is_some())..].strip_prefix("%}")?;
    Some((rest, sign))
}

/// The rest of `{% raw %}` after its `{%`: its length, and whether it ends with a minus.
fn opens_raw(text: &str) -> Option<(usize, bool)> {
    let name = text.trim_start_matches(is_space).strip_prefix("raw")?;
    let (rest, sign) = tag_ends(name).filter(|(_, sign)| *sign != Some('+'))?;
    Some((text.len() - rest.len(), sign == Some('-')))
}

/// The text of a string literal, its escapes read as Python reads them.
fn unescaped(written: &str) -> Result<String, Fault> {
    let mut text = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(kind) = rest.chars().next() else {
            break;
        };
        let simple = match kind {
            '\n' => Some(""),
            '\\' => Some("\\"),
            '\'' => Some("'"),
            '"' => Some("\""),
            'a' => Some("\u{7}"),
            'b' => Some("\u{8}"),
            'f' => Some("\u{C}"),
            'n' => Some("\n"),
            'r' => Some("\r"),
            't' => Some("\t"),
            'v' => Some("\u{B}"),
            _ => None,
        };
        if let Some(simple) = simple {
            text.push_str(simple);
            rest = &rest[1..];
            continue;
        }
        let (skip, length, base) = match kind {
            'x' => (1, 2, 16),
            'u' => (1, 4, 16),
            'U' => (1, 8, 16),
            '0'..='7' => {
                let digits = rest
                    .bytes()
                    .take(3)
                    .take_while(|byte| (b'0'..=b'7').contains(byte));
                (0, digits.count(), 8)
            }
            _ => {
                // An unknown escape is kept as it is written.
                text.push('\\');
                text.push(kind);
                rest = &rest[kind.len_utf8()..];
                continue;
            }
        };
        let digits = rest.get(skip..skip + length);
        let character = digits
            .and_then(|digits| u32::from_str_radix(digits, base).ok())
            .ok_or("an escape in a text cannot be read")?;
        rest = &rest[skip + length..];
        text.push(surrogates(character, &mut rest).ok_or("an escape in a text is no character")?);
    }
    text.push_str(rest);
    Ok(text)
}

/// A character from its UTF-16 code unit, or from two surrogates.
fn surrogates(first: u32, rest: &mut &str) -> Option<char> {
    if let Some(character) = char::from_u32(first) {
        return Some(character);
    }
    let second = rest.strip_prefix("\\u")?.get(..4)?;
    let second = u32::from_str_radix(second, 16).ok()?;
    let mut halves = char::decode_utf16([u16::try_from(first).ok()?, u16::try_from(second).ok()?]);
    let character = halves.next()?.ok()?;
    *rest = &rest[6..];
    Some(character)
}
