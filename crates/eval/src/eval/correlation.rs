//! How well one score predicts another: a verifier's accuracy against what training with it gave (figure 5 of arXiv 2602.11570).

use std::collections::HashSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::labels::is_missing;
use super::measures::Estimate;
use super::statistics::{Interval, RESAMPLES, bootstrap};
use crate::{EvalError, Result};
use juror_data::each_row;

/// The largest product of points and resamples.
const WORK: usize = 100_000_000;

const COLUMNS: usize = 500;

/// With fewer points R² has no interval: their resamples repeat so few different points that the line fits them by chance.
const FEW: usize = 5;

/// A table of scores, a row for each verifier.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTable {
    /// The names of the rows: the first column that holds no numbers, or else the row's number.
    pub names: Vec<String>,
    /// Each column of numbers with its name; `None` where a row has no number.
    pub columns: Vec<(String, Vec<Option<f64>>)>,
}

impl ScoreTable {
    /// Reads a CSV, Parquet or JSON lines file. The numbers of a column may be followed by a percent sign, either all of them or none.
    /// Errors: when the file cannot be read, or a column holds numbers and something else.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let mut rows: Vec<(usize, Map<String, Value>)> = Vec::new();
        each_row(&[path.to_owned()], |_, reader, row| {
            let place = reader.place();
            let read = row.and_then(|row| {
                serde_json::from_slice(&row).map_err(|error| format!("no row of a table: {error}"))
            });
            rows.push((
                place,
                read.map_err(|why| EvalError::row(&name, place, &why))?,
            ));
            Ok::<(), EvalError>(())
        })?;
        let mut keys: Vec<&String> = Vec::new();
        let mut known: HashSet<&String> = HashSet::new();
        for (place, row) in &rows {
            keys.extend(row.keys().filter(|key| known.insert(key)));
            if keys.len() > COLUMNS {
                let why = format!("more than {COLUMNS} columns: a table of scores has a few");
                return Err(EvalError::row(&name, *place, &why));
            }
        }
        let mut names = None;
        let mut columns = Vec::new();
        for key in keys {
            let cells = rows
                .iter()
                .map(|(_, row)| row.get(key).unwrap_or(&Value::Null));
            let numbers: Vec<Option<f64>> = cells.clone().map(number).collect();
            let wrong = cells
                .zip(&numbers)
                .position(|(cell, number)| number.is_none() && !is_missing(cell));
            match wrong {
                None if numbers.iter().any(Option::is_some) => {
                    let mut forms = rows.iter().filter_map(|(place, row)| {
                        let cell = row.get(key).filter(|cell| !is_missing(cell))?;
                        let text = cell.as_str().unwrap_or_default();
                        Some((*place, text.trim_end().ends_with('%')))
                    });
                    let first = forms.next().is_some_and(|(_, is_percent)| is_percent);
                    if let Some((place, _)) = forms.find(|(_, is_percent)| *is_percent != first) {
                        let why = format!(
                            "{key}: some numbers are followed by % and some are not: write all alike"
                        );
                        return Err(EvalError::row(&name, place, &why));
                    }
                    columns.push((key.clone(), numbers));
                }
                None => {}
                Some(at) if numbers.iter().any(Option::is_some) => {
                    let (place, row) = &rows[at];
                    let why = format!("{key}: {} is no number, and other rows have one", row[key]);
                    return Err(EvalError::row(&name, *place, &why));
                }
                Some(_) => {
                    let texts = rows.iter().map(|(_, row)| match row.get(key) {
                        Some(Value::String(text)) => text.clone(),
                        Some(value) => value.to_string(),
                        None => String::new(),
                    });
                    names.get_or_insert_with(|| texts.collect());
                }
            }
        }
        Ok(Self {
            names: names.unwrap_or_else(|| (1..=rows.len()).map(|row| row.to_string()).collect()),
            columns,
        })
    }

    pub fn column(&self, name: &str) -> Option<&[Option<f64>]> {
        let found = self.columns.iter().find(|(other, _)| other == name);
        found.map(|(_, numbers)| numbers.as_slice())
    }

    /// The rows that have both numbers: their indices, and the numbers.
    pub fn points(&self, x: &str, y: &str) -> Vec<(usize, [f64; 2])> {
        let (Some(x), Some(y)) = (self.column(x), self.column(y)) else {
            return Vec::new();
        };
        let pairs = x.iter().zip(y).enumerate();
        pairs
            .filter_map(|(place, (x, y))| Some((place, [(*x)?, (*y)?])))
            .collect()
    }
}

fn number(cell: &Value) -> Option<f64> {
    let number = match cell {
        Value::String(text) => text.trim().trim_end_matches('%').trim_end().parse().ok(),
        other => other.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite())
}

/// A straight line through points, by least squares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LinearFit {
    /// Points.
    pub count: usize,
    /// What y gains for one of x, with the 95 % interval of Student's t.
    pub slope: Estimate,
    /// y where x is 0.
    pub intercept: f64,
    /// Pearson's correlation.
    pub(crate) correlation: f64,
    /// The share of y's variance that the line explains, with its 95 % interval by resampling points: of five or more, in resamples
    /// of three different ones or more.
    pub r_squared: Estimate,
    /// The two-sided p-value of no slope; null for fewer than three points, or where they lie on the line.
    pub p: Option<f64>,
    /// Resamples.
    pub(crate) resamples: usize,
}

impl LinearFit {
    /// The line through points (x, y); `None` if all x or all y are equal, or there are fewer than two points.
    pub fn fit(points: &[[f64; 2]]) -> Option<Self> {
        let moments = Moments::new(points.iter().map(|point| (point, 1)));
        let (slope, r_squared) = (moments.xy / moments.xx, moments.r_squared()?);
        let degrees = points.len() as f64 - 2.0;
        let residual = (moments.yy - slope * moments.xy).max(0.0) / degrees;
        let error = (residual / moments.xx).sqrt();
        // At least one degree of freedom, and a finite scale: a valid distribution.
        let student = StudentsT::new(0.0, 1.0, degrees)
            .ok()
            .filter(|_| degrees > 0.0);
        // Points on the line show nothing of how far off it may be.
        let student = student.filter(|_| error > 0.0);
        let half = student.map(|student| error * student.inverse_cdf(0.975));
        let p = student.map(|student| 2.0 * student.sf((slope / error).abs()));
        let resamples = RESAMPLES.min(WORK / points.len());
        let units: Vec<([f64; 2], usize)> = points.iter().map(|&point| (point, 1)).collect();
        let of_resample = |units: &mut dyn Iterator<Item = (&[f64; 2], usize)>| {
            let moments = Moments::new(units);
            // A line always fits two points.
            [moments.r_squared().filter(|_| moments.points > 2)]
        };
        let interval = if points.len() < FEW {
            None
        } else {
            bootstrap(&[&units], resamples, of_resample)[0]
        };
        Some(Self {
            count: points.len(),
            slope: Estimate {
                value: slope,
                interval: half.map(|half| -> Interval { [slope - half, slope + half] }),
            },
            intercept: moments.y - slope * moments.x,
            correlation: r_squared.sqrt() * slope.signum(),
            r_squared: Estimate {
                value: r_squared,
                interval,
            },
            p,
            resamples,
        })
    }
}

/// Means, and sums of squared distances from them.
#[derive(Default)]
struct Moments {
    /// The number of different points, however often each is repeated.
    points: usize,
    count: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Moments {
    /// The moments of points, each with its number of repetitions (Welford 1962; West 1979).
    fn new<'p>(points: impl Iterator<Item = (&'p [f64; 2], usize)>) -> Self {
        let mut moments = Self::default();
        for (&[x, y], times) in points {
            let weight = times as f64;
            moments.points += 1;
            moments.count += weight;
            let (from_x, from_y) = (x - moments.x, y - moments.y);
            moments.x += from_x * weight / moments.count;
            moments.y += from_y * weight / moments.count;
            moments.xx += weight * from_x * (x - moments.x);
            moments.xy += weight * from_x * (y - moments.y);
            moments.yy += weight * from_y * (y - moments.y);
        }
        moments
    }

    fn r_squared(&self) -> Option<f64> {
        let share = (self.xy / self.xx) * (self.xy / self.yy);
        share.is_finite().then(|| share.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Anscombe's first quartet (1973): slope 0.5001, intercept 3.0001, R² 0.6665, p 0.00217.
    #[test]
    fn the_line_through_known_points() {
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [
            8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68,
        ];
        let points: Vec<[f64; 2]> = x.into_iter().zip(y).map(|(x, y)| [x, y]).collect();
        let fit = LinearFit::fit(&points).unwrap();
        let near = |one: f64, other: f64| assert!((one - other).abs() < 5e-5, "{one} and {other}");
        near(fit.slope.value, 0.500_09);
        near(fit.intercept, 3.000_09);
        near(fit.r_squared.value, 0.666_54);
        near(fit.p.unwrap(), 0.002_17);
        let [low, high] = fit.r_squared.interval.unwrap();
        assert!(low < 0.6 && high > 0.75, "{low} to {high}");
    }

    #[test]
    fn what_has_no_line() {
        assert_eq!(LinearFit::fit(&[]), None);
        assert_eq!(LinearFit::fit(&[[1.0, 2.0]]), None);
        assert_eq!(LinearFit::fit(&[[1.0, 2.0], [1.0, 3.0]]), None);
        assert_eq!(LinearFit::fit(&[[1.0, 2.0], [2.0, 2.0]]), None);
        let exact = LinearFit::fit(&[[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]).unwrap();
        assert_eq!(
            (exact.slope.value, exact.r_squared.value, exact.p),
            (2.0, 1.0, None)
        );
    }
}
