//! How far bare maths reaches: `3x + 2`, `(1, 2)`, `\frac{1}{2}`, `x = 5` in the middle of prose.

use super::symbols::{begins_operand, group, is_currency, is_symbol, number};
use super::words;

/// A stretch of bare maths.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties, each asked for by itself"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Behind its last symbol.
    pub end: usize,
    /// Does it hold a digit?
    pub digits: bool,
    /// Is it nothing but letters?
    pub letters_only: bool,
    /// Does it hold `=`, `<`, ….
    pub relation: bool,
    /// Is it one number (with sign and currency)?
    pub number: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Number,
    Operand,
    /// A command or a function, which takes what follows it even behind a blank.
    Command,
    Operator,
    Opening,
    Comma,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties, each asked for by itself"
)]
struct Reader<'t> {
    text: &'t str,
    at: usize,
    last: Last,
    stack: Vec<u8>,
    /// How many of them are plain braces.
    braces: usize,
    /// The last place where the run may end.
    good: usize,
    digits: bool,
    letters_only: bool,
    relation: bool,
    tokens: usize,
    /// Was there a Σ, a ∫ or the like, whose body stands behind a blank?
    binder: bool,
    /// How many of them are signs of arithmetic.
    operators: usize,
}

/// How deeply brackets nest in the middle of prose. A bound, so that many that stay open cost no more than their number.
const PROSE_DEPTH: usize = 16;

/// How far the end of an environment is looked for, in bytes.
const MAX_ENVIRONMENT: usize = 2_000;

/// The length of the `\\begin{…} … \\end{…}` that `text` begins with; 0 if it does not end.
fn environment(text: &str) -> usize {
    let Some(name) = text
        .strip_prefix("\\begin{")
        .and_then(|rest| rest.split_once('}'))
        .map(|(name, _)| name)
        .filter(|name| name.len() <= 16)
    else {
        return 0;
    };
    let near = &text[..text.floor_char_boundary(MAX_ENVIRONMENT)];
    let close = format!("\\end{{{name}}}");
    near.find(&close).map_or(0, |at| at + close.len())
}

/// Reads bare maths from `start` in the middle of prose. `None` where there is none.
pub(super) fn run(text: &str, start: usize) -> Option<Run> {
    bounded(text, start, PROSE_DEPTH)
}

/// Reads bare maths from `start`, however deeply it nests. `None` where there is none.
pub(super) fn deep_run(text: &str, start: usize) -> Option<Run> {
    bounded(text, start, usize::MAX)
}

fn bounded(text: &str, start: usize, depth: usize) -> Option<Run> {
    let mut reader = Reader {
        text,
        at: start,
        last: Last::Nothing,
        stack: Vec::new(),
        braces: 0,
        good: start,
        digits: false,
        letters_only: true,
        relation: false,
        tokens: 0,
        operators: 0,
        binder: false,
    };
    let mut number = false;
    let mut good_relation = false;
    while reader.stack.len() <= depth && reader.step() {
        if reader.stack.is_empty() && reader.operand_done() {
            reader.good = reader.at;
            good_relation = reader.relation;
            number = reader.tokens == 1 && reader.last == Last::Number;
        }
    }
    let end = reader.good;
    let taken = &text[start..end];
    (end > start).then(|| Run {
        end,
        digits: reader.digits && taken.bytes().any(|byte| byte.is_ascii_digit()),
        letters_only: taken.chars().all(char::is_alphabetic),
        relation: good_relation,
        number,
    })
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn take(&mut self, length: usize, kind: Last) -> bool {
        self.at += length;
        self.last = kind;
        self.tokens += 1;
        self.operators += usize::from(kind == Last::Operator);
        true
    }

    fn operand_done(&self) -> bool {
        matches!(self.last, Last::Number | Last::Operand | Last::Command)
    }

    /// Reads one token; `false` where maths ends.
    fn step(&mut self) -> bool {
        let before = self.at;
        let blanks = self
            .rest()
            .bytes()
            .take_while(|byte| *byte == b' ' || (*byte == b'\n' && !self.stack.is_empty()))
            .count();
        self.at += blanks;
        if self.token(blanks > 0) {
            return true;
        }
        self.at = before;
        false
    }

    fn token(&mut self, spaced: bool) -> bool {
        let Some(first) = self.rest().chars().next() else {
            return false;
        };
        match first {
            '0'..='9' | '.' => self.number_token(spaced, first),
            '\\' => self.command(spaced),
            'a'..='z' | 'A'..='Z' => self.word(spaced),
            '(' | '[' => self.bracket(first, spaced),
            '{' => self.bracket(first, false),
            ')' | ']' | '}' => self.closing(first),
            '+' | '-' | '±' | '∓' => {
                if self.operand_done() && !spaced && first == '-' {
                    // A hyphen: "5-year".
                    let word = words::first_word(&self.rest()[1..]);
                    if word.len() > 1 && !words::FUNCTION.contains(word) {
                        return false;
                    }
                }
                if self.operand_done() && spaced && first == '-' {
                    // A dash: "5 - that is".
                    let after = self.rest()[1..].trim_start();
                    let word = words::first_word(after);
                    if (word.len() > 1 && !words::FUNCTION.contains(word)) || after.is_empty() {
                        return false;
                    }
                }
                self.take(first.len_utf8(), Last::Operator)
            }
            '*' => {
                if self.rest().starts_with("**") {
                    let after = &self.rest()[2..];
                    let after = after.strip_prefix('-').unwrap_or(after).chars().next();
                    let power = self.operand_done()
                        && !spaced
                        && after.is_some_and(|it| it.is_ascii_alphanumeric() || it == '(');
                    return power && self.take(2, Last::Operator);
                }
                self.binary(1)
            }
            '/' | '^' | '_' | '×' | '÷' | '·' | '⋅' | '∙' | '∕' | '⁄' => {
                self.binary(first.len_utf8())
            }
            '=' | '<' | '>' | '≤' | '≥' | '≠' | '≈' | '≡' | '∈' | '∉' | '∪' | '∩' | '⊂' | '⊆'
            | '≅' | '∼' | '⩽' | '⩾' | '→' | '⇒' | '∥' | '⊥' => {
                if self.rest().starts_with("=>") && self.operand_done() {
                    return false;
                }
                let leads =
                    matches!(first, '≈' | '<' | '>' | '≤' | '≥') && self.last == Last::Nothing;
                let doubled = self.last == Last::Operator && matches!(first, '=' | '>');
                if !(self.operand_done() || leads || doubled) {
                    return false;
                }
                self.relation = true;
                self.take(first.len_utf8(), Last::Operator)
            }
            '!' => {
                if self.rest().starts_with("!=") && self.operand_done() {
                    self.relation = true;
                    return self.take(2, Last::Operator);
                }
                // At the end of a sentence it is no factorial.
                let after = &self.rest()[1..];
                let more = after
                    .trim_start()
                    .starts_with(['+', '-', '*', '/', '=', ')', ']', '!', '·', '×', ',']);
                let computed = !self.stack.is_empty()
                    || (self.operators > 0 && !self.relation && after.trim().is_empty());
                self.operand_done() && !spaced && (more || computed) && self.take(1, Last::Operand)
            }
            '%' | '°' | '\'' | '′' | '″' | '‰' => {
                let glued = self.operand_done() && (!spaced || first == '%');
                glued && self.take(first.len_utf8(), Last::Operand)
            }
            ':' => {
                let next = self.rest()[1..].trim_start();
                let close = !spaced && self.rest()[1..].starts_with(|it: char| it.is_ascii_digit());
                let ratio = spaced && next.starts_with(|it: char| it.is_ascii_digit());
                self.last == Last::Number && (close || ratio) && self.take(1, Last::Operator)
            }
            ',' | ';' => self.separator(),
            '|' => {
                let open = self.stack.last() == Some(&b'|');
                if open {
                    if !self.operand_done() {
                        return false;
                    }
                    self.stack.pop();
                    self.take(1, Last::Operand)
                } else if self.braces > 0 && self.operand_done() {
                    // "such that" in a set.
                    self.take(1, Last::Operator)
                } else {
                    if self.operand_done() && spaced {
                        return false;
                    }
                    self.stack.push(b'|');
                    self.take(1, Last::Opening)
                }
            }
            '√' | '∛' | '∜' | '∑' | '∫' | '¬' => {
                !(self.operand_done() && spaced) && self.take(first.len_utf8(), Last::Operator)
            }
            '…' => self.take(first.len_utf8(), Last::Operand),
            '"' | '?' | '`' | '~' | '#' | '&' | '@' | '\t' | '\n' => false,
            _ if is_currency(first) => self.currency(first),
            _ if is_symbol(first) => {
                if self.operand_done() && spaced && first.is_alphabetic() {
                    return false;
                }
                self.letters_only &= first.is_alphabetic();
                self.take(first.len_utf8(), Last::Operand)
            }
            _ => false,
        }
    }

    fn binary(&mut self, length: usize) -> bool {
        self.operand_done() && self.take(length, Last::Operator)
    }

    fn currency(&mut self, first: char) -> bool {
        let length = first.len_utf8();
        let after = &self.rest()[length..];
        if self.operand_done() {
            // "5€", "5 €".
            return first != '$'
                && self.last == Last::Number
                && !after.starts_with(|it: char| it.is_ascii_digit())
                && self.take(length, Last::Operand);
        }
        let sum = after.trim_start_matches(['-', ' ']);
        sum.starts_with(|it: char| it.is_ascii_digit() || it == '.') && {
            self.at += length;
            self.last = Last::Operator;
            true
        }
    }

    fn number_token(&mut self, spaced: bool, first: char) -> bool {
        let rest = self.rest();
        if first == '.' && rest.starts_with("...") && self.last == Last::Comma {
            return self.take(3, Last::Operand);
        }
        let length = number(rest);
        if length == 0 {
            return false;
        }
        if self.operand_done() {
            // A mixed number, or the other half of a juxtaposition that is none.
            let after = &rest[length..];
            let mixed = self.last == Last::Number
                && spaced
                && after.starts_with('/')
                && after[1..].starts_with(|it: char| it.is_ascii_digit());
            let glued = (!spaced && self.last == Last::Operand)
                || self.last == Last::Command
                || (self.binder && self.last == Last::Operand);
            if !mixed && !glued {
                return false;
            }
        }
        let token = &rest[..length];
        let points = token.bytes().filter(|byte| *byte == b'.').count();
        if points > 1 && !token.contains(',') {
            return false;
        }
        let after = &rest[length..];
        // A list written without spaces, "1,2,3", stays in one token: the parser knows both readings.
        let word = after
            .bytes()
            .take_while(u8::is_ascii_alphabetic)
            .take(24)
            .count();
        let word = &after[..word];
        let tail = after[word.len()..].chars().next();
        let joined = match word {
            "" => !tail.is_some_and(|it| it.is_alphabetic() && !is_symbol(it)),
            "st" | "nd" | "rd" | "th" | "ths" | "D" => false,
            _ if words::FUNCTION.contains(word) => true,
            _ if word.len() > 3 => words::is_unit(word) || words::MAGNITUDE.contains(word),
            _ => true,
        };
        if !joined {
            return false;
        }
        self.digits = true;
        self.letters_only = false;
        self.take(length, Last::Number)
    }

    fn word(&mut self, spaced: bool) -> bool {
        let rest = self.rest();
        let length = rest
            .bytes()
            .take_while(u8::is_ascii_alphabetic)
            .take(32)
            .count();
        let word = &rest[..length];
        let after = &rest[length..];
        if after.starts_with(|it: char| it.is_alphabetic() && !is_symbol(it)) {
            return false;
        }
        if self.stack.is_empty() && self.operand_done() && (word == "and" || word == "or") {
            let next = after.trim_start();
            return spaced && begins_operand(next) && self.take(length, Last::Comma);
        }
        if words::FUNCTION.contains(word) {
            if self.operand_done() && spaced && word == "in" {
                return false;
            }
            self.binder |= words::FUNCTION_WITH_ARGUMENT.contains(word);
            let operator = word == "mod";
            return self.take(
                length,
                if operator {
                    Last::Operator
                } else {
                    Last::Command
                },
            );
        }
        if word == "U"
            && self.last == Last::Operand
            && after.trim_start().starts_with(['(', '[', '{'])
        {
            // A union, as it is typed.
            return self.take(1, Last::Operator);
        }
        if length == 1 {
            if self.operand_done() && self.last != Last::Command && !self.binder && spaced {
                // "5 m tall", "5 a day", but "2 x + 1".
                let next = after.trim_start();
                let goes_on = next.starts_with(['+', '-', '*', '/', '^', '=', '<', '>', ')', ']'])
                    || (next.is_empty() && self.last == Last::Operand);
                if !goes_on && self.stack.is_empty() {
                    return false;
                }
            }
            if matches!(word, "a" | "I" | "A") && self.stack.is_empty() {
                // The article.
                let next = after.strip_prefix(' ').unwrap_or_default();
                if words::first_word(next).len() > 1 {
                    return false;
                }
            }
            return self.take(1, Last::Operand);
        }
        let glued_to_number = self.last == Last::Number && !spaced;
        if glued_to_number
            && (length <= 3 || words::is_unit(word) || words::MAGNITUDE.contains(word))
        {
            return self.take(length, Last::Operand);
        }
        if self.binder && length == 2 && word.starts_with('d') {
            // The differential of an integral.
            return self.take(length, Last::Operand);
        }
        let points = word.bytes().all(|byte| byte.is_ascii_uppercase()) && length <= 3;
        let named = points || length == 2 && !words::TWO_LETTERS.contains(word);
        if named && !(self.operand_done() && self.last != Last::Command && spaced) {
            let next = after.trim_start();
            let mathematical = next.starts_with(['=', '^', '*', '/', '+', '<', '>', '≤', '≥'])
                || (matches!(self.last, Last::Operator | Last::Opening)
                    && !next.starts_with(|it: char| it.is_alphabetic()));
            if mathematical {
                return self.take(length, Last::Operand);
            }
        }
        false
    }

    fn command(&mut self, spaced: bool) -> bool {
        let rest = self.rest();
        let name = rest[1..]
            .bytes()
            .take_while(u8::is_ascii_alphabetic)
            .take(32)
            .count();
        if name == 0 {
            let Some(next) = rest[1..].chars().next() else {
                return false;
            };
            return match next {
                '{' => self.open_brace(2),
                '}' => self.close_with(b'}', 2),
                ',' | ';' | ':' | '!' | ' ' | '>' => {
                    self.at += 2;
                    true
                }
                '%' => self.operand_done() && self.take(2, Last::Operand),
                '$' => {
                    !self.operand_done() && {
                        self.at += 2;
                        self.last = Last::Operator;
                        true
                    }
                }
                '|' => self.take(2, Last::Operand),
                '\\' if !self.stack.is_empty() => {
                    self.at += 2;
                    true
                }
                _ => false,
            };
        }
        let command = &rest[1..=name];
        match command {
            "begin" => {
                let length = environment(rest);
                length > 0 && self.take(length, Last::Operand)
            }
            "boxed" | "fbox" | "end" | "item" | "section" | "subsection" | "textbf" | "n"
            | "newline" => false,
            "quad" | "qquad" | "left" | "right" | "displaystyle" | "big" | "Big" | "bigl"
            | "bigr" | "limits" | "bigg" | "Bigl" | "Bigr" => {
                self.at += name + 1;
                if self.rest().starts_with('.') {
                    self.at += 1;
                }
                true
            }
            "langle" => {
                self.stack.push(b'>');
                self.take(name + 1, Last::Opening)
            }
            "rangle" => self.close_with(b'>', name + 1),
            "text" | "mathrm" | "mbox" | "operatorname" | "textrm" | "mathbf" | "mathbb" => {
                self.at += name + 1;
                if command == "operatorname" && self.rest().starts_with('*') {
                    self.at += 1;
                }
                let group = group(self.rest());
                group > 0 && self.take(group, Last::Command)
            }
            "cdot" | "times" | "div" | "pm" | "mp" | "le" | "leq" | "ge" | "geq" | "ne" | "neq"
            | "lt" | "gt" | "approx" | "equiv" | "in" | "cup" | "cap" | "to" | "leqslant"
            | "geqslant" | "sim" | "setminus" | "subset" | "subseteq" | "notin" | "mid" => {
                if matches!(
                    command,
                    "le" | "leq"
                        | "ge"
                        | "geq"
                        | "ne"
                        | "neq"
                        | "lt"
                        | "gt"
                        | "approx"
                        | "equiv"
                        | "in"
                ) {
                    self.relation = true;
                }
                self.take(name + 1, Last::Operator)
            }
            _ => {
                if self.operand_done() && spaced && self.last == Last::Operand && name > 16 {
                    return false;
                }
                self.letters_only = false;
                self.binder |= matches!(command, "sum" | "prod" | "int" | "lim" | "iint" | "oint")
                    || words::FUNCTION_WITH_ARGUMENT.contains(command);
                self.take(name + 1, Last::Command)
            }
        }
    }

    fn open_brace(&mut self, length: usize) -> bool {
        self.stack.push(b'}');
        self.take(length, Last::Opening)
    }

    fn bracket(&mut self, first: char, spaced: bool) -> bool {
        if self.operand_done() && spaced {
            // "5 (five)", "12 (since …)": prose, unless a formula goes on in it.
            let inside = &self.rest()[1..];
            let word = words::first_word(inside.trim_start());
            let modulus = self.relation
                && (word == "mod"
                    || [
                        "\\bmod",
                        "\\mod",
                        "\\text{mod",
                        "\\operatorname{mod",
                        "\\mathrm{mod",
                    ]
                    .iter()
                    .any(|it| inside.starts_with(it)));
            if self.stack.is_empty()
                && !modulus
                && self.last != Last::Command
                && (self.last == Last::Number || word.len() > 1)
            {
                return false;
            }
        }
        self.braces += usize::from(first == '{');
        self.stack.push(match first {
            '{' => b'{',
            _ => b')',
        });
        self.take(1, Last::Opening)
    }

    fn close_with(&mut self, bracket: u8, length: usize) -> bool {
        if self.stack.last() == Some(&bracket) {
            self.stack.pop();
            self.braces -= usize::from(bracket == b'{');
            return self.take(length, Last::Operand);
        }
        false
    }

    fn closing(&mut self, first: char) -> bool {
        let bracket = if first == '}' { b'{' } else { b')' };
        self.close_with(bracket, 1)
    }

    fn separator(&mut self) -> bool {
        if !self.operand_done() {
            return false;
        }
        if !self.stack.is_empty() {
            return self.take(1, Last::Comma);
        }
        let next = self.rest()[1..].trim_start_matches(' ');
        let next = match words::first_word(next) {
            word @ ("and" | "or") => next[word.len()..].trim_start_matches(' '),
            _ => next,
        };
        if !begins_operand(next) {
            return false;
        }
        let skipped = self.rest().len() - next.len();
        self.take(skipped, Last::Comma)
    }
}
