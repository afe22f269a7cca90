//! A cache for each kind of layer: of one shape, and with one window or none.

use candle_core::{DType, Tensor};

use super::{Attention, AttentionOutput, AttentionShape, ModelError, kv_bytes_per_token};
use crate::checkpoint::ModelConfig;
use crate::model::StepBatch;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerKind {
    /// Their sizes, and how many there are.
    pub shape: AttentionShape,
    /// How many keys a query sees; `None` where it sees all of them.
    pub window: Option<usize>,
}

/// The cache of a model's layers with windows, where it is one of its own: a block's content may be given up once no query sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowedCache {
    /// How many keys a query sees, its own included.
    pub window: usize,
    /// Blocks for these layers, numbered from 0 too.
    pub blocks: usize,
}

/// The layers with attention, by kind.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheLayout {
    kinds: Vec<LayerKind>,
    /// For each layer its kind, and the number among the layers of the kind of the one whose keys and values it attends to.
    layers: Vec<(usize, usize)>,
}

impl From<&ModelConfig> for CacheLayout {
    fn from(config: &ModelConfig) -> Self {
        let mut layout = Self {
            kinds: Vec::new(),
            layers: Vec::new(),
        };
        // Where all layers have windows, or none, there is one kind. Families with recurrent layers have none with windows.
        let mixed = config.recurrent.is_none() && config.windows.contains(&None);
        for layer in (0..config.layers).filter(|&layer| !config.is_recurrent(layer)) {
            // Families with recurrent layers have none that share.
            let source = config.keys_of(layer);
            if source != layer {
                layout.layers.push(layout.layers[source]);
                continue;
            }
            let one = LayerKind {
                shape: AttentionShape {
                    layers: 1,
                    ..AttentionShape::from(&*config.at(layer))
                },
                window: config.windows[layer].filter(|_| mixed),
            };
            let alike = |known: &LayerKind| {
                LayerKind {
                    shape: AttentionShape {
                        layers: 1,
                        ..known.shape
                    },
                    ..*known
                } == one
            };
            let kind = layout.kinds.iter().position(alike);
            let kind = kind.unwrap_or_else(|| {
                layout.kinds.push(LayerKind {
                    shape: AttentionShape {
                        layers: 0,
                        ..one.shape
                    },
                    ..one
                });
                layout.kinds.len() - 1
            });
            let count = &mut layout.kinds[kind].shape.layers;
            layout.layers.push((kind, *count));
            *count += 1;
        }
        layout
    }
}

impl CacheLayout {
    /// The kinds, in the order of their first layers.
    pub fn kinds(&self) -> &[LayerKind] {
        &self.kinds
    }

    /// The kind that has windows, if there is another one too.
    pub fn windowed(&self) -> Option<&LayerKind> {
        self.kinds.iter().find(|kind| kind.window.is_some())
    }

    /// The kind of a layer, counted among those with attention, and its number among the layers of the kind.
    #[cfg(feature = "cuda")]
    pub(crate) fn place(&self, layer: usize) -> (usize, usize) {
        self.layers[layer]
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn windows(&self, config: &ModelConfig) -> Vec<Vec<Option<usize>>> {
        let mut windows = vec![Vec::new(); self.kinds.len()];
        let attention = (0..config.layers).filter(|&layer| !config.is_recurrent(layer));
        for (layer, &(kind, _)) in attention.zip(&self.layers) {
            windows[kind].push(config.windows[layer]);
        }
        windows
    }

    /// Each layer with attention of a model: its window, and its sizes.
    pub fn layers(
        &self,
        config: &ModelConfig,
    ) -> impl Iterator<Item = (Option<usize>, AttentionShape)> {
        // Families with recurrent layers have no windows.
        let layers = self.layers.iter().zip(&config.windows);
        layers.map(|(&(kind, _), window)| {
            let shape = AttentionShape {
                layers: 1,
                ..self.kinds[kind].shape
            };
            (*window, shape)
        })
    }

    /// What it takes, for people: of one token, and of `positions` of them.
    pub fn describe(&self, positions: usize) -> (String, usize) {
        let kib = |bytes: usize| bytes as f64 / 1024.0;
        let of = |dtype| self.bytes_per_token(dtype);
        let windowed = self.bytes_in_window(DType::BF16);
        let others = of(DType::BF16) - windowed;
        match self.windowed().and_then(|layers| layers.window) {
            None => (
                format!(
                    "{:.1} KiB a token as bf16 or f16, {:.1} as f32",
                    kib(others),
                    kib(of(DType::F32))
                ),
                others * positions,
            ),
            // Twice as much in f32.
            Some(window) => (
                format!(
                    "{:.1} KiB a token, and {:.1} for each of the last {window}, as bf16 or f16, twice as much as f32",
                    kib(others),
                    kib(windowed)
                ),
                others * positions + windowed * window.min(positions),
            ),
        }
    }

    /// Bytes of cache that one token needs over all layers, keys and values, as long as all of them see it.
    pub fn bytes_per_token(&self, dtype: DType) -> usize {
        let kinds = self.kinds.iter();
        kinds
            .map(|kind| kv_bytes_per_token(&kind.shape, dtype))
            .sum()
    }

    /// Of these the ones of layers with windows, which are needed as long as a query to come sees the token.
    pub fn bytes_in_window(&self, dtype: DType) -> usize {
        let windowed = self.windowed();
        windowed.map_or(0, |kind| kv_bytes_per_token(&kind.shape, dtype))
    }

    /// The cache of a model, made of those that `build` makes for each kind.
    pub fn build<E>(
        &self,
        build: impl FnMut(&LayerKind) -> Result<Box<dyn Attention>, E>,
    ) -> Result<Box<dyn Attention>, E> {
        let mut kinds = self
            .kinds
            .iter()
            .map(build)
            .collect::<Result<Vec<_>, E>>()?;
        Ok(match kinds.pop() {
            Some(one) if kinds.is_empty() && self.kinds[0].shape.layers == self.layers.len() => one,
            last => Box::new(ByKind {
                kinds: kinds.into_iter().chain(last).collect(),
                windows: self.kinds.iter().map(|kind| kind.window).collect(),
                layers: self.layers.clone(),
            }),
        })
    }
}

struct ByKind {
    kinds: Vec<Box<dyn Attention>>,
    windows: Vec<Option<usize>>,
    layers: Vec<(usize, usize)>,
}

impl ByKind {
    /// The cache of layers that see everything.
    fn full(&self) -> Option<&dyn Attention> {
        let kinds = self.kinds.iter().zip(&self.windows);
        let mut full = kinds.filter(|(_, window)| window.is_none());
        full.next().map(|(kind, _)| kind.as_ref())
    }
}

impl Attention for ByKind {
    fn block_size(&self) -> usize {
        self.full().map_or(0, Attention::block_size)
    }

    fn blocks(&self) -> usize {
        self.full().map_or(0, Attention::blocks)
    }

    fn prepare(&mut self, batch: &StepBatch) -> Result<(), ModelError> {
        let in_windows = batch.in_windows();
        for (kind, window) in self.kinds.iter_mut().zip(&self.windows) {
            kind.prepare(match window {
                Some(_) => &in_windows,
                None => batch,
            })?;
        }
        Ok(())
    }

    fn windowed(&self) -> Option<WindowedCache> {
        let mut kinds = self.kinds.iter().zip(&self.windows);
        kinds.find_map(|(kind, window)| {
            Some(WindowedCache {
                window: (*window)?,
                blocks: kind.blocks(),
            })
        })
    }

    fn forward(
        &mut self,
        layer: usize,
        window: Option<usize>,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
    ) -> Result<AttentionOutput, ModelError> {
        let Some(&(kind, own)) = self.layers.get(layer) else {
            return Err(ModelError::Batch(format!(
                "layer {layer} of {}",
                self.layers.len()
            )));
        };
        self.kinds[kind].forward(own, window, q, k, v)
    }
}
