//! Numbers to e4m3 and back.

use candle_core::DType;

use super::{Operations, Quantised, check_width, threads_of_row, up};
use crate::model::cuda::array::Slice;
use crate::model::cuda::kernel::{Arg, Function, Grid, array_or_null, count};
use crate::model::{ModelError, Result};

impl Operations {
    pub fn quantize_rows(
        &self,
        out: Quantised,
        x: Slice,
        (rows, width): (usize, usize),
    ) -> Result<()> {
        self.quantize(&self.quantize_rows, out, x, (rows, width))
    }

    /// Quantises the rows of an expert's weight into the fragments that the grouped product takes; `rows` are a multiple of
    /// 8.
    pub(crate) fn quantize_fragments(
        &self,
        out: Quantised,
        x: Slice,
        (rows, width): (usize, usize),
    ) -> Result<()> {
        if !rows.is_multiple_of(8) {
            return Err(ModelError::Unsupported(format!(
                "experts with {rows} outputs in FP8: they must be a multiple of 8"
            )));
        }
        self.quantize(&self.quantize_fragments, out, x, (rows, width))
    }

    fn quantize(
        &self,
        kernel: &Function,
        out: Quantised,
        x: Slice,
        (rows, width): (usize, usize),
    ) -> Result<()> {
        const NAME: &str = "quantisation to FP8";
        check_width(NAME, width, 16, usize::MAX)?;
        let args = [
            Arg::Array(out.values.check(NAME, "out", DType::F8E4M3, rows * width)?),
            Arg::Array(out.scales.check(NAME, "scales", DType::F32, rows)?),
            Arg::Array(x.check(NAME, "x", self.dtype, rows * width)?),
            count(rows),
            count(width),
        ];
        kernel.launch(Grid::row(rows, threads_of_row(width)), &args)
    }

    /// `out[i][j] = x[i][j] · row[i] · column[j] + bias[j]`, from f32.
    pub(crate) fn scale_rows_columns(
        &self,
        out: Slice,
        x: Slice,
        row: Slice,
        (column, bias): (Slice, Option<Slice>),
        (rows, width): (usize, usize),
    ) -> Result<()> {
        const NAME: &str = "scale_rows_columns";
        check_width(NAME, width, 8, usize::MAX)?;
        let args = [
            Arg::Array(out.check(NAME, "out", self.dtype, rows * width)?),
            Arg::Array(x.check(NAME, "x", DType::F32, rows * width)?),
            Arg::Array(row.check(NAME, "row_scale", DType::F32, rows)?),
            Arg::Array(column.check(NAME, "column_scale", DType::F32, width)?),
            array_or_null(bias, NAME, "bias", self.dtype, width)?,
            count(rows),
            count(width),
        ];
        let grid = Grid::plane(rows, up(width, 2048), 256);
        self.scale_rows_columns.launch(grid, &args)
    }
}
