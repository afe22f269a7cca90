//! The decoder on an NVIDIA GPU: a step is queued whole, and nothing waits for it until its tokens are wanted.
//!
//! The same computation as [`crate::model::Decoder`], in fused kernels over arrays that are allocated once:
//!
//! ```text
//! gather embeddings ─▶ ┌ (add +) norm ─▶ QKV ─▶ split, norm, rotate, write K and V ─▶ attention ─▶ output projection ┐
//!                      └─ add + norm ─▶ gate and up ─▶ activation ─▶ down ◀──────────────────────────────────────────┘ × layers
//! ─▶ add + norm ─▶ head ─▶ sampler ─▶ token ids, which the next step can read where they are
//! ```

mod load;

use candle_core::{Device, Tensor};

pub(super) use self::load::CudaModel;
pub use self::load::obstacle;

use super::array::Array;
use super::buffers::{Buffers, StepLimits};
use super::caches::{Caches, PlannedKind};
use super::delta::{PlannedRows, StateRows, States};
use super::experts::{ExpertKernels, Routed};
use super::layers::{FeedForward, Mixer, Parts};
use super::linear::Products;
use super::nccl::Member;
use super::operations::{HeadsLayer, Operations, Target, Tokens};
use super::paged::AttendedLayer;
use super::sampling::{PackedRequests, SampleRequest, Sampled, Sampler};
use super::upload::{Packer, Upload};
use crate::checkpoint::ModelConfig;
use crate::model::attention::WindowedCache;
use crate::model::profile::{Phase, Profile};
use crate::model::rope::{RotaryTable, query_scales};
use crate::model::{ModelError, Result, StepBatch};

/// A model with its cache on an NVIDIA GPU, or one of several GPUs' parts of it.
pub(super) struct CudaDecoder {
    config: ModelConfig,
    /// For the sums over all GPUs of a model.
    member: Option<Member>,
    device: Device,
    limits: StepLimits,
    parts: Parts,
    ropes: Vec<Angles>,
    operations: Operations,
    experts: Option<ExpertKernels>,
    products: Products,
    caches: Caches,
    /// The states of recurrent layers, if the model has any.
    states: Option<States>,
    buffers: Buffers,
    packer: Packer,
    /// What goes through the model.
    upload: Upload,
    choices: Upload,
    /// Rows of logits of the step launched last, until its tokens are asked for.
    wanted: usize,
    sampler: Sampler,
    profile: Profile,
}

/// A rotary embedding's table, and its cosines and sines on the device.
struct Angles {
    table: RotaryTable,
    cos: Array,
    sin: Array,
}

/// A step whose numbers are on their way to the device: where its sections lie in the upload.
pub(super) struct Planned {
    n: usize,
    wanted: usize,
    /// Whether all tokens' logits are wanted, in order.
    in_order: bool,
    ids: std::ops::Range<usize>,
    /// For each rotary embedding the rows of its table.
    angles: Vec<std::ops::Range<usize>>,
    /// What queries are multiplied with by their position, as bits, if anything.
    query_scales: Option<std::ops::Range<usize>>,
    sources: Option<std::ops::Range<usize>>,
    rows: std::ops::Range<usize>,
    /// What rows do with recurrent states, how many there are, and each token's row.
    state_rows: Option<(std::ops::Range<usize>, usize, std::ops::Range<usize>)>,
    /// For each kind of layer its attention.
    kinds: Vec<PlannedKind>,
}

/// What decides a step's tokens, on its way to the device.
pub(super) struct SamplingInputs {
    rows: usize,
    /// Requests, lists, and the rows that want log-probabilities.
    sections: [std::ops::Range<usize>; 3],
    with_logprobs: Vec<u32>,
}

impl CudaDecoder {
    /// The configuration of what is computed here.
    pub(super) fn config(&self) -> &ModelConfig {
        &self.config
    }

    pub(super) fn profile(&mut self) -> &mut Profile {
        &mut self.profile
    }

    /// Allocates the cache anew with `blocks` blocks, and of layers with windows, where they have one of their own, with `windowed`; its
    /// content is lost. After an error there is no cache, and this must be called again with fewer blocks.
    pub(super) fn resize_cache(&mut self, blocks: usize, windowed: usize) -> Result<()> {
        let cuda = self.device.as_cuda_device()?.clone();
        self.caches.resize(&cuda, blocks, windowed)
    }

    pub(super) fn blocks(&self) -> usize {
        self.caches.blocks()
    }

    /// The cache of layers with windows, where they have one of their own.
    pub(super) fn windowed(&self) -> Option<WindowedCache> {
        self.caches.windowed()
    }

    /// Checks a step, plans its attention and sends both to the device: all of a launch that may lack memory.
    /// Errors: [`ModelError::Batch`] for a step that does not fit model, cache or limits; [`ModelError::OutOfMemory`]; the device's failure.
    pub(super) fn plan(&mut self, batch: &StepBatch) -> Result<Planned> {
        let planned = self.prepare(batch)?;
        self.upload.send(&self.packer)?;
        Ok(planned)
    }

    /// Queues a planned step up to its logits, for [`Self::choose`].
    ///
    /// Tokens of [`StepBatch::from_previous`] are filled in on the device, from the step before this one.
    pub(super) fn launch(&mut self, step: &Planned) -> Result<()> {
        self.queue(step)?;
        self.wanted = step.wanted;
        Ok(())
    }

    /// Sends what decides the tokens of the step launched last to the device: all of a choice that may lack memory.
    /// Errors: [`ModelError::Batch`] for another number of requests than there are rows of logits; [`ModelError::OutOfMemory`]; the device's
    /// failure.
    pub(super) fn ask(&mut self, requests: &[SampleRequest]) -> Result<SamplingInputs> {
        let rows = std::mem::take(&mut self.wanted);
        if requests.len() != rows {
            return Err(ModelError::Batch(format!(
                "{} requests for {rows} rows of logits",
                requests.len()
            )));
        }
        let packed = PackedRequests::new(requests, self.config.vocab);
        self.packer.clear();
        let sections = [&packed.requests, &packed.lists, &packed.with_logprobs];
        let sections = sections.map(|section| self.packer.push(section));
        self.choices.send(&self.packer)?;
        Ok(SamplingInputs {
            rows,
            sections,
            with_logprobs: packed.with_logprobs,
        })
    }

    /// Queues the choice of the tokens of the step launched last, which [`Self::collect`] returns; two more steps may be launched
    /// before that.
    pub(super) fn choose(&mut self, asked: SamplingInputs) -> Result<()> {
        let [requests, lists, wanted] = asked.sections;
        let (vocab, stride) = (self.config.vocab, self.parts.head.stride);
        let (sampler, upload, logits) = (&mut self.sampler, &self.choices, &self.buffers.logits);
        self.profile.time(Phase::Sampling, &self.device, || {
            sampler.launch(
                logits.all(),
                (asked.rows, vocab, stride),
                (
                    upload.section(requests)?,
                    upload.section(lists)?,
                    upload.section(wanted)?,
                ),
                asked.with_logprobs,
            )
        })
    }

    /// The tokens of the oldest step that was launched and not collected; waits for it.
    /// Errors: [`ModelError::Batch`] when there is none; the device's failure.
    pub(super) fn collect(&mut self) -> Result<Vec<Sampled>> {
        self.sampler.collect()
    }

    /// The logits of the step launched last, `[batch.logits.len(), vocab]`, f32, on the host; waits for it.
    pub(super) fn logits(&mut self) -> Result<Tensor> {
        let rows = std::mem::take(&mut self.wanted);
        let (vocab, stride) = (self.config.vocab, self.parts.head.stride);
        let values = self
            .buffers
            .logits
            .part(0..rows * stride)?
            .to_host(self.device.as_cuda_device()?)?;
        let rows = Tensor::from_vec(values, (rows, stride), &Device::Cpu)?;
        Ok(rows.narrow(1, 0, vocab)?.contiguous()?)
    }

    /// Checks a step, plans its attention, and packs both.
    fn prepare(&mut self, batch: &StepBatch) -> Result<Planned> {
        if let Some(states) = &self.states {
            batch.validate_states(states.slots())?;
        }
        let (n, wanted) = (batch.tokens.len(), batch.logits.len());
        let refuse = |message: String| Err(ModelError::Batch(message));
        if n > self.limits.tokens || wanted > self.limits.rows {
            return refuse(format!(
                "{n} tokens and {wanted} rows of logits, and there is room for {:?}",
                self.limits
            ));
        }
        let vocab = self.config.vocab;
        if let Some(token) = batch.tokens.iter().find(|&&token| token as usize >= vocab) {
            return refuse(format!("token {token}, but the vocabulary has {vocab}"));
        }
        let mut sources = Vec::new();
        if !batch.from_previous.is_empty() {
            sources = vec![u32::MAX; n];
            for &(index, row) in &batch.from_previous {
                let known = (row as usize) < self.sampler.newest_rows();
                let Some(source) = sources.get_mut(index as usize).filter(|_| known) else {
                    return refuse(format!(
                        "token {index} of {n} from row {row} of {} of the step before",
                        self.sampler.newest_rows()
                    ));
                };
                *source = row;
            }
        }
        let ropes = self.ropes.iter();
        let angles: Vec<_> = ropes
            .map(|rope| rope.table.rows(batch))
            .collect::<Result<_, _>>()?;
        let state_rows = self.states.as_ref().map(|_| StateRows::new(batch));
        let scale = self.config.position_scale.as_ref();
        let query_scales = scale.and_then(|scale| query_scales(scale, &batch.positions));
        let packer = &mut self.packer;
        packer.clear();
        let kinds = self.caches.plan(batch, &self.config, packer)?;
        let state_rows = state_rows.map(|StateRows { rows, row_of }| {
            (packer.push(&rows), batch.rows.len(), packer.push(&row_of))
        });
        Ok(Planned {
            n,
            wanted,
            in_order: wanted == n && batch.logits.iter().zip(0..).all(|(&row, at)| row == at),
            ids: packer.push(&batch.tokens),
            angles: angles.iter().map(|rows| packer.push(rows)).collect(),
            query_scales: query_scales.map(|scales| {
                let bits: Vec<u32> = scales.into_iter().map(f32::to_bits).collect();
                packer.push(&bits)
            }),
            sources: (!sources.is_empty()).then(|| packer.push(&sources)),
            rows: packer.push(&batch.logits),
            state_rows,
            kinds,
        })
    }

    /// Queues everything from the tokens to the logits.
    fn queue(&mut self, step: &Planned) -> Result<()> {
        let Self {
            config,
            member,
            device,
            parts,
            operations,
            experts,
            products,
            caches,
            states,
            buffers,
            upload,
            sampler,
            profile,
            ropes,
            ..
        } = self;
        let (n, hidden) = (step.n, config.hidden);
        if n == 0 {
            return Ok(());
        }
        let eps = config.rms_norm_eps as f32;
        let ids = upload.section(step.ids.clone())?;
        profile.time(Phase::Embedding, device, || {
            if let Some(sources) = &step.sources {
                let sources = upload.section(sources.clone())?;
                operations.token_from_previous(ids, sources, sampler.previous(), n)?;
            }
            let (out, table) = (buffers.hidden.all(), parts.embedding.all());
            let scale = config.embedding_scale as f32;
            operations.gather_rows(out, table, ids, (n, hidden), scale)
        })?;
        // Of several GPUs each has a part of what a layer adds to its input.
        let member = member.as_ref();
        let sum = |profile: &mut Profile, rows| match member {
            None => Ok(()),
            Some(member) => profile.time(Phase::Elementwise, device, || {
                member.sum(buffers.added.part(0..rows * hidden)?)
            }),
        };
        let section = |range: &std::ops::Range<usize>| upload.section(range.clone());
        let query_scales = step.query_scales.as_ref().map(section).transpose()?;
        let result_scale = config.result_scale as f32;
        // How the previous layer's result joins the residual stream.
        let mut result = (None, 1.0);
        let mut residual = &buffers.hidden;
        let mut rows = n;
        for (index, layer) in parts.layers.iter().enumerate() {
            // What a layer begins with may be a product in FP8; a recurrent layer's small ones never are.
            let recurrent = matches!(layer.mixer, Mixer::Recurrent(_));
            let projection = layer.mixer.projection();
            let x = buffers.target(&buffers.normed, projection.is_fp8());
            let plain = Target::Plain(buffers.normed.all());
            let normed = if recurrent { plain } else { x };
            profile.time(Phase::Elementwise, device, || {
                let weight = layer.attention_norm.as_ref().map(Array::all);
                if index == 0 {
                    operations.rms_norm(normed, residual.all(), weight, (n, hidden), eps)?;
                } else {
                    let (norm, sum_scale) = result;
                    let added = buffers.added(norm, result_scale, sum_scale);
                    let size = (n, hidden);
                    operations.add_rms_norm(normed, residual.all(), added, weight, size, eps)?;
                }
                match x {
                    Target::Fp8(out) if recurrent => {
                        operations.quantize_rows(out, buffers.normed.all(), (n, hidden))
                    }
                    _ => Ok(()),
                }
            })?;
            profile.time(Phase::Gemm, device, || {
                products.apply(operations, x, projection, buffers.qkv.all(), n)
            })?;
            let width = layer.output.inputs();
            match &layer.mixer {
                Mixer::Attention(attention) => {
                    let place = attention.index;
                    let (keys, values, kv_scales, slots) =
                        caches.layer(place, &step.kinds, upload)?;
                    let rope = usize::from(config.has_second_rope(index));
                    let tokens = Tokens {
                        count: n,
                        ids,
                        angles: upload.section(step.angles[rope].clone())?,
                        slots,
                    };
                    let mut norms = attention.qk_norms.as_ref();
                    if let Some((q, k)) = norms.take_if(|_| attention.norms_together) {
                        let kinds = if attention.form.keys_are_values { 1 } else { 2 };
                        let keys = attention.kv_heads * attention.head_dim;
                        let (queries, stride) = (width, width + kinds * keys);
                        profile.time(Phase::Elementwise, device, || {
                            let (all, size) = (buffers.qkv.all(), (n, stride));
                            operations.norm_part(all, 0, q.all(), size, eps)?;
                            operations.norm_part(all, queries, k.all(), size, eps)
                        })?;
                    }
                    let heads = HeadsLayer {
                        heads: config.heads,
                        kv_heads: attention.kv_heads,
                        head_dim: attention.head_dim,
                        norms: norms.map(|(q, k)| (q.all(), k.all())),
                        form: attention.form,
                        query_scales,
                        eps,
                        cos: ropes[rope].cos.all(),
                        sin: ropes[rope].sin.all(),
                        keys,
                        values,
                        kv_scales,
                    };
                    profile.time(Phase::Elementwise, device, || {
                        operations.split_heads(buffers.q.all(), buffers.qkv.all(), &tokens, &heads)
                    })?;
                    profile.time(Phase::Attention, device, || {
                        let layer = AttendedLayer {
                            index: place,
                            window: config.windows[index],
                            sinks: attention.sinks.as_ref().map(Array::all),
                            q: buffers.q.all(),
                            out: buffers.attended.all(),
                            lse: buffers.lse.all(),
                        };
                        caches.attend(&layer, &step.kinds, upload)
                    })?;
                    if let Some(gate) = &attention.gate {
                        // The projection has been split, and its place is free.
                        let gates = buffers.qkv.all();
                        profile.time(Phase::Gemm, device, || {
                            products.apply(operations, x, gate, gates, n)
                        })?;
                        profile.time(Phase::Elementwise, device, || {
                            operations.gate_heads(buffers.attended.all(), gates, n * width)
                        })?;
                    }
                }
                Mixer::Recurrent(delta) => {
                    let (Some(states), Some(planned)) = (states.as_ref(), &step.state_rows) else {
                        return Err(ModelError::Batch("no states for recurrent layers".into()));
                    };
                    let (gates, weight) = (states.step_beta(), &delta.step_beta);
                    profile.time(Phase::Gemm, device, || {
                        products.multiply(operations, plain, weight, gates, n)
                    })?;
                    let (rows, count, row_of) = planned;
                    let rows = PlannedRows {
                        tokens: n,
                        count: *count,
                        rows: upload.section(rows.clone())?,
                        row_of: upload.section(row_of.clone())?,
                    };
                    profile.time(Phase::Attention, device, || {
                        states.forward(delta, rows, buffers.qkv.all(), buffers.attended.all())
                    })?;
                }
            }
            let mut attended = &buffers.attended;
            // The last layer's keys and values, or states, are written; from here on only the wanted rows matter.
            if index + 1 == parts.layers.len() && !step.in_order {
                if step.wanted == 0 {
                    return Ok(());
                }
                rows = step.wanted;
                profile.time(Phase::Elementwise, device, || {
                    let wanted = upload.section(step.rows.clone())?;
                    let gather = |out: &Array, from: &Array, width| {
                        let from = from.part(0..n * width)?;
                        operations.gather_rows(out.all(), from, wanted, (rows, width), 1.0)
                    };
                    gather(&buffers.wanted_hidden, residual, hidden)?;
                    gather(&buffers.wanted_attended, attended, width)
                })?;
                (residual, attended) = (&buffers.wanted_hidden, &buffers.wanted_attended);
            }
            let x = buffers.target(attended, layer.output.is_fp8());
            if let Target::Fp8(out) = x {
                profile.time(Phase::Elementwise, device, || {
                    operations.quantize_rows(out, attended.all(), (rows, width))
                })?;
            }
            profile.time(Phase::Gemm, device, || {
                products.apply(operations, x, &layer.output, buffers.added.all(), rows)
            })?;
            sum(profile, rows)?;
            let fp8 = matches!(&layer.feed_forward, FeedForward::Gated { gate_up, .. } if gate_up.is_fp8());
            let x = buffers.target(&buffers.normed, fp8);
            profile.time(Phase::Elementwise, device, || {
                let weight = layer.feed_forward_norm.as_ref().map(Array::all);
                let norm = layer.attention_result_norm.as_ref();
                let added = buffers.added(norm, result_scale, 1.0);
                operations.add_rms_norm(x, residual.all(), added, weight, (rows, hidden), eps)
            })?;
            result = (layer.feed_forward_result_norm.as_ref(), layer.scale);
            match &layer.feed_forward {
                FeedForward::Gated { gate_up, down } => {
                    let width = down.inputs();
                    let inner = buffers.target(&buffers.gated, down.is_fp8());
                    profile.time(Phase::Gemm, device, || {
                        products.apply(operations, x, gate_up, buffers.gate_up.all(), rows)?;
                        let gate_up = buffers.gate_up.all();
                        operations.activate(inner, gate_up, (rows, width), config.activation)?;
                        products.apply(operations, inner, down, buffers.added.all(), rows)
                    })?;
                }
                FeedForward::Mixture(mixture) => {
                    let Some(experts) = experts else {
                        return Err(ModelError::Batch("no kernels for experts".into()));
                    };
                    let (normed, added) = (buffers.normed.all(), buffers.added.all());
                    let shared = mixture.shared.as_ref().zip(buffers.shared.as_ref());
                    let size = (rows, hidden);
                    profile.time(Phase::Gemm, device, || {
                        if let Some((shared, result)) = shared {
                            let (gate_up, down) = (&shared.gate_up, &shared.down);
                            let x = buffers.target(&buffers.normed, gate_up.is_fp8());
                            if let Target::Fp8(out) = x {
                                operations.quantize_rows(out, normed, size)?;
                            }
                            let width = down.inputs();
                            let inner = buffers.target(&buffers.gated, down.is_fp8());
                            let both = buffers.gate_up.all();
                            products.apply(operations, x, gate_up, both, rows)?;
                            operations.activate(inner, both, (rows, width), config.activation)?;
                            products.apply(operations, inner, down, result.all(), rows)?;
                        }
                        // Experts beside a dense layer take in the residual stream, and so does their router.
                        let beside = shared.and_then(|(shared, result)| {
                            shared.beside.as_ref().map(|norms| (norms, result))
                        });
                        let norm = |weight: &Array| {
                            let (out, weight) = (Target::Plain(normed), Some(weight.all()));
                            operations.rms_norm(out, residual.all(), weight, size, eps)
                        };
                        if let Some((norms, result)) = beside {
                            let weight = norms.dense_result.all();
                            operations.norm_part(result.all(), 0, weight, size, eps)?;
                            norm(&norms.router)?;
                        }
                        let logits = experts.logits();
                        products.multiply(operations, x, &mixture.router, logits, rows)?;
                        if let Some((norms, _)) = beside {
                            norm(&norms.experts)?;
                        }
                        experts.forward(
                            operations,
                            mixture,
                            &Routed {
                                rows,
                                hidden,
                                x: normed,
                                gate_up: buffers.gate_up.all(),
                                gated: buffers.gated.all(),
                                out: added,
                            },
                        )?;
                        if let Some((norms, _)) = beside {
                            operations.norm_part(added, 0, norms.result.all(), size, eps)?;
                        }
                        let Some((shared, result)) = shared else {
                            return Ok(());
                        };
                        let row = (normed, shared.weight.as_ref().map(Array::all));
                        operations.add_shared(added, result.all(), row, size)
                    })?;
                }
            }
            sum(profile, rows)?;
        }
        profile.time(Phase::Elementwise, device, || {
            operations.add_rms_norm(
                Target::Plain(buffers.normed.all()),
                residual.all(),
                buffers.added(result.0, result_scale, result.1),
                Some(parts.norm.all()),
                (rows, hidden),
                eps,
            )
        })?;
        let x = Target::Plain(buffers.normed.all());
        profile.time(Phase::Head, device, || {
            products.multiply(operations, x, &parts.head, buffers.logits.all(), rows)?;
            let (scale, bound) = (config.logit_scale, config.logit_softcap);
            if bound.is_none() && (scale - 1.0).abs() < 1e-12 {
                return Ok(());
            }
            let (logits, elements) = (buffers.logits.all(), rows * parts.head.stride);
            let bound = bound.map(|bound| bound as f32);
            operations.scale_and_bound(logits, elements, scale as f32, bound)
        })
    }
}
