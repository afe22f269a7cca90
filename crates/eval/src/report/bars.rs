//! Small plots for a terminal: horizontal bars, as wide as there is room.

use crate::eval::{Reliability, Verdicts};

/// Columns of a bar, at least and at most.
const WIDTH: (usize, usize) = (8, 32);

/// Eighths of a full block, from one to eight.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Bars of a histogram of tokens.
const TOKEN_BARS: usize = 8;

/// A bar with what stands before and after it; its length is of 1.
struct Bar {
    name: String,
    length: f64,
    note: String,
}

/// How often verdicts with these probabilities are labelled true.
pub fn reliability(of: &Reliability, columns: usize) -> Vec<String> {
    let bars = of.bins.iter().filter_map(|bin| {
        let (probability, observed) = (bin.probability?, bin.observed?);
        Some(Bar {
            name: format!("{probability:.2}"),
            length: observed,
            note: format!("{:.0} % true of {}", 100.0 * observed, bin.count),
        })
    });
    lines(&bars.collect::<Vec<_>>(), columns)
}

/// How many verdicts took so many tokens.
pub fn tokens(verdicts: &Verdicts, columns: usize) -> Vec<String> {
    let generated = verdicts.scored.iter().map(|one| one.generated);
    let longest = generated.clone().max().unwrap_or(0);
    if longest == 0 {
        return Vec::new();
    }
    let step = longest as usize / TOKEN_BARS + 1;
    let mut counts = vec![0_usize; longest as usize / step + 1];
    for tokens in generated {
        counts[tokens as usize / step] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let bars = counts.iter().enumerate().map(|(at, &count)| Bar {
        name: if step == 1 {
            at.to_string()
        } else {
            format!("{}–{}", at * step, (at + 1) * step - 1)
        },
        length: count as f64 / most as f64,
        note: count.to_string(),
    });
    lines(&bars.collect::<Vec<_>>(), columns)
}

/// The columns of figures and blocks, one each.
fn width_of(text: &str) -> usize {
    text.chars().count()
}

/// The bars in lines of at most so many columns; empty if there is no room for them.
fn lines(bars: &[Bar], columns: usize) -> Vec<String> {
    let widest = |of: fn(&Bar) -> &str| bars.iter().map(|bar| width_of(of(bar))).max();
    let names = widest(|bar| &bar.name).unwrap_or(0);
    let notes = widest(|bar| &bar.note).unwrap_or(0);
    let room = columns.saturating_sub(2 + names + 2 + 2 + notes);
    if room < WIDTH.0 {
        return Vec::new();
    }
    let width = room.min(WIDTH.1);
    let line = |bar: &Bar| {
        let eighths = (bar.length.clamp(0.0, 1.0) * (8 * width) as f64).round() as usize;
        let mut drawn = "█".repeat(eighths / 8);
        drawn.extend(
            eighths
                .checked_rem(8)
                .filter(|rest| *rest > 0)
                .map(|rest| EIGHTHS[rest - 1]),
        );
        let blank = " ".repeat(width - width_of(&drawn).min(width));
        let before = " ".repeat(names - width_of(&bar.name));
        format!("  {before}{}  {drawn}{blank}  {}", bar.name, bar.note)
    };
    bars.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
