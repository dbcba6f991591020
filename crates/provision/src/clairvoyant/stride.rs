//! How far work comes in some time, from each number of parts that are done.

use crate::forms::Speed;

/// Numbers of parts that are as good as whole.
const NEAR: f64 = 1e-6;

/// What a form does in some time.
#[derive(Debug)]
pub(super) struct Stride {
    pub(super) runs: Vec<Run>,
    /// Parts that must be done for all to be done in that time.
    pub(super) ends_from: usize,
    /// Time that the rest takes from there on, in parts of a tick.
    pub(super) ends: Vec<f64>,
}

/// Numbers of parts done, after each of which as many come.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) parts: usize,
}

impl Stride {
    /// What is done of a job of so many parts, in a time in parts of a tick.
    pub(super) fn new(speed: &Speed, work: usize, time: usize) -> Stride {
        let (all, time) = (work as f64, time as f64);
        let (mut ends, mut ends_from) = (Vec::new(), work);
        while ends_from > 0 {
            let rest = speed.rest_s(all, (ends_from - 1) as f64);
            if rest > time + NEAR {
                break;
            }
            ends.push(rest);
            ends_from -= 1;
        }
        ends.reverse();
        let counted = |parts: f64| (parts + NEAR).floor() as usize;
        let (mut runs, mut from) = (Vec::new(), 0);
        for (end, here) in speed.stretches(all) {
            let last = end - here * time + NEAR;
            let to = if last < 0.0 { 0 } else { last as usize + 1 }.min(ends_from);
            if to > from {
                let parts = counted(here * time);
                runs.push(Run { from, to, parts });
                from = to;
            }
            // Those that come beyond the end of the stretch.
            while from < ends_from && (from as f64) < end {
                let parts = counted(speed.work_in(all, from as f64, time));
                let to = from + 1;
                runs.push(Run { from, to, parts });
                from = to;
            }
        }
        Stride {
            runs,
            ends_from,
            ends,
        }
    }

    /// Parts that are done after the time; `None` where that is all.
    pub(super) fn land(&self, done: usize) -> Option<usize> {
        let run = (self.runs.iter()).find(|run| (run.from..run.to).contains(&done));
        run.map(|run| done + run.parts)
    }

    /// Most parts that come.
    pub(super) fn most(&self) -> usize {
        let most = self.runs.iter().map(|run| run.parts).max();
        most.unwrap_or(0).max(self.ends.len())
    }
}
