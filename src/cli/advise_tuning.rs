//! Options of `scavsim advise --model` for fine-tuning.

use clap::Args;

use super::exit::{Failure, wrong};
use super::units;
use scavsim_measure::advise::model::{SampleSet, TuningQuestion};

/// A fine-tuning and its data.
#[derive(Debug, Clone, Args)]
pub(super) struct OfTuning {
    /// Fine-tune: `full`; `lora` or `qlora`, adapters of rank 16 beside all matrices of blocks (`lora:64`: of rank 64; `lora:16:attention`: of attention);
    /// `frozen:24`, all but the first 24 blocks
    #[arg(long, value_name = "METHOD", requires = "model")]
    train: Option<String>,
    /// Optimiser of a fine-tuning: adamw, adamw-8bit [default: adamw]
    #[arg(long, requires = "train")]
    optimizer: Option<String>,
    /// Samples to fine-tune on, `--epochs` times, in place of tokens
    #[arg(long, value_name = "N", group = "amount", requires_all = ["train", "mean_length"], value_parser = units::count::<1, 1_000_000_000_000>)]
    samples: Option<u64>,
    /// Tokens of a sample, in the mean
    #[arg(long, value_name = "N", requires = "samples", value_parser = units::count32::<1, 100_000_000>)]
    mean_length: Option<u32>,
    /// Give each sample a sequence of its own, padded to its length [default: packed one after the other]
    #[arg(long, requires = "samples")]
    padding: bool,
}

impl OfTuning {
    pub(super) fn question(&self) -> Option<TuningQuestion> {
        self.train.as_ref().map(|train| TuningQuestion {
            train: train.clone(),
            optimizer: self.optimizer.clone(),
        })
    }

    pub(super) fn samples(&self, epochs: Option<f64>) -> Result<Option<SampleSet>, Failure> {
        let (Some(samples), Some(mean_length)) = (self.samples, self.mean_length) else {
            return match epochs {
                None => Ok(None),
                Some(_) => Err(wrong(
                    "`--epochs` without `--samples`".to_owned(),
                    "passes over --samples, of --mean-length tokens each",
                )),
            };
        };
        let epochs = epochs.unwrap_or(1.0);
        if !(epochs > 0.0 && epochs <= 1e6) {
            return Err(wrong(
                format!("`--epochs {epochs}` is out of range"),
                "expected a number above 0, up to 1,000,000",
            ));
        }
        Ok(Some(SampleSet {
            samples,
            mean_length,
            epochs,
            is_padded: self.padding,
        }))
    }
}
