//! Widths of a block: the dimensions of its products, and the kept values.

use crate::architecture::Architecture;

/// The feed-forward part of a block: experts, each with a product up and one down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeedForward {
    pub count: f64,
    pub active: f64,
    pub width: f64,
    /// Inner width of further experts that every token uses; 0: none.
    pub always: f64,
}

impl Architecture {
    /// Inner dimension and columns, on one of the GPUs that share a block, of attention's products with weights; `share` is
    /// one over their number.
    pub(super) fn attention_products(&self, share: f64) -> Vec<(f64, f64)> {
        let hidden = f64::from(self.hidden);
        let heads = f64::from(self.heads) * share;
        let width = f64::from(self.head_width);
        match &self.latent {
            None => {
                let kept = f64::from(self.kv_heads) * share;
                vec![
                    (hidden, (heads + 2.0 * kept) * width),
                    (heads * width, hidden),
                ]
            }
            // The narrow products are computed by each GPU.
            Some(latent) => {
                let [query, kept, rotary, value] = [
                    latent.query_rank,
                    latent.kv_rank,
                    latent.rotary,
                    latent.value,
                ]
                .map(f64::from);
                vec![
                    (hidden, query + kept + rotary),
                    (query, heads * (width + rotary)),
                    (kept, heads * (width + value)),
                    (heads * value, hidden),
                ]
            }
        }
    }

    pub(super) fn attention_widths(&self) -> (f64, f64) {
        let width = f64::from(self.head_width);
        match &self.latent {
            None => (width, width),
            Some(latent) => (width + f64::from(latent.rotary), f64::from(latent.value)),
        }
    }

    /// Values per token that attention keeps for the backward pass: queries, keys, values and its output.
    pub(super) fn kept_by_attention(&self) -> f64 {
        let (keys, values) = self.attention_widths();
        let heads = f64::from(self.heads);
        let kept = match &self.latent {
            None => f64::from(self.kv_heads),
            Some(_) => heads,
        };
        heads * keys + kept * (keys + values) + heads * values
    }

    pub(super) fn feed_forward(&self, block: u32) -> FeedForward {
        match &self.experts {
            Some(experts) if block >= experts.dense_layers => FeedForward {
                count: f64::from(experts.count),
                active: f64::from(experts.active),
                width: f64::from(experts.ffn),
                always: f64::from(experts.shared) * f64::from(experts.ffn),
            },
            _ => FeedForward {
                count: 1.0,
                active: 1.0,
                width: f64::from(self.ffn),
                always: 0.0,
            },
        }
    }

    /// Parameters of a block on a replica that shares its experts with others.
    pub(super) fn held_parameters(&self, block: u32, expert: u32) -> f64 {
        let experts = self.expert_parameters(block) as f64;
        self.block_parameters(block) as f64 - experts + experts / f64::from(expert)
    }

    /// FLOPs of a token of a step, forward and backward, without recomputation: 6 per active parameter except those of the
    /// embedding, and 12 × layers × heads × head width × tokens of attention (not halved if causal). Source: Chowdhery et
    /// al., PaLM, JMLR 2023, appendix B.
    pub fn token_flops(&self, sequence: f64) -> f64 {
        let (keys, values) = self.attention_widths();
        let scores = f64::from(self.heads) * (keys + values) * sequence;
        6.0 * self.active_parameters() as f64 + 6.0 * f64::from(self.layers) * scores
    }
}
