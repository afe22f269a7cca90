//! Parses statements, as Jinja does.

use std::collections::BTreeSet;

use super::lexer::{Token, tokens};
use super::syntax::{
    Block, Expression, For, Literal, Macro, Statement, StatementKind, Suffix, Target, Template,
};
use super::work::{Fault, shown};

/// How deep blocks and brackets may be nested.
pub(super) const MAX_NESTING: usize = 100;

/// The longest template, in bytes; far longer than any published one.
const MAX_SOURCE: usize = 1 << 20;

/// Reads a template.
pub(super) fn parse(source: &str) -> Result<Template, Fault> {
    if source.len() > MAX_SOURCE {
        return Err(format!(
            "it is {} bytes long; no chat template has more than {MAX_SOURCE}",
            source.len()
        ));
    }
    let mut parser = Parser {
        tokens: tokens(source)?,
        at: 0,
        depth: 0,
        loops: 0,
        mentions: [false; 2],
        names: BTreeSet::new(),
    };
    let (block, end) = parser
        .block(&[])
        .map_err(|fault| format!("{fault} (line {})", parser.line()))?;
    debug_assert!(end.is_empty());
    let names = parser.names;
    Ok(Template { block, names })
}

pub(super) struct Parser {
    pub(super) tokens: Vec<(Token, usize)>,
    pub(super) at: usize,
    depth: usize,
    /// How many loops are around the current place.
    loops: usize,
    /// Whether `varargs` and `kwargs` were read in the macro around the current place.
    pub(super) mentions: [bool; 2],
    /// Names read so far.
    pub(super) names: BTreeSet<String>,
}

impl Parser {
    fn line(&self) -> usize {
        self.tokens[self.at].1
    }

    pub(super) fn token(&self) -> &Token {
        // The last token is the end token, and `at` never passes it.
        &self.tokens[self.at].0
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.token().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub(super) fn skip(&mut self, token: &Token) -> bool {
        let found = self.token() == token;
        if found {
            self.next();
        }
        found
    }

    pub(super) fn skip_operator(&mut self, operator: &'static str) -> bool {
        self.skip(&Token::Operator(operator))
    }

    pub(super) fn is_operator(&self, operator: &str) -> bool {
        matches!(self.token(), Token::Operator(own) if *own == operator)
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self.token(), Token::Name(own) if own == name)
    }

    pub(super) fn skip_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.token() {
            Token::Data(_) => "text".to_owned(),
            Token::VariableBegin => "'{{'".into(),
            Token::VariableEnd => "'}}'".into(),
            Token::BlockBegin => "'{%'".into(),
            Token::BlockEnd => "'%}'".into(),
            Token::Name(name) => format!("'{}'", shown(name)),
            Token::Text(_) => "a text".into(),
            Token::Integer(_) | Token::Float(_) => "a number".into(),
            Token::Operator(operator) => format!("'{operator}'"),
            Token::End => "the end of the template".into(),
        };
        format!("expected {wanted}, found {found}")
    }

    pub(super) fn expect(&mut self, operator: &'static str) -> Result<(), Fault> {
        if self.skip_operator(operator) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("'{operator}'")))
        }
    }

    pub(super) fn expect_name(&mut self) -> Result<String, Fault> {
        match self.token() {
            Token::Name(name) => {
                let name = name.clone();
                self.next();
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    fn expect_block_end(&mut self) -> Result<(), Fault> {
        if self.skip(&Token::BlockEnd) {
            Ok(())
        } else {
            Err(self.unexpected("'%}'"))
        }
    }

    /// Parses something one level deeper, within the limit on nesting.
    pub(super) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.depth == MAX_NESTING {
            return Err(format!(
                "blocks or brackets stand more than {MAX_NESTING} deep in each other"
            ));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Statements up to one of the tags `ends`, whose name is returned with them, or to the end of the template.
    fn block(&mut self, ends: &[&str]) -> Result<(Block, String), Fault> {
        let mut block = Vec::new();
        loop {
            let line = self.line();
            let kind = match self.token() {
                Token::End if ends.is_empty() => return Ok((block, String::new())),
                Token::Data(_) => match self.next() {
                    Token::Data(text) => StatementKind::Data(text),
                    _ => continue,
                },
                Token::VariableBegin => {
                    self.next();
                    let value = self.tuple(true)?;
                    if !self.skip(&Token::VariableEnd) {
                        return Err(self.unexpected("'}}'"));
                    }
                    StatementKind::Print(value)
                }
                Token::BlockBegin => {
                    self.next();
                    let name = self.expect_name()?;
                    if ends.contains(&name.as_str()) {
                        return Ok((block, name));
                    }
                    self.deeper(|parser| parser.statement(&name))?
                }
                _ => {
                    let wanted: Vec<String> = ends.iter().map(|end| format!("'{end}'")).collect();
                    return Err(self.unexpected(&wanted.join(" or ")));
                }
            };
            block.push(Statement { line, kind });
        }
    }

    /// A block up to the one tag that ends it.
    fn body(&mut self, end: &str) -> Result<Block, Fault> {
        self.expect_block_end()?;
        let (body, _) = self.block(&[end])?;
        Ok(body)
    }

    /// A block that is a function of its own: `break` and `continue` in it cannot leave a loop around it.
    fn own_body(&mut self, end: &str) -> Result<Block, Fault> {
        let loops = std::mem::take(&mut self.loops);
        let body = self.body(end);
        self.loops = loops;
        body
    }

    fn statement(&mut self, name: &str) -> Result<StatementKind, Fault> {
        match name {
            "if" => self.read_if(),
            "for" => self.read_for(),
            "set" => self.read_set(),
            "with" => {
                let mut given = Vec::new();
                while *self.token() != Token::BlockEnd {
                    if !given.is_empty() {
                        self.expect(",")?;
                    }
                    let target = self.target()?;
                    self.expect("=")?;
                    given.push((target, self.expression()?));
                }
                let body = self.body("endwith")?;
                self.expect_block_end()?;
                Ok(StatementKind::With { given, body })
            }
            "macro" => {
                let name = self.expect_name()?;
                let parameters = self.parameters()?;
                let read = self.read_macro(name, parameters, "endmacro")?;
                Ok(StatementKind::Macro(read))
            }
            "call" => {
                let parameters = if self.is_operator("(") {
                    self.parameters()?
                } else {
                    Vec::new()
                };
                let (base, suffixes) = match self.expression()? {
                    Expression::Suffixed(base, suffixes)
                        if matches!(suffixes.last(), Some(Suffix::Call(_))) =>
                    {
                        (base, suffixes)
                    }
                    _ => return Err("a call block needs a call".into()),
                };
                let caller = self.read_macro("caller".into(), parameters, "endcall")?;
                Ok(StatementKind::CallBlock {
                    caller,
                    base,
                    suffixes,
                })
            }
            "filter" => {
                let mut filters = vec![self.filter()?];
                filters.extend(self.filters()?);
                let body = self.body("endfilter")?;
                self.expect_block_end()?;
                Ok(StatementKind::FilterBlock { filters, body })
            }
            "generation" => {
                let body = self.own_body("endgeneration")?;
                self.expect_block_end()?;
                Ok(StatementKind::Scoped(body))
            }
            "block" => {
                self.expect_name()?;
                while matches!(self.token(), Token::Name(_)) {
                    self.next();
                }
                let body = self.own_body("endblock")?;
                if matches!(self.token(), Token::Name(_)) {
                    self.next();
                }
                self.expect_block_end()?;
                Ok(StatementKind::Scoped(body))
            }
            "autoescape" => {
                let value = self.expression()?;
                let body = self.body("endautoescape")?;
                self.expect_block_end()?;
                Ok(match value {
                    Expression::Literal(Literal::Bool(false)) => StatementKind::Scoped(body),
                    _ => StatementKind::Unsupported("autoescape".into()),
                })
            }
            "break" | "continue" => {
                if self.loops == 0 {
                    return Err(format!("'{name}' stands outside of a loop"));
                }
                self.expect_block_end()?;
                Ok(if name == "break" {
                    StatementKind::Break
                } else {
                    StatementKind::Continue
                })
            }
            "include" | "import" | "from" | "extends" => {
                while !matches!(self.token(), Token::BlockEnd | Token::End) {
                    self.next();
                }
                self.expect_block_end()?;
                Ok(StatementKind::Unsupported(name.to_owned()))
            }
            _ => Err(format!("unknown or misplaced tag '{}'", shown(name))),
        }
    }

    fn read_macro(
        &mut self,
        name: String,
        parameters: Vec<(String, Option<Expression>)>,
        end: &str,
    ) -> Result<Macro, Fault> {
        let around = std::mem::take(&mut self.mentions);
        let body = self.own_body(end);
        let [takes_more, takes_other_names] = std::mem::replace(&mut self.mentions, around);
        let body = body?;
        self.expect_block_end()?;
        Ok(Macro {
            name,
            parameters,
            body,
            takes_more,
            takes_other_names,
        })
    }

    fn read_if(&mut self) -> Result<StatementKind, Fault> {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let condition = self.tuple(false)?;
            self.expect_block_end()?;
            let (body, end) = self.block(&["elif", "else", "endif"])?;
            branches.push((condition, body));
            match end.as_str() {
                "elif" => continue,
                "else" => otherwise = self.body("endif")?,
                _ => {}
            }
            self.expect_block_end()?;
            return Ok(StatementKind::If {
                branches,
                otherwise,
            });
        }
    }

    fn read_for(&mut self) -> Result<StatementKind, Fault> {
        let target = self.targets()?;
        if !self.skip_name("in") {
            return Err(self.unexpected("'in'"));
        }
        let over = self.tuple(false)?;
        let condition = if self.skip_name("if") {
            Some(self.expression()?)
        } else {
            None
        };
        let recursive = self.skip_name("recursive");
        self.expect_block_end()?;
        self.loops += 1;
        let read = self.block(&["else", "endfor"]);
        self.loops -= 1;
        let (body, end) = read?;
        let otherwise = if end == "else" {
            self.body("endfor")?
        } else {
            Vec::new()
        };
        self.expect_block_end()?;
        Ok(StatementKind::For(Box::new(For {
            target,
            over,
            condition,
            recursive,
            body,
            otherwise,
        })))
    }

    fn read_set(&mut self) -> Result<StatementKind, Fault> {
        let targets = self.targets()?;
        if self.skip_operator("=") {
            let value = self.tuple(true)?;
            self.expect_block_end()?;
            return Ok(StatementKind::Set { targets, value });
        }
        let filters = self.filters()?;
        let body = self.body("endset")?;
        self.expect_block_end()?;
        Ok(StatementKind::SetBlock {
            target: targets,
            filters,
            body,
        })
    }

    /// Names to assign to, separated by commas.
    fn targets(&mut self) -> Result<Target, Fault> {
        let first = self.target()?;
        if !self.is_operator(",") {
            return Ok(first);
        }
        let mut several = vec![first];
        while self.skip_operator(",") {
            if matches!(self.token(), Token::Name(name) if name != "in") || self.is_operator("(") {
                several.push(self.target()?);
            }
        }
        Ok(Target::Several(several))
    }

    fn target(&mut self) -> Result<Target, Fault> {
        if self.skip_operator("(") {
            let targets = self.deeper(Self::targets)?;
            self.expect(")")?;
            return Ok(targets);
        }
        let name = self.expect_name()?;
        if matches!(
            name.as_str(),
            "true" | "false" | "none" | "True" | "False" | "None"
        ) {
            return Err(format!("cannot assign to '{name}'"));
        }
        if self.skip_operator(".") {
            return Ok(Target::Attribute(name, self.expect_name()?));
        }
        Ok(Target::Name(name))
    }

    fn parameters(&mut self) -> Result<Vec<(String, Option<Expression>)>, Fault> {
        self.expect("(")?;
        let mut parameters: Vec<(String, Option<Expression>)> = Vec::new();
        let mut has_default = false;
        self.listed(")", |parser| {
            let name = parser.expect_name()?;
            let default = if parser.skip_operator("=") {
                has_default = true;
                Some(parser.expression()?)
            } else if has_default {
                return Err("a parameter without a default follows one with a default".into());
            } else {
                None
            };
            parameters.push((name, default));
            Ok(())
        })?;
        Ok(parameters)
    }

    /// Parses items separated by commas, up to the closing bracket; a trailing comma is allowed.
    pub(super) fn listed(
        &mut self,
        end: &'static str,
        mut read: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        while !self.skip_operator(end) {
            read(self)?;
            if !self.is_operator(end) {
                self.expect(",")?;
            }
        }
        Ok(())
    }
}
