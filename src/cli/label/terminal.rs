//! The queue in a terminal, or a line of standard input for each key.

use std::io::{BufRead, IsTerminal, StdinLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use console::{Key, Term, style};
use serde_json::Value;

use super::super::{DONE, Failure, INTERRUPTED, OrFail, table};
use juror_base::terminal::{escaped, escaped_lines};
use juror_data::Sample;
use juror_data::verdict::Status;
use juror_eval::label::{Said, Session, Shown};

/// What is to be done next.
enum Command {
    /// Label the sample, perhaps with a note.
    Label(Said, Option<String>),
    /// Write a note, or take the rest of the line for one.
    Note(Option<String>),
    Skip,
    Undo,
    Quit,
    /// A key without a meaning.
    Unknown,
    /// Ctrl-C.
    Interrupt,
}

enum Keys {
    Terminal(Term),
    Lines(StdinLock<'static>),
}

impl Keys {
    fn next(&mut self) -> std::io::Result<Command> {
        match self {
            Self::Terminal(terminal) => Ok(match terminal.read_key_raw()? {
                Key::Char(key) => command(key, None),
                Key::CtrlC => Command::Interrupt,
                _ => Command::Unknown,
            }),
            Self::Lines(lines) => {
                let mut line = String::new();
                if lines.read_line(&mut line)? == 0 {
                    return Ok(Command::Quit);
                }
                let mut characters = line.trim().chars();
                let Some(key) = characters.next() else {
                    return Ok(Command::Unknown);
                };
                let rest = characters.as_str();
                // A word is no key.
                if !rest.is_empty() && !rest.starts_with(' ') {
                    return Ok(Command::Unknown);
                }
                let note = Some(rest.trim().to_owned()).filter(|note| !note.is_empty());
                Ok(command(key, note))
            }
        }
    }
}

fn command(key: char, note: Option<String>) -> Command {
    match key.to_ascii_lowercase() {
        'n' => Command::Note(note),
        's' => Command::Skip,
        'u' => Command::Undo,
        'q' => Command::Quit,
        key => Said::of_key(key).map_or(Command::Unknown, |said| Command::Label(said, note)),
    }
}

/// Asks for one sample after another.
pub(super) fn run(
    mut session: Session,
    show_verdict: bool,
    interrupted: &AtomicBool,
) -> Result<u8, Failure> {
    let mut out = std::io::stdout();
    let is_terminal = std::io::stdin().is_terminal() && out.is_terminal();
    let mut keys = if is_terminal {
        Keys::Terminal(Term::stdout())
    } else {
        Keys::Lines(std::io::stdin().lock())
    };
    let mut note: Option<String> = None;
    let mut shown: Option<String> = None;
    loop {
        let Some(sample) = session.current()? else {
            let (done, all) = session.progress();
            let skipped = match session.skipped() {
                0 => String::new(),
                count => format!("; {count} skipped, which the same command asks for again"),
            };
            writeln!(out, "\n{done} of {all} are labelled{skipped}").or_fail()?;
            return Ok(DONE);
        };
        if shown.as_deref() != Some(&sample.id) {
            show(&mut out, &session, &sample, show_verdict)?;
            shown = Some(sample.id.clone());
        }
        let command = keys.next().or_fail()?;
        if interrupted.load(Ordering::Relaxed) {
            return Ok(INTERRUPTED);
        }
        match command {
            Command::Label(said, given) => {
                session.label(&sample, said, given.or(note.take()))?;
                writeln!(out, "{}", style(format!("▸ {}", said.words())).bold()).or_fail()?;
                if !show_verdict {
                    tell_verdicts(&mut out, &session, &sample)?;
                }
            }
            Command::Note(given) => {
                let written = match &keys {
                    Keys::Terminal(terminal) => read_note(terminal).or_fail()?,
                    Keys::Lines(_) => given,
                };
                note = written.or(note);
            }
            Command::Skip => {
                session.skip();
                note = None;
                writeln!(out, "▸ skipped").or_fail()?;
                shown = None;
            }
            Command::Undo => {
                let undone = session.undo()?;
                let what = if undone {
                    (note, shown) = (None, None);
                    "undone"
                } else {
                    "there is nothing to undo"
                };
                writeln!(out, "▸ {what}").or_fail()?;
            }
            Command::Quit => {
                let (done, all) = session.progress();
                let goes_on = "the same command goes on";
                writeln!(out, "\n{done} of {all} are labelled; {goes_on}").or_fail()?;
                return Ok(DONE);
            }
            Command::Unknown => writeln!(out, "keys: {}", keys_in_words()).or_fail()?,
            Command::Interrupt => return Ok(INTERRUPTED),
        }
    }
}

fn keys_in_words() -> String {
    let answers = Said::ALL.map(|said| format!("{} {}", said.key(), said.words()));
    format!(
        "{} · n note · s skip · u undo · q quit",
        answers.join(" · ")
    )
}

fn show(
    out: &mut impl Write,
    session: &Session,
    sample: &Sample,
    show_verdict: bool,
) -> Result<(), Failure> {
    let (done, all) = session.progress();
    let heading = format!("── {} of {all} ── {}", done + 1, escaped(&sample.id));
    writeln!(out, "\n{}", style(heading).dim()).or_fail()?;
    let parts = [
        ("Question", &sample.question),
        ("Reference answer", &sample.reference_answer),
        ("Response", &sample.student_answer),
    ];
    for (name, text) in parts {
        writeln!(out, "\n{}", style(name).bold()).or_fail()?;
        table::write_lines(out, "│ ", &escaped_lines(text))?;
    }
    if show_verdict {
        writeln!(out).or_fail()?;
        tell_verdicts(out, session, sample)?;
    }
    table::write_text(out, &keys_in_words())
}

/// Tells what the judges say, and why the sample is asked for.
fn tell_verdicts(out: &mut impl Write, session: &Session, sample: &Sample) -> Result<(), Failure> {
    let reasons = session.reasons(sample).words();
    if !reasons.is_empty() {
        let text = format!("asked for: {}", reasons.join(", "));
        table::write_lines(out, "  ", &escaped(&text))?;
    }
    for shown in session.verdicts(&sample.id)? {
        table::write_lines(out, "  ", &escaped(&verdict(&shown)))?;
        let reason = shown.verdict.get("reason").and_then(Value::as_str);
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            table::write_lines(out, "  │ ", &escaped_lines(reason))?;
        }
    }
    Ok(())
}

fn verdict(shown: &Shown) -> String {
    let scored = &shown.scored;
    let word = |name: &str, value: Option<bool>| value.map(|value| format!("{name} {value}"));
    let fields = [
        word("outcome", scored.outcome),
        word("process", scored.process),
        word("overall", scored.overall),
        word("rules", scored.rules),
    ];
    let status = (scored.status != Status::Ok).then(|| scored.status.words());
    let trial = (scored.trial > 0).then(|| format!("trial {}", scored.trial));
    let said: Vec<String> = trial
        .into_iter()
        .chain(status)
        .chain(fields.into_iter().flatten())
        .collect();
    format!("{}: {}", shown.judge, said.join(", "))
}

/// Reads a note key by key, so that Ctrl-C leaves the terminal as it was; `None` of Escape or Ctrl-C.
fn read_note(terminal: &Term) -> std::io::Result<Option<String>> {
    terminal.write_str("note: ")?;
    let mut note = String::new();
    loop {
        match terminal.read_key_raw()? {
            Key::Char(character) if !character.is_control() => {
                note.push(character);
                terminal.write_str(character.encode_utf8(&mut [0; 4]))?;
            }
            Key::Backspace => {
                if let Some(last) = note.pop() {
                    terminal
                        .clear_chars(console::measure_text_width(last.encode_utf8(&mut [0; 4])))?;
                }
            }
            Key::Enter => {
                terminal.write_line("")?;
                return Ok(Some(note));
            }
            Key::Escape | Key::CtrlC => {
                terminal.write_line("")?;
                return Ok(None);
            }
            _ => {}
        }
    }
}
