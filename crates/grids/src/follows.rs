//! Which figures of the rule of costs are known before a run: those that are the same in all rows, in all rows of a job, or
//! in all rows with one value of one axis. An axis of numbers of which no two rows share a value tells nothing: everything
//! would follow from it.

use std::collections::HashMap;

use super::bits;
use super::meaning::KindSpec;
use super::spec::Spec;

pub(super) struct Follows {
    names: Vec<Name>,
}

struct Name {
    place: usize,
    /// What it may follow from: all rows, the job, then each axis.
    from: Vec<Basis>,
}

/// Something that a figure may follow from.
struct Basis {
    /// The figure by its value; none where two rows differ.
    seen: Option<HashMap<u64, u64>>,
    /// Whether two rows that share a value are needed, and were not seen yet.
    is_bare: bool,
}

impl Basis {
    fn new(is_bare: bool) -> Basis {
        Basis {
            seen: Some(HashMap::new()),
            is_bare,
        }
    }

    fn learn(&mut self, value: u64, figure: u64) {
        let Some(seen) = &mut self.seen else { return };
        match seen.insert(value, figure) {
            Some(before) if before != figure => self.seen = None,
            Some(_) => self.is_bare = false,
            None => {}
        }
    }

    fn tells(&self) -> bool {
        self.seen.is_some() && !self.is_bare
    }
}

impl Follows {
    pub(super) fn new(spec: &Spec) -> Follows {
        let doubtful = spec.cost.iter().flat_map(|cost| &cost.doubtful);
        let axes = || {
            let each = spec.axes.iter();
            each.map(|axis| Basis::new(matches!(axis.kind, KindSpec::Numeric { .. })))
        };
        let names = doubtful.map(|&place| Name {
            place,
            from: [Basis::new(true), Basis::new(true)]
                .into_iter()
                .chain(axes())
                .collect(),
        });
        Follows {
            names: names.collect(),
        }
    }

    /// Takes in a row of a job: its values on the axes, and those of the names in the rule.
    pub(super) fn learn(&mut self, job: usize, values: &[f64], priced_by: &[f64]) {
        for name in &mut self.names {
            let Some(figure) = priced_by.get(name.place) else {
                continue;
            };
            let figure = bits(&[*figure])[0];
            let bases = [0, job as u64].into_iter().chain(bits(values));
            for (basis, value) in name.from.iter_mut().zip(bases) {
                basis.learn(value, figure);
            }
        }
    }

    /// Places of the names that only a run tells.
    pub(super) fn unknown(&self) -> impl Iterator<Item = usize> {
        let unknown = |name: &&Name| !name.from.iter().any(Basis::tells);
        self.names.iter().filter(unknown).map(|name| name.place)
    }
}
