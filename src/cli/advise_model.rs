//! `scavsim advise --model`: what to rent for a model without measurements.

use clap::Args;

use super::advise_deadline::{DeadlineQuestion, PlanningOptions};
use super::exit::{Exit, Failure};
use super::progress::Progress;
use super::signals::Signals;
use super::{terminal, units};
use scavsim_measure::advise::model::{ModelQuestion, advise_model, json, text};
use scavsim_measure::advise::question::NoAdvice;
use scavsim_measure::advise::rental::RentalAdvice;

/// What is asked of a model.
#[derive(Debug, Clone, Args)]
pub(super) struct OfModel {
    /// A model in place of a table: a name of `scavsim list models`, or a file of `scavsim import model`
    #[arg(long, conflicts_with_all = ["file", "sky", "commands", "keep", "times"], requires = "amount")]
    pub(super) model: String,
    /// Tokens to train the model on, like 2e10
    #[arg(long, value_name = "N", group = "amount", requires = "model", value_parser = units::count::<1, 1_000_000_000_000_000_000>)]
    pub(super) tokens: Option<u64>,
    /// Tokens of a sequence [default: what the model was made for, at most 8192; of a fine-tuning 2048, or what holds a mean sample]
    #[arg(long, value_name = "N", requires = "model", value_parser = units::count32::<1, 100_000_000>)]
    pub(super) sequence: Option<u32>,
    /// Sequences of a step, over all GPUs [default: about a million tokens; 16 of a fine-tuning]
    #[arg(long = "global-batch", value_name = "N", requires = "model", value_parser = units::count32::<1, 100_000_000>)]
    pub(super) global_batch: Option<u32>,
    /// Runtime: a name of `scavsim list runtimes`, or a file of `scavsim import runs` [default: the better of fsdp and megatron-core; transformers of a fine-tuning]
    #[arg(long, requires = "model")]
    pub(super) runtime: Option<String>,
    /// Precision: fp32, tf32, fp16, bf16, fp8 [default: the runtime's, or fp8 where that is better]
    #[arg(long, requires = "model")]
    pub(super) precision: Option<String>,
    /// GPUs to choose from, as `scavsim list gpus` calls them [default: all]
    #[arg(long, value_name = "GPU,…", requires = "model", value_delimiter = ',')]
    pub(super) gpus: Vec<String>,
    /// Most GPUs of a plan [default: 64; 8 of a fine-tuning]
    #[arg(long, value_name = "N", requires = "model", value_parser = clap::value_parser!(u32).range(1..=16_384))]
    pub(super) most_gpus: Option<u32>,
}

/// Answers a question about a model; with a deadline, by plans that meet it.
pub(super) fn run(
    question: &ModelQuestion,
    jobs: usize,
    is_json: bool,
    in_time: Option<DeadlineQuestion>,
    signals: &Signals,
) -> Result<Exit, Failure> {
    let interrupt = signals.raise_first()?;
    let progress = Progress::for_unbounded_work("advise");
    let advice = advise_model(question, jobs, interrupt);
    drop(progress);
    let advice = advice.map_err(|why| match why {
        NoAdvice::Failed(why) => why.into(),
        NoAdvice::Wrong(wrong) => Failure::Wrong(wrong),
    })?;
    if let Some(in_time) = in_time {
        let effort = PlanningOptions {
            setup_min: question.setup_min,
            caps: &question.wanted.caps,
            lives: question.runs,
            jobs,
            interrupt,
        };
        let rentals = RentalAdvice::from_model(&advice);
        in_time.answer(&rentals, effort, |answer| answer.print(is_json, None))?;
        return Ok(Exit::Done);
    }
    if is_json {
        terminal::print(&format!("{:#}\n", json::value(&advice)))?;
    } else {
        terminal::print(&text::render(&advice))?;
    }
    Ok(if advice.is_within() {
        Exit::Done
    } else {
        Exit::SomeCasesFailed
    })
}
