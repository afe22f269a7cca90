//! Other ways to read what was taken for an answer: a verdict of "different" stands only if none of them is equal.

use crate::config::DecimalMark::{self, Point};
use crate::lexicon::numbers::roman;

/// How many sides of a chain are looked at.
const MOST_SIDES: usize = 8;

/// What else `text` may be meant as: a mixed number with "and", a side of a chain of roundings, points between groups of three digits, the
/// engineers' imaginary unit, an age, Roman numerals, a unit with all that follows its slash below it.
pub(crate) fn of(text: &str, decimal: Option<DecimalMark>) -> Vec<String> {
    let mut found = Vec::new();
    // "5 and 1/4 yards"
    if let Some((whole, part)) = text.split_once(" and ")
        && part.starts_with(|it: char| it.is_ascii_digit())
    {
        found.push(format!("{whole} {part}"));
    }
    // "2πr = 18.85 ≈ 19"
    let list = text.contains(", ") || text.contains(" and ");
    if !list && (text.contains(['≈', '=']) || text.contains("\\approx")) {
        let signs = text.replace("\\approx", "≈");
        let sides: Vec<&str> = signs.split(['≈', '=']).collect();
        if sides.len() > 2 || signs.contains('≈') {
            let sides = sides.into_iter().rev().take(MOST_SIDES);
            found.extend(sides.map(|it| it.trim().to_owned()));
        }
    }
    // "12.000 Besucher"; 1.234 alone is a decimal.
    let end = text.find(|it: char| !(it.is_ascii_digit() || it == '.'));
    let (number, rest) = text.split_at(end.unwrap_or(text.len()));
    let mut groups = number.split('.');
    let first = groups.next().is_some_and(|it| matches!(it.len(), 1..=3));
    let plain = rest.is_empty() || number.starts_with('0') || !number.contains('.');
    if first && !plain && decimal != Some(Point) && groups.all(|it| it.len() == 3) {
        found.push(number.replace('.', "") + rest);
    }
    // "3 − 4j"
    if let Some((before, after)) = text.split_once('j')
        && !before.ends_with(char::is_alphabetic)
        && !after.contains(char::is_alphabetic)
    {
        found.push(format!("{before}i{after}"));
    }
    // "23 y/o"
    found.extend(text.strip_suffix(" y/o").map(str::to_owned));
    // "4.2 J/g°C"
    if let Some((above, below)) = text.split_once('/')
        && let Some((first, degrees)) = below.split_once('°')
        && first.ends_with(char::is_alphabetic)
    {
        found.push(format!("{above}/({first}·°{degrees})"));
    }
    if text.len() > 1 {
        found.extend(roman(text).map(|it| it.to_string()));
    }
    found
}
