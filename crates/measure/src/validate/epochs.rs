//! Hold-outs of batches for epochs.

use super::split::{Answer, UnansweredReason, ValidationSplit};
use scavsim_data::workload::epochs::EpochRow;
use scavsim_data::workload::law::EpochLaw;
use scavsim_data::workload::{Epochs, Provenance, Workload, epochs_by_law};
use scavsim_fit::epochs::noise_scale;

/// Holds out each batch between others, and the largest one.
pub(super) fn splits(workload: &Workload) -> Vec<ValidationSplit> {
    let rows = workload.epochs.rows();
    let (mut between, mut largest) = (Vec::new(), Vec::new());
    for row in rows {
        let own = || rows.iter().filter(|r| r.workers == row.workers);
        let less = own().any(|r| r.batch < row.batch);
        let more = own().any(|r| r.batch > row.batch);
        if less && more {
            between.push(vec![without(workload, row)]);
        }
        if less && !more && own().count() > 2 {
            largest.push(vec![without(workload, row)]);
        }
    }
    let split = |what, folds: Vec<Vec<Answer>>| {
        let some = if folds.is_empty() {
            Err(UnansweredReason::FewEpochs)
        } else {
            Ok(folds)
        };
        ValidationSplit::from_folds(workload, what, "epochs", some)
    };
    vec![split("one batch", between), split("largest batch", largest)]
}

/// The prediction of `row` from the other rows.
fn without(workload: &Workload, row: &EpochRow) -> Answer {
    let kept: Vec<EpochRow> = (workload.epochs.rows().iter())
        .filter(|r| (r.workers, r.batch) != (row.workers, row.batch))
        .cloned()
        .collect();
    let law = match workload.laws.epochs {
        Some(EpochLaw::NoiseScale { .. }) => {
            let pairs: Vec<_> = (kept.iter())
                .map(|r| (f64::from(r.batch), r.epochs))
                .collect();
            noise_scale(&pairs)
                .map(|fit| fit.law)
                .filter(|law| law.check().is_ok())
        }
        law => law,
    };
    let scale = workload.noise.scale().without(row.batch);
    let by_law = |batch: f64| {
        let found = epochs_by_law(law?, &scale, &workload.constants, batch)?;
        (found > 0.0).then_some(found)
    };
    let epochs = Epochs::new(kept, law, &by_law);
    let workers = row.workers.unwrap_or(1);
    let said = epochs.epochs_at(workers, row.batch).or_else(|| {
        let beyond = epochs.joined(workers, row.batch, by_law)?;
        Some((beyond, Provenance::Extrapolated))
    });
    Answer {
        measured: row.epochs,
        said: said.map(|(said, provenance)| (said, epochs.deviation(provenance))),
    }
}
