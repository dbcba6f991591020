//! When a loss of a VM is noticed: until then its job's slot is blocked.

use std::sync::Arc;

use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;

#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// The loss is noticed this long after it.
    AfterLoss(SimTime),
    /// The loss is noticed one of these seconds after the attempt began, each as likely, but never before the loss.
    AfterStart(Arc<[f64]>),
}

impl Notice {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 4000 draws each quarter has 1000, with a deviation of 27.
    #[test]
    fn a_loss_at_a_random_moment_falls_evenly_into_its_attempt() {
        let seconds = SimTime::from_seconds;
        let (began, length) = (seconds(50.0), seconds(600.0));
        let at_once = Notice::AfterLoss(seconds(60.0));
        let blocked = Notice::AfterStart([240.0].into());
        let mut stream = Stream::seeded(3);
        let (mut whole, mut shorter) = ([0; 4], [0; 4]);
        for _ in 0..4000 {
            let (at, heard) = at_once.anywhere(began, length, &mut stream);
            assert_eq!(heard, at + seconds(60.0));
            whole[((at - began).seconds() / 150.0) as usize] += 1;
            // What was heard of had happened by then.
            let (at, heard) = blocked.anywhere(began, length, &mut stream);
            assert_eq!(heard, began + seconds(240.0));
            shorter[((at - began).seconds() / 60.0) as usize] += 1;
        }
        for quarter in whole.into_iter().chain(shorter) {
            assert!((880..1120).contains(&quarter), "{whole:?} {shorter:?}");
        }
    }
}
