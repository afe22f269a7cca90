//! One function around each element-wise kernel, which checks what it gives to it. `kernels/README.md` has the signatures.
//!
//! `rows` is always the number of rows that are computed; arrays may have room for more.

mod fp8;

use candle_core::{CudaDevice, DType};

use super::array::Slice;
use super::kernel::{Arg, Function, Grid, Kernels, array, array_or_null, count};
use crate::checkpoint::config::Activation;
use crate::model::{ModelError, Result};

/// The suffix of kernels for a type.
pub(super) fn suffix(dtype: DType) -> Result<&'static str> {
    match dtype {
        DType::BF16 => Ok("bf16"),
        DType::F16 => Ok("f16"),
        _ => Err(ModelError::Unsupported(format!(
            "the CUDA kernels compute in bf16 and f16, not in {dtype:?}"
        ))),
    }
}

/// `a / b`, rounded up.
fn up(a: usize, b: usize) -> usize {
    a.div_ceil(b)
}

/// How many threads a block has that processes a whole row of vectors of 8.
fn threads_of_row(width: usize) -> usize {
    (32 * up(width, 512)).clamp(64, 1024)
}

fn norm_grid(rows: usize, width: usize) -> Grid {
    if width <= 512 {
        Grid {
            blocks: (up(rows, 8), 1),
            threads: (32, 8),
            shared: 0,
        }
    } else {
        Grid::row(rows, threads_of_row(width))
    }
}

fn check_width(kernel: &str, width: usize, multiple: usize, most: usize) -> Result<()> {
    if width > 0 && width.is_multiple_of(multiple) && width <= most {
        return Ok(());
    }
    Err(ModelError::Unsupported(format!(
        "{kernel}: rows of {width}; they must be a multiple of {multiple} and at most {most}"
    )))
}

/// Two arrays of f32 of the same length, or two null pointers.
fn optional<'a>(
    kernel: &str,
    slices: Option<(Slice<'a>, Slice<'a>)>,
    name: &str,
    length: usize,
) -> Result<[Arg<'a>; 2]> {
    let (a, b) = slices.unzip();
    let one = |slice| array_or_null(slice, kernel, name, DType::F32, length);
    Ok([one(a)?, one(b)?])
}

/// Rows in e4m3: the bytes, and the factor of each row.
#[derive(Clone, Copy)]
pub struct Quantised<'a> {
    /// e4m3 `[rows, width]`
    pub values: Slice<'a>,
    /// f32 `[rows]`
    pub scales: Slice<'a>,
}

/// Where a norm's or an activation's result goes.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// In the type of the activations.
    Plain(Slice<'a>),
    /// Quantised by row, for a product in FP8.
    Fp8(Quantised<'a>),
}

impl<'a> Target<'a> {
    /// Checks the target and returns its pointers: values, and scales if there are any.
    fn args(self, kernel: &str, dtype: DType, rows: usize, width: usize) -> Result<Vec<Arg<'a>>> {
        // Room for what follows: a launch is to allocate once.
        let mut args = Vec::with_capacity(16);
        match self {
            Self::Plain(out) => args.push(array(out, kernel, "out", dtype, rows * width)?),
            Self::Fp8(out) => {
                check_width(kernel, width, 16, 32_768)?;
                args.extend([
                    array(out.values, kernel, "out", DType::F8E4M3, rows * width)?,
                    array(out.scales, kernel, "scales", DType::F32, rows)?,
                ]);
            }
        }
        Ok(args)
    }
}

/// A kernel in its plain form and in the form that quantises its result.
struct Pair {
    plain: Function,
    fp8: Function,
}

impl Pair {
    fn load(kernels: &mut Kernels, module: &'static str, name: &str, t: &str) -> Result<Self> {
        Ok(Self {
            plain: kernels.function(module, &format!("{name}_{t}"))?,
            fp8: kernels.function(module, &format!("{name}_fp8_{t}"))?,
        })
    }

    fn function(&self, target: Target) -> &Function {
        match target {
            Target::Plain(_) => &self.plain,
            Target::Fp8(_) => &self.fp8,
        }
    }
}

/// The element-wise kernels for one type.
pub struct Operations {
    dtype: DType,
    rms_norm: Pair,
    add_rms_norm: Pair,
    norm_add_rms_norm: Pair,
    split_heads: Pair,
    silu_mul: Pair,
    gelu_mul: Pair,
    clamped_swiglu: Pair,
    scale_and_bound: Function,
    gather_rows: Function,
    token_from_previous: Function,
    gate_heads: Function,
    add_shared: Function,
    quantize_rows: Function,
    quantize_fragments: Function,
    scale_rows_columns: Function,
}

#[derive(Clone, Copy)]
pub struct Added<'a> {
    /// `[rows, width]`
    pub values: Slice<'a>,
    /// The weight of an RMS norm that is applied to the values first, f32 `[width]`, if the family has one.
    pub norm: Option<Slice<'a>>,
    /// What the values are multiplied with then.
    pub scale: f32,
    pub sum_scale: f32,
}

/// How queries, keys and values differ from a plain decoder's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeadsForm {
    /// Values are the projected keys, before these are normed and rotated.
    pub keys_are_values: bool,
    /// Values are normed by head, without a weight.
    pub norms_values: bool,
    /// Queries and keys are normed after their rotation.
    pub norms_last: bool,
}

impl HeadsForm {
    /// As the kernel reads it.
    fn bits(self) -> u32 {
        u32::from(self.keys_are_values)
            | u32::from(self.norms_values) << 1
            | u32::from(self.norms_last) << 2
    }
}

/// What [`Operations::split_heads`] must know of a layer.
#[derive(Clone, Copy)]
pub struct HeadsLayer<'a> {
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    /// Norm weights of queries and keys, f32 `[head_dim]`.
    pub norms: Option<(Slice<'a>, Slice<'a>)>,
    /// What else is done to them.
    pub form: HeadsForm,
    /// What queries are multiplied with in the end, by token: the bits of f32 `[n]`.
    pub query_scales: Option<Slice<'a>>,
    pub eps: f32,
    /// f32 `[angles, head_dim / 2]`
    pub cos: Slice<'a>,
    /// f32 `[angles, head_dim / 2]`
    pub sin: Slice<'a>,
    /// The layer's keys, `[slots, kv_heads, head_dim]`.
    pub keys: Slice<'a>,
    pub values: Slice<'a>,
    /// For a cache in e4m3: the factors of stored keys and values, f32 `[kv_heads]` each.
    pub kv_scales: Option<(Slice<'a>, Slice<'a>)>,
}

/// A step's tokens on the device, u32 `[n]` each.
#[derive(Clone, Copy)]
pub struct Tokens<'a> {
    pub count: usize,
    pub ids: Slice<'a>,
    /// The row of each token in the tables of cosines and sines, which is normally its position.
    pub angles: Slice<'a>,
    /// The slot of each token's key and value; below the number of slots.
    pub slots: Slice<'a>,
}

impl Operations {
    /// Loads the operations for activations of `dtype`.
    /// Errors: [`ModelError::Unsupported`] for another type than bf16 and f16; the driver's refusal.
    pub fn load(kernels: &mut Kernels, dtype: DType) -> Result<Self> {
        let t = suffix(dtype)?;
        Ok(Self {
            dtype,
            rms_norm: Pair::load(kernels, "norm", "rms_norm", t)?,
            add_rms_norm: Pair::load(kernels, "norm", "add_rms_norm", t)?,
            norm_add_rms_norm: Pair::load(kernels, "norm", "norm_add_rms_norm", t)?,
            split_heads: Pair::load(kernels, "heads", "split_heads_write_kv", t)?,
            silu_mul: Pair::load(kernels, "activation", "silu_mul", t)?,
            gelu_mul: Pair::load(kernels, "activation", "gelu_mul", t)?,
            clamped_swiglu: Pair::load(kernels, "activation", "clamped_swiglu", t)?,
            scale_and_bound: kernels.function("activation", "scale_and_bound")?,
            gather_rows: kernels.function("rows", &format!("gather_rows_{t}"))?,
            token_from_previous: kernels.function("rows", "token_from_previous")?,
            gate_heads: kernels.function("delta", &format!("gate_heads_{t}"))?,
            add_shared: kernels.function("delta", &format!("add_shared_{t}"))?,
            quantize_rows: kernels.function("fp8", &format!("quantize_rows_fp8_{t}"))?,
            quantize_fragments: kernels.function("fp8", &format!("quantize_fragments_fp8_{t}"))?,
            scale_rows_columns: kernels.function("fp8", &format!("scale_rows_columns_{t}"))?,
        })
    }

    /// As [`Self::load`], with a loader of its own.
    pub fn on(device: &CudaDevice, dtype: DType) -> Result<Self> {
        Self::load(&mut Kernels::new(device), dtype)
    }

    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// The RMS norm of rows, with a weight in f32; without one they stay as they are.
    pub fn rms_norm(
        &self,
        out: Target,
        x: Slice,
        weight: Option<Slice>,
        (rows, width): (usize, usize),
        eps: f32,
    ) -> Result<()> {
        const NAME: &str = "rms_norm";
        check_width(NAME, width, 8, 32_768)?;
        let mut args = out.args(NAME, self.dtype, rows, width)?;
        args.extend([
            Arg::Array(x.check(NAME, "x", self.dtype, rows * width)?),
            array_or_null(weight, NAME, "weight", DType::F32, width)?,
            count(rows),
            count(width),
        ]);
        if matches!(out, Target::Plain(_)) {
            args.push(count(width));
        }
        args.push(Arg::F32(eps));
        self.rms_norm
            .function(out)
            .launch(norm_grid(rows, width), &args)
    }

    /// The RMS norm, in place, of a part of each of `rows` rows of `stride` numbers: the `weight.elements()` ones from `first` on.
    pub(crate) fn norm_part(
        &self,
        x: Slice,
        first: usize,
        weight: Slice,
        (rows, stride): (usize, usize),
        eps: f32,
    ) -> Result<()> {
        const NAME: &str = "rms_norm";
        let width = weight.elements();
        check_width(NAME, width, 8, 32_768)?;
        check_width(NAME, first + stride, 8, usize::MAX)?;
        let x = x.check(NAME, "x", self.dtype, rows * stride)?;
        let x = x.part(first..rows * stride)?;
        let args = [
            Arg::Array(x),
            Arg::Array(x),
            Arg::Array(weight.check(NAME, "weight", DType::F32, width)?),
            count(rows),
            count(width),
            count(stride),
            Arg::F32(eps),
        ];
        self.rms_norm.plain.launch(norm_grid(rows, width), &args)
    }

    /// Adds to the residual stream, in place, and takes its RMS norm, or without a weight the sum as it is; both norms have the same
    /// epsilon.
    pub fn add_rms_norm(
        &self,
        out: Target,
        residual: Slice,
        added: Added,
        weight: Option<Slice>,
        (rows, width): (usize, usize),
        eps: f32,
    ) -> Result<()> {
        const NAME: &str = "add_rms_norm";
        check_width(NAME, width, 8, 32_768)?;
        let mut args = out.args(NAME, self.dtype, rows, width)?;
        args.extend([
            Arg::Array(residual.check(NAME, "residual", self.dtype, rows * width)?),
            array(added.values, NAME, "added", self.dtype, rows * width)?,
        ]);
        let kernel = match added.norm {
            None => &self.add_rms_norm,
            Some(norm) => {
                let norm = norm.check(NAME, "the norm of the added", DType::F32, width)?;
                args.push(Arg::Array(norm));
                &self.norm_add_rms_norm
            }
        };
        args.extend([
            array_or_null(weight, NAME, "weight", DType::F32, width)?,
            count(rows),
            count(width),
            Arg::F32(eps),
            Arg::F32(added.scale),
            Arg::F32(added.sum_scale),
        ]);
        kernel.function(out).launch(norm_grid(rows, width), &args)
    }

    /// Splits a fused projection `[n, (heads + 2 · kv_heads) · head_dim]`, or with one `kv_heads` where values are keys: queries, normed and rotated, to `q` `[n, heads,
    /// head_dim]`; keys, normed and rotated, and values to their slots of the cache.
    ///
    /// Rows of the tables and slots are checked on the host when the step is planned, not here.
    pub fn split_heads(
        &self,
        q: Slice,
        qkv: Slice,
        tokens: &Tokens,
        layer: &HeadsLayer,
    ) -> Result<()> {
        const NAME: &str = "split_heads_write_kv";
        let HeadsLayer {
            heads,
            kv_heads,
            head_dim,
            ..
        } = *layer;
        check_width(NAME, head_dim, 16, 512)?;
        let n = tokens.count;
        let all = heads + 2 * kv_heads;
        let projected = if layer.form.keys_are_values {
            heads + kv_heads
        } else {
            all
        };
        let (cache, function) = match layer.kv_scales {
            None => (self.dtype, &self.split_heads.plain),
            Some(_) => (DType::F8E4M3, &self.split_heads.fp8),
        };
        let norms = optional(NAME, layer.norms, "norm weights", head_dim)?;
        let scales = optional(NAME, layer.kv_scales, "KV scales", kv_heads)?;
        let args = [
            Arg::Array(q.check(NAME, "q", self.dtype, n * heads * head_dim)?),
            Arg::Array(layer.keys.check(NAME, "keys", cache, 1)?),
            Arg::Array(layer.values.check(NAME, "values", cache, 1)?),
            Arg::Array(qkv.check(NAME, "qkv", self.dtype, n * projected * head_dim)?),
            norms[0],
            norms[1],
            Arg::Array(layer.cos.check(NAME, "cos", DType::F32, head_dim / 2)?),
            Arg::Array(layer.sin.check(NAME, "sin", DType::F32, head_dim / 2)?),
            Arg::Array(tokens.angles.check(NAME, "angles", DType::U32, n)?),
            Arg::Array(tokens.slots.check(NAME, "slots", DType::U32, n)?),
            scales[0],
            scales[1],
            array_or_null(layer.query_scales, NAME, "scales of queries", DType::U32, n)?,
            count(n),
            count(heads),
            count(kv_heads),
            count(head_dim),
            Arg::U32(layer.form.bits()),
            Arg::F32(layer.eps),
        ];
        let groups = up(head_dim, 16).next_power_of_two();
        function.launch(Grid::row(up(n * all * groups, 256), 256), &args)
    }

    /// Applies the activation to rows of gate and up, from `[rows, 2 · width]` to `[rows, width]`.
    pub fn activate(
        &self,
        out: Target,
        gate_up: Slice,
        (rows, width): (usize, usize),
        activation: Activation,
    ) -> Result<()> {
        const NAME: &str = "activation";
        check_width(NAME, width, 8, usize::MAX)?;
        let mut args = out.args(NAME, self.dtype, rows, width)?;
        args.extend([
            Arg::Array(gate_up.check(NAME, "gate_up", self.dtype, rows * 2 * width)?),
            count(rows),
            count(width),
        ]);
        let kernel = match activation {
            Activation::Silu => &self.silu_mul,
            Activation::Clamped { alpha, limit } => {
                args.extend([Arg::F32(alpha as f32), Arg::F32(limit as f32)]);
                &self.clamped_swiglu
            }
            Activation::Gelu => &self.gelu_mul,
        };
        let grid = match out {
            Target::Plain(_) => Grid::plane(rows, up(width, 2048), 256),
            Target::Fp8(_) => Grid::row(rows, threads_of_row(width)),
        };
        kernel.function(out).launch(grid, &args)
    }

    /// Numbers in f32 times a factor, then within a bound, `bound · tanh(x / bound)`, if there is one; in place, their count is a
    /// multiple of 4.
    pub fn scale_and_bound(
        &self,
        values: Slice,
        elements: usize,
        factor: f32,
        bound: Option<f32>,
    ) -> Result<()> {
        const NAME: &str = "scale_and_bound";
        check_width(NAME, elements, 4, i32::MAX as usize)?;
        let args = [
            Arg::Array(values.check(NAME, "values", DType::F32, elements)?),
            count(elements),
            Arg::F32(factor),
            Arg::F32(bound.unwrap_or(0.0)),
        ];
        self.scale_and_bound
            .launch(Grid::row(up(elements, 1024), 256), &args)
    }

    /// `x · sigmoid(gate)` of numbers, in place; their count is a multiple of 8.
    pub(crate) fn gate_heads(&self, x: Slice, gate: Slice, elements: usize) -> Result<()> {
        const NAME: &str = "gate_heads";
        check_width(NAME, elements, 8, i32::MAX as usize)?;
        let args = [
            Arg::Array(x.check(NAME, "x", self.dtype, elements)?),
            Arg::Array(gate.check(NAME, "gate", self.dtype, elements)?),
            count(elements / 8),
        ];
        let grid = Grid::row(up(elements, 8 * 256), 256);
        self.gate_heads.launch(grid, &args)
    }

    /// Adds to `out` the result of the expert that works on every token, times the sigmoid of the product of `x` and `weight`,
    /// `[width]`, if there is a weight; all others `[rows, width]`.
    pub(crate) fn add_shared(
        &self,
        out: Slice,
        result: Slice,
        (x, weight): (Slice, Option<Slice>),
        (rows, width): (usize, usize),
    ) -> Result<()> {
        const NAME: &str = "add_shared";
        check_width(NAME, width, 8, usize::MAX)?;
        let args = [
            Arg::Array(out.check(NAME, "out", self.dtype, rows * width)?),
            Arg::Array(result.check(NAME, "result", self.dtype, rows * width)?),
            Arg::Array(x.check(NAME, "x", self.dtype, rows * width)?),
            array_or_null(weight, NAME, "weight", self.dtype, width)?,
            count(rows),
            count(width),
        ];
        let threads = (32 * up(width, 512)).clamp(64, 256);
        self.add_shared.launch(Grid::row(rows, threads), &args)
    }

    /// Rows of a table `[table_rows, width]` by number, times a factor; a number beyond the table gives a row of NaN.
    pub fn gather_rows(
        &self,
        out: Slice,
        table: Slice,
        ids: Slice,
        (rows, width): (usize, usize),
        factor: f32,
    ) -> Result<()> {
        const NAME: &str = "gather_rows";
        check_width(NAME, width, 8, usize::MAX)?;
        let table = table.check(NAME, "table", self.dtype, width)?;
        let args = [
            Arg::Array(out.check(NAME, "out", self.dtype, rows * width)?),
            Arg::Array(table),
            Arg::Array(ids.check(NAME, "ids", DType::U32, rows)?),
            Arg::U32((table.elements() / width) as u32),
            count(rows),
            count(width),
            Arg::F32(factor),
        ];
        let threads = (32 * up(width, 256)).clamp(32, 256);
        self.gather_rows.launch(Grid::row(rows, threads), &args)
    }

    /// Replaces token ids by tokens that the previous step chose: `source` (i32 bits, `[n]`) holds a row of the previous
    /// step's choices, or −1 where the id stays.
    pub fn token_from_previous(
        &self,
        ids: Slice,
        source: Slice,
        previous: Slice,
        n: usize,
    ) -> Result<()> {
        const NAME: &str = "token_from_previous";
        let args = [
            Arg::Array(ids.check(NAME, "ids", DType::U32, n)?),
            Arg::Array(source.check(NAME, "source", DType::U32, n)?),
            Arg::Array(previous.check(NAME, "previous", DType::U32, 1)?),
            count(n),
        ];
        self.token_from_previous
            .launch(Grid::row(up(n, 256), 256), &args)
    }
}
