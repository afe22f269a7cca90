//! Executes the statements of a parsed template.
//!
//! Variables are kept in frames, one for each block that has variables of its own. Objects with a state (namespaces, loops,
//! macros, cyclers) are kept in lists here, and values refer to them by number.

use std::collections::{BTreeSet, HashMap};

use super::clock::Clock;
use super::filters;
use super::functions;
use super::syntax::{Block, Filter, For, Macro, Statement, StatementKind, Target};
use super::value::{Object, Value};
use super::work::{ENTRY, Fault, STEP, Work};

/// The longest error message of a template, in characters.
const MAX_MESSAGE: usize = 1000;

/// Given arguments: plain ones and named ones.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) plain: Vec<Value>,
    pub(super) named: Vec<(String, Value)>,
}

/// How a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Break,
    Continue,
}

/// Variables of a block.
#[derive(Debug, Default)]
struct Frame<'t> {
    variables: HashMap<&'t str, Value>,
    /// The frame in which names are looked up next.
    parent: Option<usize>,
    /// Frames are numbered, so that a removed frame is not mistaken for a later one in its place.
    number: u64,
}

/// A macro, and the frame that it was written in.
#[derive(Debug, Clone, Copy)]
struct Defined<'t> {
    written: &'t Macro,
    frame: (usize, u64),
}

/// A loop that runs.
#[derive(Debug)]
pub(super) struct Loop<'t> {
    pub(super) entries: Vec<Value>,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// What `loop.changed` was last given.
    pub(super) last: Option<Vec<Value>>,
    /// For a recursive loop: the statement that `loop(…)` runs again, and the frame around it.
    recursive: Option<(&'t For, (usize, u64))>,
}

/// The state of rendering a template.
pub(super) struct Interpreter<'t> {
    pub(super) work: Work,
    pub(super) clock: &'t Clock,
    /// Variables that the template is given.
    given: HashMap<&'t str, &'t Value>,
    /// The given variables that were read.
    read: BTreeSet<&'t str>,
    frames: Vec<Frame<'t>>,
    frame: usize,
    numbered: u64,
    macros: Vec<Defined<'t>>,
    pub(super) loops: Vec<Loop<'t>>,
    pub(super) namespaces: Vec<HashMap<String, Value>>,
    pub(super) cyclers: Vec<(Vec<Value>, usize)>,
    /// A joiner's separator, and whether it was used.
    pub(super) joiners: Vec<(Value, bool)>,
    /// The text written so far: the template's own, and that of each capture inside it.
    out: Vec<String>,
    line: usize,
}

/// A rendered template.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) text: String,
    /// The given variables that it read.
    pub(super) read: BTreeSet<String>,
}

/// Renders a template with its variables.
pub(super) fn render<'t>(
    block: &'t Block,
    variables: &'t [(String, Value)],
    clock: &'t Clock,
    work: Work,
) -> Result<Rendered, Fault> {
    let given = variables.iter().map(|(name, value)| (name.as_str(), value));
    let mut interpreter = Interpreter {
        work,
        clock,
        given: given.collect(),
        read: BTreeSet::new(),
        frames: vec![Frame::default()],
        frame: 0,
        numbered: 0,
        macros: Vec::new(),
        loops: Vec::new(),
        namespaces: Vec::new(),
        cyclers: Vec::new(),
        joiners: Vec::new(),
        out: vec![String::new()],
        line: 1,
    };
    match interpreter.block(block) {
        Ok(_) => Ok(Rendered {
            text: interpreter.out.pop().unwrap_or_default(),
            read: interpreter.read.into_iter().map(str::to_owned).collect(),
        }),
        Err(fault) => {
            let message: String = fault.chars().take(MAX_MESSAGE).collect();
            Err(format!("{message} (line {})", interpreter.line))
        }
    }
}

impl<'t> Interpreter<'t> {
    fn emit(&mut self, text: &str) -> Result<(), Fault> {
        self.work.spend_each(text.len(), 2)?;
        if let Some(out) = self.out.last_mut() {
            out.push_str(text);
        }
        Ok(())
    }

    fn print(&mut self, value: &Value) -> Result<(), Fault> {
        let text = value.to_text(&mut self.work)?;
        self.emit(&text)
    }

    /// Runs something and returns the text it wrote instead of writing it.
    fn captured(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<(), Fault>,
    ) -> Result<Value, Fault> {
        self.out.push(String::new());
        let ran = run(self);
        let written = self.out.pop().unwrap_or_default();
        ran?;
        Ok(Value::from(written))
    }

    /// Runs something with variables of its own, in a new frame inside `parent`.
    fn framed<T>(
        &mut self,
        parent: usize,
        run: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.numbered += 1;
        let (here, height) = (self.frame, self.frames.len());
        self.frames.push(Frame {
            parent: Some(parent),
            number: self.numbered,
            ..Frame::default()
        });
        self.frame = height;
        let ran = run(self);
        self.frames.truncate(height);
        self.frame = here;
        ran
    }

    /// The index of a remembered frame; that of the whole template if the frame is gone.
    fn remembered(&self, (at, number): (usize, u64)) -> usize {
        match self.frames.get(at) {
            Some(frame) if frame.number == number => at,
            _ => 0,
        }
    }

    fn here(&self) -> (usize, u64) {
        (self.frame, self.frames[self.frame].number)
    }

    pub(super) fn variable(&mut self, name: &str) -> Result<Option<Value>, Fault> {
        let mut at = Some(self.frame);
        while let Some(frame) = at.and_then(|at| self.frames.get(at)) {
            // Looking a name up in a frame hashes it.
            self.work.spend(name.len())?;
            if let Some(value) = frame.variables.get(name) {
                return Ok(Some(value.clone()));
            }
            at = frame.parent;
        }
        self.work.spend(name.len())?;
        if let Some((name, value)) = self.given.get_key_value(name) {
            self.read.insert(name);
            return Ok(Some((*value).clone()));
        }
        Ok(functions::find(name).map(|name| Value::Object(Object::Function(name))))
    }

    fn assign(&mut self, name: &'t str, value: Value) -> Result<(), Fault> {
        self.work.spend(ENTRY + name.len())?;
        self.frames[self.frame].variables.insert(name, value);
        Ok(())
    }

    fn assign_to(&mut self, target: &'t Target, value: Value) -> Result<(), Fault> {
        match target {
            Target::Name(name) => self.assign(name, value),
            Target::Attribute(name, attribute) => {
                let Some(Value::Object(Object::Namespace(at))) = self.variable(name)? else {
                    return Err(format!(
                        "cannot assign an attribute of '{name}': it is no namespace"
                    ));
                };
                self.work.spend(2 * ENTRY + attribute.len())?;
                self.namespaces[at].insert(attribute.clone(), value);
                Ok(())
            }
            Target::Several(targets) => {
                let entries = value.defined()?.entries(&mut self.work)?;
                if entries.len() != targets.len() {
                    return Err(format!(
                        "expected {} values to unpack, found {}",
                        targets.len(),
                        entries.len()
                    ));
                }
                for (target, entry) in targets.iter().zip(entries) {
                    self.assign_to(target, entry)?;
                }
                Ok(())
            }
        }
    }

    fn block(&mut self, block: &'t Block) -> Result<Flow, Fault> {
        self.work.enter()?;
        let mut flow = Flow::On;
        for statement in block {
            self.work.spend(STEP)?;
            self.line = statement.line;
            flow = self.statement(statement)?;
            if flow != Flow::On {
                break;
            }
        }
        self.work.leave();
        Ok(flow)
    }

    fn statement(&mut self, statement: &'t Statement) -> Result<Flow, Fault> {
        match &statement.kind {
            StatementKind::Data(text) => self.emit(text)?,
            StatementKind::Print(value) => {
                let value = self.value(value)?;
                self.line = statement.line;
                self.print(&value)?;
            }
            StatementKind::If {
                branches,
                otherwise,
            } => {
                for (condition, body) in branches {
                    if self.value(condition)?.is_true() {
                        return self.block(body);
                    }
                }
                return self.block(otherwise);
            }
            StatementKind::For(written) => {
                let over = self.value(&written.over)?;
                self.run_loop(written, &over, 0)?;
            }
            StatementKind::Set { targets, value } => {
                let value = self.value(value)?;
                self.assign_to(targets, value)?;
            }
            StatementKind::SetBlock {
                target,
                filters,
                body,
            } => {
                let text = self.body_text(body)?;
                let value = self.filtered(text, filters)?;
                self.assign_to(target, value)?;
            }
            StatementKind::With { given, body } => {
                let values = given
                    .iter()
                    .map(|(_, value)| self.value(value))
                    .collect::<Result<Vec<_>, _>>()?;
                return self.framed(self.frame, |own| {
                    for ((target, _), value) in given.iter().zip(values) {
                        own.assign_to(target, value)?;
                    }
                    own.block(body)
                });
            }
            StatementKind::Macro(written) => {
                let at = self.define(written)?;
                self.assign(&written.name, Value::Object(Object::Macro(at)))?;
            }
            StatementKind::CallBlock {
                caller,
                base,
                suffixes,
            } => {
                let at = self.define(caller)?;
                let value = self.suffixed(base, suffixes, Some(at))?;
                self.print(&value)?;
            }
            StatementKind::FilterBlock { filters, body } => {
                let text = self.body_text(body)?;
                let value = self.filtered(text, filters)?;
                self.print(&value)?;
            }
            StatementKind::Scoped(body) => {
                return self.framed(self.frame, |own| own.block(body));
            }
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Continue => return Ok(Flow::Continue),
            StatementKind::Unsupported(tag) => {
                return Err(format!("'{tag}' is not supported in a chat template"));
            }
        }
        Ok(Flow::On)
    }

    fn body_text(&mut self, body: &'t Block) -> Result<Value, Fault> {
        self.captured(|own| own.framed(own.frame, |own| own.block(body).map(|_| ())))
    }

    fn filtered(&mut self, mut value: Value, filters: &'t [Filter]) -> Result<Value, Fault> {
        for filter in filters {
            let given = self.given(&filter.arguments)?;
            value = filters::apply(self, &filter.name, value, given)?;
        }
        Ok(value)
    }

    fn define(&mut self, written: &'t Macro) -> Result<usize, Fault> {
        self.work.spend(ENTRY)?;
        self.macros.push(Defined {
            written,
            frame: self.here(),
        });
        Ok(self.macros.len() - 1)
    }

    fn run_loop(&mut self, written: &'t For, over: &Value, depth: usize) -> Result<(), Fault> {
        let mut entries = over.entries(&mut self.work)?;
        if let Some(condition) = &written.condition {
            let mut kept = Vec::new();
            for entry in entries {
                let keeps = self.framed(self.frame, |own| {
                    own.assign_to(&written.target, entry.clone())?;
                    own.value(condition)
                })?;
                if keeps.is_true() {
                    kept.push(entry);
                }
            }
            entries = kept;
        }
        if entries.is_empty() {
            return self
                .framed(self.frame, |own| own.block(&written.otherwise))
                .map(|_| ());
        }
        let count = entries.len();
        let at = self.loops.len();
        self.work.spend(4 * ENTRY)?;
        self.loops.push(Loop {
            entries,
            at: 0,
            depth,
            last: None,
            recursive: written.recursive.then(|| (written, self.here())),
        });
        for turn in 0..count {
            self.work.spend(STEP)?;
            self.loops[at].at = turn;
            let entry = self.loops[at].entries[turn].clone();
            let flow = self.framed(self.frame, |own| {
                own.assign("loop", Value::Object(Object::Loop(at)))?;
                own.assign_to(&written.target, entry)?;
                own.block(&written.body)
            })?;
            if flow == Flow::Break {
                break;
            }
        }
        Ok(())
    }

    /// `loop(…)` in a recursive loop.
    pub(super) fn recurse(&mut self, at: usize, over: &Value) -> Result<Value, Fault> {
        let Some((written, frame)) = self.loops[at].recursive else {
            return Err("this loop is not recursive".into());
        };
        let depth = self.loops[at].depth + 1;
        let (frame, here) = (self.remembered(frame), self.frame);
        self.work.enter()?;
        self.frame = frame;
        let written = self.captured(|own| own.run_loop(written, over, depth));
        self.frame = here;
        self.work.leave();
        written
    }

    /// Calls a macro; `caller` is the body of a call block.
    pub(super) fn call_macro(
        &mut self,
        at: usize,
        given: Given,
        caller: Option<usize>,
    ) -> Result<Value, Fault> {
        let Defined { written, frame } = self.macros[at];
        let frame = self.remembered(frame);
        let Given { plain, named } = given;
        let (line, names) = (self.line, &written.parameters);
        self.work.enter()?;
        let text = self.captured(|own| {
            own.framed(frame, |own| {
                let extra = plain.get(names.len()..).unwrap_or_default().to_vec();
                let mut unknown = Vec::new();
                for (name, value) in named {
                    // The name is compared with each parameter's name.
                    own.work.spend_each(names.len(), 1 + name.len() / 8)?;
                    match names.iter().position(|(own, _)| *own == name) {
                        Some(at) if at < plain.len() => {
                            return Err(format!(
                                "macro '{}' was given '{name}' twice",
                                written.name
                            ));
                        }
                        Some(at) => own.assign(&names[at].0, value)?,
                        None if name == "caller" => own.assign("caller", value)?,
                        None => unknown.push((Value::from(name), value)),
                    }
                }
                for (at, (name, default)) in names.iter().enumerate() {
                    if let Some(value) = plain.get(at) {
                        own.assign(name, value.clone())?;
                    } else if !own.frames[own.frame].variables.contains_key(name.as_str()) {
                        let value = match default {
                            Some(default) => own.value(default)?,
                            None => Value::undefined(&format!("parameter '{name}' was not given")),
                        };
                        own.assign(name, value)?;
                    }
                }
                if let Some(caller) = caller {
                    own.assign("caller", Value::Object(Object::Caller(caller)))?;
                }
                if !extra.is_empty() && !written.takes_more {
                    return Err(format!(
                        "macro '{}' takes not more than {} arguments",
                        written.name,
                        names.len()
                    ));
                }
                if let Some((name, _)) = unknown.first()
                    && !written.takes_other_names
                {
                    return Err(format!(
                        "macro '{}' takes no argument '{}'",
                        written.name,
                        name.as_str().unwrap_or_default()
                    ));
                }
                if written.takes_more {
                    let extra = Value::tuple(extra, &mut own.work)?;
                    own.assign("varargs", extra)?;
                }
                if written.takes_other_names {
                    let unknown = Value::dictionary(unknown, &mut own.work)?;
                    own.assign("kwargs", unknown)?;
                }
                own.block(&written.body).map(|_| ())
            })
        })?;
        self.work.leave();
        self.line = line;
        Ok(text)
    }
}
