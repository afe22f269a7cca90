//! Plots as SVG: two axes, and points with intervals, columns and lines on them. Colours and fonts are the stylesheet's.

use std::fmt::Write as _;

use super::text::plain;

/// The plot's size, and the margins: left, right, top, bottom.
pub(crate) const SIZE: (f64, f64) = (560.0, 340.0);
const ROOM: [f64; 4] = [66.0, 26.0, 14.0, 44.0];

/// The size of a plot beside two others: its text is as large as the others' where it is shown smaller.
pub(crate) const SMALL: (f64, f64) = (360.0, 300.0);

/// About how many ticks an axis has.
const TICKS: f64 = 6.0;

#[derive(Debug, Clone)]
pub struct Axis {
    /// What it shows, with its unit.
    pub(crate) label: String,
    /// The values at its ends; the second is greater.
    pub(crate) range: [f64; 2],
    /// Whether the scale is logarithmic; then both ends are greater than 0.
    pub(crate) logarithmic: bool,
    /// Whether values are shares of 1, shown in percent.
    pub(crate) percent: bool,
}

impl Axis {
    pub fn linear(label: impl Into<String>, from: f64, to: f64) -> Self {
        Self {
            label: label.into(),
            range: [from, if to > from { to } else { from + 1.0 }],
            logarithmic: false,
            percent: false,
        }
    }

    pub(crate) fn shares(label: impl Into<String>, from: f64, to: f64) -> Self {
        Self {
            percent: true,
            ..Self::linear(label, from, to)
        }
    }

    /// A logarithmic axis around values greater than 0.
    pub(crate) fn powers(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        // Without one the range is any.
        let (low, high) = if high > 0.0 { (low, high) } else { (1.0, 10.0) };
        Self {
            logarithmic: true,
            ..Self::linear(label, low / 1.6, high * 1.6)
        }
    }

    /// The place of a value on the axis, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let [from, to] = self.range;
        let place = if self.logarithmic {
            (value.max(f64::MIN_POSITIVE) / from).ln() / (to / from).ln()
        } else {
            (value - from) / (to - from)
        };
        place.clamp(0.0, 1.0)
    }

    fn ticks(&self) -> Vec<f64> {
        let [from, to] = self.range;
        if self.logarithmic {
            let mut ticks = Vec::new();
            let mut power = 10_f64.powf(from.log10().floor());
            while power <= to {
                let count = if to / from > 200.0 { 1 } else { 3 };
                let steps = [1.0, 2.0, 5.0].into_iter().take(count);
                ticks.extend(steps.map(|step| step * power));
                power *= 10.0;
            }
            ticks.retain(|tick| (from..=to).contains(tick));
            return ticks;
        }
        let rough = (to - from) / TICKS;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|step| step * power)
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(rough);
        let first = (from / step - 1e-9).ceil() as i64;
        let last = (to / step + 1e-9).floor() as i64;
        (first..=last).map(|at| at as f64 * step).collect()
    }

    fn shown(&self, value: f64) -> String {
        let value = if self.percent { 100.0 * value } else { value };
        // Ticks are a few digits times a power of ten, four places after the point where the axis is not a small one.
        let [from, to] = self.range;
        let one = self.logarithmic.then(|| value.abs());
        let size = one.unwrap_or(to - from);
        let places = (3.0 - size.log10().floor()).clamp(4.0, 300.0) as usize;
        let rounded = format!("{value:.places$}");
        let shown = rounded.trim_end_matches('0').trim_end_matches('.');
        format!("{shown}{}", if self.percent { " %" } else { "" })
    }
}

/// An element of a plot. Places are values of the axes.
#[derive(Debug, Clone)]
pub enum Mark {
    /// A point, with the interval of its height.
    Point {
        at: [f64; 2],
        /// The lower and upper end of the interval.
        interval: Option<[f64; 2]>,
        /// Its radius in pixels.
        radius: f64,
        /// A class of the stylesheet, or empty.
        class: &'static str,
        /// The name written beside it, or empty.
        name: String,
        title: String,
    },
    /// A column from the bottom.
    Column {
        /// The left and right end.
        width: [f64; 2],
        height: f64,
        /// A class of the stylesheet, or empty.
        class: &'static str,
        title: String,
    },
    Line {
        ends: [[f64; 2]; 2],
        class: &'static str,
    },
}

#[derive(Debug, Clone)]
pub struct Plot {
    /// The id of its element, unique in the page.
    pub id: String,
    /// What it shows, for readers who cannot see it.
    pub title: String,
    pub description: String,
    pub x: Axis,
    pub y: Axis,
    /// The marks, in drawing order.
    pub marks: Vec<Mark>,
}

impl Plot {
    pub(crate) fn svg(&self, (width, height): (f64, f64)) -> String {
        let [left, right, top, bottom] = ROOM;
        let id = plain(&self.id);
        let mut svg = format!(
            "<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}-title {id}-text\">\
             <title id=\"{id}-title\">{}</title><desc id=\"{id}-text\">{}</desc>",
            plain(&self.title),
            plain(&self.description)
        );
        let x = |value: f64| left + self.x.place(value) * (width - left - right);
        let y = |value: f64| height - bottom - self.y.place(value) * (height - top - bottom);
        // Writing to a string does not fail.
        for tick in self.y.ticks() {
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{left} {at:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                width - right,
                left - 8.0,
                y(tick) + 4.0,
                self.y.shown(tick),
                at = y(tick),
            );
        }
        for tick in self.x.ticks() {
            let _ = write!(
                svg,
                "<path class=\"axis\" d=\"M{at:.1} {:.1}v5\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                height - bottom,
                height - bottom + 18.0,
                self.x.shown(tick),
                at = x(tick),
            );
        }
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{left} {:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            height - bottom,
            width - right,
            f64::midpoint(left, width - right),
            height - 6.0,
            plain(&self.x.label),
            f64::midpoint(top, height - bottom),
            plain(&self.y.label),
        );
        for mark in &self.marks {
            match mark {
                Mark::Line {
                    ends: [from, to],
                    class,
                } => {
                    let _ = write!(
                        svg,
                        "<path class=\"{class}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
                        x(from[0]),
                        y(from[1]),
                        x(to[0]),
                        y(to[1])
                    );
                }
                Mark::Column {
                    width: [from, to],
                    height: up,
                    class,
                    title,
                } => {
                    let (from, to) = (x(*from), x(*to));
                    // A gap between columns that are wide enough for one.
                    let gap = if to - from > 4.0 { 1.0 } else { 0.0 };
                    let _ = write!(
                        svg,
                        "<rect class=\"column {class}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
                        y(*up),
                        (to - from - gap).max(0.5),
                        (height - bottom - y(*up)).max(0.0),
                        plain(title)
                    );
                }
                Mark::Point {
                    at,
                    interval,
                    radius,
                    class,
                    name,
                    title,
                } => {
                    let (across, up) = (x(at[0]), y(at[1]));
                    if let Some([low, high]) = interval {
                        let _ = write!(
                            svg,
                            "<path class=\"interval {class}\" d=\"M{across:.1} {:.1}V{:.1}\"/>",
                            y(*low),
                            y(*high)
                        );
                    }
                    let _ = write!(
                        svg,
                        "<circle class=\"point {class}\" cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"{radius:.1}\"><title>{}</title></circle>",
                        plain(title)
                    );
                    if !name.is_empty() {
                        // Towards the middle, so that it stays inside the plot.
                        let (aside, anchor) = if across > width * 0.6 {
                            (-radius - 5.0, "end")
                        } else {
                            (radius + 5.0, "start")
                        };
                        let _ = write!(
                            svg,
                            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                            across + aside,
                            up + 4.0,
                            plain(name)
                        );
                    }
                }
            }
        }
        svg.push_str("</svg>");
        svg
    }
}

/// The beginning of an SVG file of plots.
pub const BEGINNING: &str = "<!-- juror correlate -->\n";

/// The stylesheet's rules for plots, for a picture that stands alone: plain colours, which every viewer knows.
const DOCUMENT_STYLE: &str = "text{font:12px sans-serif;fill:#5b6068}text.name{fill:#1f2328}.axis{stroke:#5b6068;fill:none}\
    .grid{stroke:#dedbd4;fill:none}.ideal{stroke:#5b6068;stroke-dasharray:4 4;fill:none}.column,.point{fill:#2f6fab}\
    .interval{stroke:#2f6fab;fill:none}";

/// Plots below each other, as an SVG file.
pub fn document(plots: &[Plot]) -> String {
    let (width, height) = SIZE;
    let whole = height * plots.len() as f64;
    let mut svg = format!(
        "{BEGINNING}<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{whole}\" viewBox=\"0 0 {width} {whole}\">\
         <style>{DOCUMENT_STYLE}</style><rect width=\"{width}\" height=\"{whole}\" fill=\"#fff\"/>"
    );
    for (number, plot) in plots.iter().enumerate() {
        let place = height * number as f64;
        let plot = plot.svg(SIZE);
        // Writing to a string does not fail.
        let _ = writeln!(
            svg,
            "<g transform=\"translate(0 {place})\">{}</g>",
            sized(&plot)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// An `<svg>` element inside another takes up all of its room unless it has a size.
fn sized(svg: &str) -> String {
    let (width, height) = SIZE;
    svg.replacen(
        "<svg ",
        &format!("<svg width=\"{width}\" height=\"{height}\" "),
        1,
    )
}

/// A share with its interval as a bar in a table, whose width is from one share to another.
pub(crate) fn bar(value: f64, interval: Option<[f64; 2]>, [from, to]: [f64; 2]) -> String {
    let place = |value: f64| 2.0 + 96.0 * ((value - from) / (to - from)).clamp(0.0, 1.0);
    let mut svg = "<svg class=\"inline\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
                   <path class=\"track\" d=\"M2 5H98\"/>"
        .to_owned();
    // Writing to a string does not fail.
    if let Some([low, high]) = interval {
        let _ = write!(
            svg,
            "<path class=\"interval\" d=\"M{:.1} 5H{:.1}\"/>",
            place(low),
            place(high)
        );
    }
    let _ = write!(
        svg,
        "<path class=\"value\" d=\"M{:.1} 0V10\"/></svg>",
        place(value)
    );
    svg
}
