//! Time and cost of a life whose job needs fewer or more hours than planned.

use scavsim_provision::policy_run::timeline::{Entry, Timeline, TimelineEvent};

/// An interval in which machines work: its start and end in seconds, and the work done and USD spent at its start.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    from_s: f64,
    until_s: f64,
    done_s: f64,
    spent_usd: f64,
    usd_per_s: f64,
}

/// The course of a life: work done and USD spent over time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Course {
    stretches: Vec<Stretch>,
    /// The end of the life: time, work done and USD spent.
    end: (f64, f64, f64),
    /// USD per second after its end.
    on_usd_per_s: f64,
}

impl Course {
    /// The course of a timeline; time after its end costs `on_usd_per_h`.
    pub(super) fn from_timeline(timeline: &Timeline, on_usd_per_h: f64) -> Course {
        let pairs = timeline.entries.windows(2);
        let stretch = |pair: &[Entry]| {
            let [from, until] = [&pair[0], &pair[1]];
            (from.what == TimelineEvent::Works).then(|| Stretch {
                from_s: from.at_s,
                until_s: until.at_s,
                done_s: from.done_s,
                spent_usd: from.spent_usd,
                usd_per_s: (until.spent_usd - from.spent_usd) / (until.at_s - from.at_s).max(1e-9),
            })
        };
        let last = timeline.entries.last();
        Course {
            stretches: pairs.filter_map(stretch).collect(),
            end: last.map_or((0.0, 0.0, 0.0), |e| (e.at_s, e.done_s, e.spent_usd)),
            on_usd_per_s: on_usd_per_h / 3600.0,
        }
    }

    /// When this much work is done, and the USD spent until then. Machines work without a break in a stretch: work that is lost later
    /// counts until the loss.
    pub(super) fn time_and_cost_at(&self, work_s: f64) -> (f64, f64) {
        let reaches = |one: &&Stretch| one.done_s + (one.until_s - one.from_s) >= work_s;
        match self.stretches.iter().find(reaches) {
            Some(one) => {
                let for_s = (work_s - one.done_s).max(0.0);
                (one.from_s + for_s, one.spent_usd + for_s * one.usd_per_s)
            }
            None => {
                let (at_s, done_s, spent_usd) = self.end;
                let more_s = (work_s - done_s).max(0.0);
                (at_s + more_s, spent_usd + more_s * self.on_usd_per_s)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_work_ends_earlier_and_more_goes_on_behind_the_end() {
        let entry = |at_s: f64, done_s: f64, spent_usd: f64, what: TimelineEvent| Entry {
            at_s,
            done_s,
            spent_usd,
            what,
            zone: None,
            form: 0,
        };
        let timeline = Timeline {
            entries: vec![
                entry(0.0, 0.0, 0.0, TimelineEvent::Spot),
                entry(10.0, 0.0, 1.0, TimelineEvent::Works),
                // Ten of 20 seconds of work are lost.
                entry(30.0, 10.0, 3.0, TimelineEvent::Lost),
                entry(40.0, 10.0, 3.0, TimelineEvent::OnDemand),
                entry(50.0, 10.0, 6.0, TimelineEvent::Works),
                entry(70.0, 30.0, 12.0, TimelineEvent::Done),
            ],
        };
        let course = Course::from_timeline(&timeline, 0.3 * 3600.0);
        for (work_s, expected) in [
            (5.0, (15.0, 1.5)),
            (20.0, (30.0, 3.0)),
            (21.0, (61.0, 9.3)),
            (30.0, (70.0, 12.0)),
            (40.0, (80.0, 15.0)),
        ] {
            let (at_s, usd) = course.time_and_cost_at(work_s);
            let off = (at_s - expected.0).abs().max((usd - expected.1).abs());
            assert!(off < 1e-9, "{work_s}: {at_s} {usd}");
        }
    }
}
