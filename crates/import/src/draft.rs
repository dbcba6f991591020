use std::fmt::Write;
use std::io;

use serde::Serialize;

use super::csv_text::csv_text;
use super::figure::{FITTED, MEASURED, rounded};
use super::law_text;
use scavsim_data::workload::Origin;
use scavsim_data::workload::law::{EpochLaw, NoiseLaw, PooledLaw};

#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub name: String,
    pub model: String,
    pub data_set: String,
    pub target: String,
    pub citation: String,
    pub accuracy: String,
    pub licence: String,
    /// Whether no step separates compute and communication.
    pub communication_unknown: bool,
    /// Figures that apply to every configuration, in the order of the file.
    pub constants: Vec<Constant>,
    pub pooled_laws: Vec<Law<(String, PooledLaw)>>,
    pub epoch_law: Option<Law<EpochLaw>>,
    pub noise_law: Option<Law<NoiseLaw>>,
    pub steps: Vec<StepLine>,
    pub epochs: Vec<EpochLine>,
    /// `noise.csv`; no file without rows.
    pub noise: Vec<NoiseLine>,
}

#[derive(Debug, Clone)]
pub struct Constant {
    pub name: &'static str,
    pub value: f64,
    pub origin: Origin,
    pub source: String,
}

/// A law and the comment above it about its quality.
#[derive(Debug, Clone)]
pub struct Law<T> {
    pub law: T,
    pub basis: String,
    number: fn(f64) -> String,
}

impl<T> Law<T> {
    pub fn fitted(law: T, basis: String) -> Self {
        let number = fitted;
        Law { law, basis, number }
    }

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

#[derive(Debug, Clone, PartialEq)]
pub struct StepLine {
    /// VM shape: the type, and the workers on each VM if it is not one.
    pub vm: String,
    pub workers: u32,
    pub batch: u32,
    pub step_s: f64,
    pub communication_s: Option<f64>,
    pub origin: Origin,
    pub source: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EpochLine {
    pub batch: u32,
    pub epochs: f64,
    pub origin: Origin,
    pub source: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NoiseLine {
    pub workers: u32,
    pub batch: u32,
    /// γ/K.
    pub noise_normalised: f64,
    pub origin: Origin,
    pub source: String,
}

impl Draft {
    pub fn files(&self) -> io::Result<Vec<(&'static str, String)>> {
        let steps = self.steps.iter().map(|r| {
            let communication = r.communication_s.map(measured).unwrap_or_default();
            vec![
                r.vm.clone(),
                r.workers.to_string(),
                r.batch.to_string(),
                measured(r.step_s),
                communication,
                r.origin.name().to_owned(),
                r.source.clone(),
            ]
        });
        let epochs = self.epochs.iter().map(|r| {
            vec![
                r.batch.to_string(),
                measured(r.epochs),
                r.origin.name().to_owned(),
                r.source.clone(),
            ]
        });
        let noise = self.noise.iter().map(|r| {
            vec![
                r.workers.to_string(),
                r.batch.to_string(),
                measured(r.noise_normalised),
                r.origin.name().to_owned(),
                r.source.clone(),
            ]
        });
        let mut files = vec![
            ("workload.toml", self.head()?),
            (
                "steps.csv",
                csv_text(
                    "vm,workers,batch,step_s,communication_s,origin,source",
                    steps,
                )?,
            ),
        ];
        let optional = [
            (
                "epochs.csv",
                csv_text("batch,epochs,origin,source", epochs)?,
            ),
            (
                "noise.csv",
                csv_text("workers,batch,noise_normalised,origin,source", noise)?,
            ),
        ];
        files.extend(
            optional
                .into_iter()
                .filter(|(_, text)| text.lines().count() > 1),
        );
        Ok(files)
    }

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
                "communication = \"unknown\"       # no step separates compute from communication"
                    .to_owned(),
            );
        }
        line("\n# origin: stated (printed in the text) | figure (read off a figure) | derived | measured\n[constants]".to_owned());
        for c in &self.constants {
            line(format!(
                "{} = {{ value = {}, origin = \"{}\", source = {} }}",
                c.name,
                measured(c.value),
                c.origin.name(),
                quoted(&c.source)
            ));
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

fn fitted(value: f64) -> String {
    let text = rounded(value, FITTED);
    // An integer would be read as another type.
    if text.contains('.') {
        text
    } else {
        text + ".0"
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    const RESIDUAL: &str = "residual = { shared = 0.02, shape = 0.01, growth = 0.04, batch = 0.03, placement = 0.02, repeat = 0.05, vms_reach = 0.2, workers_reach = 1.2, batch_reach = 4.0, placement_reach = 1.5 }";

    fn pooled(lines: &str) -> PooledLaw {
        let compute = "compute.affine = { base_s = 0.0654, per_sample_s = 4.47e-7 }";
        toml::from_str(&format!("{compute}\n{RESIDUAL}\n{lines}")).expect("a law")
    }

    fn other_laws() -> [(EpochLaw, NoiseLaw); 3] {
        let noise = NoiseLaw::ConstantScale {
            noise_scale_samples: 2_000.0,
        };
        let epochs = [
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
            EpochLaw::Constant { epochs: 2.0 },
        ];
        epochs.map(|epochs| (epochs, noise))
    }

    /// The written laws are the ones that `workload` reads.
    #[test]
    fn every_law_reads_back_as_it_was() {
        #[derive(serde::Deserialize)]
        struct Head {
            name: String,
            laws: Laws,
        }
        #[derive(serde::Deserialize)]
        struct Laws {
            pooled: std::collections::BTreeMap<String, PooledLaw>,
            epochs: EpochLaw,
            noise: NoiseLaw,
        }
        let tree = "communication.tree = { base_s = 0.0, per_level_s = 2.0 }\noverlap.p-norm = { exponent = 3.0 }\none_vm_pass_s = 0.25\ntwo_vms = 0.5";
        let ring =
            "communication.ring = { base_s = 0.1, per_pass_s = 2.0 }\noverlap = \"additive\"";
        let laws = [("a-4", pooled(tree)), ("b \"x\"\\", pooled(ring))];
        for (epochs, noise) in other_laws() {
            let basis = || "a test".to_owned();
            let draft = Draft {
                name: "tab\there".to_owned(),
                pooled_laws: laws
                    .map(|(vm, law)| Law::fitted((vm.to_owned(), law), basis()))
                    .into(),
                epoch_law: Some(Law::fitted(epochs, basis())),
                noise_law: Some(Law::fitted(noise, basis())),
                ..Draft::default()
            };
            let written = draft.head().expect("legal laws");
            let head: Head = toml::from_str(&written).expect("legal TOML");
            assert_eq!(head.name, "tab\there");
            for (vm_type, law) in laws {
                assert_eq!(head.laws.pooled.get(vm_type), Some(&law));
            }
            assert_eq!(head.laws.epochs, epochs);
            assert_eq!(head.laws.noise, noise);
        }
    }
}
