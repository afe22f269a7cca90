//! LaTeX of untrusted text as `MathML` that can be put into a page.
//!
//! `pulldown-latex` parses and writes; it leaves function names, `<` and `&` as they are, and its work is not bounded by the source's size. So the source is
//! checked first (length, nesting, macros, whatever hides text), its events while they are written (dimensions, colours), and the output is parsed again:
//! tags, attributes and their values are compared with lists, and all text is escaped here. A formula that fails any of this stays text.

use std::fmt::Write as _;
use std::io;

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::event::{
    ColorChange, ColorTarget, Content, Dimension, DimensionUnit, EnvironmentFlow, Event,
    StateChange, Visual,
};
use pulldown_latex::mathml::write_mathml;
use pulldown_latex::{Parser, Storage};

use super::text::escape_into;
use juror_base::panics::guarded;
use juror_base::terminal::is_hidden;

/// The longest source of a formula, in bytes.
pub(super) const MAX_SOURCE: usize = 4096;

/// The most commands in a formula: each may be the argument of the one before, for which the parser recurses.
const MAX_COMMANDS: usize = 400;

/// The deepest nesting of groups, environments and `\left … \right`: the parser reads their content once for each level.
const MAX_NESTING: usize = 24;

/// The deepest nesting of tags in the result.
const MAX_DEPTH: usize = 96;

/// The most bytes of the result for each byte of the source: an array's column lines are written for each of its rows.
const MAX_GROWTH: usize = 64;

/// Commands that are refused: those that define commands, and those that discard their arguments.
const REFUSED: &str =
    "def edef gdef xdef let futurelet newcommand renewcommand providecommand sideset label";

/// Commands that the parser does not know, with replacements. The colour stands for a frame; other colours are left out.
const REWRITTEN: [(&str, &str); 11] = [
    ("boxed", r"\textcolor{#010203}"),
    ("fbox", r"\textcolor{#010203}\text"),
    ("tag", r"\qquad\text"),
    ("mbox", r"\text"),
    ("hbox", r"\text"),
    ("textnormal", r"\text"),
    ("emph", r"\textit"),
    ("nonumber", r"{}"),
    ("notag", r"{}"),
    ("bcancel", r"\cancel"),
    ("xcancel", r"\cancel"),
];

/// The colour that stands for a frame.
const FRAME: (u8, u8, u8) = (1, 2, 3);

/// A formula as a `<math>` element; `None` if it is not understood, or must not be shown as one.
pub(super) fn mathml(source: &str, display: bool) -> Option<String> {
    let prepared = prepared(source)?;
    let written = guarded(|| written(&prepared, display)).ok().flatten()?;
    checked(&written)
}

/// The source in commands that the parser knows; `None` if it is refused.
fn prepared(source: &str) -> Option<String> {
    let is_refused = |character: char| is_hidden(character) && !matches!(character, '\n' | '\t');
    if source.trim().is_empty() || source.len() > MAX_SOURCE || source.contains(is_refused) {
        return None;
    }
    let mut prepared = String::with_capacity(source.len() + 64);
    let (mut rest, mut commands, mut depth) = (source, 0_usize, 0_usize);
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        match character {
            // A comment is text that would be hidden.
            '%' => return None,
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            '\\' => {
                commands += 1;
                let letters = after.find(|letter: char| !letter.is_ascii_alphabetic());
                let name = &after[..letters.unwrap_or(after.len())];
                if name.is_empty() {
                    // A command of one character, of any kind.
                    let symbol = after.chars().next()?;
                    prepared.push('\\');
                    prepared.push(symbol);
                    rest = &after[symbol.len_utf8()..];
                    continue;
                }
                match name {
                    "begin" | "begingroup" | "left" => depth += 1,
                    "end" | "endgroup" | "right" => depth = depth.checked_sub(1)?,
                    name if REFUSED.split(' ').any(|one| one == name) => return None,
                    _ => {}
                }
                rest = &after[name.len()..];
                if let Some((_, to)) = REWRITTEN.iter().find(|(from, _)| *from == name) {
                    prepared.push_str(to);
                } else {
                    prepared.push('\\');
                    prepared.push_str(name);
                    if name == "operatorname" {
                        rest = rest.strip_prefix('*').unwrap_or(rest);
                    }
                }
                if depth > MAX_NESTING || commands > MAX_COMMANDS {
                    return None;
                }
                continue;
            }
            _ => {}
        }
        if depth > MAX_NESTING {
            return None;
        }
        prepared.push(character);
        rest = after;
    }
    (depth == 0).then_some(prepared)
}

/// The parser's output; `None` at its first error.
fn written(source: &str, display: bool) -> Option<Vec<u8>> {
    let storage = Storage::new();
    let mut failed = false;
    // Texts and names of functions are parts of the source; a command without braces takes all of the rest.
    let mut texts = 0;
    let events = Parser::new(source, &storage)
        .take_while(|event| {
            failed |= event.is_err();
            !failed
        })
        .filter_map(|event| match event.map(harmless) {
            Ok(event) => event.map(Ok),
            Err(error) => Some(Err(error)),
        })
        .inspect(|event| {
            if let Ok(Event::Content(Content::Text(text) | Content::Function(text))) = event {
                texts += text.len();
            }
        });
    let mut bounded = Bounded {
        bytes: Vec::new(),
        most: source.len() * MAX_GROWTH + 4096,
    };
    let (block, inline) = (DisplayMode::Block, DisplayMode::Inline);
    let config = RenderConfig {
        display_mode: if display { block } else { inline },
        ..RenderConfig::default()
    };
    write_mathml(&mut bounded, events, config).ok()?;
    // A command's name in it would be shown as text.
    (!failed && texts <= 2 * source.len()).then_some(bounded.bytes)
}

/// An event whose dimensions stay within their place, without colours; `None` for a colour.
fn harmless(event: Event<'_>) -> Option<Event<'_>> {
    Some(match event {
        Event::StateChange(StateChange::Color(change)) => {
            if change.color != FRAME || change.target != ColorTarget::Text {
                return None;
            }
            Event::StateChange(StateChange::Color(ColorChange {
                target: ColorTarget::Border,
                ..change
            }))
        }
        // A space in text, which the writer would show as the name of the entity.
        Event::Content(Content::Text("&nbsp;")) => space(0.25),
        Event::Space { width, .. } => space(width.map_or(0.0, |width| ems(width).clamp(0.0, 4.0))),
        Event::Visual(Visual::Fraction(Some(line))) => {
            let line = Dimension::new(ems(line).clamp(0.0, 0.2), DimensionUnit::Em);
            Event::Visual(Visual::Fraction(Some(line)))
        }
        Event::EnvironmentFlow(EnvironmentFlow::NewLine {
            horizontal_lines, ..
        }) => Event::EnvironmentFlow(EnvironmentFlow::NewLine {
            spacing: None,
            horizontal_lines,
        }),
        event => event,
    })
}

fn space(ems: f32) -> Event<'static> {
    Event::Space {
        width: Some(Dimension::new(ems, DimensionUnit::Em)),
        height: None,
        depth: None,
    }
}

fn ems(length: Dimension) -> f32 {
    let value = match length.unit {
        DimensionUnit::Em => 1.0,
        DimensionUnit::Mu => 1.0 / 18.0,
        DimensionUnit::Ex => 0.5,
        DimensionUnit::Sp => 0.1 / 65536.0,
        DimensionUnit::Pt | DimensionUnit::Bp | DimensionUnit::Dd => 0.1,
        DimensionUnit::Pc | DimensionUnit::Cc => 1.2,
        DimensionUnit::Mm => 0.28,
        DimensionUnit::Cm => 2.8,
        DimensionUnit::In => 7.2,
    } * length.value;
    if value.is_finite() { value } else { 0.0 }
}

/// A writer with a limit on its bytes.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Elements that hold text.
const LEAVES: [&str; 4] = ["mi", "mn", "mo", "mtext"];

/// Elements that hold elements, by their number; 0 stands for any number.
const NODES: [(usize, &str); 3] = [
    (0, "math mrow msqrt mtable mtr mtd"),
    (2, "mroot mfrac msub msup munder mover"),
    (3, "msubsup munderover"),
];

/// Attributes whose values are numbers with `em`.
const LENGTHS: [&str; 4] = ["width", "linethickness", "minsize", "maxsize"];

/// Attributes whose values are `true` or `false`.
const FLAGS: &str = "displaystyle stretchy symmetric largeop movablelimits";

/// The output, parsed again and written from lists of elements and attributes; `None` if anything is not on them.
fn checked(written: &[u8]) -> Option<String> {
    let mut rest = std::str::from_utf8(written).ok()?;
    let mut html = String::with_capacity(written.len());
    // Open elements, each with the number of its children so far.
    let mut open: Vec<((&str, usize), usize)> = Vec::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix('<')?;
        if let Some(closing) = rest.strip_prefix('/') {
            let (name, after) = closing.split_once('>')?;
            let ((opened, wanted), children) = open.pop()?;
            if opened != name || (wanted != 0 && wanted != children) {
                return None;
            }
            // Writing to a string does not fail.
            let _ = write!(html, "</{name}>");
            rest = after;
            if open.is_empty() {
                break;
            }
            continue;
        }
        match open.last_mut() {
            Some((_, children)) => *children += 1,
            None => {
                if !html.is_empty() || !rest.starts_with("math ") {
                    return None;
                }
            }
        }
        let end = rest.find(|letter: char| !letter.is_ascii_alphabetic())?;
        let (name, after) = rest.split_at(end);
        let _ = write!(html, "<{name}");
        let (after, closes) = attributes(after, &mut html)?;
        rest = after;
        html.push('>');
        let is_node = |(_, names): &&(_, &str)| names.split(' ').any(|node| node == name);
        if let Some((wanted, _)) = NODES.iter().find(is_node) {
            open.push(((name, *wanted), 0));
            if closes || open.len() > MAX_DEPTH {
                return None;
            }
        } else if LEAVES.contains(&name) {
            let closing = format!("</{name}>");
            let (text, after) = rest.split_once(&closing)?;
            leaf(name, text, &mut html)?;
            html.push_str(&closing);
            rest = after;
        } else if name == "mspace" && closes {
            html.push_str("</mspace>");
        } else {
            return None;
        }
    }
    (open.is_empty() && rest.is_empty()).then_some(html)
}

/// Reads attributes up to `>` and writes the known ones. Returns what follows, and whether the element ends there.
fn attributes<'t>(mut rest: &'t str, html: &mut String) -> Option<(&'t str, bool)> {
    let mut classes = String::new();
    loop {
        rest = rest.trim_start_matches(' ');
        let closes = rest.starts_with("/>");
        if closes || rest.starts_with('>') {
            if !classes.is_empty() {
                let _ = write!(html, " class=\"{classes}\"");
            }
            return Some((&rest[if closes { 2 } else { 1 }..], closes));
        }
        let (name, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        rest = after;
        let is_value = match name {
            "style" => {
                // Styles are colours, which are left out, and frames.
                if value.starts_with("border: ") {
                    let gap = if classes.is_empty() { "" } else { " " };
                    classes.extend([gap, "boxed"]);
                }
                continue;
            }
            "class" => {
                let is_class = |letter: char| letter.is_ascii_lowercase() || " -".contains(letter);
                if !value.chars().all(is_class) {
                    return None;
                }
                if !classes.is_empty() {
                    classes.push(' ');
                }
                classes.push_str(value);
                continue;
            }
            "display" => matches!(value, "inline" | "block"),
            "scriptlevel" => matches!(value, "0" | "1" | "2"),
            "mathvariant" => value == "normal",
            name if FLAGS.split(' ').any(|flag| flag == name) => matches!(value, "true" | "false"),
            name if LENGTHS.contains(&name) => value.strip_suffix("em").is_some_and(|number| {
                number
                    .chars()
                    .all(|digit| digit.is_ascii_digit() || digit == '.')
                    && number.parse::<f32>().is_ok_and(|number| number <= 8.0)
            }),
            _ => false,
        };
        if !is_value {
            return None;
        }
        let _ = write!(html, " {name}=\"{value}\"");
    }
}

/// Writes the text of an element, escaped.
fn leaf(name: &str, text: &str, html: &mut String) -> Option<()> {
    if name != "mtext" {
        // A symbol, a number, or the name of a function.
        let is_name =
            |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '.' | ',');
        if text.chars().nth(2).is_some() && !text.chars().all(is_name) {
            return None;
        }
        // Function application, which the writer adds.
        if text == "\u{2061}" {
            html.push_str(text);
            return Some(());
        }
        if text.contains(is_hidden) {
            return None;
        }
        escape_into(html, text, false);
        return Some(());
    }
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        escape_into(html, before, false);
        let (entity, after) = after.split_once(';')?;
        escape_into(
            html,
            match entity {
                "amp" => "&",
                "lt" => "<",
                "gt" => ">",
                "nbsp" => "\u{a0}",
                _ => return None,
            },
            false,
        );
        rest = after;
    }
    escape_into(html, rest, false);
    Some(())
}
