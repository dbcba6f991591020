use std::sync::Arc;

/// A named axis of a space.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// use scavsim::Axis;
///
/// let disk = Axis::ordinal("disk", ["hdd".into(), "ssd".into()]);
/// assert_eq!(disk.levels().len(), 2);
/// assert!(Axis::numeric("batch", "samples").levels().is_empty());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name of the axis.
    pub name: Arc<str>,
    /// What its values are.
    pub kind: AxisKind,
}

/// What the values of an axis are.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// use scavsim::{Axis, AxisKind};
///
/// let rate = Axis::numeric("rate", "1");
/// assert_eq!(rate.kind, AxisKind::Numeric { unit: "1".into() });
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum AxisKind {
    /// Names without an order, such as VM types.
    Categorical { levels: Vec<Arc<str>> },
    /// Names from least to most, such as sizes.
    Ordinal {
        /// All of them, in their order.
        levels: Vec<Arc<str>>,
    },
    /// Numbers.
    Numeric {
        /// Unit of the values; `1` for a bare number.
        unit: Arc<str>,
    },
}

impl Axis {
    /// An axis of names without an order.
    pub fn categorical(name: &str, levels: impl IntoIterator<Item = Arc<str>>) -> Axis {
        Axis {
            name: name.into(),
            kind: AxisKind::Categorical {
                levels: levels.into_iter().collect(),
            },
        }
    }

    /// An axis of names from least to most.
    pub fn ordinal(name: &str, levels: impl IntoIterator<Item = Arc<str>>) -> Axis {
        Axis {
            name: name.into(),
            kind: AxisKind::Ordinal {
                levels: levels.into_iter().collect(),
            },
        }
    }

    /// An axis of numbers in `unit`.
    pub fn numeric(name: &str, unit: &str) -> Axis {
        Axis {
            name: name.into(),
            kind: AxisKind::Numeric { unit: unit.into() },
        }
    }

    /// The names that its values stand for; none where they are numbers.
    pub fn levels(&self) -> &[Arc<str>] {
        match &self.kind {
            AxisKind::Categorical { levels } | AxisKind::Ordinal { levels } => levels,
            AxisKind::Numeric { .. } => &[],
        }
    }
}
