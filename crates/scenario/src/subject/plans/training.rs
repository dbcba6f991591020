//! What is trained of a model, and with which optimiser: `train`, `optimizer`.

use super::named::not_known;
use crate::complaints::Complaints;
use crate::parallel_table::ParallelTable;
use scavsim_parallel::Architecture;
use scavsim_parallel::tuning::{Optimizer, TrainingMethod};
use scavsim_read::input::Spanned;

#[derive(Debug, Clone, Copy)]
pub(super) struct Training {
    pub(super) method: TrainingMethod,
    pub(super) optimizer: Optimizer,
}

impl Training {
    pub(super) fn read(
        table: &ParallelTable,
        model: &Architecture,
        complaints: &mut Complaints<'_>,
    ) -> Option<Training> {
        let method = match &table.train {
            None => Some(TrainingMethod::Full),
            Some(word) => method(word, model, complaints),
        };
        let optimizer = match &table.optimizer {
            None => Some(Optimizer::AdamW),
            Some(word) => optimizer(word, complaints),
        };
        Some(Training {
            method: method?,
            optimizer: optimizer?,
        })
    }
}

fn method(
    word: &Spanned<String>,
    model: &Architecture,
    complaints: &mut Complaints<'_>,
) -> Option<TrainingMethod> {
    match TrainingMethod::read(word.get_ref(), model) {
        Ok(method) => Some(method),
        Err(wrong) => {
            let title = format!("`parallel.train`: {}", wrong.title);
            complaints.refuse(word.span(), title, "not possible", wrong.help);
            None
        }
    }
}

fn optimizer(word: &Spanned<String>, complaints: &mut Complaints<'_>) -> Option<Optimizer> {
    let found = Optimizer::named(word.get_ref());
    if found.is_none() {
        let title = format!("unknown optimiser `{}`", word.get_ref());
        let names = Optimizer::ALL.map(Optimizer::name);
        let (given, beside) = (word.get_ref(), "with the bytes of a `runtime`");
        not_known(word, given, title, &names, beside, complaints);
    }
    found
}
