//! Tables and text on standard output, as wide as the terminal is.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use console::{Alignment, Term, measure_text_width, pad_str};

use super::{Failure, OrFail};
use juror_base::terminal::escaped;

/// The width of a text that goes to a file or a program.
const WITHOUT_TERMINAL: usize = 80;

/// The width of the terminal; `None` if standard output is no terminal.
pub(super) fn columns() -> Option<usize> {
    let terminal = std::io::stdout().is_terminal();
    terminal.then(|| usize::from(Term::stdout().size().1))
}

/// Columns as wide as their widest entry; the last one ends where it ends. Where the terminal is too narrow, a paragraph for
/// each row, without the entries that are a dash.
pub(super) fn write<'h>(
    out: &mut impl Write,
    header: impl IntoIterator<Item = &'h str>,
    rows: &[impl AsRef<[String]>],
) -> Result<(), Failure> {
    let header: Vec<Cow<str>> = header.into_iter().map(escaped).collect();
    let rows = rows.iter().map(AsRef::as_ref);
    let rows: Vec<Vec<Cow<str>>> = rows
        .map(|row| row.iter().map(|cell| escaped(cell)).collect())
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&header]).map(|row| &row[column]);
        cells.map(|cell| measure_text_width(cell)).max()
    };
    let widths: Vec<usize> = (0..header.len()).filter_map(width).collect();
    let whole = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
    if let Some(columns) = columns().filter(|&columns| columns < whole) {
        for row in &rows {
            writeln!(out, "{}", row[0]).or_fail()?;
            let cells = header.iter().zip(row).skip(1);
            let told = cells.filter(|(_, cell)| *cell != "–");
            let text: Vec<String> = told.map(|(name, cell)| format!("{name} {cell}")).collect();
            for line in wrapped(&text.join(" · "), columns.saturating_sub(2)) {
                writeln!(out, "  {line}").or_fail()?;
            }
        }
        return Ok(());
    }
    for row in std::iter::once(&header).chain(&rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&pad_str(cell, width + 2, Alignment::Left, None));
        }
        writeln!(out, "{}", line.trim_end()).or_fail()?;
    }
    Ok(())
}

/// A heading, with an empty line after it.
pub(super) fn write_heading(out: &mut impl Write, text: &str) -> Result<(), Failure> {
    writeln!(out, "{}\n", escaped(text)).or_fail()
}

/// A paragraph, with an empty line before it.
pub(super) fn write_text(out: &mut impl Write, text: &str) -> Result<(), Failure> {
    writeln!(out).or_fail()?;
    for line in wrapped(&escaped(text), columns().unwrap_or(WITHOUT_TERMINAL)) {
        writeln!(out, "{line}").or_fail()?;
    }
    Ok(())
}

/// A text of lines of its own after a prefix, broken where the terminal ends; what goes elsewhere is not broken.
pub(super) fn write_lines(out: &mut impl Write, prefix: &str, text: &str) -> Result<(), Failure> {
    let columns = columns().map(|columns| columns.saturating_sub(measure_text_width(prefix)));
    for line in text.lines() {
        let parts = columns.map_or_else(|| vec![line.to_owned()], |columns| wrapped(line, columns));
        for part in parts {
            writeln!(out, "{prefix}{part}").or_fail()?;
        }
    }
    Ok(())
}

/// A text in lines of at most so many columns, broken between words.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if measure_text_width(line) + 1 + measure_text_width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
