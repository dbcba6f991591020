//! A workload folder in memory, and its text.

use std::fmt::Write;
use std::io;

use serde::Serialize;

use super::figure::{FITTED, MEASURED, rounded};
use super::law_text;
use scavsim_data::workload::Origin;
use scavsim_data::workload::law::{EpochLaw, NoiseLaw, PooledLaw, StepLaw};

/// A workload folder before it is written.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub name: String,
    pub model: String,
    pub data_set: String,
    /// When training is finished.
    pub target: String,
    pub citation: String,
    /// How exact the figures are.
    pub accuracy: String,
    pub licence: String,
    /// Whether no step tells compute from communication.
    pub communication_unknown: bool,
    /// Figures that hold for every configuration, in the order of the file.
    pub constants: Vec<Constant>,
    /// Step law per VM shape.
    pub step_laws: Vec<Law<(String, StepLaw)>>,
    /// One step law for all shapes of a VM type.
    pub pooled_laws: Vec<Law<(String, PooledLaw)>>,
    pub epoch_law: Option<Law<EpochLaw>>,
    pub noise_law: Option<Law<NoiseLaw>>,
    /// `steps.csv`.
    pub steps: Vec<StepLine>,
    /// `epochs.csv`.
    pub epochs: Vec<EpochLine>,
    /// `noise.csv`; no file without rows.
    pub noise: Vec<NoiseLine>,
    /// `phi.csv`; no file without rows.
    pub phi: Vec<PhiLine>,
}

/// A constant of `workload.toml`.
#[derive(Debug, Clone)]
pub struct Constant {
    pub name: &'static str,
    pub value: f64,
    pub origin: Origin,
    pub source: String,
}

/// A law and the comment that stands above it: how good it is.
#[derive(Debug, Clone)]
pub struct Law<T> {
    pub law: T,
    /// Points and error.
    pub basis: String,
    /// How its coefficients are written.
    number: fn(f64) -> String,
}

impl<T> Law<T> {
    /// With coefficients that were fitted.
    pub fn fitted(law: T, basis: String) -> Self {
        let number = fitted;
        Law { law, basis, number }
    }

    /// With figures that were measured.
    pub fn measured(law: T, basis: String) -> Self {
        let number = measured;
        Law { law, basis, number }
    }
}

impl<T: Serialize> Law<T> {
    fn write(&self, table: &str, law: &impl Serialize, text: &mut String) -> io::Result<()> {
        let lines = law_text::lines(law, self.number)?;
        text.push_str(&format!("\n# {}\n[{table}]\n{lines}\n", self.basis));
        Ok(())
    }
}

/// A row of `steps.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct StepLine {
    /// VM shape: the type, and the workers on each VM if it is not one.
    pub vm: String,
    pub workers: u32,
    pub batch: u32,
    pub step_s: f64,
    /// Exposed communication in it.
    pub communication_s: Option<f64>,
    pub origin: Origin,
    pub source: String,
}

/// A row of `epochs.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochLine {
    pub batch: u32,
    /// Passes over the data to the target.
    pub epochs: f64,
    pub origin: Origin,
    pub source: String,
}

/// A row of `noise.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseLine {
    pub workers: u32,
    pub batch: u32,
    /// γ/K.
    pub noise_normalised: f64,
    pub origin: Origin,
    pub source: String,
}

/// A row of `phi.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct PhiLine {
    pub batch: u32,
    /// End of the piece, in steps at the initial batch.
    pub progress: f64,
    /// φ in it, in samples.
    pub noise_scale_samples: f64,
    pub origin: Origin,
    pub source: String,
}

impl Draft {
    /// The files of the folder: name and text.
    pub fn files(&self) -> io::Result<Vec<(&'static str, String)>> {
        let steps = self.steps.iter().map(|r| {
            let communication = r.communication_s.map(measured).unwrap_or_default();
            vec![
                r.vm.clone(),
                r.workers.to_string(),
                r.batch.to_string(),
                measured(r.step_s),
                communication,
                origin_name(r.origin).to_owned(),
                r.source.clone(),
            ]
        });
        let epochs = self.epochs.iter().map(|r| {
            vec![
                r.batch.to_string(),
                measured(r.epochs),
                origin_name(r.origin).to_owned(),
                r.source.clone(),
            ]
        });
        let noise = self.noise.iter().map(|r| {
            vec![
                r.workers.to_string(),
                r.batch.to_string(),
                measured(r.noise_normalised),
                origin_name(r.origin).to_owned(),
                r.source.clone(),
            ]
        });
        let phi = self.phi.iter().map(|r| {
            vec![
                r.batch.to_string(),
                measured(r.progress),
                measured(r.noise_scale_samples),
                origin_name(r.origin).to_owned(),
                r.source.clone(),
            ]
        });
        let mut files = vec![
            ("workload.toml", self.head()?),
            (
                "steps.csv",
                table(
                    "vm,workers,batch,step_s,communication_s,origin,source",
                    steps,
                )?,
            ),
        ];
        let optional = [
            ("epochs.csv", table("batch,epochs,origin,source", epochs)?),
            (
                "noise.csv",
                table("workers,batch,noise_normalised,origin,source", noise)?,
            ),
            (
                "phi.csv",
                table("batch,progress,noise_scale_samples,origin,source", phi)?,
            ),
        ];
        files.extend(
            optional
                .into_iter()
                .filter(|(_, text)| text.lines().count() > 1),
        );
        Ok(files)
    }

    /// `workload.toml`.
    fn head(&self) -> io::Result<String> {
        let mut text = String::new();
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        for (key, value) in [
            ("name", &self.name),
            ("model", &self.model),
            ("data_set", &self.data_set),
            ("target", &self.target),
            ("citation", &self.citation),
            ("accuracy", &self.accuracy),
            ("licence", &self.licence),
        ] {
            line(format!("{key} = {}", quoted(value)));
        }
        line("step_measured = \"barrier\"       # the measured step contains the wait for the slowest worker".to_owned());
        if self.communication_unknown {
            line(
                "communication = \"unknown\"       # no step tells compute from communication"
                    .to_owned(),
            );
        }
        line("\n# origin: stated (printed in the text) | figure (read off a figure) | derived | measured\n[constants]".to_owned());
        for c in &self.constants {
            line(format!(
                "{} = {{ value = {}, origin = \"{}\", source = {} }}",
                c.name,
                measured(c.value),
                origin_name(c.origin),
                quoted(&c.source)
            ));
        }
        for step_law in &self.step_laws {
            let (shape, law) = &step_law.law;
            step_law.write(&format!("laws.steps.{}", quoted(shape)), law, &mut text)?;
        }
        for pooled in &self.pooled_laws {
            let (vm_type, law) = &pooled.law;
            pooled.write(&format!("laws.pooled.{}", quoted(vm_type)), law, &mut text)?;
        }
        if let Some(epochs) = &self.epoch_law {
            epochs.write("laws.epochs", &epochs.law, &mut text)?;
        }
        if let Some(noise) = &self.noise_law {
            noise.write("laws.noise", &noise.law, &mut text)?;
        }
        Ok(text)
    }
}

fn measured(value: f64) -> String {
    rounded(value, MEASURED)
}

/// A coefficient of a law.
fn fitted(value: f64) -> String {
    let text = rounded(value, FITTED);
    // A whole number would be read as an integer.
    if text.contains('.') {
        text
    } else {
        text + ".0"
    }
}

/// A basic TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn origin_name(origin: Origin) -> &'static str {
    let found = Origin::ALL.iter().find(|(_, o)| *o == origin);
    found.map_or("derived", |(name, _)| name)
}

fn table(header: &str, rows: impl Iterator<Item = Vec<String>>) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header.split(','))?;
    for row in rows {
        writer.write_record(row)?;
    }
    let bytes = writer.into_inner().map_err(|e| e.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_data::workload::law::{CommunicationLaw, ComputeLaw, Overlap};

    fn step_laws() -> [StepLaw; 6] {
        let step = |communication, overlap| StepLaw {
            compute: ComputeLaw::Affine {
                base_s: 0.0654,
                per_sample_s: 4.47e-7,
            },
            communication,
            overlap,
            one_vm_only: false,
        };
        let norm = Overlap::PNorm { exponent: 3.0 };
        [
            step(
                CommunicationLaw::StepSlope {
                    jump_s: 1.0,
                    per_worker_s: 0.5,
                },
                norm,
            ),
            step(
                CommunicationLaw::Tree {
                    base_s: 0.0,
                    per_level_s: 2.0,
                },
                Overlap::Additive,
            ),
            step(
                CommunicationLaw::Ring {
                    base_s: 0.0,
                    per_pass_s: 2.0,
                },
                Overlap::Additive,
            ),
            step(
                CommunicationLaw::Linear {
                    base_s: 0.1,
                    per_worker_s: 2.5,
                },
                norm,
            ),
            step(
                CommunicationLaw::Saturating {
                    service_s: 0.1,
                    sharpness: 2.5,
                },
                norm,
            ),
            StepLaw {
                one_vm_only: true,
                ..step(
                    CommunicationLaw::Linear {
                        base_s: 0.0,
                        per_worker_s: 0.0,
                    },
                    Overlap::Additive,
                )
            },
        ]
    }

    fn other_laws() -> [(EpochLaw, NoiseLaw); 4] {
        let constant = NoiseLaw::ConstantScale {
            noise_scale_samples: 2_000.0,
        };
        let power = NoiseLaw::PowerScale {
            scale_samples: 1_500.5,
            initial_batch: 128.0,
            batch_exponent: -0.25,
            progress_exponent: 0.75,
        };
        let epochs = [
            EpochLaw::Goodput {
                initial_batch: 200,
                target_progress: 576_525.0,
            },
            EpochLaw::NoiseScale {
                base_epochs: 34.6,
                noise_scale_samples: 46_910.0,
            },
            EpochLaw::AffineNoise {
                base_epochs: -3.0,
                per_noise: 4.0,
                least_noise: 0.5,
                greatest_noise: 0.9,
            },
        ];
        let [a, b, c] = epochs;
        let same = EpochLaw::Constant { epochs: 2.0 };
        [(a, constant), (b, power), (c, constant), (same, power)]
    }

    /// What is written is what the laws of `workload` read.
    #[test]
    fn every_law_reads_back_as_it_was() {
        #[derive(serde::Deserialize)]
        struct Head {
            name: String,
            laws: Laws,
        }
        #[derive(serde::Deserialize)]
        struct Laws {
            steps: std::collections::BTreeMap<String, StepLaw>,
            epochs: EpochLaw,
            noise: NoiseLaw,
        }
        let shapes = ["a/4", "b \"x\"\\", "c", "d", "e", "f"];
        let laws = step_laws();
        for (epochs, noise) in other_laws() {
            let basis = || "a test".to_owned();
            let draft = Draft {
                name: "tab\there".to_owned(),
                step_laws: shapes
                    .iter()
                    .zip(laws)
                    .map(|(shape, law)| Law::fitted(((*shape).to_owned(), law), basis()))
                    .collect(),
                epoch_law: Some(Law::fitted(epochs, basis())),
                noise_law: Some(Law::fitted(noise, basis())),
                ..Draft::default()
            };
            let head: Head =
                toml::from_str(&draft.head().expect("legal laws")).expect("legal TOML");
            assert_eq!(head.name, "tab\there");
            for (shape, law) in shapes.iter().zip(laws) {
                assert_eq!(head.laws.steps.get(*shape), Some(&law));
            }
            assert_eq!(head.laws.epochs, epochs);
            assert_eq!(head.laws.noise, noise);
        }
    }
}
