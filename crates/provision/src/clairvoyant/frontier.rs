//! Work done against money spent.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
pub(super) struct Label {
    pub(super) done_ns: i64,
    /// Nanoseconds of work that survive a loss of its machines.
    pub(super) saved_ns: i64,
    /// Without lateness.
    pub(super) usd: f64,
    /// Lower bound of the whole cost.
    pub(super) key_usd: f64,
    /// Number of the last change of machines.
    pub(super) history: u32,
    /// A later change, without a number yet.
    pub(super) change: u32,
}

impl Label {
    fn is_before(&self, other: &Label) -> bool {
        self.done_ns > other.done_ns || (self.done_ns == other.done_ns && self.usd < other.usd)
    }
}

/// Nanoseconds of saved work by the bits of USD; both ascend.
#[derive(Default)]
pub(super) struct SavedWork(BTreeMap<u64, i64>);

impl SavedWork {
    /// Adds a label, unless an earlier one has saved no less for no more; whether it was added.
    fn add(&mut self, label: &Label) -> bool {
        // USD are not negative, so that their bits are in the same order.
        let usd = label.usd.to_bits();
        let mut cheaper = self.0.range(..=usd);
        if (cheaper.next_back()).is_some_and(|(_, &saved_ns)| saved_ns >= label.saved_ns) {
            return false;
        }
        while let Some((&dearer, &saved_ns)) = self.0.range(usd..).next()
            && saved_ns <= label.saved_ns
        {
            self.0.remove(&dearer);
        }
        self.0.insert(usd, label.saved_ns);
        true
    }
}

/// Merges labels, most work first, without those that have done no more for no less. With a table of `saved` work, more of that
/// counts as better, too.
pub(super) fn merge(
    labels: &mut Vec<Label>,
    others: &mut Vec<Label>,
    spare: &mut Vec<Label>,
    mut saved: Option<&mut SavedWork>,
) {
    if labels.is_empty() {
        std::mem::swap(labels, others);
    }
    if others.is_empty() {
        return;
    }
    spare.clear();
    spare.reserve(labels.len() + others.len());
    if let Some(saved) = &mut saved {
        saved.0.clear();
    }
    let (mut a, mut b) = (0, 0);
    let mut least_usd = f64::INFINITY;
    loop {
        let label = match (labels.get(a), others.get(b)) {
            (Some(one), Some(other)) if other.is_before(one) => {
                b += 1;
                other
            }
            (Some(one), _) => {
                a += 1;
                one
            }
            (None, Some(other)) => {
                b += 1;
                other
            }
            (None, None) => break,
        };
        let is_best = match &mut saved {
            Some(saved) => saved.add(label),
            None => label.usd < least_usd,
        };
        if is_best {
            least_usd = label.usd;
            spare.push(*label);
        }
    }
    std::mem::swap(labels, spare);
}
