//! Turns seconds and bytes of a model's layers, from tables of the user's profiler, into a layer profile.

mod figures;
mod table;
mod written;

use std::fmt;
use std::path::Path;

pub use figures::LayersOptions;
use figures::{Memory, Times};

use scavsim_parallel::LayerProfile;
use scavsim_read::input::{Diagnostic, Diagnostics, Folder, Source};

#[derive(Debug, Clone)]
pub struct ImportedLayers {
    pub files: Vec<(String, String)>,
    pub report: LayersReport,
}

pub fn read(options: &LayersOptions, diagnostics: &mut Diagnostics) -> Option<ImportedLayers> {
    let times = Source::read(&options.times, diagnostics);
    let memory = Source::read(&options.memory, diagnostics);
    let times = times.and_then(|source| table::times(&source, diagnostics));
    let memory = memory.and_then(|source| table::memory(&source, diagnostics));
    let (times, memory) = (times?, memory?);
    let layers = same_layers(options, &times, &memory, diagnostics)?;
    let files = written::files(options, layers, &times, &memory);
    // Read back in the way of a scenario.
    let folder = Folder::Memory {
        name: options.name.clone(),
        files: files.iter().cloned().collect(),
    };
    let profile = LayerProfile::load(&folder, diagnostics)?;
    // The rest is readable even after, for example, an unknown column.
    diagnostics.is_empty().then_some(ImportedLayers {
        files,
        report: LayersReport { profile, memory },
    })
}

/// The number of layers, which must be equal at every point.
fn same_layers(
    options: &LayersOptions,
    times: &Times,
    memory: &Memory,
    diagnostics: &mut Diagnostics,
) -> Option<usize> {
    for (file, is_empty) in [
        (&options.times, times.is_empty()),
        (&options.memory, memory.is_empty()),
    ] {
        if is_empty {
            let title = format!("{}: there are no layers in it", file.display());
            diagnostics.push(Diagnostic::general(title));
        }
    }
    let most = memory.values().map(Vec::len).max()?;
    let mut complain = |file: &Path, what: String, found: usize| {
        let title = format!(
            "{}: {found} layers {what}, {most} elsewhere",
            file.display()
        );
        let help = format!("every layer from 0 to {} must be there", most - 1);
        diagnostics.push(Diagnostic::general(title).with_help(help));
    };
    let mut same = !times.is_empty();
    for ((gpu, tensor, micro_batch), layers) in times {
        if layers.len() != most {
            let what = format!("on {gpu} at tensor degree {tensor} and micro-batch {micro_batch}");
            complain(&options.times, what, layers.len());
            same = false;
        }
    }
    for (tensor, layers) in memory {
        if layers.len() != most {
            complain(
                &options.memory,
                format!("at tensor degree {tensor}"),
                layers.len(),
            );
            same = false;
        }
    }
    same.then_some(most)
}

#[derive(Debug, Clone)]
pub struct LayersReport {
    profile: LayerProfile,
    memory: Memory,
}

impl fmt::Display for LayersReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let profile = &self.profile;
        let list = |numbers: &[u32]| {
            let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
            words.join(", ")
        };
        let millions = profile.parameters as f64 / 1e6;
        writeln!(
            f,
            "{}: {} layers, {millions:.0} million parameters",
            profile.name, profile.layers
        )?;
        for gpu in profile.gpus() {
            for tensor in profile.tensor_degrees(gpu) {
                let micro_batches = list(&profile.micro_batches(gpu, tensor));
                writeln!(
                    f,
                    "{gpu}, tensor degree {tensor}: micro-batches {micro_batches}"
                )?;
            }
        }
        let degrees: Vec<u32> = self.memory.keys().copied().collect();
        writeln!(f, "memory at tensor degrees {}", list(&degrees))?;
        let unknown = |tensor: &u32| !degrees.contains(tensor);
        for gpu in profile.gpus() {
            let without: Vec<u32> = profile
                .tensor_degrees(gpu)
                .into_iter()
                .filter(unknown)
                .collect();
            if !without.is_empty() {
                writeln!(
                    f,
                    "{gpu}, tensor degree {}: no memory known, so no plan can use it",
                    list(&without)
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
