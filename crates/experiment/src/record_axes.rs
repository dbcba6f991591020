//! Axes that a scenario sweeps: keys of settings, of pricing policies and of VM types that hold several numbers.

use super::stored::{Reader, Writer};

/// What stands before the name of an axis in that of its column.
pub const AXIS: &str = "axis.";

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
    /// Values of the setting, of the pricing policy and of the VM type; each part may end early.
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

    /// Axes in parts of these lengths, of which each may end early.
    pub(super) fn of_parts(
        names: &'p [String],
        parts: [&'p [Option<f64>]; 3],
        lengths: [usize; 3],
    ) -> RecordAxes<'p> {
        RecordAxes {
            names,
            parts,
            lengths,
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
    /// Names of the axes, as [`RecordAxes::names`] has them.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A value or none for each name.
    pub fn values(&self) -> &[Option<f64>] {
        &self.values
    }

    /// Axes that borrow from these.
    pub fn as_axes(&self) -> RecordAxes<'_> {
        RecordAxes::new(&self.names, &self.values)
    }

    /// Keeps the values that those of another record are equal to.
    pub(super) fn keep_common(&mut self, others: impl Iterator<Item = Option<f64>>) {
        for (own, other) in self.values.iter_mut().zip(others) {
            *own = own.filter(|own| other == Some(*own));
        }
    }

    pub(super) fn write(&self, to: &mut Writer) {
        to.count(self.names.len() as u64);
        for (name, value) in self.names.iter().zip(&self.values) {
            to.text(name);
            to.maybe(*value, |to, value| to.numbers(&[value]));
        }
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Option<OwnedAxes> {
        let mut axes = OwnedAxes::default();
        for _ in 0..from.count()? {
            axes.names.push(from.text()?);
            let value = from.maybe(Reader::numbers::<1>)?;
            axes.values.push(value.map(|[value]| value));
        }
        Some(axes)
    }
}
