//! `scavsim advise --model`: what to rent for a model that nobody measured.

use clap::Args;

use super::advise_deadline::{DeadlineQuestion, PlanningOptions};
use super::exit::{Exit, Failure};
use super::progress::Progress;
use super::signals::Signals;
use super::{terminal, units};
use scavsim_experiment::ranking::NoRanking;
use scavsim_measure::advise::model::{
    ModelQuestion, SampleSet, TuningQuestion, advise_model, json, text,
};
use scavsim_measure::advise::question::NoAdvice;
use scavsim_measure::advise::rental::RentalAdvice;
use scavsim_measure::advise::{Goal, OfferFilter};

/// What is asked of a model.
#[derive(Debug, Clone, Args)]
pub(super) struct OfModel {
    /// A model in place of a table: a name of `scavsim list models`, or a file of `scavsim import model`
    #[arg(long, conflicts_with_all = ["file", "sky", "commands", "keep", "times"], requires = "amount")]
    model: String,
    /// Tokens to train the model on, like 2e10
    #[arg(long, value_name = "N", group = "amount", requires = "model", value_parser = units::count::<1, 1_000_000_000_000_000_000>)]
    tokens: Option<u64>,
    /// Tokens of a sequence [default: what the model was made for, at most 8192; of a fine-tuning 2048, or what holds a mean sample]
    #[arg(long, value_name = "N", requires = "model", value_parser = units::count32::<1, 100_000_000>)]
    sequence: Option<u32>,
    /// Sequences of a step, over all GPUs [default: about a million tokens; 16 of a fine-tuning]
    #[arg(long = "global-batch", value_name = "N", requires = "model", value_parser = units::count32::<1, 100_000_000>)]
    global_batch: Option<u32>,
    /// Runtime: a name of `scavsim list runtimes`, or a file of `scavsim import runs` [default: the better of fsdp and megatron-core; transformers of a fine-tuning]
    #[arg(long, requires = "model")]
    runtime: Option<String>,
    /// Precision: fp32, tf32, fp16, bf16, fp8 [default: the runtime's, or fp8 where that is better]
    #[arg(long, requires = "model")]
    precision: Option<String>,
    /// GPUs to choose from, as `scavsim list gpus` calls them [default: all]
    #[arg(long, value_name = "GPU,…", requires = "model", value_delimiter = ',')]
    gpus: Vec<String>,
    /// Most GPUs of a plan [default: 64; 8 of a fine-tuning]
    #[arg(long, value_name = "N", requires = "model", value_parser = clap::value_parser!(u32).range(1..=16_384))]
    most_gpus: Option<u32>,
}

/// What a table would be asked, too.
#[derive(Debug, Clone)]
pub(super) struct CommonAdviceOptions {
    pub(super) wanted: OfferFilter,
    pub(super) goal: Goal,
    pub(super) setup_min: f64,
    pub(super) steps: u32,
    pub(super) runs: u64,
    pub(super) jobs: usize,
    pub(super) data: Option<SampleSet>,
    pub(super) tuning: Option<TuningQuestion>,
    pub(super) is_json: bool,
}

impl OfModel {
    /// Answers what is asked beside what a table would be asked, too.
    pub(super) fn run(
        &self,
        of: CommonAdviceOptions,
        in_time: Option<&DeadlineQuestion>,
        signals: &Signals,
    ) -> Result<Exit, Failure> {
        let question = ModelQuestion {
            model: self.model.clone(),
            tokens: self.tokens.map_or(0.0, |tokens| tokens as f64),
            data: of.data,
            tuning: of.tuning,
            sequence: self.sequence,
            batch: self.global_batch,
            runtime: self.runtime.clone(),
            precision: self.precision.clone(),
            gpus: self.gpus.clone(),
            most_gpus: self.most_gpus,
            wanted: of.wanted,
            goal: of.goal,
            setup_min: of.setup_min,
            steps: of.steps,
            runs: of.runs,
        };
        let interrupt = signals.raise_first()?;
        let progress = Progress::for_unbounded_work("advise");
        let advice = advise_model(&question, of.jobs, interrupt);
        drop(progress);
        let advice = match advice {
            Ok(advice) => advice,
            Err(NoAdvice::Failed(NoRanking::Interrupted)) => return Err(Failure::Interrupted),
            Err(NoAdvice::Failed(why)) => return Err(anyhow::Error::from(why).into()),
            Err(NoAdvice::Wrong(wrong)) => return Err(Failure::Wrong(wrong)),
        };
        if let Some(in_time) = in_time {
            let effort = PlanningOptions {
                setup_min: of.setup_min,
                caps: &question.wanted.caps,
                lives: of.runs,
                jobs: of.jobs,
                interrupt,
            };
            let rentals = RentalAdvice::from_model(&advice);
            in_time.answer(&rentals, effort, |answer| answer.print(of.is_json, None))?;
            return Ok(Exit::Done);
        }
        if of.is_json {
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
}
