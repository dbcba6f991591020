//! Turns a model's `config.json` from a model hub into an architecture that scenarios can name.

use std::sync::Arc;

use serde_json::{Map, Value};

use scavsim_parallel::architecture::{Architecture, ModelTable};
use scavsim_read::input::{Diagnostic, Diagnostics, Source, closest, json};

const NOT_A_CONFIG: &str = "this is not the config.json of a model";

/// Properties of a kind of decoder that its configuration does not state.
struct Family {
    /// `model_type` of the file.
    kind: &'static str,
    gated: bool,
    /// Whether head and embedding share weights by default.
    tied: bool,
    learned: bool,
}

const fn family(kind: &'static str, gated: bool, tied: bool, learned: bool) -> Family {
    Family {
        kind,
        gated,
        tied,
        learned,
    }
}

/// Kinds of decoders that consist of equal blocks with attention in each.
const FAMILIES: [Family; 24] = [
    family("bloom", false, true, false),
    family("cohere", true, true, false),
    family("deepseek_v2", true, false, false),
    family("deepseek_v3", true, false, false),
    family("falcon", false, true, false),
    family("gemma", true, true, false),
    family("gemma2", true, true, false),
    family("gemma3_text", true, true, false),
    family("gpt2", false, true, true),
    family("gpt_bigcode", false, true, true),
    family("gpt_neo", false, true, true),
    family("gpt_neox", false, false, false),
    family("gptj", false, false, false),
    family("llama", true, false, false),
    family("mistral", true, false, false),
    family("mixtral", true, false, false),
    family("mpt", false, true, false),
    family("olmo2", true, false, false),
    family("opt", false, true, true),
    family("phi3", true, false, false),
    family("qwen2", true, false, false),
    family("qwen3", true, false, false),
    family("qwen3_moe", true, false, false),
    family("starcoder2", false, true, false),
];

#[derive(Debug, Clone)]
pub struct ImportedModel {
    pub text: String,
    pub model: Architecture,
}

/// Names of keys in the file by their meaning, the usual one first.
const LAYERS: &[&str] = &["num_hidden_layers", "n_layer", "n_layers", "num_layers"];
const HIDDEN: &[&str] = &["hidden_size", "n_embd", "d_model"];
const HEADS: &[&str] = &["num_attention_heads", "n_head", "n_heads", "num_heads"];
const ATTENTION_DROPOUT: &[&str] = &[
    "attention_dropout",
    "attn_pdrop",
    "attention_probs_dropout_prob",
];
const DROPOUT: &[&str] = &[
    "dropout",
    "hidden_dropout",
    "hidden_dropout_prob",
    "resid_pdrop",
];
const KV_HEADS: &[&str] = &["num_key_value_heads", "num_kv_heads"];
const HEAD_WIDTH: &[&str] = &["head_dim", "qk_nope_head_dim"];
const FFN: &[&str] = &["intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"];
const VOCABULARY: &[&str] = &["vocab_size"];
const SEQUENCE: &[&str] = &[
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
];
const EXPERTS: &[&str] = &["num_local_experts", "num_experts", "n_routed_experts"];
const ACTIVE: &[&str] = &["num_experts_per_tok"];
const EXPERT_FFN: &[&str] = &["moe_intermediate_size"];
const SHARED: &[&str] = &["n_shared_experts"];
const DENSE: &[&str] = &["first_k_dense_replace"];

struct Config<'s, 'd> {
    source: &'s Arc<Source>,
    table: Map<String, Value>,
    diagnostics: &'d mut Diagnostics,
}

impl Config<'_, '_> {
    fn wrong(&mut self, key: &str, title: String, help: String) {
        let word = format!("\"{key}\"");
        let at = self
            .source
            .text
            .find(&word)
            .map_or(0..0, |at| at..at + word.len());
        let mistake = Diagnostic::at_span(self.source, at, title, "");
        self.diagnostics.push(mistake.with_help(help));
    }

    /// The first integer among these keys.
    fn whole_number(&mut self, keys: &[&'static str]) -> Option<u32> {
        let is_said = |key: &&&str| self.table.get(**key).is_some_and(|value| !value.is_null());
        let key = *keys.iter().find(is_said)?;
        let value = &self.table[key];
        match value.as_u64().and_then(|value| u32::try_from(value).ok()) {
            Some(value) => Some(value),
            None => {
                let title = format!("`{key}` is {value}");
                self.wrong(key, title, "expected a whole number".to_owned());
                None
            }
        }
    }

    fn needed(&mut self, what: &str, keys: &[&'static str]) -> Option<u32> {
        let before = self.diagnostics.len();
        let found = self.whole_number(keys);
        if found.is_none() && self.diagnostics.len() == before {
            let title = format!(
                "{}: nothing says how many {what} there are",
                self.source.name
            );
            let help = format!("expected one of {}", keys.join(", "));
            self.diagnostics
                .push(Diagnostic::general(title).with_help(help));
        }
        found
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.table.get(key).and_then(Value::as_bool)
    }

    /// Whether attention scores have dropout; if the file does not say, whether anything has.
    fn drops(&self) -> bool {
        let said = |keys: &[&str]| {
            let mut all = keys.iter().filter_map(|key| self.table.get(*key));
            all.find_map(Value::as_f64)
        };
        let share = said(ATTENTION_DROPOUT).or_else(|| said(DROPOUT));
        share.is_some_and(|share| share > 0.0)
    }

    fn family(&mut self) -> Option<&'static Family> {
        let kind = self
            .table
            .get("model_type")
            .and_then(Value::as_str)
            .unwrap_or("");
        if let Some(known) = FAMILIES.iter().find(|known| known.kind == kind) {
            return Some(known);
        }
        let kinds = FAMILIES.iter().map(|known| known.kind);
        let title = match (kind, closest(kind, kinds.clone())) {
            ("", _) => "it does not say its `model_type`".to_owned(),
            (_, None) => format!("a `{kind}` is no decoder of equal blocks that is known here"),
            (_, Some(near)) => {
                format!("a `{kind}` is no decoder that is known here: did you mean `{near}`?")
            }
        };
        let legal: Vec<&str> = kinds.collect();
        let help = format!(
            "allowed here: {}; any other by its numbers: `model = {{ layers, hidden, heads, … }}`",
            legal.join(", ")
        );
        self.wrong("model_type", title, help);
        None
    }

    fn key_value_heads(&mut self) -> Option<u32> {
        match (self.whole_number(KV_HEADS), self.flag("multi_query")) {
            (None, Some(true)) => Some(1),
            // Falcon's other value is unused if it has one head of keys and values.
            (Some(_), Some(true)) if self.flag("new_decoder_architecture") == Some(false) => {
                Some(1)
            }
            (said, _) => said,
        }
    }

    fn table(&mut self) -> Option<ModelTable> {
        let family = self.family();
        let layers = self.needed("blocks", LAYERS);
        let hidden = self.needed("values per token", HIDDEN);
        let heads = self.needed("heads", HEADS);
        let vocabulary = self.needed("tokens of the vocabulary", VOCABULARY);
        let wider = self.whole_number(&["expansion_ratio"]);
        let ffn = self.whole_number(FFN).or(wider
            .zip(hidden)
            .map(|(by, hidden)| by.saturating_mul(hidden)));
        let sequence = self.whole_number(SEQUENCE);
        let experts = self.whole_number(EXPERTS).filter(|experts| *experts > 1);
        let latent = self.whole_number(&["kv_lora_rank"]);
        let family = family?;
        let mut of_experts = |keys| {
            if experts.is_some() {
                self.whole_number(keys)
            } else {
                None
            }
        };
        let (active_experts, expert_ffn) = (of_experts(ACTIVE), of_experts(EXPERT_FFN));
        let (shared, dense) = (of_experts(SHARED), of_experts(DENSE));
        Some(ModelTable {
            name: None,
            layers: layers?,
            hidden: hidden?,
            heads: heads?,
            kv_heads: self.key_value_heads(),
            head_width: self.whole_number(HEAD_WIDTH),
            ffn,
            gated: family.gated,
            vocabulary: vocabulary?,
            tied: self.flag("tie_word_embeddings").unwrap_or(family.tied),
            positions: if family.learned {
                sequence.unwrap_or(0)
            } else {
                0
            },
            encoder: false,
            dropout: self.drops(),
            sequence,
            experts,
            active_experts,
            expert_ffn,
            shared_experts: shared.unwrap_or(0),
            dense_layers: dense.unwrap_or(0),
            query_rank: latent.and_then(|_| self.whole_number(&["q_lora_rank"])),
            kv_rank: latent,
            rotary_width: latent.and_then(|_| self.whole_number(&["qk_rope_head_dim"])),
            value_width: latent.and_then(|_| self.whole_number(&["v_head_dim"])),
        })
    }
}

pub fn read(
    source: &Arc<Source>,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> Option<ImportedModel> {
    let before = diagnostics.len();
    let table: Map<String, Value> = json::read(source, NOT_A_CONFIG, diagnostics)?;
    let mut config = Config {
        source,
        table,
        diagnostics,
    };
    let mut table = config.table()?;
    table.name = Some(name.to_owned());
    let model = match table.architecture(name) {
        Ok(model) => model,
        Err(wrong) => {
            for impossible in wrong {
                let title = format!("`{}` makes no model", impossible.key);
                let mistake = Diagnostic::general(format!("{}: {title}", source.name));
                diagnostics.push(mistake.with_help(impossible.why));
            }
            return None;
        }
    };
    let text = toml::to_string(&table).ok()?;
    (diagnostics.len() == before).then_some(ImportedModel { text, model })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_parallel::architecture::library;

    fn imported(text: &str) -> Result<ImportedModel, String> {
        let mut diagnostics = Diagnostics::default();
        let source = Source::new("config.json", text);
        read(&source, "own", &mut diagnostics).ok_or_else(|| diagnostics.render(false))
    }

    /// The library's numbers with the keys of a hub.
    #[test]
    fn a_hubs_numbers_make_the_model_of_the_library() {
        let llama = imported(
            r#"{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
                "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192,
                "tie_word_embeddings": false, "torch_dtype": "bfloat16"}"#,
        );
        let known = library::embedded("llama-3-8b").expect("embedded");
        assert_eq!(llama.expect("legal").model.parameters(), known.parameters());
        let gpt2 = imported(
            r#"{"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}"#,
        );
        let known = library::embedded("gpt2-124m").expect("embedded");
        assert_eq!(gpt2.expect("legal").model.parameters(), known.parameters());
        let experts = imported(
            r#"{"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 128,
                "num_key_value_heads": 128, "intermediate_size": 18432, "vocab_size": 129280, "max_position_embeddings": 4096,
                "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1,
                "first_k_dense_replace": 3, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
                "qk_nope_head_dim": 128, "v_head_dim": 128, "tie_word_embeddings": false}"#,
        );
        let known = library::embedded("deepseek-v3").expect("embedded");
        let experts = experts.expect("legal").model;
        assert_eq!(experts.parameters(), known.parameters());
        assert_eq!(experts.active_parameters(), known.active_parameters());
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        let own = imported(
            r#"{"model_type": "mpt", "n_layers": 24, "d_model": 2048, "n_heads": 16, "expansion_ratio": 4, "vocab_size": 50368,
                "max_seq_len": 2048}"#,
        )
        .expect("legal");
        let again: ModelTable = toml::from_str(&own.text).expect("written by us");
        assert_eq!(again.architecture("own").expect("legal"), own.model);
        let known = library::embedded("mpt-1b").expect("embedded");
        assert_eq!(own.model.parameters(), known.parameters());
    }

    #[test]
    fn an_encoder_and_missing_numbers_are_told() {
        let refused = |text: &str, expected: &[&str]| {
            let told = imported(text).expect_err("it is wrong");
            for part in expected {
                assert!(told.contains(part), "{part}: {told}");
            }
        };
        let bert = r#"{"model_type": "bert", "hidden_size": 768}"#;
        let no_decoder = "`bert` is no decoder";
        refused(
            bert,
            &[no_decoder, "allowed here", "nothing says how many blocks"],
        );
        refused(r#"{"model_type": "lama"}"#, &["did you mean `llama`?"]);
        for (blocks, expected) in [("2.5", "expected a whole number"), ("2", "do not divide")] {
            let text = r#"{"model_type": "llama", "num_hidden_layers": N, "hidden_size": 100, "num_attention_heads": 3, "vocab_size": 10}"#;
            refused(&text.replace('N', blocks), &[expected]);
        }
    }
}
