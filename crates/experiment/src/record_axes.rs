//! Axes that a scenario sweeps: keys of settings, of pricing policies and of VM types that hold several numbers.

use std::collections::HashMap;

use super::scenario::Scenario;
use scavsim_data::configuration::vm_type;

/// What stands before the name of an axis in that of its column.
pub const AXIS: &str = "axis.";

type Values = Box<[Option<f64>]>;

/// Values of a record's axes.
///
/// ```
/// # use scavsim_scenario::face as scavsim;
/// use scavsim::Scenario;
///
/// let scenario = Scenario::parse(
///     r#"
///     workloads = ["scavenger-resnet18"]
///     pricing.policies = ["mine"]
///     pricing.define.mine.usd_per_vm_hour = [0.1, 0.2]
///     "#,
/// )?;
/// let mut prices = Vec::new();
/// scenario.run(|record| prices.push(record.axes.value("usd_per_vm_hour")))?;
/// assert!(prices.contains(&Some(0.1)) && prices.contains(&Some(0.2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RecordAxes<'p> {
    names: &'p [String],
    /// Those of the setting, of the pricing policy and of the VM type; each may end early.
    parts: [&'p [Option<f64>]; 3],
    /// How many each part has.
    lengths: [usize; 3],
}

impl<'p> RecordAxes<'p> {
    /// The axes called `names`, with a value or none for each.
    pub fn new(names: &'p [String], values: &'p [Option<f64>]) -> RecordAxes<'p> {
        RecordAxes {
            names,
            parts: [values, &[], &[]],
            lengths: [names.len(), 0, 0],
        }
    }

    /// Names of the axes, without what their columns have before them.
    pub fn names(&self) -> &'p [String] {
        self.names
    }

    /// A value or none for each name.
    pub fn values(&self) -> impl Iterator<Item = Option<f64>> + use<'p> {
        let parts = self.parts.into_iter().zip(self.lengths);
        parts.flat_map(|(part, length)| (0..length).map(|at| part.get(at).copied().flatten()))
    }

    /// The value on an axis.
    pub fn value(&self, name: &str) -> Option<f64> {
        let at = self.names.iter().position(|own| own == name)?;
        self.values().nth(at)?
    }

    /// The axes without what they borrow from.
    pub fn into_owned(self) -> OwnedAxes {
        OwnedAxes {
            names: self.names.to_vec(),
            values: self.values().collect(),
        }
    }
}

/// Values of a record's axes that borrow from nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnedAxes {
    names: Vec<String>,
    values: Vec<Option<f64>>,
}

impl OwnedAxes {
    /// The same, borrowed.
    pub fn as_axes(&self) -> RecordAxes<'_> {
        RecordAxes::new(&self.names, &self.values)
    }
}

/// All axes of a scenario, with the values of each setting, policy and VM type.
#[derive(Debug, Default)]
pub struct SweptAxes {
    names: Vec<String>,
    settings: Vec<Values>,
    policies: Vec<Values>,
    vms: HashMap<String, Values>,
    lengths: [usize; 3],
}

impl SweptAxes {
    pub fn of_scenario(scenario: &Scenario) -> SweptAxes {
        let settings = scenario.runs_in.iter().map(|setting| {
            let swept = setting.swept.iter();
            swept.map(|(key, value)| (key.as_str(), *value)).collect()
        });
        let policies = scenario.policies.iter().map(|policy| {
            let swept = policy.swept.iter();
            swept
                .map(|(key, value)| (key.as_str(), Some(*value)))
                .collect()
        });
        let (vms, swept): (Vec<&str>, Vec<_>) = scenario.subject.swept_vms().into_iter().unzip();
        let (mut names, settings) = table(settings.collect());
        let (own, policies) = table(policies.collect());
        let lengths = [names.len(), own.len()];
        names.extend(own);
        let (own, values) = table(swept);
        let lengths = [lengths[0], lengths[1], own.len()];
        names.extend(own);
        SweptAxes {
            names,
            settings,
            policies,
            vms: vms.into_iter().map(str::to_owned).zip(values).collect(),
            lengths,
        }
    }

    /// Names of the axes, in the order of their columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn of(&self, setting: usize, policy: usize, vm: Option<&str>) -> RecordAxes<'_> {
        let of_vm = vm.filter(|_| !self.vms.is_empty());
        let of_vm = of_vm.and_then(|vm| self.vms.get(vm_type(vm)));
        RecordAxes {
            names: &self.names,
            parts: [
                self.settings.get(setting).map_or(&[], |own| own),
                self.policies.get(policy).map_or(&[], |own| own),
                of_vm.map_or(&[], |own| own),
            ],
            lengths: self.lengths,
        }
    }
}

/// Keys with a number anywhere, in the order in which they come, and the values of each row for them.
fn table(rows: Vec<Vec<(&str, Option<f64>)>>) -> (Vec<String>, Vec<Values>) {
    let mut names: Vec<String> = Vec::new();
    for (key, value) in rows.iter().flatten() {
        if value.is_some() && !names.iter().any(|name| name == key) {
            names.push((*key).to_owned());
        }
    }
    let values = rows.iter().map(|row| {
        let value = |name: &String| row.iter().find(|(key, _)| key == name)?.1;
        names.iter().map(value).collect()
    });
    let values = values.collect();
    (names, values)
}
