//! Laws for values without measurements, and rejected laws.

use super::step_laws::step_laws;
use crate::draft::{Draft, Law};
use crate::figure::rounded;
use crate::report::{NOT_KEPT, Report, basis, is_poor};
use scavsim_base::stats::mean;
use scavsim_data::workload::Origin;
use scavsim_data::workload::law::{EpochLaw, NoiseLaw};
use scavsim_data::workload::noise::noise_scale as scale_of_noise;
use scavsim_fit::epochs::{EpochFit, affine_noise, constant, left_out, noise_scale};
use scavsim_read::input::Diagnostic;

/// B_n over B where the epochs of a single batch B are known. On MLPerf's reference convergence points at up to eight times a
/// batch its root mean square error is below 25 %.
pub const ASSUMED_NOISE_SCALE: f64 = 8.0;

pub(super) fn laws(draft: &mut Draft, report: &mut Report) {
    step_laws(draft, report);
    if draft.steps.len() == 1 {
        let title = "one configuration was measured: there is nothing to choose from, and no law";
        report.warn(
            Diagnostic::general(title)
                .with_help("measure at least two batches with two numbers of workers each"),
        );
    }
    epochs(draft, report);
    noise(draft, report);
    if let ([only], None) = (&draft.epochs[..], &draft.epoch_law) {
        let basis = format!("ASSUMED: only the epochs of batch {} are known", only.batch);
        report.note(format!("law of epochs: e*(1 + B/Bn), {basis}"));
        let law = EpochLaw::NoiseScale {
            base_epochs: only.epochs / (1.0 + 1.0 / ASSUMED_NOISE_SCALE),
            noise_scale_samples: ASSUMED_NOISE_SCALE * f64::from(only.batch),
        };
        draft.epoch_law = Some(Law::fitted(law, basis));
    }
}

/// Chooses a law of epochs by its prediction of a held-out batch.
fn epochs(draft: &mut Draft, report: &mut Report) {
    let by_batch: Vec<(f64, f64)> = (draft.epochs.iter())
        .map(|e| (f64::from(e.batch), e.epochs))
        .collect();
    let all: Vec<f64> = by_batch.iter().map(|p| p.1).collect();
    let is_stated = draft.epochs.iter().all(|e| e.origin == Origin::Stated);
    if let (true, Some(fit)) = (is_stated, constant(&all)) {
        report.note(format!("{} epochs with every batch, as stated", all[0]));
        let basis = "stated when it was imported, for every batch".to_owned();
        draft.epoch_law = Some(Law::measured(fit.law, basis));
        return;
    }
    if by_batch.len() < 2 {
        return;
    }
    let constant = |pairs: &[(f64, f64)]| constant(&pairs.iter().map(|p| p.1).collect::<Vec<_>>());
    let rising = |pairs: &[(f64, f64)]| {
        noise_scale(pairs).filter(|fit| match fit.law {
            EpochLaw::NoiseScale {
                base_epochs,
                noise_scale_samples,
            } => base_epochs > 0.0 && noise_scale_samples > 0.0 && noise_scale_samples.is_finite(),
            _ => false,
        })
    };
    let mut candidates: Vec<(&str, EpochFit, f64)> = Vec::new();
    if let (Some(fit), Some(error)) = (constant(&by_batch), left_out(&by_batch, constant)) {
        candidates.push(("the same for every batch", fit, error));
    }
    if let Some(fit) = rising(&by_batch) {
        // Two batches have a line between them, and nothing to hold out.
        let error = left_out(&by_batch, noise_scale).unwrap_or(fit.quality.mape);
        candidates.push(("e*(1 + B/Bn)", fit, error));
    } else if let Some((fit, error)) = falling(draft) {
        candidates.push(("e* + θ·γ/K", fit, error));
    }
    // Among equals the simplest, which is the first.
    let best = candidates.into_iter().min_by(|a, b| a.2.total_cmp(&b.2));
    let Some((name, fit, error)) = best else {
        report.note("no law of epochs: there is no trend that one fits");
        return;
    };
    report.fit("epochs", name, &fit.quality, Some(error));
    let told = format!("{}, left out {} %", basis(&fit.quality), rounded(error, 3));
    if is_poor(&fit.quality, error) {
        let title = format!("no law of epochs: the best is a poor one ({told})");
        report.warn(Diagnostic::general(title).with_help(NOT_KEPT));
        return;
    }
    draft.epoch_law = Some(Law::fitted(fit.law, told));
}

/// Epochs that fall with the batch follow the noise.
fn falling(draft: &Draft) -> Option<(EpochFit, f64)> {
    let by_noise: Vec<(f64, f64)> = (draft.noise.iter())
        .filter_map(|n| {
            let epochs = draft.epochs.iter().find(|e| e.batch == n.batch)?;
            Some((n.noise_normalised, epochs.epochs))
        })
        .collect();
    if by_noise.len() < 3 {
        return None;
    }
    let mut sum = 0.0;
    for (out, &(noise, epochs)) in by_noise.iter().enumerate() {
        let others = by_noise.iter().enumerate().filter(|(i, _)| *i != out);
        let seen: Vec<(f64, f64)> = others.map(|(_, pair)| *pair).collect();
        let EpochLaw::AffineNoise {
            base_epochs,
            per_noise,
            ..
        } = affine_noise(&seen)?.law
        else {
            return None;
        };
        sum += ((base_epochs + per_noise * noise) / epochs - 1.0).abs();
    }
    Some((
        affine_noise(&by_noise)?,
        100.0 * sum / by_noise.len() as f64,
    ))
}

/// One φ for all: the geometric mean from the measured noise, otherwise the B_n of the epochs.
fn noise(draft: &mut Draft, report: &mut Report) {
    let scales = draft.noise.iter().filter_map(|n| {
        let scale = scale_of_noise(n.workers, f64::from(n.batch), n.noise_normalised);
        Some(libm::log(scale)).filter(|s| s.is_finite())
    });
    let measured = mean(scales).map(libm::exp);
    let of_epochs = match draft.epoch_law.as_ref().map(|l| l.law) {
        Some(EpochLaw::NoiseScale {
            noise_scale_samples,
            ..
        }) => Some(noise_scale_samples),
        _ => None,
    };
    let (scale, basis) = match (measured, of_epochs) {
        (Some(scale), _) => (scale, "derived: geometric mean over the measured noise"),
        (None, Some(scale)) => (
            scale,
            "derived: the Bn of the epochs, φ averaged over training",
        ),
        (None, None) => {
            report.note("no noise: strategies take the epochs of each batch as they stand here");
            return;
        }
    };
    report.note(format!("noise scale {scale:.0} samples, {basis}"));
    let law = NoiseLaw::ConstantScale {
        noise_scale_samples: scale,
    };
    draft.noise_law = Some(Law::fitted(law, basis.into()));
}

#[cfg(test)]
mod tests {
    use super::ASSUMED_NOISE_SCALE;
    use scavsim_base::stats::mean;
    use std::path::Path;

    /// From each batch of each task to up to eight times that batch.
    #[test]
    fn the_assumed_law_is_near_the_epochs_of_mlperf() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/workloads");
        let mut squares = Vec::new();
        for task in ["bert", "resnet", "retinanet", "rnnt", "stable-diffusion"] {
            let file = data.join(format!("mlperf-{task}/epochs.csv"));
            let rows = csv::Reader::from_path(file).expect("a table");
            let number = |text: &str| text.parse::<f64>().expect("a number");
            let rows: Vec<[f64; 2]> = (rows.into_records())
                .map(|row| [0, 1].map(|at| number(&row.as_ref().expect("a row")[at])))
                .collect();
            for [from, epochs] in &rows {
                let near = |to: &&[f64; 2]| to[0] > *from && to[0] <= 8.0 * from;
                squares.extend(rows.iter().filter(near).map(|[to, truth]| {
                    let grown = 1.0 + to / (ASSUMED_NOISE_SCALE * from);
                    let assumed = epochs * grown / (1.0 + 1.0 / ASSUMED_NOISE_SCALE);
                    libm::log(assumed / truth).powi(2)
                }));
            }
        }
        let error = mean(squares.iter().copied()).expect("pairs").sqrt();
        assert!(
            squares.len() > 100 && error < 0.25,
            "{} {error}",
            squares.len()
        );
    }
}
