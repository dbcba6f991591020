//! Work done against money spent.

/// One way in which a job can have come to a state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label {
    /// Nanoseconds of work that are done.
    pub(super) done_ns: i64,
    /// Nanoseconds of work that are kept if its machines are lost.
    pub(super) saved_ns: i64,
    /// USD spent, lateness apart.
    pub(super) usd: f64,
    /// USD that all costs at least.
    pub(super) key_usd: f64,
    /// Number of the last change of machines.
    pub(super) history: u32,
    /// A change since then, which has no number yet.
    pub(super) change: u32,
}

impl Label {
    fn is_before(&self, other: &Label) -> bool {
        self.done_ns > other.done_ns || (self.done_ns == other.done_ns && self.usd < other.usd)
    }
}

/// Moves labels to others, both with most work first, and leaves none that has done no more for no less. If it `keeps_saved`,
/// more work that is saved is better as well.
pub(super) fn merge(
    labels: &mut Vec<Label>,
    others: &mut Vec<Label>,
    spare: &mut Vec<Label>,
    keeps_saved: bool,
) {
    if labels.is_empty() {
        std::mem::swap(labels, others);
    }
    if others.is_empty() {
        return;
    }
    spare.clear();
    spare.reserve(labels.len() + others.len());
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
        let beats = |one: &Label| one.usd <= label.usd && one.saved_ns >= label.saved_ns;
        if label.usd < least_usd {
            least_usd = label.usd;
            spare.push(*label);
        } else if keeps_saved && !spare.iter().rev().any(beats) {
            spare.push(*label);
        }
    }
    std::mem::swap(labels, spare);
}
