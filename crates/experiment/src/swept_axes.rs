//! Which axes a scenario sweeps, and the values that each setting, policy and VM type has of them.

use std::collections::HashMap;

use super::record_axes::RecordAxes;
use super::scenario::Scenario;
use scavsim_data::configuration::vm_type;

type AxisValues = Box<[Option<f64>]>;

/// All axes of a scenario, with the values of each setting, policy and VM type.
#[derive(Debug, Default)]
pub struct SweptAxes {
    names: Vec<String>,
    settings: Vec<AxisValues>,
    policies: Vec<AxisValues>,
    vms: HashMap<String, AxisValues>,
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

    /// Values of a case's axes.
    pub(super) fn values(&self, setting: usize, policy: usize, vm: Option<&str>) -> RecordAxes<'_> {
        if self.names.is_empty() {
            return RecordAxes::default();
        }
        let of_vm = vm.filter(|_| !self.vms.is_empty());
        let of_vm = of_vm.and_then(|vm| self.vms.get(vm_type(vm)));
        let parts = [
            self.settings.get(setting).map_or(&[][..], |own| own),
            self.policies.get(policy).map_or(&[][..], |own| own),
            of_vm.map_or(&[][..], |own| own),
        ];
        RecordAxes::of_parts(&self.names, parts, self.lengths)
    }
}

/// Keys with a number anywhere, in the order in which they come, and the values of each row for them.
fn table(rows: Vec<Vec<(&str, Option<f64>)>>) -> (Vec<String>, Vec<AxisValues>) {
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
