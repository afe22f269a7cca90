//! How far bare maths reaches in prose: `3x + 2`, `(1, 2)`, `\frac{1}{2}`, `x = 5`. The tokens are the parser's; here
//! is which of them, beside words, still belong to a formula.

use super::symbols::{begins_operand, environment, group, is_currency, is_vulgar};
use super::words;
use crate::parse::{Class, Lexemes, is_word_letter};

/// A stretch of bare maths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// After its last symbol.
    pub end: usize,
    /// Does it hold `=`, `<`, ….
    pub relation: bool,
    /// Is it one number (with its currency)?
    pub number: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Number,
    Operand,
    /// A command or a function, which takes what follows it even after a blank.
    Command,
    Operator,
    Opening,
    Comma,
}

struct Reader<'t> {
    text: &'t str,
    lexemes: Lexemes<'t>,
    last: Last,
    /// How many brackets were open at each bar that is.
    bars: Vec<usize>,
    relation: bool,
    tokens: usize,
    /// Was there a Σ, a ∫ or the like, whose body stands after a blank?
    binder: bool,
    /// How many of them are signs of arithmetic.
    operators: usize,
}

/// How deeply brackets nest in the middle of prose. A bound, so that many that stay open cost no more than their number.
const PROSE_DEPTH: usize = 16;

/// Reads bare maths from `start` in the middle of prose. `None` where there is none.
pub(super) fn run(text: &str, start: usize) -> Option<Run> {
    reach(text, start).0
}

/// A run as [`run`] reads it, and where reading ended, which may be far after the run.
pub(super) fn reach(text: &str, start: usize) -> (Option<Run>, usize) {
    bounded(text, start, PROSE_DEPTH)
}

/// As [`reach`], nested up to `depth`.
pub(super) fn bounded(text: &str, start: usize, depth: usize) -> (Option<Run>, usize) {
    let mut reader = Reader {
        text,
        lexemes: Lexemes::new(text, start),
        last: Last::Nothing,
        bars: Vec::new(),
        relation: false,
        tokens: 0,
        binder: false,
        operators: 0,
    };
    let mut run = None;
    while reader.lexemes.depth() + reader.bars.len() <= depth
        && let Some(last) = reader.step()
    {
        reader.last = last;
        if reader.is_outside() && reader.operand_done() {
            run = Some(Run {
                end: reader.lexemes.at(),
                relation: reader.relation,
                number: reader.tokens == 1 && last == Last::Number,
            });
        }
    }
    (run, reader.lexemes.at())
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(words::is_digit)
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.lexemes.at()..]
    }

    /// Is no bracket and no bar open?
    fn is_outside(&self) -> bool {
        self.lexemes.depth() == 0 && self.bars.is_empty()
    }

    fn operand_done(&self) -> bool {
        matches!(self.last, Last::Number | Last::Operand | Last::Command)
    }

    /// Reads one token: what it leaves behind, `None` where maths ends.
    fn step(&mut self) -> Option<Last> {
        let outside = self.is_outside();
        let blanks = words::leading(self.rest(), |it| it == ' ' || it == '\n' && !outside);
        self.lexemes.skip_to(self.lexemes.at() + blanks);
        let spaced = blanks > 0;
        let first = self.rest().chars().next()?;
        match first {
            '0'..='9' | '.' => self.number(spaced, first),
            '\\' => self.command(),
            'a'..='z' | 'A'..='Z' => {
                let last = self.word(spaced)?;
                self.token(last)
            }
            _ if is_currency(first) => self.currency(first),
            _ if first.is_ascii() => {
                let last = self.sign(spaced, first)?;
                if last == Last::Comma {
                    return self.separator();
                }
                let last = self.token(last)?;
                self.bars
                    .last()
                    .is_none_or(|depth| *depth <= self.lexemes.depth())
                    .then_some(last)
            }
            _ => self.beyond_ascii(spaced, first),
        }
    }

    /// Reads a token that leaves `last` behind.
    fn token(&mut self, last: Last) -> Option<Last> {
        self.lexemes.next()?;
        self.tokens += 1;
        self.operators += usize::from(last == Last::Operator);
        Some(last)
    }

    /// What a sign of ASCII leaves behind, if it belongs to maths here.
    fn sign(&mut self, spaced: bool, first: char) -> Option<Last> {
        let rest = self.rest();
        let after = &rest[1..];
        let operand = self.operand_done();
        match first {
            '(' | '[' => self.bracket(spaced).then_some(Last::Opening),
            '{' => Some(Last::Opening),
            ')' | ']' | '}' => (self.lexemes.depth() > 0).then_some(Last::Operand),
            '+' | '-' => {
                // A hyphen, "5-year", or a dash, "5 - that is".
                let after = if spaced { after.trim_start() } else { after };
                let word = words::first_word(after);
                let prose =
                    word.len() > 1 && !words::FUNCTION.contains(word) || spaced && after.is_empty();
                (first == '+' || !operand || !prose).then_some(Last::Operator)
            }
            '*' if after.starts_with('*') => {
                let after = after[1..].strip_prefix('-').unwrap_or(&after[1..]);
                let power = operand
                    && !spaced
                    && after.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '(');
                power.then_some(Last::Operator)
            }
            '*' | '/' | '^' | '_' => operand.then_some(Last::Operator),
            '=' if operand && after.starts_with('>') => None,
            '=' | '<' | '>' => {
                let leads = first != '=' && self.last == Last::Nothing;
                let doubled = first != '<' && self.last == Last::Operator;
                self.relation |= operand || leads || doubled;
                (operand || leads || doubled).then_some(Last::Operator)
            }
            '!' if operand && after.starts_with('=') => {
                self.relation = true;
                Some(Last::Operator)
            }
            '!' => {
                // At the end of a sentence it is no factorial.
                let more = after
                    .trim_start()
                    .starts_with(['+', '-', '*', '/', '=', ')', ']', '!', '·', '×', ',']);
                let computed = !self.is_outside()
                    || (self.operators > 0 && !self.relation && after.trim().is_empty());
                (operand && !spaced && (more || computed)).then_some(Last::Operand)
            }
            '%' | '\'' => (operand && (!spaced || first == '%')).then_some(Last::Operand),
            ':' => {
                let after = if spaced { after.trim_start() } else { after };
                let ratio = begins_with_digit(after);
                (self.last == Last::Number && ratio).then_some(Last::Operator)
            }
            ',' | ';' => operand.then_some(Last::Comma),
            '|' if self.bars.last() == Some(&self.lexemes.depth()) => {
                self.bars.pop();
                operand.then_some(Last::Operand)
            }
            // "such that" in a set.
            '|' if operand && self.lexemes.is_in_braces() => Some(Last::Operator),
            '|' => {
                self.bars.push(self.lexemes.depth());
                (!operand || !spaced).then_some(Last::Opening)
            }
            _ => None,
        }
    }

    /// What a character beyond ASCII leaves behind.
    fn beyond_ascii(&mut self, spaced: bool, first: char) -> Option<Last> {
        let operand = self.operand_done();
        let leads = matches!(first, '≈' | '≤' | '≥') && self.last == Last::Nothing;
        // A dash between clauses, a bullet, a closing quotation mark.
        let prose = match first {
            '—' | '‒' | '•' => operand && self.is_outside(),
            '–' => operand && spaced && self.is_outside(),
            '‘' | '’' => true,
            _ => false,
        };
        if prose {
            return None;
        }
        let class = self.lexemes.next()?;
        self.tokens += 1;
        self.relation |= class == Class::Relation;
        let (belongs, last) = match class {
            Class::Operator => (operand || matches!(first, '±' | '∓'), Last::Operator),
            Class::Relation => (operand || leads, Last::Operator),
            Class::Prefix | Class::Function => (!(operand && spaced), Last::Operator),
            Class::Postfix => (operand && !spaced, Last::Operand),
            Class::Operand => {
                let apart = operand && spaced && first.is_alphabetic();
                (!apart, Last::Operand)
            }
            _ => (false, Last::Nothing),
        };
        self.operators += usize::from(last == Last::Operator);
        belongs.then_some(last)
    }

    /// The sign of a currency, before a sum or after it.
    fn currency(&mut self, sign: char) -> Option<Last> {
        self.lexemes.next()?;
        let after = self.rest();
        if self.operand_done() {
            // "5€", "5 €".
            let sign_ends = sign != '$' && self.last == Last::Number && !begins_with_digit(after);
            return sign_ends.then_some(Last::Operand);
        }
        let sum = after.trim_start_matches(['-', ' ']);
        (begins_with_digit(sum) || sum.starts_with('.')).then_some(Last::Operator)
    }

    fn number(&mut self, spaced: bool, first: char) -> Option<Last> {
        let start = self.lexemes.at();
        if first == '.' && self.rest().starts_with("...") && self.last == Last::Comma {
            return self.token(Last::Operand);
        }
        let split = self.text[..start].ends_with(words::is_digit);
        if self.lexemes.next()? != Class::Number {
            return None;
        }
        // A list written without spaces, "1,2,3", is one number or several: the parser knows both readings.
        while self.rest().strip_prefix(',').is_some_and(begins_with_digit) {
            self.lexemes.next()?;
            self.lexemes.next()?;
        }
        let after = self.rest();
        if self.operand_done() {
            // A mixed number, or the other half of a juxtaposition that is none.
            let mixed = self.last == Last::Number
                && spaced
                && after.starts_with('/')
                && begins_with_digit(&after[1..]);
            let glued = (!spaced && self.last == Last::Operand)
                || self.last == Last::Command
                || (!spaced && split)
                || (self.binder && self.last == Last::Operand);
            if !mixed && !glued {
                return None;
            }
        }
        // "1.2.3" numbers a section.
        if after.strip_prefix('.').is_some_and(begins_with_digit) {
            return None;
        }
        let word = crate::lexicon::letters(after, 24);
        let word = &after[..word];
        let joined = match word {
            "" => !after.starts_with(is_word_letter),
            "st" | "nd" | "rd" | "th" | "ths" | "D" => false,
            _ if words::FUNCTION.contains(word) => true,
            _ if word.len() > 3 => words::is_unit(word) || words::MAGNITUDE.contains(word),
            _ => true,
        };
        self.tokens += 1;
        joined.then_some(Last::Number)
    }

    fn word(&mut self, spaced: bool) -> Option<Last> {
        let rest = self.rest();
        let length = crate::lexicon::letters(rest, 32);
        let word = &rest[..length];
        let after = &rest[length..];
        if after.starts_with(is_word_letter) {
            return None;
        }
        if self.is_outside() && self.operand_done() && (word == "and" || word == "or") {
            let next = after.trim_start();
            return (spaced && begins_operand(next)).then_some(Last::Comma);
        }
        if word == "choose" {
            // "8 choose 2"
            let chosen = self.last == Last::Number && begins_with_digit(after.trim_start());
            return chosen.then_some(Last::Operator);
        }
        // "20 min" is a time.
        let called = !self.is_outside()
            || !matches!(word, "factorial" | "comb" | "min" | "max")
            || after.starts_with(['(', '{', '_']);
        if words::FUNCTION.contains(word) && called {
            if self.operand_done() && spaced && word == "in" {
                return None;
            }
            self.binder |= words::FUNCTION_WITH_ARGUMENT.contains(word);
            return Some(if word == "mod" {
                Last::Operator
            } else {
                Last::Command
            });
        }
        if word == "U"
            && self.last == Last::Operand
            && after.trim_start().starts_with(['(', '[', '{'])
        {
            // A union, as it is typed.
            return Some(Last::Operator);
        }
        if length == 1 {
            if self.operand_done() && self.last != Last::Command && !self.binder && spaced {
                // "5 m tall", "5 a day", but "2 x + 1".
                let next = after.trim_start();
                let goes_on = next.starts_with(['+', '-', '*', '/', '^', '=', '<', '>', ')', ']'])
                    || (next.is_empty() && self.last == Last::Operand);
                if !goes_on && self.is_outside() {
                    return None;
                }
            }
            if matches!(word, "a" | "I" | "A") && self.is_outside() {
                // The article.
                let next = after.strip_prefix(' ').unwrap_or_default();
                if words::first_word(next).len() > 1 {
                    return None;
                }
            }
            return Some(Last::Operand);
        }
        // "½mv²"
        let vulgar = || self.text[..self.lexemes.at()].ends_with(is_vulgar);
        let glued_to_number = !spaced && (self.last == Last::Number || vulgar());
        if glued_to_number
            && (length <= 3 || words::is_unit(word) || words::MAGNITUDE.contains(word))
        {
            return Some(Last::Operand);
        }
        if self.binder && length == 2 && word.starts_with('d') {
            // The differential of an integral.
            return Some(Last::Operand);
        }
        let points = word.bytes().all(|byte| byte.is_ascii_uppercase()) && length <= 3;
        let named = points || length == 2 && !words::TWO_LETTERS.contains(word);
        if named && !(self.operand_done() && self.last != Last::Command && spaced) {
            let next = after.trim_start();
            let mathematical = next.starts_with(['=', '^', '*', '/', '+', '<', '>', '≤', '≥'])
                || (matches!(self.last, Last::Operator | Last::Opening)
                    && !next.starts_with(|it: char| it.is_alphabetic()));
            if mathematical {
                return Some(Last::Operand);
            }
        }
        None
    }

    fn command(&mut self) -> Option<Last> {
        // Doubled by someone's escaping, or the end of a row.
        let doubled = self.rest().starts_with("\\\\") && !self.is_outside();
        let rest = &self.rest()[usize::from(doubled)..];
        let name = crate::lexicon::letters(&rest[1..], 32);
        let name = &rest[1..=name];
        let operand = self.operand_done();
        // What is one operand however it is read.
        let length = match name {
            "" if rest[1..].starts_with(['(', ')', '[', ']', '\n']) => return None,
            "" if rest[1..].starts_with('\\') => return None,
            "boxed" | "fbox" | "end" | "item" | "section" | "subsection" | "textbf" | "emph"
            | "n" | "newline" => return None,
            "begin" => environment(rest),
            "text" | "mathrm" | "mbox" | "operatorname" | "textrm" | "mathbf" | "mathbb" => {
                let star = usize::from(rest[1 + name.len()..].starts_with('*'));
                let before = 1 + name.len() + star;
                match group(&rest[before..]) {
                    0 => return None,
                    group => before + group,
                }
            }
            _ => {
                let class = self.lexemes.next()?;
                self.tokens += usize::from(!matches!(class, Class::Nothing | Class::Currency));
                self.binder |= (class == Class::Function
                    && words::FUNCTION_WITH_ARGUMENT.contains(name))
                    || matches!(name, "sum" | "prod" | "int" | "lim" | "iint" | "oint");
                self.relation |= class == Class::Relation;
                return match class {
                    // `\emph{` and `\bigcup_`.
                    Class::Nothing | Class::Operator | Class::Relation
                        if self.rest().starts_with(['{', '_']) =>
                    {
                        Some(Last::Command)
                    }
                    Class::Nothing | Class::Row => Some(self.last),
                    Class::Opening => Some(Last::Opening),
                    Class::Closing => Some(Last::Operand),
                    Class::Operator | Class::Relation => {
                        self.operators += 1;
                        Some(Last::Operator)
                    }
                    Class::Postfix if name.is_empty() => operand.then_some(Last::Operand),
                    Class::Currency => (!operand).then_some(Last::Operator),
                    _ if name.is_empty() => rest.starts_with("\\|").then_some(Last::Operand),
                    _ => Some(Last::Command),
                };
            }
        };
        if length == 0 {
            return None;
        }
        self.lexemes.skip_to(self.text.len() - rest.len() + length);
        self.tokens += 1;
        Some(if name == "begin" {
            Last::Operand
        } else {
            Last::Command
        })
    }

    /// Does a bracket go on with maths? "5 (five)" and "12 (since …)" do not, unless a formula goes on in it.
    fn bracket(&self, spaced: bool) -> bool {
        if !(self.operand_done() && spaced && self.is_outside()) || self.last == Last::Command {
            return true;
        }
        let inside = &self.rest()[1..];
        let word = words::first_word(inside.trim_start());
        let mut modulus = "\\bmod \\mod \\text{mod \\operatorname{mod \\mathrm{mod".split(' ');
        let modulus = word == "mod" || modulus.any(|it| inside.starts_with(it));
        self.relation && modulus || !(self.last == Last::Number || word.len() > 1)
    }

    /// Reads `,` and `;`, with the "and" after it; outside of brackets only where maths goes on.
    fn separator(&mut self) -> Option<Last> {
        if !self.is_outside() {
            return self.token(Last::Comma);
        }
        let next = self.rest()[1..].trim_start_matches(' ');
        let next = match words::first_word(next) {
            word @ ("and" | "or") => next[word.len()..].trim_start_matches(' '),
            _ => next,
        };
        let end = self.text.len() - next.len();
        while begins_operand(next) && self.lexemes.at() < end {
            self.lexemes.next()?;
        }
        self.tokens += 1;
        begins_operand(next).then_some(Last::Comma)
    }
}
