//! What a sentence's items come to: which of them are the answer, and how it is written out.

use std::borrow::Cow;
use std::ops::Range;

use super::items::{Candidate, Form, Item, Read, Source, WINDOW, items};
use super::markup::{trim_markup, without_markup};
use super::{chain, formulas, ratio, words};

/// Which items, from `first` on, state one answer together: the index after them.
pub(super) fn joined_forward(source: Source<'_, '_>, items: &[Item], first: usize) -> usize {
    let mut last = first;
    while let (Some(item), Some(next)) = (items.get(last), items.get(last + 1)) {
        if !joins(source, item, next) {
            break;
        }
        last += 1;
    }
    last + 1
}

/// Do two neighbouring items belong to one list?
fn joins(source: Source<'_, '_>, item: &Item, next: &Item) -> bool {
    if next.negated || item.segment != next.segment || item.end > next.value.start {
        return false;
    }
    let gap = source.text[item.end..next.value.start].trim_matches([' ', '*', '~', '\n', '_']);
    let word = gap.trim_start_matches([',', ';', '&', ' ']);
    let either = words::JOINS_EITHER.contains(word);
    let connected = !gap.is_empty() && word.is_empty() || words::JOINS_ITEMS.contains(word);
    let compound =
        gap.is_empty() && item.tail.measured && next.tail.measured && item.number && next.number;
    // A number with what it counts joins only another such.
    let alike = item.symbol == next.symbol
        && (item.kind == next.kind || (item.number && next.number))
        && (item.tail.unit.is_empty()
            || !next.tail.unit.is_empty()
            || item.tail.measured && either)
        && (!item.tail.unit.is_empty()
            || next.tail.unit.is_empty()
            || word.len() == gap.len()
            || item.kind == Form::Formula);
    (connected || compound) && alike
}

/// What stands between all of several answers, and between those of which one is meant.
pub(super) const JOINED: [&str; 2] = [", ", " or "];

/// Writes items out as one answer.
pub(super) fn render<'t>(source: Source<'t, '_>, items: &[Item]) -> Read<'t> {
    let (first, last) = (items.first()?, items.last()?);
    let range = first.value.start..last.end;
    let kind = first.kind;
    if items.len() == 1 {
        let text = write(source, first);
        return (!text.is_empty()).then_some(Candidate { text, kind, range });
    }
    let measured = items.iter().all(|item| {
        item.kind == Form::Plain && item.number && item.tail.measured && item.tail.unit.len() > 1
    });
    let different = items.iter().skip(1).all(|item| {
        source.text[item.value.end..item.end] != source.text[first.value.end..first.end]
    });
    let either = items.windows(2).any(|it| {
        let gap = &source.text[it[0].end..it[1].value.start];
        words::words_of(gap).any(|it| words::JOINS_EITHER.contains(it))
    });
    if measured && different && !either {
        // "3 hours and 20 minutes": one quantity.
        let end = last.value.end + last.tail.unit.end;
        let text = Cow::Borrowed(&source.text[range.start..end]);
        return Some(Candidate { text, kind, range });
    }
    let parts: Vec<Cow<'t, str>> = items.iter().map(|item| write(source, item)).collect();
    let joined = JOINED[usize::from(measured && either)];
    let text = Cow::Owned(parts.join(joined));
    Some(Candidate { text, kind, range })
}

fn write<'t>(source: Source<'t, '_>, item: &Item) -> Cow<'t, str> {
    let text = source.text;
    if let Some(base) = &item.tail.base {
        let value = match item.kind {
            Form::Formula => formulas::content(source, item.value.clone()),
            _ => Cow::Borrowed(&text[item.value.clone()]),
        };
        let base = &text[item.value.end + base.start..item.value.end + base.end];
        return Cow::Owned(format!("{value}_{{{base}}}"));
    }
    let unit = &text[item.value.end + item.tail.unit.start..item.value.end + item.tail.unit.end];
    let value: Cow<'t, str> = match item.kind {
        Form::Formula => formulas::content(source, item.value.clone()),
        _ => match ratio::mixed(&text[item.value.clone()]) {
            // "three and a half"
            Some((mixed, _)) => Cow::Owned(mixed),
            None => chain::result(&text[item.value.clone()]),
        },
    };
    let value = match value {
        Cow::Borrowed(value) => {
            // The unit stands right after it: nothing has to be copied.
            if item.kind == Form::Plain && !unit.is_empty() && item.tail.unit.start == 0 {
                let start = item.value.end - value.len();
                let end = item.value.end + item.tail.unit.end;
                if text.get(start..item.value.end) == Some(value) {
                    return without_markup(&text[start..end]);
                }
            }
            Cow::Borrowed(trim_markup(value))
        }
        Cow::Owned(value) => Cow::Owned(trim_markup(&value).to_owned()),
    };
    let unit = unit.trim_matches([' ', '~', '*', '$']);
    if unit.is_empty() {
        return value;
    }
    let glued = unit.starts_with(['%', '\\', '^', '°']);
    let gap = if glued { "" } else { " " };
    Cow::Owned(format!("{value}{gap}{unit}"))
}

/// What a sentence states, where it is not said which of its numbers it is.
pub(super) fn sentence<'t>(source: Source<'t, '_>, range: Range<usize>) -> Read<'t> {
    // Of a very long sentence the end counts.
    let start = if range.len() > WINDOW {
        let cut = source.text.ceil_char_boundary(range.end - WINDOW);
        // Between words: the end of a number is another number.
        let cut = cut + source.text[cut..range.end].find(' ')?;
        match source.regions.formula_at(cut) {
            Some((_, formula)) if formula.start < cut => formula.end.min(range.end),
            _ => cut,
        }
    } else {
        range.start
    };
    let all = items(source, start..range.end);
    if let Some(ratio) = stated_ratio(source, &all, start..range.end) {
        return Some(ratio);
    }
    let chosen = choose(source, &all, start)?;
    let (first, end) = chosen;
    render(source, &all[first..end])
}

/// "The ratio of boys to girls is 1 to 2", "the chance is 1 in 8".
fn stated_ratio<'t>(source: Source<'t, '_>, all: &[Item], range: Range<usize>) -> Read<'t> {
    let first = all.iter().find(|item| {
        let before = &source.text[..item.value.start];
        item.number
            && (words::BINDER.contains(words::last_word(before))
                || before.trim_end_matches([' ', '*']).ends_with(':'))
    })?;
    let at = first.value.start;
    let mut about = words::words_of(&source.text[range.start..at]);
    if !about.any(|word| words::RATIO.contains(word)) {
        return None;
    }
    let (text, length) = ratio::leading(&source.text[at..range.end])?;
    Some(Candidate::new(text, Form::Plain, at..at + length))
}

fn choose(source: Source<'_, '_>, all: &[Item], start: usize) -> Option<(usize, usize)> {
    let said = all.iter().filter(|item| !item.negated);
    let segment = said.map(|item| item.segment).max()?;
    let within: Vec<usize> = (0..all.len())
        .filter(|&index| all[index].segment == segment && !all[index].negated)
        .collect();
    let first = *within.first()?;
    // "12 is the number of ways …".
    let head =
        source.text[start..all[first].value.start].trim_matches(|it: char| !it.is_alphanumeric());
    let after = source.text[all[first].end..].trim_start_matches([' ', '*']);
    if words::first_word(head).len() == head.len()
        && (head.is_empty() || words::CONCLUDING.contains(head))
        && (words::STATES_OF_NUMBER.begin(after)).is_some_and(|it| it.1.starts_with(' '))
    {
        return Some((first, joined_forward(source, all, first)));
    }
    let keep = |from: Vec<usize>, test: &dyn Fn(&Item) -> bool| -> Vec<usize> {
        let kept: Vec<usize> = from.iter().copied().filter(|&it| test(&all[it])).collect();
        if kept.is_empty() { from } else { kept }
    };
    let kept = keep(within, &|item| !item.symbol);
    let kept = keep(kept, &|item| !item.weak);
    let last = *kept.last()?;
    let mut from = last;
    while from > 0 && !all[from - 1].negated && joins(source, &all[from - 1], &all[from]) {
        from -= 1;
    }
    Some((from, joined_forward(source, all, last)))
}
