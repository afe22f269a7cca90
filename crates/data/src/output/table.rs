//! Tables, in CSV or Parquet instead of JSON lines, of verdicts and of what is built from them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The most rows that are kept in memory before a row group of a Parquet file is written.
const ROW_GROUP: usize = 1 << 14;
/// The most bytes of text in them.
const ROW_GROUP_BYTES: usize = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Text; for any other value its JSON.
    Text,
    Boolean,
    Integer,
    Number,
    /// A list of chat messages, each with `role` and `content`; in CSV its JSON.
    Messages,
    /// The type that all values have; of whole and other numbers a number, of other types text.
    OfValues,
}

impl CellKind {
    /// The type for values of this type or none yet, and a further one.
    fn with(known: Option<Self>, value: &Value) -> Self {
        let own = match value {
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_i64() => Self::Integer,
            Value::Number(number) if number.is_f64() => Self::Number,
            _ => Self::Text,
        };
        match (known, own) {
            (Some(Self::Integer), Self::Number) | (Some(Self::Number), Self::Integer) => {
                Self::Number
            }
            (Some(known), own) if known != own => Self::Text,
            _ => own,
        }
    }
}

/// The columns of every table and their types, by the verdict line's keys: `confidence.process` becomes the column
/// `confidence_process`. A key that is neither here nor kept, such as `raw`, is in no table (`raw.completion` is in it as `raw_completion`).
const COLUMNS: &str = include_str!("columns.tsv");

/// The names of these columns, the keys that lead to their values, and their types.
fn own_columns() -> impl Iterator<Item = (String, &'static str, CellKind)> {
    let columns = COLUMNS.lines().filter_map(|line| line.split_once('\t'));
    columns.map(|(path, kind)| {
        let kind = match kind {
            "boolean" => CellKind::Boolean,
            "integer" => CellKind::Integer,
            "number" => CellKind::Number,
            _ => CellKind::Text,
        };
        (path.replace('.', "_"), path, kind)
    })
}

/// The types of these columns, by their names.
pub(crate) static KINDS: LazyLock<HashMap<String, CellKind>> =
    LazyLock::new(|| own_columns().map(|(name, _, kind)| (name, kind)).collect());

/// A column, and where its value is in a line.
#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    keys: Vec<String>,
    kind: CellKind,
}

/// The columns of a table: the verdict's, then a column for each kept key (`all` is one column of JSON).
pub(super) fn columns(keep: &[String]) -> Vec<Column> {
    let own = own_columns().map(|(name, path, kind)| Column {
        name,
        keys: path.split('.').map(str::to_owned).collect(),
        kind,
    });
    own.chain(Column::kept(keep)).collect()
}

impl Column {
    /// A column for each key of a row that its line keeps under `input`, of the type of its values; `all` is one column of JSON.
    pub fn kept(keep: &[String]) -> impl Iterator<Item = Self> {
        keep.iter().map(|key| {
            let mut keys = vec!["input".to_owned()];
            let kind = if key == "all" {
                CellKind::Text
            } else {
                keys.push(key.clone());
                CellKind::OfValues
            };
            Self {
                name: keys.join("."),
                keys,
                kind,
            }
        })
    }

    /// A column of a key at the top of a line.
    pub fn new(name: &str, kind: CellKind) -> Self {
        Self {
            name: name.to_owned(),
            keys: vec![name.to_owned()],
            kind,
        }
    }

    /// The field for the column in the schema of a Parquet file.
    fn field(&self) -> Result<Type, ParquetError> {
        let (physical, logical) = match self.kind {
            CellKind::Messages => return messages_field(&self.name),
            CellKind::Text | CellKind::OfValues => {
                (Physical::BYTE_ARRAY, Some(LogicalType::String))
            }
            CellKind::Boolean => (Physical::BOOLEAN, None),
            CellKind::Integer => (Physical::INT64, None),
            CellKind::Number => (Physical::DOUBLE, None),
        };
        let field = Type::primitive_type_builder(&self.name, physical).with_logical_type(logical);
        field.with_repetition(Repetition::OPTIONAL).build()
    }

    /// The column's value in a verdict line; `None` if it is null or missing.
    fn value<'v>(&self, line: &'v Value) -> Option<&'v Value> {
        let mut value = line;
        for key in &self.keys {
            value = value.get(key)?;
        }
        (!value.is_null()).then_some(value)
    }
}

const OF_MESSAGE: [&str; 2] = ["role", "content"];

/// The field for a list of messages in the schema of a Parquet file.
fn messages_field(name: &str) -> Result<Type, ParquetError> {
    let text = |key| {
        let text = Type::primitive_type_builder(key, Physical::BYTE_ARRAY);
        let text = text.with_logical_type(Some(LogicalType::String));
        let text = text.with_repetition(Repetition::REQUIRED).build();
        text.map(Arc::new)
    };
    let texts: Vec<Arc<Type>> = OF_MESSAGE.map(text).into_iter().collect::<Result<_, _>>()?;
    let group = |name, fields| Type::group_type_builder(name).with_fields(fields);
    let element = group("element", texts).with_repetition(Repetition::REQUIRED);
    let list = group("list", vec![Arc::new(element.build()?)]);
    let list = list.with_repetition(Repetition::REPEATED).build()?;
    let list = group(name, vec![Arc::new(list)]).with_logical_type(Some(LogicalType::List));
    list.with_repetition(Repetition::REQUIRED).build()
}

fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(text_bytes).sum(),
        Value::Object(values) => values.values().map(text_bytes).sum(),
        _ => 0,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A writer that receives JSON lines and passes the content of each to `take`.
pub struct JsonLineSink<F, T> {
    /// The beginning of an unfinished line.
    rest: Vec<u8>,
    take: F,
    line: PhantomData<fn() -> T>,
}

impl<T, F: FnMut(T) -> io::Result<()>> JsonLineSink<F, T> {
    /// A sink that passes every line to `take`.
    pub fn new(take: F) -> Self {
        Self {
            rest: Vec::new(),
            take,
            line: PhantomData,
        }
    }
}

impl<T: DeserializeOwned, F: FnMut(T) -> io::Result<()>> Write for JsonLineSink<F, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.rest.extend_from_slice(part);
            if self.rest.last() == Some(&b'\n') {
                let line = serde_json::from_slice(&self.rest)?;
                self.rest.clear();
                (self.take)(line)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The text, with a `'` before it if a spreadsheet would take it for a formula.
fn without_formula(text: &str) -> String {
    // Some programs skip a tab or a line break before the formula.
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let mark = if is_formula { "'" } else { "" };
    mark.to_owned() + text
}

/// Writes the lines from `fill` as CSV, with a header; with `quotes` a spreadsheet takes no text in it for a formula.
pub(super) fn write_csv(
    writer: &mut dyn Write,
    columns: &[Column],
    quotes: bool,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let cell = |value: &Value| match value {
        Value::String(text) if quotes => without_formula(text),
        value => text(value),
    };
    let mut table = csv::Writer::from_writer(writer);
    let name = |column: &Column| cell(&Value::from(column.name.as_str()));
    table.write_record(columns.iter().map(name))?;
    fill(&mut JsonLineSink::new(|line: Value| {
        let cell = |column: &Column| column.value(&line).map(cell).unwrap_or_default();
        Ok(table.write_record(columns.iter().map(cell))?)
    }))?;
    table.flush()
}

/// Writes the lines from `fill` as Parquet, compressed with Snappy, to a temporary file of `temporary` first.
pub(super) fn write_parquet(
    writer: &mut dyn Write,
    temporary: &dyn Fn() -> io::Result<File>,
    columns: &[Column],
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let is_of_values = |column: &Column| column.kind == CellKind::OfValues;
    if columns.iter().any(is_of_values) {
        let (columns, mut lines) = with_types(temporary()?, columns, fill)?;
        return write_typed(writer, temporary()?, &columns, |sink| {
            io::copy(&mut lines, sink).map(drop)
        });
    }
    write_typed(writer, temporary()?, columns, fill)
}

fn write_typed(
    writer: &mut dyn Write,
    mut temporary: File,
    columns: &[Column],
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let fields = columns.iter().map(|column| column.field().map(Arc::new));
    let fields: Vec<Arc<Type>> = fields.collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("rows")
        .with_fields(fields)
        .build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let mut table =
        SerializedFileWriter::new(&mut temporary, Arc::new(schema), Arc::new(properties))?;
    let mut rows: Vec<Value> = Vec::new();
    let mut bytes = 0;
    fill(&mut JsonLineSink::new(|line: Value| {
        bytes += text_bytes(&line);
        rows.push(line);
        if rows.len() == ROW_GROUP || bytes > ROW_GROUP_BYTES {
            write_group(&mut table, columns, &rows)?;
            rows.clear();
            bytes = 0;
        }
        Ok(())
    }))?;
    if !rows.is_empty() {
        write_group(&mut table, columns, &rows)?;
    }
    table.close()?;
    temporary.rewind()?;
    io::copy(&mut temporary, writer)?;
    Ok(())
}

/// The columns with the types of their values, and the lines from `fill`, which have to be read to the end to know them.
fn with_types(
    lines: File,
    columns: &[Column],
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<(Vec<Column>, File)> {
    let mut columns = columns.to_vec();
    let mut kinds: Vec<Option<CellKind>> = vec![None; columns.len()];
    let mut lines = BufWriter::new(lines);
    fill(&mut JsonLineSink::new(|line: Value| {
        for (column, kind) in columns.iter().zip(&mut kinds) {
            if column.kind == CellKind::OfValues
                && let Some(value) = column.value(&line)
            {
                *kind = Some(CellKind::with(*kind, value));
            }
        }
        serde_json::to_writer(&mut lines, &line)?;
        lines.write_all(b"\n")
    }))?;
    for (column, kind) in columns.iter_mut().zip(kinds) {
        if column.kind == CellKind::OfValues {
            column.kind = kind.unwrap_or(CellKind::Text);
        }
    }
    let mut lines = lines.into_inner().map_err(io::IntoInnerError::into_error)?;
    lines.rewind()?;
    Ok((columns, lines))
}

fn write_group<W: Write + Send>(
    table: &mut SerializedFileWriter<W>,
    columns: &[Column],
    rows: &[Value],
) -> io::Result<()> {
    let mut group = table.next_row_group()?;
    for column in columns {
        if column.kind == CellKind::Messages {
            for key in OF_MESSAGE {
                write_messages(&mut group, column, key, rows)?;
            }
            continue;
        }
        let values: Vec<Option<&Value>> = rows.iter().map(|row| column.value(row)).collect();
        // Definition levels: 1 where there is a value, 0 where there is none.
        let there = values.iter().map(|value| i16::from(value.is_some()));
        let there: Vec<i16> = there.collect();
        let values = values.into_iter().flatten();
        let Some(mut writer) = group.next_column()? else {
            return Err(io::Error::other("fewer columns than the schema has"));
        };
        macro_rules! batch {
            ($writer:ident, $of:expr) => {{
                let values: Vec<_> = values.map($of).collect();
                $writer.write_batch(&values, Some(&there), None)?;
            }};
        }
        match writer.untyped() {
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                batch!(writer, |value| ByteArray::from(text(value).into_bytes()));
            }
            ColumnWriter::BoolColumnWriter(writer) => {
                batch!(writer, |value| value == &Value::Bool(true));
            }
            ColumnWriter::Int64ColumnWriter(writer) => {
                batch!(writer, |value| value.as_i64().unwrap_or(i64::MAX));
            }
            ColumnWriter::DoubleColumnWriter(writer) => {
                batch!(writer, |value| value.as_f64().unwrap_or(f64::NAN));
            }
            _ => return Err(io::Error::other("a column of a type that is not written")),
        }
        writer.close()?;
    }
    group.close()?;
    Ok(())
}

fn write_messages<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<W>,
    column: &Column,
    key: &str,
    rows: &[Value],
) -> io::Result<()> {
    let (mut values, mut there, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let messages = column.value(row).and_then(Value::as_array);
        let messages = messages.map_or(&[][..], Vec::as_slice);
        // An empty list has one entry without a value.
        for at in 0..messages.len().max(1) {
            repeated.push(i16::from(at > 0));
            there.push(i16::from(!messages.is_empty()));
        }
        let texts = messages.iter().map(|message| message.get(key).map(text));
        values.extend(texts.map(|text| ByteArray::from(text.unwrap_or_default().into_bytes())));
    }
    let Some(mut writer) = group.next_column()? else {
        return Err(io::Error::other("fewer columns than the schema has"));
    };
    writer
        .typed::<ByteArrayType>()
        .write_batch(&values, Some(&there), Some(&repeated))?;
    writer.close()?;
    Ok(())
}

#[cfg(test)]
mod tests;
