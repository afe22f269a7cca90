//! `juror correlate`

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::output::{self, ForceArgument};
use super::{DONE, Failure, OrFail, counted, counted_are, say, table};
use juror_base::terminal::escaped;
use juror_data::output::Mark;
use juror_eval::eval::{Estimate, LinearFit, ScoreTable};
use juror_eval::report::numbers::{figure, or_dash, p_value, with_ends};
use juror_eval::report::plot::{self, Axis, Plot, document};

/// Fit trained models' scores to their verifiers' accuracies: a line, R², a plot
#[derive(Debug, Args)]
pub(super) struct CorrelateArguments {
    /// A row for each verifier, as CSV, Parquet or JSON lines: its name, its accuracy, and the scores of what was trained with it
    #[arg(required_unless_present = "json_schema")]
    table: Option<PathBuf>,
    /// The column of the verifiers' accuracy [default: the first with numbers]
    #[arg(short, long, value_name = "COLUMN")]
    x: Option<String>,
    /// The columns of scores [default: all others with numbers]
    #[arg(short, long, value_name = "COLUMN", value_delimiter = ',')]
    y: Vec<String>,
    /// The fits as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print the JSON schema of what `--json` writes, and nothing else
    #[arg(long, exclusive = true)]
    json_schema: bool,
    /// The plots as an SVG picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgument,
}

/// What `juror correlate --json` writes.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "juror correlate")]
struct Report {
    /// 1.
    version: u32,
    /// A fit for each column of scores.
    fits: Vec<Correlation>,
}

/// One column of scores against the accuracy.
#[derive(Debug, Serialize, JsonSchema)]
struct Correlation {
    /// The column of the accuracy.
    x: String,
    /// The column of the scores.
    y: String,
    #[serde(flatten)]
    fit: LinearFit,
}

pub(super) fn run(arguments: &CorrelateArguments) -> Result<u8, Failure> {
    let Some(file) = arguments.table.as_ref().filter(|_| !arguments.json_schema) else {
        return output::print_schema::<Report>();
    };
    let mut outputs = output::outputs(arguments.force);
    let json = output::open(&mut outputs, arguments.json.as_ref(), Mark::CORRELATE)?;
    let svg = output::open(
        &mut outputs,
        arguments.svg.as_ref(),
        Mark::Beginning(plot::BEGINNING.into()),
    )?;
    let scores = ScoreTable::read(file)?;
    let has = |name: &str| scores.column(name).is_some();
    let names: Vec<&str> = scores
        .columns
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let x = match arguments.x.as_deref() {
        Some(name) => Some(name),
        None => names.first().copied(),
    };
    let x = x.filter(|_| names.len() > 1).ok_or_else(|| {
        let file = file.display();
        anyhow!(
            "{file} has no two columns of numbers: an accuracy and at least one score are needed"
        )
    });
    let x = x.or_usage()?;
    let ys: Vec<&str> = if arguments.y.is_empty() {
        names.iter().copied().filter(|name| *name != x).collect()
    } else {
        arguments.y.iter().map(String::as_str).collect()
    };
    for name in ys.iter().chain([&x]) {
        if !has(name) {
            let names = names.join(", ");
            bail_usage!("no column {name:?} of numbers; those are {names}");
        }
    }
    if ys.contains(&x) {
        bail_usage!("{x:?} is the accuracy (--x): name other columns with --y");
    }
    let mut correlations = Vec::new();
    for y in ys {
        let points = scores.points(x, y);
        let without = scores.names.len() - points.len();
        if without > 0 {
            say(&format!(
                "note: {y}: {} left out, without a number in it or in {x}",
                counted_are(without, "row")
            ));
        }
        let values: Vec<[f64; 2]> = points.iter().map(|(_, point)| *point).collect();
        match LinearFit::fit(&values) {
            Some(fit) => correlations.push(Correlation {
                x: x.to_owned(),
                y: y.to_owned(),
                fit,
            }),
            None => say(&format!(
                "note: {y}: no line through {}: at least two are needed that differ in both numbers",
                counted(points.len(), "point")
            )),
        }
    }
    if correlations.is_empty() {
        bail_usage!("no column of scores can be fitted");
    }
    print(&correlations, &scores)?;
    if let Some(file) = &svg {
        let plots = correlations.iter().enumerate();
        let plots = plots.map(|(number, of)| plot_of(number, of, &scores));
        let text = document(&plots.collect::<Vec<Plot>>());
        file.write(|writer| writer.write_all(text.as_bytes()))
            .or_fail()?;
    }
    if let Some(file) = &json {
        let report = Report {
            version: 1,
            fits: correlations,
        };
        output::write_json(file, &report)?;
    }
    Ok(DONE)
}

fn interval(of: Estimate) -> String {
    with_ends(of.value, of.interval, " to ", figure)
}

fn print(correlations: &[Correlation], scores: &ScoreTable) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let rows: Vec<[String; 6]> = correlations
        .iter()
        .map(|Correlation { y, fit, .. }| {
            [
                y.clone(),
                fit.count.to_string(),
                interval(fit.slope),
                figure(fit.intercept),
                interval(fit.r_squared),
                or_dash(fit.p, p_value),
            ]
        })
        .collect();
    let of = correlations.first().map_or("", |first| &first.x);
    let header = [of, "points", "slope", "intercept", "R²", "p"];
    table::write(&mut out, header, &rows)?;
    for Correlation { x, y, fit } in correlations {
        writeln!(out, "\n{}", escaped(&format!("{y} against {x}"))).or_fail()?;
        let points = scores.points(x, y).into_iter().map(|(_, point)| point);
        for line in scatter(&points.collect::<Vec<_>>(), fit) {
            writeln!(out, "{line}").or_fail()?;
        }
    }
    out.flush().or_fail()
}

/// The points with their names and the fitted line.
fn plot_of(number: usize, correlation: &Correlation, scores: &ScoreTable) -> Plot {
    let Correlation { x, y, fit } = correlation;
    let points = scores.points(x, y);
    let range = |axis: usize| {
        let values = points.iter().map(|(_, point)| point[axis]);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        let room = 0.08 * (high - low);
        [low - room, high + room]
    };
    let ([left, right], [bottom, top]) = (range(0), range(1));
    let at = |x: f64| [x, fit.intercept + fit.slope.value * x];
    let mut marks = vec![plot::Mark::Line {
        ends: [at(left), at(right)],
        class: "ideal",
    }];
    marks.extend(points.iter().map(|(row, point)| plot::Mark::Point {
        at: *point,
        interval: None,
        radius: 5.0,
        class: "",
        name: scores.names[*row].clone(),
        title: format!("{}: {} and {}", scores.names[*row], point[0], point[1]),
    }));
    Plot {
        id: format!("plot-{number}"),
        title: format!("{y} against {x}"),
        description: format!(
            "{} and the line fitted to them; R² is {}.",
            counted(fit.count, "point"),
            interval(fit.r_squared)
        ),
        x: Axis::linear(x.clone(), left, right),
        y: Axis::linear(format!("{y} (R² {:.3})", fit.r_squared.value), bottom, top),
        marks,
    }
}

/// Columns and rows of a plot's area.
const AREA: [usize; 2] = [50, 14];

/// Points (`o`; `@` where several meet) and the fitted line (`·`) in characters.
fn scatter(points: &[[f64; 2]], fit: &LinearFit) -> Vec<String> {
    let range = |axis: usize| {
        let values = points.iter().map(|point| point[axis]);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        [low, values.fold(f64::NEG_INFINITY, f64::max)]
    };
    let ranges = [range(0), range(1)];
    let place = |axis: usize, value: f64| {
        let [low, high] = ranges[axis];
        let share = if high > low {
            (value - low) / (high - low)
        } else {
            0.5
        };
        let at = (share * (AREA[axis] - 1) as f64).round();
        (at >= 0.0 && at < AREA[axis] as f64).then_some(at as usize)
    };
    let mut cells = vec![[' '; AREA[0]]; AREA[1]];
    let line = (0..AREA[0]).filter_map(|column| {
        let [low, high] = ranges[0];
        let x = low + (high - low) * column as f64 / (AREA[0] - 1) as f64;
        Some((place(1, fit.intercept + fit.slope.value * x)?, column))
    });
    for (row, column) in line {
        cells[row][column] = '·';
    }
    for &[x, y] in points {
        if let (Some(column), Some(row)) = (place(0, x), place(1, y)) {
            let cell = &mut cells[row][column];
            *cell = if matches!(*cell, 'o' | '@') { '@' } else { 'o' };
        }
    }
    let [[left, right], [bottom, top]] = ranges.map(|range| range.map(figure));
    let width = bottom.len().max(top.len());
    let mut lines: Vec<String> = cells
        .iter()
        .enumerate()
        .rev()
        .map(|(row, cells)| {
            let name = match row {
                0 => bottom.as_str(),
                row if row == AREA[1] - 1 => top.as_str(),
                _ => "",
            };
            let text: String = cells.iter().collect();
            format!("{name:>width$} ┤{}", text.trim_end())
        })
        .collect();
    lines.push(format!("{:>width$} └{}", "", "─".repeat(AREA[0])));
    let gap = AREA[0].saturating_sub(left.len() + right.len());
    lines.push(format!("{:>width$}  {left}{}{right}", "", " ".repeat(gap)));
    lines
}
