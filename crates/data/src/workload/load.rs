//! A folder of tables → a checked [`Workload`], or all that is wrong with it.

use super::head::{self, Head};
use super::law::EpochLaw;
use super::{
    Communication, Description, Epochs, Laws, Noise, NoiseCurve, NoiseScale, StepMeasured,
    Workload, epochs, epochs_by_law, noise, noise_curve, noise_scale, published_result, step_rows,
};
use scavsim_read::input::{self, Diagnostic, Diagnostics, Folder};

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

/// Loads the workload in `folder`. Whatever is wrong goes to `diagnostics`; a workload comes back only if nothing was.
#[expect(clippy::too_many_lines, reason = "one list in one order, to be parted")]
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
        if folder.has(file) {
            read(file, diagnostics)
        } else {
            None
        }
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
    let noise = noise.map_or(Some(Vec::new()), |source| noise::read(&source, diagnostics));
    let scale = scale.map_or(Some(Vec::new()), |source| {
        noise_scale::read(&source, diagnostics)
    });
    let curve = curve.map_or(Some(Vec::new()), |source| {
        noise_curve::read(&source, diagnostics)
    });
    let published = published.map_or(Some(Vec::new()), |s| {
        published_result::read(&s, diagnostics)
    });
    if diagnostics.len() > before {
        return None;
    }
    let (head, constants, (laws, noise_law)) = head?;
    let scale = NoiseScale::new(scale?);
    if matches!(laws.epochs, Some(EpochLaw::Goodput { .. })) && scale.is_empty() {
        let file = "`[laws.epochs]` names `goodput`, which needs `phi.csv`";
        diagnostics.push(Diagnostic::general(format!(
            "{}: {file}",
            head.name.get_ref()
        )));
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
        out_of_core: head.out_of_core.map(toml::Spanned::into_inner),
        published: published?,
        hash: hasher.finalize().to_hex().to_string(),
    })
}
