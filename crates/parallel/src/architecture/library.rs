use std::sync::{Arc, LazyLock};

use super::{Architecture, Experts, LatentAttention};
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source};

pub const FILE: &str = "data/models/models.csv";
const TABLE: &str = include_str!("../../../../data/models/models.csv");

/// Maximum of any number of a model.
const MOST: u64 = 1 << 30;

static ALL: LazyLock<Vec<(Arc<Architecture>, Option<u64>)>> =
    LazyLock::new(|| read(&mut Diagnostics::default()));

pub fn all() -> impl Iterator<Item = &'static Arc<Architecture>> {
    ALL.iter().map(|(model, _)| model)
}

pub fn names() -> Vec<&'static str> {
    all().map(|model| &*model.name).collect()
}

/// Names of a hub without a size.
const HUB_NAMES: [(&str, &str); 4] = [
    ("gpt2", "gpt2-124m"),
    ("gpt2-medium", "gpt2-355m"),
    ("gpt2-large", "gpt2-774m"),
    ("gpt2-xl", "gpt2-1.5b"),
];

/// A model by its name here, or by that of a hub, as `meta-llama/Meta-Llama-3-8B-Instruct`.
pub fn embedded(name: &str) -> Option<Arc<Architecture>> {
    let named = |name: &str| {
        let of_hub = HUB_NAMES.iter().find(|(hub, _)| *hub == name);
        let name = of_hub.map_or(name, |(_, own)| own);
        all().find(|model| &*model.name == name).map(Arc::clone)
    };
    let hub_name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let hub_name = hub_name.strip_prefix("meta-").unwrap_or(&hub_name);
    let mut shorter = hub_name.trim_end_matches("-hf");
    named(name).or_else(|| {
        loop {
            let (start, tuning) = match named(shorter) {
                Some(found) => break Some(found),
                None => shorter.rsplit_once('-')?,
            };
            // Fine-tuning does not change the size of a model.
            let is_tuning = [
                "hf", "instruct", "chat", "base", "it", "pt", "uncased", "cased",
            ]
            .contains(&tuning)
                || tuning
                    .strip_prefix('v')
                    .unwrap_or("x")
                    .starts_with(|c: char| c.is_ascii_digit());
            if !is_tuning {
                break None;
            }
            shorter = start;
        }
    })
}

const COLUMNS: [&str; 26] = [
    "name",
    "model",
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_width",
    "ffn",
    "gated",
    "vocabulary",
    "tied",
    "positions",
    "causal",
    "dropout",
    "sequence",
    "experts",
    "active_experts",
    "expert_ffn",
    "shared_experts",
    "dense_layers",
    "query_rank",
    "kv_rank",
    "rotary_width",
    "value_width",
    "published_parameters",
    "source",
];

fn read(diagnostics: &mut Diagnostics) -> Vec<(Arc<Architecture>, Option<u64>)> {
    let source = Source::new(FILE, TABLE);
    let Some(table) = Table::read(&source, &COLUMNS, &[], diagnostics) else {
        return Vec::new();
    };
    let rows = table.rows();
    rows.filter_map(|row| model(&row, diagnostics)).collect()
}

fn model(row: &Row<'_>, d: &mut Diagnostics) -> Option<(Arc<Architecture>, Option<u64>)> {
    let mut whole = |column: &str| Some(row.whole_number(column, 0..=MOST, d)? as u32);
    let has = |column: &str| row.optional_text(column).is_some();
    let (hidden, heads) = (whole("hidden")?, whole("heads")?);
    let head_width = if has("head_width") {
        whole("head_width")?
    } else {
        hidden / heads.max(1)
    };
    let experts = if has("experts") {
        Some(Experts {
            count: whole("experts")?,
            active: whole("active_experts")?,
            ffn: whole("expert_ffn")?,
            shared: whole("shared_experts")?,
            dense_layers: whole("dense_layers")?,
        })
    } else {
        None
    };
    let latent = if has("query_rank") {
        Some(LatentAttention {
            query_rank: whole("query_rank")?,
            kv_rank: whole("kv_rank")?,
            rotary: whole("rotary_width")?,
            value: whole("value_width")?,
        })
    } else {
        None
    };
    let mut architecture = Architecture {
        name: "".into(),
        model: String::new(),
        source: String::new(),
        layers: whole("layers")?,
        hidden,
        heads,
        kv_heads: whole("kv_heads")?,
        head_width,
        ffn: whole("ffn")?,
        gated: whole("gated")? == 1,
        vocabulary: whole("vocabulary")?,
        tied: whole("tied")? == 1,
        positions: whole("positions")?,
        causal: whole("causal")? == 1,
        dropout: whole("dropout")? == 1,
        sequence: whole("sequence")?,
        experts,
        latent,
    };
    architecture.name = row.name("name", d)?.into();
    architecture.model = row.text("model", d)?.to_owned();
    architecture.source = row.text("source", d)?.to_owned();
    let published = match row.optional_text("published_parameters") {
        None => None,
        Some(_) => row.whole_number("published_parameters", 1..=1 << 50, d),
    };
    Some((Arc::new(architecture), published))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_by_the_names_of_hubs() {
        for (name, expected) in [
            ("meta-llama/Meta-Llama-3-8B", "llama-3-8b"),
            ("meta-llama/Llama-3.1-70B-Instruct", "llama-3.1-70b"),
            ("openai-community/gpt2", "gpt2-124m"),
            ("gpt2-xl", "gpt2-1.5b"),
            ("google-bert/bert-base-uncased", "bert-base"),
            ("meta-llama/Llama-2-7b-chat-hf", "llama-2-7b"),
            ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b"),
            ("Qwen/Qwen2.5-7B", "qwen2.5-7b"),
            ("google/gemma-2-9b-it", "gemma-2-9b"),
        ] {
            let found = embedded(name);
            assert_eq!(
                found.map(|model| model.name.clone()).as_deref(),
                Some(expected),
                "{name}"
            );
        }
        for name in ["meta-llama/Llama-9-8B", "llama", "./llama.toml", "-", ""] {
            assert!(embedded(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_table_is_right_and_names_are_said_once() {
        let mut diagnostics = Diagnostics::default();
        let all = read(&mut diagnostics);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let mut names = names();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }

    /// Norms, biases and further parameters in a hub's count are left out: they are below a hundredth.
    #[test]
    fn parameters_are_the_published_ones() {
        let mut judged = 0;
        for (model, published) in ALL.iter() {
            let Some(published) = published else { continue };
            judged += 1;
            let off = model.parameters() as f64 / *published as f64 - 1.0;
            assert!(off.abs() < 0.0075, "{}: {off:+.4}", model.name);
        }
        assert!(judged > 40, "{judged}");
        // DeepSeek-V3 states 37 billion active parameters per token.
        let active = |name: &str| embedded(name).expect("embedded").active_parameters() as f64;
        assert!((active("deepseek-v3") / 37e9 - 1.0).abs() < 0.02);
        assert!((active("mixtral-8x7b") / 12.9e9 - 1.0).abs() < 0.02);
    }
}
