//! Tokens into a tree, as Jinja's parser reads them.

use std::collections::BTreeSet;

use super::lexer::{Token, tokens};
use super::syntax::{
    Arguments, Block, Comparison, Expression, Filter, For, Literal, Macro, Operator, Statement,
    StatementKind, Suffix, Target, Template,
};
use super::work::Fault;

/// How deep blocks and brackets may stand in each other.
const MAX_NESTING: usize = 100;

/// The longest template, in bytes: far longer than any published one.
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

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    /// Loops around the place that is read.
    loops: usize,
    /// `varargs` and `kwargs` were read in the macro around it.
    mentions: [bool; 2],
    /// Names that were read so far.
    names: BTreeSet<String>,
}

impl Parser {
    fn line(&self) -> usize {
        self.tokens[self.at].1
    }

    fn token(&self) -> &Token {
        // The last token is the end, and is never passed.
        &self.tokens[self.at].0
    }

    fn next(&mut self) -> Token {
        let token = self.token().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn skip(&mut self, token: &Token) -> bool {
        let found = self.token() == token;
        if found {
            self.next();
        }
        found
    }

    fn skip_operator(&mut self, operator: &'static str) -> bool {
        self.skip(&Token::Operator(operator))
    }

    fn is_operator(&self, operator: &str) -> bool {
        matches!(self.token(), Token::Operator(own) if *own == operator)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.token(), Token::Name(own) if own == name)
    }

    fn skip_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        if found {
            self.next();
        }
        found
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.token() {
            Token::Data(_) => "text".to_owned(),
            Token::VariableBegin => "'{{'".into(),
            Token::VariableEnd => "'}}'".into(),
            Token::BlockBegin => "'{%'".into(),
            Token::BlockEnd => "'%}'".into(),
            Token::Name(name) => format!("'{}'", name.chars().take(40).collect::<String>()),
            Token::Text(_) => "a text".into(),
            Token::Integer(_) | Token::Float(_) => "a number".into(),
            Token::Operator(operator) => format!("'{operator}'"),
            Token::End => "the end of the template".into(),
        };
        format!("expected {wanted}, found {found}")
    }

    fn expect(&mut self, operator: &'static str) -> Result<(), Fault> {
        if self.skip_operator(operator) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("'{operator}'")))
        }
    }

    fn expect_name(&mut self) -> Result<String, Fault> {
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

    /// Reads what stands deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
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

    /// Statements up to one of the tags, whose name is read, or to the end of the template.
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

    /// A block that one tag ends.
    fn body(&mut self, end: &str) -> Result<Block, Fault> {
        self.expect_block_end()?;
        let (body, _) = self.block(&[end])?;
        Ok(body)
    }

    /// A block that stands in a function of its own: no loop around it can be left from within.
    fn own_body(&mut self, end: &str) -> Result<Block, Fault> {
        let loops = std::mem::take(&mut self.loops);
        let body = self.body(end);
        self.loops = loops;
        let body = body?;
        self.expect_block_end()?;
        Ok(body)
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
                let call = self.expression()?;
                if !matches!(&call, Expression::Suffixed(_, suffixes) if matches!(suffixes.last(), Some(Suffix::Call(_))))
                {
                    return Err("a call block needs a call".into());
                }
                let caller = self.read_macro("caller".into(), parameters, "endcall")?;
                Ok(StatementKind::CallBlock { caller, call })
            }
            "filter" => {
                let mut filters = vec![self.filter()?];
                filters.extend(self.filters()?);
                let body = self.body("endfilter")?;
                self.expect_block_end()?;
                Ok(StatementKind::FilterBlock { filters, body })
            }
            "generation" => Ok(StatementKind::Scoped(self.own_body("endgeneration")?)),
            "block" => {
                self.expect_name()?;
                while matches!(self.token(), Token::Name(_)) {
                    self.next();
                }
                let loops = std::mem::take(&mut self.loops);
                let body = self.body("endblock");
                self.loops = loops;
                let body = body?;
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
            _ => {
                let name: String = name.chars().take(40).collect();
                Err(format!("unknown or misplaced tag '{name}'"))
            }
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
        Ok(Macro {
            name,
            parameters,
            body: body?,
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

    /// Names to assign to, parted by commas.
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
        while !self.is_operator(")") {
            if !parameters.is_empty() {
                self.expect(",")?;
                if self.is_operator(")") {
                    break;
                }
            }
            let name = self.expect_name()?;
            let default = if self.skip_operator("=") {
                Some(self.expression()?)
            } else if parameters.iter().any(|(_, default)| default.is_some()) {
                return Err("a parameter without a default follows one with a default".into());
            } else {
                None
            };
            parameters.push((name, default));
        }
        self.expect(")")?;
        Ok(parameters)
    }

    /// Expressions with commas between them are a tuple.
    fn tuple(&mut self, conditional: bool) -> Result<Expression, Fault> {
        let read = |parser: &mut Self| {
            if conditional {
                parser.expression()
            } else {
                parser.deeper(Self::or)
            }
        };
        let first = read(self)?;
        if !self.is_operator(",") {
            return Ok(first);
        }
        let mut entries = vec![first];
        while self.skip_operator(",") {
            let ends = match self.token() {
                Token::VariableEnd | Token::BlockEnd | Token::End => true,
                Token::Operator(operator) => *operator == ")",
                Token::Name(name) => !conditional && matches!(name.as_str(), "if" | "recursive"),
                _ => false,
            };
            if ends {
                break;
            }
            entries.push(read(self)?);
        }
        Ok(Expression::Tuple(entries))
    }

    fn expression(&mut self) -> Result<Expression, Fault> {
        self.deeper(|parser| {
            let mut value = parser.or()?;
            let mut nested = 0;
            while parser.skip_name("if") {
                nested += 1;
                if nested > MAX_NESTING {
                    return Err("too many conditions in a row".into());
                }
                let condition = parser.or()?;
                let otherwise = if parser.skip_name("else") {
                    Some(parser.expression()?)
                } else {
                    None
                };
                value = Expression::Conditional(Box::new((condition, value, otherwise)));
            }
            Ok(value)
        })
    }

    fn or(&mut self) -> Result<Expression, Fault> {
        let first = self.and()?;
        if !self.is_name("or") {
            return Ok(first);
        }
        let mut terms = vec![first];
        while self.skip_name("or") {
            terms.push(self.and()?);
        }
        Ok(Expression::Or(terms))
    }

    fn and(&mut self) -> Result<Expression, Fault> {
        let first = self.not()?;
        if !self.is_name("and") {
            return Ok(first);
        }
        let mut terms = vec![first];
        while self.skip_name("and") {
            terms.push(self.not()?);
        }
        Ok(Expression::And(terms))
    }

    fn not(&mut self) -> Result<Expression, Fault> {
        if self.skip_name("not") {
            let value = self.deeper(Self::not)?;
            return Ok(Expression::Not(Box::new(value)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Expression, Fault> {
        let first = self.sum()?;
        let mut rest = Vec::new();
        loop {
            let how = match self.token() {
                Token::Operator("==") => Comparison::Equal,
                Token::Operator("!=") => Comparison::NotEqual,
                Token::Operator("<") => Comparison::Less,
                Token::Operator("<=") => Comparison::LessOrEqual,
                Token::Operator(">") => Comparison::Greater,
                Token::Operator(">=") => Comparison::GreaterOrEqual,
                Token::Name(name) if name == "in" => Comparison::In,
                Token::Name(name) if name == "not" => {
                    let next = self.tokens.get(self.at + 1);
                    if !matches!(next, Some((Token::Name(name), _)) if name == "in") {
                        break;
                    }
                    self.next();
                    Comparison::NotIn
                }
                _ => break,
            };
            self.next();
            rest.push((how, self.sum()?));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            Expression::Compare(Box::new(first), rest)
        })
    }

    /// Terms with operators of one rank between them.
    fn chain(
        &mut self,
        operators: &[(&'static str, Operator)],
        term: impl Fn(&mut Self) -> Result<Expression, Fault>,
    ) -> Result<Expression, Fault> {
        let first = term(self)?;
        let mut rest = Vec::new();
        while let Some((_, operator)) = operators
            .iter()
            .find(|(written, _)| self.is_operator(written))
        {
            self.next();
            rest.push((*operator, term(self)?));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            Expression::Arithmetic(Box::new(first), rest)
        })
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        let operators = [("+", Operator::Add), ("-", Operator::Subtract)];
        self.chain(&operators, Self::concatenation)
    }

    fn concatenation(&mut self) -> Result<Expression, Fault> {
        let first = self.product()?;
        if !self.is_operator("~") {
            return Ok(first);
        }
        let mut terms = vec![first];
        while self.skip_operator("~") {
            terms.push(self.product()?);
        }
        Ok(Expression::Concatenate(terms))
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        let operators = [
            ("*", Operator::Multiply),
            ("/", Operator::Divide),
            ("//", Operator::FloorDivide),
            ("%", Operator::Remainder),
        ];
        self.chain(&operators, Self::power)
    }

    fn power(&mut self) -> Result<Expression, Fault> {
        self.chain(&[("**", Operator::Power)], |parser| parser.unary(true))
    }

    fn unary(&mut self, filtered: bool) -> Result<Expression, Fault> {
        let base = if self.skip_operator("-") {
            Expression::Negative(Box::new(self.deeper(|parser| parser.unary(false))?))
        } else if self.skip_operator("+") {
            Expression::Positive(Box::new(self.deeper(|parser| parser.unary(false))?))
        } else {
            self.primary()?
        };
        let mut suffixes = Vec::new();
        self.postfix(&mut suffixes)?;
        if filtered {
            loop {
                if self.skip_operator("|") {
                    suffixes.push(Suffix::Filter(self.filter()?));
                } else if self.skip_name("is") {
                    suffixes.push(self.test()?);
                } else if self.is_operator("(") {
                    suffixes.push(Suffix::Call(self.arguments()?));
                } else {
                    break;
                }
            }
        }
        Ok(if suffixes.is_empty() {
            base
        } else {
            Expression::Suffixed(Box::new(base), suffixes)
        })
    }

    fn primary(&mut self) -> Result<Expression, Fault> {
        let literal = match self.token() {
            Token::Name(name) => {
                let literal = match name.as_str() {
                    "true" | "True" => Some(Literal::Bool(true)),
                    "false" | "False" => Some(Literal::Bool(false)),
                    "none" | "None" => Some(Literal::None),
                    _ => None,
                };
                match literal {
                    Some(literal) => literal,
                    None => {
                        let name = self.expect_name()?;
                        self.mentions[0] |= name == "varargs";
                        self.mentions[1] |= name == "kwargs";
                        if !self.names.contains(&name) {
                            self.names.insert(name.clone());
                        }
                        return Ok(Expression::Name(name));
                    }
                }
            }
            Token::Integer(number) => Literal::Integer(*number),
            Token::Float(number) => Literal::Float(*number),
            Token::Text(_) => {
                let mut text = String::new();
                while let Token::Text(piece) = self.token() {
                    text.push_str(piece);
                    self.next();
                }
                return Ok(Expression::Literal(Literal::Text(text.into())));
            }
            Token::Operator("(") => {
                self.next();
                if self.skip_operator(")") {
                    return Ok(Expression::Tuple(Vec::new()));
                }
                let value = self.tuple(true)?;
                self.expect(")")?;
                return Ok(value);
            }
            Token::Operator("[") => {
                self.next();
                let mut entries = Vec::new();
                while !self.is_operator("]") {
                    if !entries.is_empty() {
                        self.expect(",")?;
                        if self.is_operator("]") {
                            break;
                        }
                    }
                    entries.push(self.expression()?);
                }
                self.expect("]")?;
                return Ok(Expression::List(entries));
            }
            Token::Operator("{") => {
                self.next();
                let mut pairs = Vec::new();
                while !self.is_operator("}") {
                    if !pairs.is_empty() {
                        self.expect(",")?;
                        if self.is_operator("}") {
                            break;
                        }
                    }
                    let key = self.expression()?;
                    self.expect(":")?;
                    pairs.push((key, self.expression()?));
                }
                self.expect("}")?;
                return Ok(Expression::Dictionary(pairs));
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.next();
        Ok(Expression::Literal(literal))
    }

    /// Attributes, places and calls.
    fn postfix(&mut self, suffixes: &mut Vec<Suffix>) -> Result<(), Fault> {
        loop {
            if self.skip_operator(".") {
                suffixes.push(match self.next() {
                    Token::Name(name) => Suffix::Attribute(name),
                    Token::Integer(number) => {
                        Suffix::Item(Expression::Literal(Literal::Integer(number)))
                    }
                    _ => return Err("expected a name or a number behind '.'".into()),
                });
            } else if self.skip_operator("[") {
                let suffix = self.place()?;
                if self.is_operator(",") {
                    let Suffix::Item(first) = suffix else {
                        return Err(self.unexpected("']'"));
                    };
                    let mut entries = vec![first];
                    while self.skip_operator(",") {
                        entries.push(self.expression()?);
                    }
                    suffixes.push(Suffix::Item(Expression::Tuple(entries)));
                } else {
                    suffixes.push(suffix);
                }
                self.expect("]")?;
            } else if self.is_operator("(") {
                suffixes.push(Suffix::Call(self.arguments()?));
            } else {
                return Ok(());
            }
        }
    }

    /// What stands between `[` and `]`: an expression, or a slice.
    fn place(&mut self) -> Result<Suffix, Fault> {
        let mut parts: [Option<Expression>; 3] = [None, None, None];
        let mut part = 0;
        loop {
            if self.skip_operator(":") {
                part += 1;
                if part > 2 {
                    return Err("a slice has three parts at most".into());
                }
            } else if matches!(self.token(), Token::Operator("]" | ",")) {
                break;
            } else if parts[part].is_some() {
                return Err(self.unexpected("']'"));
            } else {
                parts[part] = Some(self.expression()?);
            }
        }
        match (part, parts) {
            (0, [Some(item), ..]) => Ok(Suffix::Item(item)),
            (0, _) => Err(self.unexpected("a value")),
            (_, parts) => Ok(Suffix::Slice(Box::new(parts))),
        }
    }

    fn arguments(&mut self) -> Result<Arguments, Fault> {
        self.expect("(")?;
        let mut arguments = Arguments::default();
        let mut first = true;
        while !self.is_operator(")") {
            if !first {
                self.expect(",")?;
                if self.is_operator(")") {
                    break;
                }
            }
            first = false;
            if self.skip_operator("**") {
                arguments.more_named = Some(Box::new(self.expression()?));
            } else if self.skip_operator("*") {
                arguments.more_plain = Some(Box::new(self.expression()?));
            } else if matches!(self.token(), Token::Name(_))
                && matches!(
                    self.tokens.get(self.at + 1),
                    Some((Token::Operator("="), _))
                )
            {
                let name = self.expect_name()?;
                self.expect("=")?;
                arguments.named.push((name, self.expression()?));
            } else if !arguments.named.is_empty() {
                return Err("an argument without a name follows one with a name".into());
            } else {
                arguments.plain.push(self.expression()?);
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }

    /// A name, which may hold dots.
    fn dotted(&mut self) -> Result<String, Fault> {
        let mut name = self.expect_name()?;
        while self.skip_operator(".") {
            name.push('.');
            name.push_str(&self.expect_name()?);
        }
        Ok(name)
    }

    fn filter(&mut self) -> Result<Filter, Fault> {
        let name = self.dotted()?;
        let arguments = if self.is_operator("(") {
            self.arguments()?
        } else {
            Arguments::default()
        };
        Ok(Filter { name, arguments })
    }

    /// Filters, each behind a `|`.
    fn filters(&mut self) -> Result<Vec<Filter>, Fault> {
        let mut filters = Vec::new();
        while self.skip_operator("|") {
            filters.push(self.filter()?);
        }
        Ok(filters)
    }

    fn test(&mut self) -> Result<Suffix, Fault> {
        let negated = self.skip_name("not");
        let name = self.dotted()?;
        let takes_argument = match self.token() {
            Token::Name(name) => !matches!(name.as_str(), "else" | "or" | "and" | "is"),
            Token::Text(_) | Token::Integer(_) | Token::Float(_) => true,
            Token::Operator(operator) => matches!(*operator, "[" | "{"),
            _ => false,
        };
        let arguments = if self.is_operator("(") {
            self.arguments()?
        } else if takes_argument && !self.ends_test() {
            let argument = self.deeper(|parser| {
                let base = parser.primary()?;
                let mut suffixes = Vec::new();
                parser.postfix(&mut suffixes)?;
                Ok(if suffixes.is_empty() {
                    base
                } else {
                    Expression::Suffixed(Box::new(base), suffixes)
                })
            })?;
            Arguments {
                plain: vec![argument],
                ..Arguments::default()
            }
        } else {
            Arguments::default()
        };
        Ok(Suffix::Test {
            negated,
            name,
            arguments,
        })
    }

    /// `x is defined if y`, `x is defined in z`, `x is defined not …`: the word belongs to what stands around.
    fn ends_test(&self) -> bool {
        matches!(self.token(), Token::Name(name) if matches!(name.as_str(), "if" | "in" | "not" | "recursive"))
    }
}
