//! The configurations to choose from: a list over named axes. `vm`, `workers` and `batch` have typed access; a space may have
//! others (learning rate, synchronisation, disk) and may lack some of these.

pub mod axis;

pub use axis::{Axis, AxisKind};

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use crate::configuration::Configuration;

pub const VM: &str = "vm";
pub const WORKERS: &str = "workers";
/// Name of the axis of global batches B in samples.
pub const BATCH: &str = "batch";

/// A list of configurations over named axes.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// use scavsim::{Axis, Space};
///
/// let axes = vec![Axis::numeric("workers", "workers"), Axis::numeric("rate", "1")];
/// let space = Space::new(axes, [[4.0, 0.1], [8.0, 0.1]])?;
/// assert_eq!((space.len(), space.workers(1)), (2, Some(8)));
/// assert_eq!(space.axis("rate").map(|rate| space.value(0, rate)), Some(0.1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Space {
    axes: Vec<Axis>,
    /// Row by row: a number, or the place of a name among the levels of its axis.
    values: Vec<f64>,
    /// What stands on all other axes, per configuration, as records have it; empty without others.
    other: Vec<Arc<str>>,
    count: usize,
    vm: Option<usize>,
    workers: Option<usize>,
    batch: Option<usize>,
}

/// Why a list of values is no space.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// use scavsim::{Axis, NoSpace, Space};
///
/// let twice = vec![Axis::numeric("x", "1"), Axis::numeric("x", "1")];
/// assert_eq!(Space::new(twice, [[0.0, 0.0]]), Err(NoSpace::SameName("x".into())));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSpace {
    /// Two axes of one name.
    #[error("two axes are called `{0}`")]
    SameName(Arc<str>),
    /// A configuration that does not have one value per axis.
    #[error("configuration {0} has not one value for each axis")]
    Uneven(usize),
    /// A name with a character that separates names in records.
    #[error("`{0}` holds a `;` or a `=`")]
    Separator(Arc<str>),
    /// A number that is none, or no place among the levels.
    #[error("configuration {row} has no legal value of `{axis}`")]
    Illegal {
        /// Place of the row, from 0.
        row: usize,
        axis: Arc<str>,
    },
}

impl Space {
    /// A space of `rows`, each with a value per axis: a number, or the place of a name among the
    /// levels of its axis.
    ///
    /// # Errors
    /// [`NoSpace`] for the first contradiction.
    pub fn new<R: AsRef<[f64]>>(
        axes: Vec<Axis>,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<Space, NoSpace> {
        for (index, axis) in axes.iter().enumerate() {
            if axes[..index].iter().any(|a| a.name == axis.name) {
                return Err(NoSpace::SameName(Arc::clone(&axis.name)));
            }
            let mut names = axis.levels().iter().chain([&axis.name]);
            let separates = |name: &&Arc<str>| *axis.name != *VM && name.contains([';', '=']);
            if let Some(name) = names.find(separates) {
                return Err(NoSpace::Separator(Arc::clone(name)));
            }
        }
        let place = |name: &str| axes.iter().position(|a| *a.name == *name);
        let (vm, workers, batch) = (place(VM), place(WORKERS), place(BATCH));
        let (mut values, mut count) = (Vec::new(), 0);
        for (row, given) in rows.into_iter().enumerate() {
            let given = given.as_ref();
            if given.len() != axes.len() {
                return Err(NoSpace::Uneven(row));
            }
            for (index, (axis, &value)) in axes.iter().zip(given).enumerate() {
                let counts = Some(index) == workers || Some(index) == batch;
                let is_whole = value.fract() == 0.0 && value >= 0.0;
                let legal = match &axis.kind {
                    AxisKind::Numeric { .. } if counts => is_whole && value <= f64::from(u32::MAX),
                    AxisKind::Numeric { .. } => value.is_finite(),
                    _ => is_whole && value < axis.levels().len() as f64,
                };
                if !legal {
                    let axis = Arc::clone(&axis.name);
                    return Err(NoSpace::Illegal { row, axis });
                }
            }
            values.extend_from_slice(given);
            count += 1;
        }
        let mut space = Space {
            axes,
            values,
            other: Vec::new(),
            count,
            vm,
            workers,
            batch,
        };
        if space.others().next().is_some() {
            space.other = (0..count).map(|row| space.written(row).into()).collect();
        }
        Ok(space)
    }

    /// The space of clusters that differ in VM shape, workers and batch.
    pub fn of_clusters(configurations: &[Configuration]) -> Space {
        let mut levels: Vec<Arc<str>> = Vec::new();
        let mut places: HashMap<&Arc<str>, usize> = HashMap::new();
        let mut last: Option<(&Arc<str>, usize)> = None;
        let mut values = Vec::with_capacity(3 * configurations.len());
        for at in configurations {
            // Neighbours are mostly of one shape.
            let level = match last {
                Some((vm, level)) if *vm == at.vm => level,
                _ => *places.entry(&at.vm).or_insert_with(|| {
                    levels.push(Arc::clone(&at.vm));
                    levels.len() - 1
                }),
            };
            last = Some((&at.vm, level));
            values.extend([level as f64, f64::from(at.workers), f64::from(at.batch)]);
        }
        Space {
            axes: vec![
                Axis::categorical(VM, levels),
                Axis::numeric(WORKERS, "workers"),
                Axis::numeric(BATCH, "samples"),
            ],
            values,
            other: Vec::new(),
            count: configurations.len(),
            vm: Some(0),
            workers: Some(1),
            batch: Some(2),
        }
    }

    /// A space with these axes and some of the configurations, in the order given.
    #[must_use]
    pub fn only(&self, kept: &[usize]) -> Space {
        Space {
            axes: self.axes.clone(),
            values: kept.iter().flat_map(|&at| self.row(at)).copied().collect(),
            other: kept
                .iter()
                .filter_map(|&at| self.other.get(at).cloned())
                .collect(),
            count: kept.len(),
            ..*self
        }
    }

    /// Number of configurations.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Place of an axis by its name.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|a| *a.name == *name)
    }

    /// A configuration's value on an axis: a number, or the place of its name among the levels,
    /// which is its rank where the axis is ordinal.
    #[inline]
    pub fn value(&self, configuration: usize, axis: usize) -> f64 {
        self.values[configuration * self.axes.len() + axis]
    }

    /// A configuration's values on all axes.
    #[inline]
    pub fn row(&self, configuration: usize) -> &[f64] {
        let width = self.axes.len();
        &self.values[configuration * width..(configuration + 1) * width]
    }

    /// A configuration's value on an axis, as it is written.
    pub fn text(&self, configuration: usize, axis: usize) -> Cow<'_, str> {
        let value = self.value(configuration, axis);
        match self.axes[axis].levels().get(value as usize) {
            Some(level) => Cow::Borrowed(level),
            None => Cow::Owned(value.to_string()),
        }
    }

    /// VM shape of a configuration, where VMs are an axis.
    #[inline]
    pub fn vm(&self, configuration: usize) -> Option<&Arc<str>> {
        let axis = self.vm?;
        (self.axes[axis].levels()).get(self.value(configuration, axis) as usize)
    }

    /// Worker count K of a configuration, where workers are an axis.
    #[inline]
    pub fn workers(&self, configuration: usize) -> Option<u32> {
        Some(self.value(configuration, self.workers?) as u32)
    }

    /// Global batch B in samples of a configuration, where the batch is an axis.
    #[inline]
    pub fn batch(&self, configuration: usize) -> Option<u32> {
        Some(self.value(configuration, self.batch?) as u32)
    }

    /// What stands on all axes but `vm`, `workers` and `batch`, as records have it:
    /// `learning_rate=0.001;sync=async`. `None` where there are no others.
    pub fn other(&self, configuration: usize) -> Option<&str> {
        self.other.get(configuration).map(|text| &**text)
    }

    /// Axes besides `vm`, `workers` and `batch`.
    pub fn others(&self) -> impl Iterator<Item = (usize, &Axis)> {
        let usual = [self.vm, self.workers, self.batch];
        (self.axes.iter().enumerate()).filter(move |(index, _)| !usual.contains(&Some(*index)))
    }

    /// A configuration in words.
    pub fn name(&self, configuration: usize) -> String {
        let mut words = match (self.vm(configuration), self.workers(configuration)) {
            (Some(vm), Some(workers)) => format!("{workers} × {vm}"),
            (Some(vm), None) => vm.to_string(),
            (None, Some(workers)) => format!("{workers} workers"),
            (None, None) => String::new(),
        };
        let mut add = |part: std::fmt::Arguments<'_>| {
            let comma = if words.is_empty() { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = write!(words, "{comma}{part}");
        };
        if let Some(batch) = self.batch(configuration) {
            add(format_args!("B {batch}"));
        }
        for (index, axis) in self.others() {
            add(format_args!(
                "{} {}",
                axis.name,
                self.text(configuration, index)
            ));
        }
        words
    }

    fn written(&self, configuration: usize) -> String {
        let each: Vec<String> = (self.others())
            .map(|(index, axis)| format!("{}={}", axis.name, self.text(configuration, index)))
            .collect();
        each.join(";")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_rates() -> Space {
        let axes = vec![
            Axis::categorical(VM, ["a".into(), "b".into()]),
            Axis::numeric("rate", "1"),
            Axis::ordinal("size", ["small".into(), "large".into()]),
        ];
        Space::new(axes, [[1.0, 0.001, 0.0], [0.0, 0.01, 1.0]]).expect("a space")
    }

    #[test]
    fn a_space_may_have_other_axes_and_lack_the_usual_ones() {
        let space = two_rates();
        assert_eq!(space.vm(0).map(|vm| &**vm), Some("b"));
        assert_eq!((space.workers(0), space.batch(0)), (None, None));
        assert_eq!(space.other(1), Some("rate=0.01;size=large"));
        assert_eq!(space.name(0), "b, rate 0.001, size small");
    }

    #[test]
    fn clusters_are_a_space_of_three_axes() {
        let at = |vm: &str, workers, batch| Configuration {
            vm: vm.into(),
            workers,
            batch,
        };
        let list = [at("a", 8, 64), at("b", 4, 32), at("a", 8, 128)];
        let space = Space::of_clusters(&list);
        for (index, at) in list.iter().enumerate() {
            assert_eq!(space.name(index), at.to_string());
            assert_eq!(space.workers(index), Some(at.workers));
            assert_eq!(space.other(index), None);
        }
    }

    #[test]
    fn values_that_no_axis_has_are_refused() {
        let axes = || {
            let vms = Axis::categorical(VM, ["a".into()]);
            vec![vms, Axis::numeric(WORKERS, "workers")]
        };
        let one = |row: [f64; 2]| Space::new(axes(), [row]);
        assert!(one([0.0, 4.0]).is_ok());
        for (vm, workers) in [
            (1.0, 4.0),
            (0.5, 4.0),
            (0.0, 4.5),
            (0.0, -1.0),
            (0.0, f64::NAN),
        ] {
            let wrong = one([vm, workers]);
            assert!(matches!(wrong, Err(NoSpace::Illegal { row: 0, .. })));
        }
        assert_eq!(Space::new(axes(), [[0.0]]), Err(NoSpace::Uneven(0)));
        let twice = vec![Axis::numeric("x", "1"), Axis::numeric("x", "1")];
        let twice = Space::new(twice, [[0.0, 0.0]]);
        assert!(matches!(twice, Err(NoSpace::SameName(_))));
    }
}
