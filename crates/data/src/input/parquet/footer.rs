//! The footer of a file (<https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>), read by the `parquet` crate and held
//! against the bytes there are.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    KeyValue, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetStatisticsPolicy,
};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::arrow;
use super::cells::Cell;

/// The longest footer that is read, in bytes; files of thousands of row groups have some megabytes.
const MAX_FOOTER: u64 = 64 << 20;
/// How many rows a file may always have. Equal rows may take no space at all.
const ROWS: u64 = 1 << 20;
/// How many rows a file may have for each of its bytes, in addition.
const ROWS_PER_BYTE: u64 = 8;
/// How many cells, rows times columns, a file may always have.
const CELLS: u64 = 1 << 27;
const CELLS_PER_BYTE: u64 = 256;

pub(super) struct Footer {
    pub(super) metadata: ParquetMetaData,
    /// How values of the columns are written.
    pub(super) cells: Cell,
}

pub(super) fn read(file: &File) -> Result<Footer, String> {
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let bytes = bytes(file, length)?;
    let decode = |options: ParquetMetaDataOptions| {
        let options = options
            .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
            .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
        ParquetMetaDataReader::decode_metadata_with_options(&bytes, Some(&options))
            .map_err(|error| error.to_string())
    };
    let mut metadata = decode(ParquetMetaDataOptions::new())?;
    check_row_groups(&metadata, length)?;
    let file = metadata.file_metadata();
    let pairs = file.key_value_metadata().map_or(&[][..], Vec::as_slice);
    let value = |key: &str| {
        let found = pairs.iter().find(|pair: &&KeyValue| pair.key == key);
        found.and_then(|pair| pair.value.as_deref())
    };
    let features = value("huggingface").and_then(|text| serde_json::from_str(text).ok());
    let mut features: serde_json::Value = features.unwrap_or_default();
    let features = features["info"]["features"].take();
    let arrow = arrow::bytes(value("ARROW:schema").unwrap_or_default().as_bytes());
    let cells = Cell::of_file(file.schema(), &features, &arrow);
    let descriptor = file.schema_descr();
    if (0..descriptor.num_columns()).any(|at| is_interval(descriptor.column(at).self_type())) {
        // The crate panics at an interval's value; one of no type it gives as bytes.
        let schema = without_intervals(file.schema()).map_err(|error| error.to_string())?;
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(schema)));
        metadata = decode(ParquetMetaDataOptions::new().with_schema(schema))?;
    }
    Ok(Footer { metadata, cells })
}

/// Whether a column holds months, days and milliseconds.
fn is_interval(column: &Type) -> bool {
    column.get_basic_info().converted_type() == ConvertedType::INTERVAL
}

/// The schema with intervals as plain bytes.
fn without_intervals(kind: &Type) -> Result<Type, ParquetError> {
    match kind {
        Type::GroupType { basic_info, fields } => {
            let inner = |field: &Arc<Type>| without_intervals(field).map(Arc::new);
            let fields = fields.iter().map(inner).collect::<Result<_, _>>()?;
            let basic_info = basic_info.clone();
            Ok(Type::GroupType { basic_info, fields })
        }
        Type::PrimitiveType { basic_info, .. } if is_interval(kind) => {
            Type::primitive_type_builder(kind.name(), Physical::FIXED_LEN_BYTE_ARRAY)
                .with_repetition(basic_info.repetition())
                .with_length(12)
                .build()
        }
        Type::PrimitiveType { .. } => Ok(kind.clone()),
    }
}

/// The bytes of the footer of a file of `length` bytes.
fn bytes(mut file: &File, length: u64) -> Result<Vec<u8>, String> {
    // The magic number at both ends, and the footer's length.
    const AROUND: u64 = 12;
    let cut = || "it is cut off or damaged: its end is not that of a Parquet file".to_owned();
    if length < AROUND {
        return Err(cut());
    }
    let mut end = [0; 8];
    let io = |error: std::io::Error| error.to_string();
    file.seek(SeekFrom::Start(length - 8)).map_err(io)?;
    file.read_exact(&mut end).map_err(io)?;
    let [size @ .., m, a, g, i] = end;
    if [m, a, g, i] == *b"PARE" {
        return Err("its footer is encrypted".to_owned());
    }
    let size = u64::from(u32::from_le_bytes(size));
    if [m, a, g, i] != super::MAGIC || size > length - AROUND {
        return Err(cut());
    }
    if size > MAX_FOOTER {
        return Err(format!(
            "its footer takes {size} bytes, more than {MAX_FOOTER}: write it with larger row groups, or in several files"
        ));
    }
    let mut bytes = vec![0; size as usize];
    file.seek(SeekFrom::Start(length - 8 - size)).map_err(io)?;
    file.read_exact(&mut bytes).map_err(io)?;
    Ok(bytes)
}

/// Checks that row groups lie inside the file without overlapping, and claim no more than its bytes can hold.
fn check_row_groups(metadata: &ParquetMetaData, length: u64) -> Result<(), String> {
    let damaged = |what: &str| format!("its footer is damaged: {what}");
    let columns = metadata.file_metadata().schema_descr().num_columns() as u64;
    let (mut rows, mut stored) = (0_u64, 0_u64);
    for group in metadata.row_groups() {
        let count = u64::try_from(group.num_rows())
            .map_err(|_| damaged("a row group has a negative number of rows"))?;
        rows = rows.saturating_add(count);
        for column in group.columns() {
            let unread = match column.compression() {
                Compression::LZO => Some("LZO"),
                Compression::BROTLI(_) => Some("Brotli"),
                _ => None,
            };
            if let Some(name) = unread {
                return Err(format!(
                    "it is compressed with {name}, which is not read: write it with zstd, Snappy or gzip"
                ));
            }
            let from = column.dictionary_page_offset();
            let from = u64::try_from(from.unwrap_or_else(|| column.data_page_offset()));
            let bytes = u64::try_from(column.compressed_size());
            let place = from.ok().zip(bytes.ok());
            let (_, bytes) = place
                .filter(|(from, bytes)| from.saturating_add(*bytes) <= length)
                .ok_or_else(|| damaged("a column lies outside the file"))?;
            stored = stored.saturating_add(bytes);
            let (values, rows) = (column.num_values(), group.num_rows());
            let is_list = column.column_descr().max_rep_level() > 0;
            if values < rows || values > rows && !is_list {
                let what = format!("a column has {values} values in {rows} rows");
                return Err(damaged(&what));
            }
        }
    }
    if stored > length {
        return Err(damaged("columns lie on top of each other"));
    }
    let most_rows = ROWS + ROWS_PER_BYTE.saturating_mul(length);
    let most_cells = CELLS + CELLS_PER_BYTE.saturating_mul(length);
    if rows > most_rows || rows.saturating_mul(columns) > most_cells {
        return Err(format!(
            "it claims {rows} rows of {columns} columns in {length} bytes, which is out of proportion: nearly all of them would be the same"
        ));
    }
    Ok(())
}
