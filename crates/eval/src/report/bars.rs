//! Small plots for a terminal: horizontal bars, as wide as there is room.

use crate::eval::{Reliability, Verdicts};

/// Columns of a bar, at least and at most.
const WIDTH: (usize, usize) = (8, 32);

/// Eighths of a full block, from one to eight.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// About how many bars a histogram of tokens has.
const TOKEN_BARS: f64 = 8.0;

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
    let rows = Histogram::new(verdicts, TOKEN_BARS).map_or_else(Vec::new, |found| found.rows());
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let bars = rows.into_iter().map(|(name, count)| Bar {
        name,
        length: count as f64 / most.max(1) as f64,
        note: count.to_string(),
    });
    lines(&bars.collect::<Vec<_>>(), columns)
}

/// How many verdicts took so many tokens, in columns of equal width.
pub(crate) struct Histogram {
    pub(crate) step: u32,
    pub(crate) counts: Vec<usize>,
    /// Verdicts with more tokens than the last column has: a few very long ones would put all others into one column.
    pub(crate) beyond: usize,
    pub(crate) longest: u32,
}

impl Histogram {
    /// About so many columns; `None` if nothing was generated.
    pub(crate) fn new(verdicts: &Verdicts, columns: f64) -> Option<Self> {
        let generated = verdicts.scored.iter().map(|one| one.generated);
        let mut generated: Vec<u32> = generated.collect();
        generated.sort_unstable();
        let longest = *generated.last().filter(|longest| **longest > 0)?;
        let near = generated[(0.99 * (generated.len() - 1) as f64) as usize].max(1);
        let end = if longest > 2 * near { near } else { longest };
        let rough = f64::from(end) / columns;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough).max(1.0).round() as u32;
        let mut counts = vec![0_usize; (end / step + 1) as usize];
        let mut beyond = 0;
        for tokens in generated {
            let column = counts.get_mut((tokens / step) as usize);
            *column.unwrap_or(&mut beyond) += 1;
        }
        Some(Self {
            step,
            counts,
            beyond,
            longest,
        })
    }

    /// The columns by their tokens, and those beyond them.
    pub(crate) fn rows(&self) -> Vec<(String, usize)> {
        let step = self.step as usize;
        let name = |at: usize| match step {
            1 => at.to_string(),
            _ => format!("{}–{}", at * step, (at + 1) * step - 1),
        };
        let named = |(at, count): (usize, &usize)| (name(at), *count);
        let beyond = (format!("{} or more", self.counts.len() * step), self.beyond);
        let beyond = Some(beyond).filter(|_| self.beyond > 0);
        self.counts
            .iter()
            .enumerate()
            .map(named)
            .chain(beyond)
            .collect()
    }
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
