//! The VM types that measurements and prices refer to.

use serde::Serialize;

use crate::input::csv::{Row, Table};
use crate::input::{Diagnostics, Source};

/// Where the VM types stand.
pub const FILE: &str = "data/clouds/vms.csv";
pub(crate) const TABLE: &str = include_str!("../../data/clouds/vms.csv");

/// A VM type that can be rented.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VmType {
    /// Who rents it out.
    pub provider: String,
    /// Name of the type.
    pub vm: String,
    /// Virtual processors.
    pub vcpu: u64,
    /// Memory in GiB.
    pub memory_gib: f64,
    /// Price in USD per VM and hour where the source states one without region and date; dated
    /// prices are in [`prices`](super::prices).
    pub usd_per_vm_hour: Option<f64>,
    /// Where the figures come from.
    pub source: String,
}

/// The embedded VM types. The second part holds what is wrong with the table; a test keeps it
/// empty.
pub fn embedded() -> (Vec<VmType>, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new(FILE, TABLE);
    let columns = [
        "provider",
        "vm",
        "vcpu",
        "memory_gib",
        "usd_per_vm_hour",
        "origin",
        "source",
    ];
    let types = Table::read(&source, &columns, &[], &mut diagnostics)
        .iter()
        .flat_map(Table::rows)
        .filter_map(|row| {
            let d = &mut diagnostics;
            Some(VmType {
                provider: row.text("provider", d)?.to_owned(),
                vm: row.text("vm", d)?.to_owned(),
                vcpu: row.whole("vcpu", 1.., d)?,
                memory_gib: row.number("memory_gib", 0.1.., d)?,
                usd_per_vm_hour: optional_price(&row, d)?,
                source: row.text("source", d)?.to_owned(),
            })
        })
        .collect();
    (types, diagnostics)
}

/// `Some(None)` for an empty cell, `None` for a wrong one.
fn optional_price(row: &Row<'_>, diagnostics: &mut Diagnostics) -> Option<Option<f64>> {
    match row.optional_text("usd_per_vm_hour") {
        None => Some(None),
        Some(_) => row.number("usd_per_vm_hour", 1e-6.., diagnostics).map(Some),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_embedded_table_is_sound() {
        let (types, diagnostics) = super::embedded();
        assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
        assert_eq!(types[0].vm, "e2-standard-4");
    }
}
