//! When a loss of a VM is noticed: until then its job's slot is blocked.

use std::sync::Arc;

use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;

/// When a loss is noticed.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// So long after it.
    AfterLoss(SimTime),
    /// So many seconds after the attempt began, each as likely, but never before the loss.
    AfterStart(Arc<[f64]>),
}

impl Notice {
    /// At once.
    pub const AT_ONCE: Notice = Notice::AfterLoss(SimTime::ZERO);

    /// When an attempt that began at `began` and whose VM is lost at `lost` is known to be lost.
    pub fn heard(&self, began: SimTime, lost: SimTime, stream: &mut Stream) -> SimTime {
        match self {
            Notice::AfterLoss(delay) => lost + *delay,
            Notice::AfterStart(all) => lost.max(began + drawn(all, stream)),
        }
    }

    /// An attempt that is lost at a random moment of the `length` it would take: when, and when that is heard of.
    pub fn anywhere(
        &self,
        began: SimTime,
        length: SimTime,
        stream: &mut Stream,
    ) -> (SimTime, SimTime) {
        let part = stream.uniform();
        let of = |whole: SimTime| began + SimTime::from_seconds(part * whole.seconds());
        match self {
            Notice::AfterLoss(delay) => (of(length), of(length) + *delay),
            // What was heard of had happened.
            Notice::AfterStart(all) => {
                let blocked = drawn(all, stream);
                (of(length.min(blocked)), began + blocked)
            }
        }
    }
}

fn drawn(all: &[f64], stream: &mut Stream) -> SimTime {
    let seconds = all.get(stream.below(all.len())).copied().unwrap_or(0.0);
    SimTime::from_seconds(seconds)
}
