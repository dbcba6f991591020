//! The VM types that measurements and prices refer to.

use std::collections::HashSet;

use serde::Serialize;

use super::sources::Sources;
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source};

pub const FILE: &str = "data/clouds/vms.csv";
pub const TABLE: &str = include_str!("../../../../data/clouds/vms.csv");

pub const FIGURES: [&str; 7] = [
    "provider",
    "vm",
    "vcpu",
    "memory_gib",
    "gpu",
    "gpus",
    "network_gbps",
];

/// A VM type that can be rented.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// use scavsim::{Fleet, VmType};
///
/// let with_gpus: Option<&VmType> = Fleet::listed().vm_type("p2.xlarge");
/// assert!(with_gpus.is_some_and(|vm| vm.gpu_count() == 1));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VmType {
    /// Who rents it out.
    pub provider: String,
    /// Name of the type, which no two providers share.
    pub vm: String,
    /// Virtual processors.
    pub vcpu: u64,
    /// Memory in GiB.
    pub memory_gib: f64,
    /// Accelerators of the VM, if it has any.
    pub gpus: Option<Gpus>,
    /// What its network sustains, in Gbit/s, where that is known.
    pub network_gbps: Option<f64>,
    /// Keys of the sources of the figures.
    pub source_keys: String,
    /// The sources of the figures, in words.
    pub source: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gpus {
    /// Model of the GPUs, like `T4`.
    pub model: String,
    pub count: u64,
}

impl VmType {
    /// Number of accelerators.
    pub fn gpu_count(&self) -> u64 {
        self.gpus.as_ref().map_or(0, |gpus| gpus.count)
    }
}

pub(super) fn embedded(sources: &Sources, diagnostics: &mut Diagnostics) -> Vec<VmType> {
    read(TABLE, sources, diagnostics)
}

fn read(text: &str, sources: &Sources, d: &mut Diagnostics) -> Vec<VmType> {
    let file = Source::new(FILE, text);
    let columns = [&FIGURES[..], &["origin", "source"]].concat();
    let table = Table::read(&file, &columns, &[], d);
    let mut types: Vec<VmType> = Vec::new();
    let mut names = HashSet::new();
    for row in table.iter().flat_map(Table::rows) {
        let is_sourced = sources.check(&row, d);
        row.text("origin", d);
        let Some(mut vm_type) = vm_type(&row, d) else {
            continue;
        };
        vm_type.source = sources.text(&vm_type.source_keys);
        if !names.insert(vm_type.vm.clone()) {
            let title = format!("two VM types are called `{}`", vm_type.vm);
            row.report("vm", title, "named before", d);
        }
        if is_sourced {
            types.push(vm_type);
        }
    }
    types
}

/// The VM type of a row, whose source stands there as it is.
pub(super) fn vm_type(row: &Row<'_>, d: &mut Diagnostics) -> Option<VmType> {
    // A model without a count, or a count without a model, is refused by the cell that is empty.
    let has_gpus = row.optional_text("gpu").or(row.optional_text("gpus"));
    let gpus = match has_gpus {
        None => None,
        Some(_) => Some(Gpus {
            model: row.name("gpu", d)?.to_owned(),
            count: row.whole_number("gpus", 1.., d)?,
        }),
    };
    let network_gbps = match row.optional_text("network_gbps") {
        None => None,
        Some(_) => Some(row.number("network_gbps", 1e-3.., d)?),
    };
    let source_keys = row.text("source", d)?;
    Some(VmType {
        provider: row.name("provider", d)?.to_owned(),
        vm: row.name("vm", d)?.to_owned(),
        vcpu: row.whole_number("vcpu", 1.., d)?,
        memory_gib: row.number("memory_gib", 0.1.., d)?,
        gpus,
        network_gbps,
        source_keys: source_keys.to_owned(),
        source: source_keys.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_accelerator_an_unknown_source_and_a_name_twice_are_refused() {
        let twice = "gcp,v,4,16,,,,stated,s\naws,v,4,16,,,,stated,s\n";
        let head = "provider,vm,vcpu,memory_gib,gpu,gpus,network_gbps,origin,source\n";
        for (rows, expected) in [
            ("gcp,v,4,16,T4,,,stated,s\n", "`gpus`: expected"),
            ("gcp,v,4,16,,1,,stated,s\n", "`gpu`: expected"),
            ("gcp,v,4,16,T4,0,,stated,s\n", "`gpus`: expected"),
            ("gcp,v,4,16,,,0,stated,s\n", "`network_gbps`: expected"),
            ("gcp,v,4,16,,,,,s\n", "`origin`: expected"),
            ("gcp,v,4,16,,,,stated,t\n", "unknown source `t`"),
            (twice, "two VM types are called `v`"),
        ] {
            let mut diagnostics = Diagnostics::default();
            let text = format!("{head}{rows}");
            read(
                &text,
                &crate::cloud::sources::tests::sources(),
                &mut diagnostics,
            );
            let shown = diagnostics.render(false);
            assert!(shown.contains(expected), "{rows}{shown}");
            assert!(shown.contains(&format!("{FILE}:")), "{shown}");
        }
    }
}
