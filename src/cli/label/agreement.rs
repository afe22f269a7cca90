//! How far the labels of two people agree, as tables.

use std::io::{BufWriter, Write};

use super::super::{DONE, Failure, OrFail, table};
use juror_base::terminal::escaped;
use juror_eval::label::{Difference, LabelLine, LabelPair};
use juror_eval::report::numbers::{or_dash, share, with_ends};

pub(super) fn print(pair: &LabelPair) -> Result<u8, Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let [first, second] = pair
        .annotators
        .each_ref()
        .map(|name| escaped(name).into_owned());
    writeln!(
        out,
        "{first} and {second}: {} samples labelled by both, {} by one of them\n",
        pair.both(),
        pair.of_one.len()
    )
    .or_fail()?;
    let rows: Vec<[String; 5]> = pair
        .tasks
        .iter()
        .map(|(task, scores)| {
            let agree = scores.accuracy;
            let [[neither, _, _], [_, both, _]] = scores.confusion.counts;
            let kappa = or_dash(scores.kappa, |kappa| {
                with_ends(kappa.value, kappa.interval, " to ", |kappa| {
                    format!("{kappa:.2}")
                })
            });
            [
                task.name().to_owned(),
                agree.all.to_string(),
                share(Some(agree)),
                kappa,
                format!("{both} true, {neither} false"),
            ]
        })
        .collect();
    let header = ["", "labels", "agreement", "kappa", "both say"];
    table::write(&mut out, header, &rows)?;
    if !pair.differing.is_empty() {
        writeln!(out, "\nthey disagree on\n").or_fail()?;
        let rows: Vec<[String; 4]> = pair.differing.iter().map(row).collect();
        table::write(&mut out, ["sample", &first, &second, "notes"], &rows)?;
    }
    out.flush().or_fail()?;
    Ok(DONE)
}

fn row(difference: &Difference) -> [String; 4] {
    let [first, second] = difference.said.each_ref();
    let labels = [first, second].into_iter().flatten();
    let notes: Vec<&str> = labels.filter_map(|label| label.note.as_deref()).collect();
    let said = |label: &Option<LabelLine>| or_dash(label.as_ref(), words);
    let notes = Some(notes.join(" / ")).filter(|notes| !notes.is_empty());
    let notes = or_dash(notes, |notes| notes);
    [difference.id.clone(), said(first), said(second), notes]
}

fn words(label: &LabelLine) -> String {
    let word = |what: &str, value: Option<bool>| {
        value.map(|value| format!("{what} {}", if value { "right" } else { "wrong" }))
    };
    let words = [
        word("answer", label.outcome),
        word("derivation", label.process),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    words.join(", ")
}
