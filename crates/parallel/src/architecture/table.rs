//! A model by its numbers, from a scenario or a file.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Architecture, Experts, LatentAttention};

/// A model by its numbers. Everything else follows from `layers`, `hidden` and `heads` as in GPT-2.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelTable {
    /// What it is called.
    pub name: Option<String>,
    /// Blocks.
    pub layers: u32,
    /// Values per token between blocks.
    pub hidden: u32,
    /// Heads of queries.
    pub heads: u32,
    /// Heads of keys and values; as many as of queries when absent.
    pub kv_heads: Option<u32>,
    /// Width of a head; hidden / heads when absent.
    pub head_width: Option<u32>,
    /// Inner width of the feed-forward part; 4 × hidden when absent.
    pub ffn: Option<u32>,
    /// Whether the feed-forward part has a gate: three matrices in place of two.
    pub gated: bool,
    /// Tokens of the vocabulary.
    pub vocabulary: u32,
    /// Whether the head has the weights of the embedding.
    pub tied: bool,
    /// Learned positions.
    pub positions: u32,
    /// Whether tokens see those behind them, too: an encoder.
    pub encoder: bool,
    /// Whether scores of attention and outputs of a block are dropped at random: they are kept twice, with masks.
    pub dropout: bool,
    /// Tokens of the sequences that it was made for; 2,048 when absent.
    pub sequence: Option<u32>,
    /// Experts of a block.
    pub experts: Option<u32>,
    /// Experts that a token goes through; 2 when absent.
    pub active_experts: Option<u32>,
    /// Inner width of an expert; `ffn` when absent.
    pub expert_ffn: Option<u32>,
    /// Experts that every token goes through beside.
    pub shared_experts: u32,
    /// First blocks without experts.
    pub dense_layers: u32,
    /// Width of latent queries, with the three widths below.
    pub query_rank: Option<u32>,
    /// Width of latent keys and values.
    pub kv_rank: Option<u32>,
    /// Width of a head that is rotated.
    pub rotary_width: Option<u32>,
    /// Width of a head's values.
    pub value_width: Option<u32>,
}

const MOST: u32 = 10_000_000;

#[derive(Debug, Clone, PartialEq)]
pub struct ImpossibleKey {
    pub key: &'static str,
    pub why: String,
}

impl ModelTable {
    /// The model called `name`, unless the table has a name of its own; or all invalid keys.
    pub fn architecture(&self, name: &str) -> Result<Architecture, Vec<ImpossibleKey>> {
        let wrong = self.impossible();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let ffn = self.ffn.unwrap_or_else(|| self.hidden.saturating_mul(4));
        let experts = self.experts.map(|count| Experts {
            count,
            active: self.active_experts.unwrap_or(2),
            ffn: self.expert_ffn.unwrap_or(ffn),
            shared: self.shared_experts,
            dense_layers: self.dense_layers,
        });
        let ranks = (
            self.query_rank,
            self.kv_rank,
            self.rotary_width,
            self.value_width,
        );
        let latent = match ranks {
            (Some(query_rank), Some(kv_rank), Some(rotary), Some(value)) => Some(LatentAttention {
                query_rank,
                kv_rank,
                rotary,
                value,
            }),
            _ => None,
        };
        let name = self.name.as_deref().unwrap_or(name);
        Ok(Architecture {
            name: Arc::from(name),
            model: name.to_owned(),
            source: "given by its numbers".to_owned(),
            layers: self.layers,
            hidden: self.hidden,
            heads: self.heads,
            kv_heads: self.kv_heads.unwrap_or(self.heads),
            head_width: self.head_width.unwrap_or(self.hidden / self.heads),
            ffn,
            gated: self.gated,
            vocabulary: self.vocabulary,
            tied: self.tied,
            positions: self.positions,
            causal: !self.encoder,
            dropout: self.dropout,
            sequence: self.sequence.unwrap_or(2048),
            experts,
            latent,
        })
    }

    fn impossible(&self) -> Vec<ImpossibleKey> {
        let mut wrong = Vec::new();
        let mut complain = |key, why: String| wrong.push(ImpossibleKey { key, why });
        let needed = [
            ("layers", Some(self.layers)),
            ("hidden", Some(self.hidden)),
            ("heads", Some(self.heads)),
            ("vocabulary", Some(self.vocabulary)),
            ("kv_heads", self.kv_heads),
            ("head_width", self.head_width),
            ("ffn", self.ffn),
            ("sequence", self.sequence),
            ("experts", self.experts),
            ("active_experts", self.active_experts),
            ("expert_ffn", self.expert_ffn),
            ("query_rank", self.query_rank),
            ("kv_rank", self.kv_rank),
            ("rotary_width", self.rotary_width),
            ("value_width", self.value_width),
        ];
        for (key, value) in needed {
            if let Some(value) = value
                && !(1..=MOST).contains(&value)
            {
                complain(
                    key,
                    format!("expected a whole number from 1 to {MOST}, found {value}"),
                );
            }
        }
        if self.layers > 100_000 {
            complain(
                "layers",
                format!("expected at most 100000, found {}", self.layers),
            );
        }
        if self.heads > 0 && self.head_width.is_none() && !self.hidden.is_multiple_of(self.heads) {
            complain(
                "heads",
                format!(
                    "{} heads do not divide {} values: say `head_width`",
                    self.heads, self.hidden
                ),
            );
        }
        if let Some(kept) = self.kv_heads
            && kept > 0
            && !self.heads.is_multiple_of(kept)
        {
            complain(
                "kv_heads",
                format!("{kept} do not divide {} heads", self.heads),
            );
        }
        if let Some(count) = self.experts
            && self.active_experts.unwrap_or(2) > count
        {
            let active = self.active_experts.unwrap_or(2);
            complain("active_experts", format!("{active} of {count} experts"));
        }
        if self.dense_layers > self.layers {
            let (dense, layers) = (self.dense_layers, self.layers);
            complain("dense_layers", format!("{dense} of {layers} layers"));
        }
        let ranks = [
            self.query_rank,
            self.kv_rank,
            self.rotary_width,
            self.value_width,
        ];
        let given = ranks.iter().flatten().count();
        if given != 0 && given != ranks.len() {
            let why =
                "latent attention has `query_rank`, `kv_rank`, `rotary_width` and `value_width`";
            complain("query_rank", why.to_owned());
        }
        wrong
    }
}
