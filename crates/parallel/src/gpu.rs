//! GPUs by their data sheets, and the networks of the VM types that have them.

use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::constants::GENERATIONS;
use crate::law::kernels::Device;
use scavsim_data::cloud::Fleet;
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source};

const FILE: &str = "data/gpus/gpus.csv";
const GPUS: &str = include_str!("../../../data/gpus/gpus.csv");
const NODES_FILE: &str = "data/gpus/nodes.csv";
const NODES: &str = include_str!("../../../data/gpus/nodes.csv");

/// What values are computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32 bits.
    Fp32,
    /// 32 bits, of which products read 19.
    Tf32,
    /// 16 bits.
    Fp16,
    /// 16 bits with the exponent of 32.
    Bf16,
    /// Products of 8 bits, all else in 16.
    Fp8,
}

scavsim_base::named! {
    Precision:
    Fp32 = "fp32", Tf32 = "tf32", Fp16 = "fp16", Bf16 = "bf16", Fp8 = "fp8",
}

impl Precision {
    pub fn value_bytes(self) -> f64 {
        match self {
            Precision::Fp32 | Precision::Tf32 => 4.0,
            Precision::Fp16 | Precision::Bf16 | Precision::Fp8 => 2.0,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct GpuSheet {
    pub name: Arc<str>,
    pub aliases: Vec<String>,
    pub generation: usize,
    /// Dense TFLOP/s by precision, in the order of [`Precision::ALL`].
    pub tflops: [Option<f64>; 5],
    pub memory_gib: f64,
    /// 10⁹ bytes per second of its memory.
    pub memory_gb_per_s: f64,
    /// 10⁹ bytes per second to other GPUs of the node, both ways together.
    pub link_gb_per_s: f64,
    pub multiprocessors: u32,
    pub source: String,
}

impl GpuSheet {
    pub fn tflops(&self, precision: Precision) -> Option<f64> {
        let at = Precision::ALL
            .iter()
            .position(|known| *known == precision)?;
        self.tflops[at]
    }

    pub fn precisions(&self) -> Vec<&'static str> {
        let all = Precision::ALL.into_iter().zip(self.tflops);
        all.filter_map(|(precision, tflops)| tflops.map(|_| precision.name()))
            .collect()
    }

    /// The GPU for the law of layers; `None` at a precision that it lacks.
    pub fn device(&self, precision: Precision) -> Option<Device> {
        let peak_flops = self.tflops(precision)? * 1e12;
        let wide = match precision {
            Precision::Fp8 => self.tflops(Precision::Bf16).map(|tflops| tflops * 1e12),
            _ => None,
        };
        Some(Device {
            peak_flops,
            wide_flops: wide.unwrap_or(peak_flops),
            memory_bytes_per_s: self.memory_gb_per_s * 1e9,
            multiprocessors: f64::from(self.multiprocessors),
            generation: self.generation,
            value_bytes: precision.value_bytes(),
        })
    }

    pub fn link_bytes_per_s(&self) -> f64 {
        self.link_gb_per_s * 0.5e9
    }
}

static ALL: LazyLock<Vec<GpuSheet>> = LazyLock::new(|| read(&mut Diagnostics::default()));
static NETWORKS: LazyLock<Vec<(String, f64)>> =
    LazyLock::new(|| networks(&mut Diagnostics::default()));

pub fn all() -> &'static [GpuSheet] {
    &ALL
}

pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|gpu| &*gpu.name).collect()
}

pub fn named(name: &str) -> Option<&'static GpuSheet> {
    let is_it =
        |gpu: &&GpuSheet| &*gpu.name == name || gpu.aliases.iter().any(|alias| alias == name);
    ALL.iter()
        .find(is_it)
        .or_else(|| GpuName::read(name).find_sheet())
}

/// Words in names of GPUs without information, or that only one GPU of that name has.
const EMPTY_WORDS: [&str; 20] = [
    "NVIDIA", "AMD", "TESLA", "GEFORCE", "QUADRO", "RTX", "INSTINCT", "GPU", "TENSOR", "CORE",
    "SXM", "SXM2", "SXM3", "SXM4", "SXM5", "SXM6", "OAM", "HBM2", "HBM3", "HBM3E",
];
/// A number up to this is GB of memory; a larger one is a model, as in RTX 4090.
const MOST_GB: u32 = 300;
/// Share by which a stated memory may differ from the listed one, for example GB from GiB.
const NEARLY: f64 = 0.1;

/// A name as written by `nvidia-smi`, clouds and hubs.
struct GpuName {
    words: Vec<String>,
    memory_gb: Option<u32>,
}

impl GpuName {
    fn read(name: &str) -> GpuName {
        let letters = name.to_ascii_uppercase();
        let (mut words, mut memory_gb) = (Vec::new(), None);
        for word in letters.split(|c: char| !c.is_ascii_alphanumeric()) {
            let word = word.strip_prefix("RTX").unwrap_or(word);
            let number = ["GIB", "GB", "G"]
                .iter()
                .find_map(|unit| word.strip_suffix(unit));
            match number.unwrap_or(word).parse::<u32>() {
                Ok(number) if number <= MOST_GB => memory_gb = Some(number),
                _ if word.is_empty() || EMPTY_WORDS.contains(&word) => {}
                _ => words.push(word.to_owned()),
            }
        }
        words.sort();
        GpuName { words, memory_gb }
    }

    /// The only listed GPU of this name, and of this memory if given.
    fn find_sheet(&self) -> Option<&'static GpuSheet> {
        let is_it = |gpu: &&GpuSheet| {
            let names = std::iter::once(&*gpu.name).chain(gpu.aliases.iter().map(String::as_str));
            let mut names = names.map(GpuName::read);
            match self.memory_gb.map(f64::from) {
                None => names.any(|own| own.words == self.words && own.memory_gb.is_none()),
                Some(memory) => {
                    (memory / gpu.memory_gib - 1.0).abs() <= NEARLY
                        && names.any(|own| own.words == self.words)
                }
            }
        };
        let mut found = ALL.iter().filter(is_it);
        found.next().filter(|_| found.next().is_none())
    }
}

/// The GPUs of a VM type of the catalogue: their type, number, and Gbit/s to other VMs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VmGpus {
    /// The GPU; `None` if unknown.
    pub gpu: Option<&'static GpuSheet>,
    pub count: u32,
    pub network_gbit_per_s: Option<f64>,
}

/// The GPUs of a VM type of the catalogue; `None` if it has none.
pub fn of_vm(vm: &str) -> Option<VmGpus> {
    let listed = Fleet::listed().vm_type(vm)?;
    let gpus = listed.gpus.as_ref()?;
    let own = NETWORKS.iter().find(|(name, _)| name == vm);
    Some(VmGpus {
        gpu: named(&gpus.model),
        count: u32::try_from(gpus.count).ok()?,
        network_gbit_per_s: listed.network_gbps.or(own.map(|(_, gbit)| *gbit)),
    })
}

fn read(diagnostics: &mut Diagnostics) -> Vec<GpuSheet> {
    let source = Source::new(FILE, GPUS);
    let columns = [
        "name",
        "aliases",
        "generation",
        "fp32_tflops",
        "tf32_tflops",
        "fp16_tflops",
        "bf16_tflops",
        "fp8_tflops",
        "memory_gib",
        "memory_gb_per_s",
        "link",
        "link_gb_per_s",
        "multiprocessors",
        "source",
    ];
    let Some(table) = Table::read(&source, &columns, &[], diagnostics) else {
        return Vec::new();
    };
    table
        .rows()
        .filter_map(|row| gpu(&row, diagnostics))
        .collect()
}

fn gpu(row: &Row<'_>, d: &mut Diagnostics) -> Option<GpuSheet> {
    let tflops = [
        "fp32_tflops",
        "tf32_tflops",
        "fp16_tflops",
        "bf16_tflops",
        "fp8_tflops",
    ]
    .map(|column| row.optional_number(column, 0.1..=1e6, d));
    let generation = row.text("generation", d)?;
    let aliases = row.optional_text("aliases").unwrap_or_default();
    Some(GpuSheet {
        name: row.name("name", d)?.into(),
        aliases: aliases.split_whitespace().map(str::to_owned).collect(),
        generation: GENERATIONS.iter().position(|known| *known == generation)?,
        tflops,
        memory_gib: row.number("memory_gib", 1.0..=1e5, d)?,
        memory_gb_per_s: row.number("memory_gb_per_s", 1.0..=1e6, d)?,
        link_gb_per_s: row.number("link_gb_per_s", 1.0..=1e6, d)?,
        multiprocessors: row.whole_number("multiprocessors", 1..=100_000, d)? as u32,
        source: row.text("source", d)?.to_owned(),
    })
}

fn networks(diagnostics: &mut Diagnostics) -> Vec<(String, f64)> {
    let source = Source::new(NODES_FILE, NODES);
    let columns = ["vm", "network_gbit_per_s", "source"];
    let Some(table) = Table::read(&source, &columns, &[], diagnostics) else {
        return Vec::new();
    };
    let rows = table.rows();
    let pair = |row: Row<'_>| {
        let gbit = row.number("network_gbit_per_s", 0.1..=1e6, diagnostics)?;
        Some((row.text("vm", diagnostics)?.to_owned(), gbit))
    };
    rows.filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_known_by_the_names_that_others_give_them() {
        for (name, expected) in [
            ("NVIDIA H100 80GB HBM3", "H100"),
            ("NVIDIA H100 PCIe", "H100-PCIe"),
            ("H100-SXM5", "H100"),
            ("h100", "H100"),
            ("A100-80GB", "A100-80"),
            ("NVIDIA A100-SXM4-40GB", "A100-40"),
            ("NVIDIA A100 80GB PCIe", "A100-PCIe"),
            ("NVIDIA A100-PCIE-40GB", "A100-40-PCIe"),
            ("Tesla V100-SXM2-16GB", "V100"),
            ("Tesla V100-SXM2-32GB", "V100-32"),
            ("Tesla T4", "T4"),
            ("NVIDIA A10G", "A10G"),
            ("NVIDIA GeForce RTX 4090", "RTX-4090"),
            ("RTX4090", "RTX-4090"),
            ("4090", "RTX-4090"),
            ("RTX A6000", "RTX-A6000"),
            ("RTX 6000 Ada Generation", "RTX-6000-Ada"),
            ("NVIDIA RTX A6000", "RTX-A6000"),
            ("NVIDIA L40S", "L40S"),
            ("NVIDIA H200", "H200"),
        ] {
            assert_eq!(named(name).map(|gpu| &*gpu.name), Some(expected), "{name}");
        }
        // None has this memory, this name, or no name.
        for name in ["H100 40GB", "RTX 9090", ""] {
            assert!(named(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_tables_are_right() {
        let mut diagnostics = Diagnostics::default();
        assert_eq!(read(&mut diagnostics).len(), GPUS.lines().count() - 1);
        assert_eq!(networks(&mut diagnostics).len(), NODES.lines().count() - 1);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
    }

    #[test]
    fn vm_types_have_the_gpus_and_networks_of_the_catalogue() {
        let p5 = of_vm("p5.48xlarge").expect("listed");
        assert_eq!(&*p5.gpu.expect("known").name, "H100");
        assert_eq!((p5.count, p5.network_gbit_per_s), (8, Some(3200.0)));
        let a2 = of_vm("a2-ultragpu-8g").expect("listed");
        assert_eq!(&*a2.gpu.expect("known").name, "A100-80");
        assert_eq!(a2.network_gbit_per_s, Some(100.0));
        assert!(of_vm("m4.xlarge").is_none());
    }

    /// A GPU is at least as fast with fewer bits, and has the memory of its name.
    #[test]
    fn fewer_bits_are_no_slower() {
        for gpu in all() {
            let tf32 = gpu.tflops(Precision::Tf32).unwrap_or(0.0);
            let fp16 = gpu.tflops(Precision::Fp16).unwrap_or(f64::INFINITY);
            let fp8 = gpu.tflops(Precision::Fp8).unwrap_or(f64::INFINITY);
            assert!(tf32 <= fp16, "{}", gpu.name);
            assert!(fp16 <= fp8 || fp16.is_infinite(), "{}", gpu.name);
            assert!(gpu.tflops(Precision::Fp32).is_some(), "{}", gpu.name);
        }
        let v100 = named("V100").expect("known");
        assert!(v100.tflops(Precision::Bf16).is_none());
    }
}
