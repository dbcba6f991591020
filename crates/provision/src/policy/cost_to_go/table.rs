//! What the rest is expected to cost in one zone, by work and slack left: stochastic dynamic programming.
//!
//! Spot machines are lost and return at rates that change once, when a run or a pause gets old. Slack is the time until
//! the deadline beyond the work that is left: work leaves it as it is, waiting and starting use it up. Machines are
//! started on demand while there is still slack for that, so that the deadline is kept.

use super::rates::{Age, YOUNG_H};

/// What a table is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub(super) spot_usd_per_h: f64,
    pub(super) on_demand_usd_per_h: f64,
    /// Losses of young and of old runs.
    pub(super) losses_per_h: [f64; 2],
    /// Returns in young and in old pauses.
    pub(super) returns_per_h: [f64; 2],
    pub(super) changeover_h: f64,
    /// Most work and most slack that it is asked for.
    pub(super) work_h: f64,
    pub(super) slack_h: f64,
}

impl Terms {
    /// Whether a table for these serves others: rates within a tenth, prices within a hundredth.
    pub(super) fn is_near(&self, other: &Terms) -> bool {
        let near = |a: f64, b: f64, share: f64| (a - b).abs() <= share * a.abs();
        let rates = |a: [f64; 2], b: [f64; 2]| near(a[0], b[0], 0.1) && near(a[1], b[1], 0.1);
        rates(self.losses_per_h, other.losses_per_h)
            && rates(self.returns_per_h, other.returns_per_h)
            && near(self.spot_usd_per_h, other.spot_usd_per_h, 0.01)
            && near(self.on_demand_usd_per_h, other.on_demand_usd_per_h, 0.01)
    }
}

/// Steps of slack.
const STEPS: usize = 40;
const WIDE: usize = STEPS + 1;
/// Most steps of work.
const MOST_WORK: usize = 96;
/// Largest share of machines that are taken to be lost as they start.
const MOST_LOST: f64 = 0.9;

/// Expected costs in USD, at steps of work (rows) and slack.
#[derive(Debug)]
pub(super) struct Table {
    terms: Terms,
    work_step_h: f64,
    slack_step_h: f64,
    work_steps: usize,
    /// On spot machines that work, of young and old runs.
    spot: [Vec<f64>; 2],
    /// Without machines, while there are none in the spot market, in young and old pauses: the better of waiting and on
    /// demand.
    idle: [Vec<f64>; 2],
    /// Without machines, waiting at least a step.
    wait: [Vec<f64>; 2],
    /// On demand, while there are none in the spot market.
    on_demand: Vec<f64>,
    /// On demand, with the choice of spot machines that have just returned.
    offered: Vec<f64>,
    /// Coming from elsewhere, not knowing whether there are machines.
    pub(super) entry: Vec<f64>,
}

/// The share of what is young that is old after some hours.
fn aged(hours: f64) -> f64 {
    (hours / YOUNG_H).min(1.0)
}

/// Between the value of what is young and of what is old.
fn mixed(share: f64, young: f64, old: f64) -> f64 {
    young + share * (old - young)
}

impl Table {
    /// The table of a zone by itself, or of one that may be left: `elsewhere` says what the rest costs then, per cell.
    pub(super) fn of(terms: &Terms, elsewhere: Option<&[f64]>) -> Table {
        let slack_step_h = (terms.slack_h / STEPS as f64).max(1e-6);
        let wanted = (terms.work_h / slack_step_h.clamp(0.25, 1.0)).ceil();
        let work_steps = (wanted as usize).clamp(1, MOST_WORK);
        let empty = || vec![0.0; (work_steps + 1) * WIDE];
        let mut table = Table {
            terms: *terms,
            work_step_h: terms.work_h / work_steps as f64,
            slack_step_h,
            work_steps,
            spot: [empty(), empty()],
            idle: [empty(), empty()],
            wait: [empty(), empty()],
            on_demand: empty(),
            offered: empty(),
            entry: empty(),
        };
        for row in 1..=work_steps {
            table.work(row);
            let cells = row * WIDE..(row + 1) * WIDE;
            table.rest(row, elsewhere.map(|all| &all[cells]));
        }
        table
    }

    /// A row of those who work, from the one with a step less of work.
    fn work(&mut self, row: usize) {
        let terms = self.terms;
        let (d, step) = (terms.changeover_h, self.work_step_h);
        let lost = terms.losses_per_h.map(|rate| (rate * step).min(1.0));
        let returned = (terms.returns_per_h[1] * step).min(1.0);
        let ages = aged(step);
        let (before, here) = ((row - 1) * WIDE, row * WIDE);
        for at in 0..WIDE {
            let (old, new) = (before + at, here + at);
            let idle = self.idle[0][old];
            let paid = terms.spot_usd_per_h * step;
            let (young_then, old_then) = (self.spot[0][old], self.spot[1][old]);
            let goes_on = mixed(ages, young_then, old_then);
            self.spot[0][new] = paid + (1.0 - lost[0]) * goes_on + lost[0] * idle;
            self.spot[1][new] = paid + (1.0 - lost[1]) * old_then + lost[1] * idle;
            let paid = terms.on_demand_usd_per_h * step;
            self.on_demand[new] = paid + mixed(returned, self.on_demand[old], self.offered[old]);
        }
        // On spot machines there must always be slack to start on demand once more.
        let forced = d * terms.on_demand_usd_per_h + self.on_demand[here];
        for at in (0..WIDE).take_while(|&at| at as f64 * self.slack_step_h < d) {
            for spot in &mut self.spot {
                spot[here + at] = spot[here + at].max(forced);
            }
        }
    }

    /// A row of those who have no machines, and of those on demand who are offered some.
    fn rest(&mut self, row: usize, elsewhere: Option<&[f64]>) {
        let terms = self.terms;
        let (d, step) = (terms.changeover_h, self.slack_step_h);
        let here = row * WIDE..(row + 1) * WIDE;
        let returned = terms.returns_per_h.map(|rate| (rate * step).min(1.0));
        let (ages, starts) = (aged(step), aged(d));
        // A start uses as much slack everywhere: its place between steps is always the same.
        let shift = d / step;
        let (whole, share) = (shift.floor() as usize, shift - shift.floor());
        let before = |of: &[f64], at: usize| {
            let (low, high) = (at.saturating_sub(whole + 1), at.saturating_sub(whole));
            of[high] + share * (of[low] - of[high])
        };
        let lost = (terms.losses_per_h[0] * d).min(MOST_LOST);
        let spot_usd = terms.spot_usd_per_h * d / (1.0 - lost);
        let on_demand_usd = terms.on_demand_usd_per_h * d;
        let lost = (terms.losses_per_h[1] * d).min(MOST_LOST);
        let met_usd = terms.spot_usd_per_h * d / (1.0 - lost);
        let (losses, returns) = (terms.losses_per_h[1], terms.returns_per_h[1]);
        let is_up = returns / (losses + returns);
        let least_at = (2.0 * d / step).ceil() as usize;
        let [young, old] = &self.spot;
        let (young, old) = (&young[here.clone()], &old[here.clone()]);
        let on_demand = &self.on_demand[here.clone()];
        let mut comes = f64::INFINITY;
        let mut idle = [f64::INFINITY; 2];
        for at in 0..WIDE {
            let leaves = elsewhere.map_or(f64::INFINITY, |all| all[at]);
            let goes = (on_demand_usd + before(on_demand, at)).min(leaves);
            let mut waits = [f64::INFINITY; 2];
            if at > 0 && (at - 1) as f64 * step >= d {
                let then = [mixed(ages, idle[0], idle[1]), idle[1]];
                waits = [0, 1].map(|age| mixed(returned[age], then[age], comes.min(then[age])));
            }
            comes = if at >= least_at {
                spot_usd + mixed(starts, before(young, at), before(old, at))
            } else {
                f64::INFINITY
            };
            for age in 0..2 {
                idle[age] = goes.min(waits[age]);
                self.wait[age][here.start + at] = waits[age];
                self.idle[age][here.start + at] = idle[age];
            }
            self.offered[here.start + at] = on_demand[at].min(comes);
            let met = if at >= least_at {
                met_usd + before(old, at)
            } else {
                f64::INFINITY
            };
            self.entry[here.start + at] = mixed(is_up, idle[1], met.min(idle[1]));
        }
    }

    /// Starting spot machines that are there, at a row.
    fn go_spot(&self, row: usize, slack_h: f64, age: Age) -> f64 {
        let terms = &self.terms;
        let d = terms.changeover_h;
        let then = slack_h - d;
        if then < d {
            return f64::INFINITY;
        }
        let [young, old] = [0, 1].map(|age: usize| self.along(&self.spot[age], row, then));
        let works = match age {
            Age::Young => mixed(aged(d), young, old),
            Age::Old => old,
        };
        // Machines that are lost as they start have been paid for nothing: another start, or about as much.
        let lost = (terms.losses_per_h[age as usize] * d).min(MOST_LOST);
        (terms.spot_usd_per_h * d) / (1.0 - lost) + works
    }

    fn go_on_demand(&self, row: usize, slack_h: f64) -> f64 {
        let d = self.terms.changeover_h;
        let then = self.along(&self.on_demand, row, (slack_h - d).max(0.0));
        d * self.terms.on_demand_usd_per_h + then
    }

    /// A row's value between its steps of slack.
    fn along(&self, of: &[f64], row: usize, slack_h: f64) -> f64 {
        let at = (slack_h / self.slack_step_h).clamp(0.0, STEPS as f64);
        let low = (at as usize).min(STEPS - 1);
        let (a, b) = (of[row * WIDE + low], of[row * WIDE + low + 1]);
        let share = at - low as f64;
        if share == 0.0 { a } else { a + share * (b - a) }
    }

    /// A function of rows between two of them.
    fn between(&self, work_h: f64, of_row: impl Fn(usize) -> f64) -> f64 {
        let at = (work_h / self.work_step_h).clamp(0.0, self.work_steps as f64);
        let low = (at as usize).min(self.work_steps - 1);
        let share = at - low as f64;
        let b = of_row(low + 1);
        if low == 0 || share == 1.0 {
            // Less than a step of work is dear by its share.
            return share * b;
        }
        let a = of_row(low);
        a + share * (b - a)
    }

    pub(super) fn on_spot(&self, work_h: f64, slack_h: f64, age: Age) -> f64 {
        let spot = &self.spot[age as usize];
        self.between(work_h, |row| self.along(spot, row, slack_h))
    }

    pub(super) fn on_demand(&self, work_h: f64, slack_h: f64) -> f64 {
        self.between(work_h, |row| self.along(&self.on_demand, row, slack_h))
    }

    pub(super) fn waiting(&self, work_h: f64, slack_h: f64, age: Age) -> f64 {
        let wait = &self.wait[age as usize];
        self.between(work_h, |row| self.along(wait, row, slack_h))
    }

    pub(super) fn start_spot(&self, work_h: f64, slack_h: f64, age: Age) -> f64 {
        self.between(work_h, |row| self.go_spot(row, slack_h, age))
    }

    pub(super) fn start_on_demand(&self, work_h: f64, slack_h: f64) -> f64 {
        if slack_h < self.terms.changeover_h {
            return f64::INFINITY;
        }
        self.between(work_h, |row| self.go_on_demand(row, slack_h))
    }
}
