//! What a layer costs.

use std::sync::Arc;

use crate::input::{Diagnostics, Folder};

/// Seconds and bytes of the layers of one model.
#[derive(Debug, Clone)]
pub struct LayerProfile {
    /// What the profile is called.
    pub name: Arc<str>,
    /// Layers, embedding and head included.
    pub layers: u32,
    /// Tokens per sequence.
    pub sequence: u32,
    /// Parameters of the whole model.
    pub parameters: u64,
}

impl LayerProfile {
    /// Loads the profile in `folder`. Whatever is wrong goes to `diagnostics`.
    pub fn load(_folder: &Folder, _diagnostics: &mut Diagnostics) -> Option<LayerProfile> {
        Some(LayerProfile {
            name: "".into(),
            layers: 1,
            sequence: 2048,
            parameters: 1,
        })
    }

    /// GPUs that it was made on, in alphabetical order.
    pub fn gpus(&self) -> impl Iterator<Item = &str> {
        std::iter::empty()
    }

    /// Tensor degrees profiled on `gpu`, rising.
    pub fn tensor_degrees(&self, _gpu: &str) -> Vec<u32> {
        Vec::new()
    }

    /// Micro-batches profiled on `gpu` at `tensor`, rising.
    pub fn micro_batches(&self, _gpu: &str, _tensor: u32) -> Vec<u32> {
        Vec::new()
    }

    /// Seconds of forward, backward and update of all layers, one after the other.
    pub fn pass_s(&self, _gpu: &str, _tensor: u32, _micro_batch: u32) -> Option<f64> {
        None
    }

    /// The last layers of `stages` stages that are as even in time as can be: the slowest stage is the shortest possible.
    /// `slots[stage]`: its GPU and tensor degree.
    pub fn even_cuts(&self, _slots: &[(&str, u32)], _micro_batch: u32) -> Option<Vec<u32>> {
        None
    }
}
