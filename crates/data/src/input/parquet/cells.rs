//! Cells of a row as JSON, by what the file says of its columns beyond how they are stored: a date is a date, a class label
//! of `datasets` its name, a document of JSON itself.

use std::io::{self, Write};

use chrono::{DateTime, NaiveTime};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::Value;
use serde_json::value::RawValue;

use super::arrow;
use crate::json_text::UNNAMED;

const SECOND: i64 = 1_000_000_000;

/// What values of a column are. Lists are left out: their cell is that of their elements.
#[derive(Debug)]
pub(super) enum Cell {
    Leaf(Leaf),
    /// The fields of a struct, in order; of a map its key and its value.
    Group(Vec<Self>),
}

#[derive(Debug)]
pub(super) enum Leaf {
    Plain,
    /// An index into the names of a class label.
    Class(Vec<String>),
    Date,
    /// A time of day; a count of so many nanoseconds. `is_utc`: of a day in UTC, not of a day anywhere.
    Time {
        unit: i64,
        is_utc: bool,
    },
    /// A date and a time; a count of so many nanoseconds since 1970.
    Moment {
        unit: i64,
        is_utc: bool,
    },
    Duration {
        unit: i64,
    },
    /// Months, days and milliseconds.
    Interval,
    Uuid,
    Json,
}

const PLAIN: Cell = Cell::Leaf(Leaf::Plain);

impl Cell {
    /// The cells of a file's rows, by its schema, the features that `datasets` wrote and the schema of Arrow.
    pub(super) fn of_file(schema: &Type, features: &Value, arrow: &[u8]) -> Self {
        let arrow = arrow::Table::schema(arrow);
        Self::group(schema, |at, column| {
            let arrow = arrow.and_then(|arrow| arrow.column(at));
            Self::new(column, &features[column.name()], arrow)
        })
    }

    fn group(kind: &Type, of_field: impl Fn(usize, &Type) -> Self) -> Self {
        let fields = kind.get_fields().iter().enumerate();
        Self::Group(fields.map(|(at, field)| of_field(at, field)).collect())
    }

    fn new(kind: &Type, feature: &Value, arrow: Option<arrow::Table>) -> Self {
        let feature = of_elements(feature);
        let child = |at| arrow.and_then(|arrow: arrow::Table| arrow.child(at));
        if kind.is_primitive() {
            return Self::Leaf(Leaf::new(kind, feature, arrow.and_then(arrow::Table::unit)));
        }
        let fields = kind.get_fields();
        match (kind.get_basic_info().converted_type(), fields) {
            (ConvertedType::LIST, [repeated]) => {
                let element = match &**repeated {
                    Type::GroupType { fields, .. } if fields.len() == 1 => &fields[0],
                    // As the first versions wrote lists.
                    _ => repeated,
                };
                Self::new(element, feature, child(0))
            }
            (ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE, [entries])
                if !entries.is_primitive() =>
            {
                let of_entry = |at| child(0).and_then(|entries| entries.child(at));
                Self::group(entries, |at, field| {
                    Self::new(field, &Value::Null, of_entry(at))
                })
            }
            _ => Self::group(kind, |at, field| {
                Self::new(field, &feature[field.name()], child(at))
            }),
        }
    }

    /// Writes the fields of a row, which are in the order of these cells.
    pub(super) fn write_row(&self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{")?;
        for (at, (key, field)) in row.get_column_iter().enumerate() {
            if at > 0 {
                out.write_all(b",")?;
            }
            serde_json::to_writer(&mut *out, key)?;
            out.write_all(b":")?;
            self.field(at).write(field, out)?;
        }
        out.write_all(b"}")
    }

    fn field(&self, at: usize) -> &Self {
        match self {
            Self::Group(cells) => cells.get(at).unwrap_or(&PLAIN),
            Self::Leaf(_) => &PLAIN,
        }
    }

    fn write(&self, field: &Field, out: &mut dyn Write) -> io::Result<()> {
        match field {
            Field::Group(row) => self.write_row(row, out),
            Field::ListInternal(list) => {
                out.write_all(b"[")?;
                for (at, element) in list.elements().iter().enumerate() {
                    if at > 0 {
                        out.write_all(b",")?;
                    }
                    self.write(element, out)?;
                }
                out.write_all(b"]")
            }
            Field::MapInternal(map) => {
                out.write_all(b"{")?;
                for (at, (key, value)) in map.entries().iter().enumerate() {
                    if at > 0 {
                        out.write_all(b",")?;
                    }
                    let mut text = Vec::new();
                    self.field(0).write(key, &mut text)?;
                    if text.starts_with(b"\"") {
                        out.write_all(&text)?;
                    } else {
                        serde_json::to_writer(&mut *out, &String::from_utf8_lossy(&text))?;
                    }
                    out.write_all(b":")?;
                    self.field(1).write(value, out)?;
                }
                out.write_all(b"}")
            }
            field => match self {
                Self::Leaf(leaf) => leaf.write(field, out),
                Self::Group(_) => Leaf::Plain.write(field, out),
            },
        }
    }
}

/// The feature of a list's elements, for `datasets`' ways to say that it is a list.
fn of_elements(mut feature: &Value) -> &Value {
    loop {
        feature = match feature {
            Value::Array(one) if one.len() == 1 => &one[0],
            Value::Object(list)
                if list.contains_key("feature")
                    && list.get("_type").is_some_and(Value::is_string) =>
            {
                &list["feature"]
            }
            _ => return feature,
        };
    }
}

impl Leaf {
    fn new(kind: &Type, feature: &Value, duration: Option<i64>) -> Self {
        let unit = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => SECOND / 1000,
            TimeUnit::MICROS => SECOND / 1_000_000,
            TimeUnit::NANOS => 1,
        };
        let info = kind.get_basic_info();
        let Type::PrimitiveType { physical_type, .. } = kind else {
            return Self::Plain;
        };
        let names = feature["names"].as_array();
        if let Some(names) = names.filter(|_| feature["_type"] == "ClassLabel") {
            let name = |name: &Value| {
                name.as_str()
                    .map_or_else(|| name.to_string(), str::to_owned)
            };
            return Self::Class(names.iter().map(name).collect());
        }
        let time = |unit, is_utc| Self::Time { unit, is_utc };
        let moment = |unit, is_utc| Self::Moment { unit, is_utc };
        match (info.logical_type_ref(), info.converted_type(), duration) {
            (Some(LogicalType::Uuid), ..) => Self::Uuid,
            (Some(LogicalType::Time(t)), ..) => time(unit(&t.unit), t.is_adjusted_to_u_t_c),
            (Some(LogicalType::Timestamp(t)), ..) => moment(unit(&t.unit), t.is_adjusted_to_u_t_c),
            (_, ConvertedType::INTERVAL, _) => Self::Interval,
            (_, ConvertedType::DATE, _) => Self::Date,
            (_, ConvertedType::JSON, _) => Self::Json,
            // Without a logical type the file does not say whether there is a zone.
            (_, ConvertedType::TIME_MILLIS, _) => time(SECOND / 1000, false),
            (_, ConvertedType::TIME_MICROS, _) => time(SECOND / 1_000_000, false),
            (_, ConvertedType::TIMESTAMP_MILLIS, _) => moment(SECOND / 1000, false),
            (_, ConvertedType::TIMESTAMP_MICROS, _) => moment(SECOND / 1_000_000, false),
            // The crate reads these in milliseconds.
            _ if *physical_type == Physical::INT96 => moment(SECOND / 1000, false),
            (None, _, Some(unit)) if *physical_type == Physical::INT64 => Self::Duration { unit },
            _ => Self::Plain,
        }
    }

    fn write(&self, field: &Field, out: &mut dyn Write) -> io::Result<()> {
        if matches!(field, Field::Null) {
            return out.write_all(b"null");
        }
        if let Some(text) = self.number(field) {
            return out.write_all(text.as_bytes());
        }
        if let Some(text) = self.text(field) {
            return Ok(serde_json::to_writer(out, &text)?);
        }
        match field {
            // Texts are nearly all of a table's bytes, so they are written without a copy.
            Field::Str(text) => Ok(serde_json::to_writer(out, text)?),
            Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
                Ok(text) if !text.contains('\0') => Ok(serde_json::to_writer(out, text)?),
                // An object, which is nobody's text.
                _ => write!(out, "{{\"base64\":{}}}", field.to_json_value()),
            },
            field => Ok(serde_json::to_writer(out, &field.to_json_value())?),
        }
    }

    /// The value, if it is to stand without quotes: numbers of less than 64 bits with just the digits that distinguish them
    /// from their neighbours, and what JSON has not by its name.
    fn number(&self, field: &Field) -> Option<String> {
        match (self, field) {
            (Self::Class(names), _) => {
                let place = usize::try_from(whole(field)?).ok();
                // -1 is a label that is not known.
                let is_unknown = place.is_none_or(|place| place >= names.len());
                is_unknown.then(|| UNNAMED.to_owned())
            }
            (Self::Json, Field::Str(text)) => {
                let json: &RawValue = serde_json::from_str(text).ok()?;
                // Within a string a line break is escaped.
                Some(json.get().replace(['\n', '\r'], " "))
            }
            (_, Field::Float(value)) => Some(shortest(f64::from(*value), &value.to_string())),
            (_, Field::Float16(value)) => {
                let digits = (1..=5).map(|digits| format!("{:.*e}", digits - 1, value.to_f32()));
                let near = digits.into_iter().find(|text| {
                    text.parse()
                        .is_ok_and(|near| half::f16::from_f32(near) == *value)
                });
                let near = near.unwrap_or_else(|| value.to_f32().to_string());
                Some(shortest(f64::from(value.to_f32()), &near))
            }
            (_, Field::Double(value)) if !value.is_finite() => Some(shortest(*value, "")),
            _ => None,
        }
    }

    /// The value, if it is a text; `None` also where it is beyond what can be shown so.
    fn text(&self, field: &Field) -> Option<String> {
        let moment = |unit: i64| {
            let nanoseconds = i128::from(whole(field)?) * i128::from(unit);
            let second = i128::from(SECOND);
            let seconds = i64::try_from(nanoseconds.div_euclid(second)).ok()?;
            DateTime::from_timestamp(seconds, nanoseconds.rem_euclid(second) as u32)
        };
        let zone = |is_utc: bool| if is_utc { "+00:00" } else { "" };
        match self {
            Self::Class(names) => names.get(usize::try_from(whole(field)?).ok()?).cloned(),
            Self::Date => Some(moment(86_400 * SECOND)?.date_naive().to_string()),
            Self::Time { unit, is_utc } => {
                let time = moment(*unit).filter(|moment| moment.timestamp() < 86_400)?;
                Some(format!("{}{}", time.time(), zone(*is_utc)))
            }
            Self::Moment { unit, is_utc } => {
                let moment = moment(*unit)?.naive_utc();
                // A date that was read as a moment.
                if moment.time() == NaiveTime::MIN && !is_utc {
                    return Some(moment.date().to_string());
                }
                Some(format!("{moment}{}", zone(*is_utc)))
            }
            Self::Duration { unit } => Some(length(i128::from(whole(field)?) * i128::from(*unit))),
            Self::Interval => {
                let bytes = bytes_of(field)?;
                let part = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
                let (months, days, milliseconds) = (part(0)?, part(4)?, part(8)?);
                let parts = [(months / 12, "year"), (months % 12, "month"), (days, "day")];
                let parts = parts.into_iter().filter(|(count, _)| *count > 0);
                let many = |count| if count == 1 { "" } else { "s" };
                let parts = parts.map(|(count, name)| format!("{count} {name}{}", many(count)));
                let mut parts: Vec<String> = parts.collect();
                if milliseconds > 0 || parts.is_empty() {
                    parts.push(length(i128::from(milliseconds) * i128::from(SECOND / 1000)));
                }
                Some(parts.join(" "))
            }
            Self::Uuid => {
                let number = u128::from_be_bytes(bytes_of(field)?.try_into().ok()?);
                let digits = format!("{number:032x}");
                let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
                Some(parts.join("-"))
            }
            Self::Plain | Self::Json => None,
        }
    }
}

/// A length of time as hours, minutes and seconds.
fn length(nanoseconds: i128) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let second = u128::from(SECOND.unsigned_abs());
    let all = nanoseconds.unsigned_abs();
    let (seconds, rest) = (all / second, all % second);
    let (seconds, minutes, hours) = (seconds % 60, seconds / 60 % 60, seconds / 3600);
    let fraction = format!(".{rest:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}")
}

/// The number with this decimal text; what is none by its name.
fn shortest(value: f64, text: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let near: Value = text.parse::<f64>().ok().into();
    near.to_string()
}

fn bytes_of(field: &Field) -> Option<&[u8]> {
    match field {
        Field::Bytes(bytes) => Some(bytes.data()),
        _ => None,
    }
}

/// A whole number, however it is stored.
fn whole(field: &Field) -> Option<i64> {
    Some(match field {
        Field::Date(number) | Field::TimeMillis(number) => (*number).into(),
        Field::TimeMicros(number)
        | Field::TimestampMillis(number)
        | Field::TimestampMicros(number) => *number,
        number => number.to_json_value().as_i64()?,
    })
}

#[cfg(test)]
mod tests;
