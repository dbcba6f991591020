//! The parts of a model: layers, widths, heads, experts.

pub mod library;
pub mod table;

use std::sync::Arc;

pub use table::ModelTable;

/// A transformer: an embedding, equal blocks, a head.
#[derive(Debug, Clone, PartialEq)]
pub struct Architecture {
    pub name: Arc<str>,
    pub model: String,
    pub source: String,
    /// Blocks.
    pub layers: u32,
    /// Values per token between blocks.
    pub hidden: u32,
    pub heads: u32,
    pub kv_heads: u32,
    /// Width of a head; with latent attention, of queries and keys without the rotated part.
    pub head_width: u32,
    /// Inner width of the feed-forward part.
    pub ffn: u32,
    /// Whether the feed-forward part has a gate: three matrices instead of two.
    pub gated: bool,
    /// Tokens of the vocabulary; classes of a vision model.
    pub vocabulary: u32,
    /// Whether the head shares the weights of the embedding.
    pub tied: bool,
    /// Learned positions; 0: none.
    pub positions: u32,
    /// Whether a token attends only to earlier ones.
    pub causal: bool,
    /// Whether scores of attention and outputs of a block have dropout, which keeps masks for the backward pass.
    pub dropout: bool,
    /// Sequence length for which it was made, in tokens.
    pub sequence: u32,
    pub experts: Option<Experts>,
    pub latent: Option<LatentAttention>,
}

/// Experts; each token uses some of them. Source: Shazeer et al., ICLR 2017.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experts {
    pub count: u32,
    /// Experts per token.
    pub active: u32,
    /// Inner width of one expert.
    pub ffn: u32,
    /// Further experts that every token uses.
    pub shared: u32,
    /// Number of first blocks without experts.
    pub dense_layers: u32,
}

/// Attention over latent keys and values. Source: DeepSeek-AI, DeepSeek-V2, arXiv 2405.04434.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatentAttention {
    pub query_rank: u32,
    pub kv_rank: u32,
    /// Width of the rotated part of a head.
    pub rotary: u32,
    pub value: u32,
}

impl Architecture {
    fn attention_parameters(&self) -> u64 {
        let [hidden, heads, kept, width] =
            [self.hidden, self.heads, self.kv_heads, self.head_width].map(u64::from);
        match &self.latent {
            None => hidden * width * 2 * (heads + kept),
            Some(latent) => {
                let [query, rank, rotary, value] = [
                    latent.query_rank,
                    latent.kv_rank,
                    latent.rotary,
                    latent.value,
                ]
                .map(u64::from);
                hidden * (query + rank + rotary)
                    + query * heads * (width + rotary)
                    + rank * heads * (width + value)
                    + heads * value * hidden
            }
        }
    }

    /// Parameters of the feed-forward part of a block, and of its active part for a token.
    fn feed_forward_parameters(&self, block: u32) -> (u64, u64) {
        let matrices = if self.gated { 3 } else { 2 };
        let part = |width: u32| u64::from(self.hidden) * u64::from(width) * matrices;
        match &self.experts {
            Some(experts) if block >= experts.dense_layers => {
                let router = u64::from(self.hidden) * u64::from(experts.count);
                let one = part(experts.ffn);
                let always = u64::from(experts.shared) * one + router;
                (
                    u64::from(experts.count) * one + always,
                    u64::from(experts.active) * one + always,
                )
            }
            _ => (part(self.ffn), part(self.ffn)),
        }
    }

    /// Parameters of the experts of a block; 0 if all tokens use all parameters.
    pub fn expert_parameters(&self, block: u32) -> u64 {
        let matrices = if self.gated { 3 } else { 2 };
        match &self.experts {
            Some(experts) if block >= experts.dense_layers => {
                u64::from(experts.count)
                    * u64::from(self.hidden)
                    * u64::from(experts.ffn)
                    * matrices
            }
            _ => 0,
        }
    }

    /// Parameters of a block, counted from 0; norms and biases, some thousandths, are left out.
    pub fn block_parameters(&self, block: u32) -> u64 {
        self.attention_parameters() + self.feed_forward_parameters(block).0
    }

    pub fn embedding_parameters(&self) -> u64 {
        u64::from(self.hidden) * (u64::from(self.vocabulary) + u64::from(self.positions))
    }

    /// Parameters of the head that it does not share with the embedding.
    pub fn head_parameters(&self) -> u64 {
        if self.tied {
            0
        } else {
            u64::from(self.hidden) * u64::from(self.vocabulary)
        }
    }

    pub fn parameters(&self) -> u64 {
        let blocks: u64 = (0..self.layers).map(|n| self.block_parameters(n)).sum();
        blocks + self.embedding_parameters() + self.head_parameters()
    }

    /// Parameters of products for a token: of its experts, and the head; not the embedding, which is a lookup.
    pub fn active_parameters(&self) -> u64 {
        let attention = u64::from(self.layers) * self.attention_parameters();
        let active = |block| self.feed_forward_parameters(block).1;
        let blocks: u64 = attention + (0..self.layers).map(active).sum::<u64>();
        blocks + u64::from(self.hidden) * u64::from(self.vocabulary)
    }
}
