//! A folder of tables → a checked [`Workload`], or all that is wrong with it.

use std::sync::Arc;

use super::head::{self, Head};
use super::law::EpochLaw;
use super::{
    Communication, Description, Epochs, Laws, Noise, NoiseCurve, NoiseScale, StepMeasured,
    Workload, epochs, epochs_by_law, noise, noise_curve, noise_scale, published_result, step_rows,
};
use scavsim_read::input::{self, Diagnostic, Diagnostics, Folder, Source, Spanned};

/// The files of a workload; the first three must be there.
pub const FILES: [&str; 7] = [
    "workload.toml",
    "steps.csv",
    "epochs.csv",
    "noise.csv",
    "phi.csv",
    "noise_curve.csv",
    "published.csv",
];

pub fn load(folder: &Folder, diagnostics: &mut Diagnostics) -> Option<Workload> {
    let before = diagnostics.len();
    let mut hasher = blake3::Hasher::new();
    let mut read = |file: &str, diagnostics: &mut Diagnostics| {
        let source = folder.read(file, diagnostics)?;
        hasher.update(file.as_bytes());
        hasher.update(source.text.as_bytes());
        Some(source)
    };
    folder.only(&FILES, diagnostics);
    let head = read("workload.toml", diagnostics);
    let steps = read("steps.csv", diagnostics);
    let epochs = read("epochs.csv", diagnostics);
    let mut optional = |file: &str, diagnostics: &mut Diagnostics| {
        let is_there = folder.has(file);
        is_there.then(|| read(file, diagnostics)).flatten()
    };
    let noise = optional("noise.csv", diagnostics);
    let scale = optional("phi.csv", diagnostics);
    let curve = optional("noise_curve.csv", diagnostics);
    let published = optional("published.csv", diagnostics);

    let head = head.and_then(|source| {
        let head: Head = input::toml::read(&source, diagnostics)?;
        let constants = head::constants(&head, &source, diagnostics);
        let laws = head::laws(&head.laws, &source, diagnostics);
        Some((head, constants?, laws?))
    });
    let (measured, communication) = (head.as_ref())
        .map_or((StepMeasured::Barrier, Communication::Known), |h| {
            (h.0.step_measured, h.0.communication)
        });
    let without = Laws::default();
    let laws = head.as_ref().map_or(&without, |h| &h.2.0);
    let steps = steps
        .and_then(|source| step_rows::read(&source, measured, communication, laws, diagnostics));
    let epochs = epochs.and_then(|source| epochs::read(&source, diagnostics));
    let noise = optional_rows(noise, noise::read, diagnostics);
    let scale = optional_rows(scale, noise_scale::read, diagnostics);
    let curve = optional_rows(curve, noise_curve::read, diagnostics);
    let published = optional_rows(published, published_result::read, diagnostics);
    if diagnostics.len() > before {
        return None;
    }
    let (head, constants, (laws, noise_law)) = head?;
    let scale = NoiseScale::new(scale?);
    if matches!(laws.epochs, Some(EpochLaw::Goodput { .. })) && scale.is_empty() {
        let name = head.name.get_ref();
        let title = format!("{name}: `[laws.epochs]` names `goodput`, which needs `phi.csv`");
        diagnostics.push(Diagnostic::general(title));
        return None;
    }
    let by_law = |batch: f64| epochs_by_law(laws.epochs?, &scale, &constants, batch);
    let epochs = Epochs::new(epochs?, laws.epochs, &by_law);
    Some(Workload {
        name: head.name.into_inner(),
        description: Description {
            model: head.model,
            data_set: head.data_set,
            target: head.target,
            citation: head.citation,
            accuracy: head.accuracy,
            licence: head.licence,
        },
        constants,
        steps: steps?,
        epochs,
        noise: Noise::new(noise?, scale, noise_law),
        noise_curve: NoiseCurve::new(curve?),
        laws,
        staleness: head.staleness,
        pricing: head.pricing,
        out_of_core: head.out_of_core.map(Spanned::into_inner),
        published: published?,
        hash: hasher.finalize().to_hex().to_string(),
    })
}

fn optional_rows<T>(
    table: Option<Arc<Source>>,
    read: fn(&Arc<Source>, &mut Diagnostics) -> Option<Vec<T>>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<T>> {
    table.map_or(Some(Vec::new()), |table| read(&table, diagnostics))
}
