//! Expected cost of the rest in one zone, by work and slack left: stochastic dynamic programming.
//!
//! Spot machines are lost and return at rates that change once, when a run or pause gets old. Slack is the time until the deadline
//! beyond the work left: waiting and starting use it, work does not. Machines start on demand while there is still slack for that, so
//! that the deadline is kept. Costs are in hours on demand: a table serves all prices of one ratio.

use super::grid::{Grid, GridPosition};
use super::rates::{Age, YOUNG_H};

#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    /// Spot price over on-demand price.
    pub(super) ratio: f64,
    /// For young and old runs.
    pub(super) losses_per_h: [f64; 2],
    /// For young and old pauses.
    pub(super) returns_per_h: [f64; 2],
    pub(super) changeover_h: f64,
    pub(super) work_h: f64,
    pub(super) slack_h: f64,
}

const WORK_STEP_H: f64 = 1.0;
const MOST_WORK: f64 = 96.0;

/// Expected costs in hours on demand, at steps of work (rows) and slack.
#[derive(Debug)]
pub(super) struct Table {
    terms: Terms,
    starts: Starts,
    steps_per_h: f64,
    work_steps: usize,
    slack: Grid,
    /// Slack from which working spot machines are never worse than a start on demand.
    stays_from_h: f64,
    /// On working spot machines, in young and old runs.
    spot: [Vec<f64>; 2],
    /// Without machines, waiting at least a step, in young and old pauses.
    wait: [Vec<f64>; 2],
    /// Without machines in a new pause: the better of waiting and on demand.
    idle: Vec<f64>,
    /// On demand, while the spot market has none.
    on_demand: Vec<f64>,
    /// Arriving from another zone, without knowledge of the market.
    pub(super) entry: Vec<f64>,
}

/// Position of some work: first cells of two rows, and the share of the way.
#[derive(Debug, Clone, Copy)]
struct Rows {
    low: usize,
    high: usize,
    share: f64,
}

#[derive(Debug, Clone, Copy)]
struct Starts {
    /// Odds of a loss during a spot start, in a young and in an old run.
    lost: [f64; 2],
    /// Paid for a spot start, in a young and in an old run.
    spot: [f64; 2],
    /// Odds that a young run gets old during a start.
    ages: f64,
}

impl Starts {
    fn new(terms: &Terms) -> Starts {
        let d = terms.changeover_h;
        let lost = odds(terms.losses_per_h, d);
        Starts {
            lost,
            // Machines that are lost as they start are lost half way.
            spot: lost.map(|lost| terms.ratio * d * (1.0 - 0.5 * lost)),
            ages: aged(d),
        }
    }
}

#[derive(Debug)]
struct Steps {
    worked_h: f64,
    /// Odds of a loss in it, for young and old runs, and of a return in an old pause.
    lost: [f64; 2],
    returns: f64,
    /// Share of young runs that are old after it.
    grows_old: f64,
    /// Slack of each step after a start.
    started: Vec<GridPosition>,
    /// Odds of a return while waiting for the step before, in young and in old pauses.
    returned: Vec<[f64; 2]>,
    /// Share of young pauses that are old after that wait.
    ages: Vec<f64>,
    /// First step with slack for two starts, and for one after a wait.
    least_start: usize,
    least_wait: usize,
    /// Slack of each step after half a start, when machines are lost that do not survive it.
    half: Vec<GridPosition>,
    /// Odds of machines in an unseen market.
    is_up: f64,
}

/// Share of young ones that are old after some hours.
fn aged(hours: f64) -> f64 {
    (hours / YOUNG_H).min(1.0)
}

fn mixed(share: f64, young: f64, old: f64) -> f64 {
    young + share * (old - young)
}

/// Odds of an end within some hours, for new and for old ones.
fn odds(per_h: [f64; 2], hours: f64) -> [f64; 2] {
    let young_h = hours.min(YOUNG_H);
    let ends = [
        per_h[0] * young_h + per_h[1] * (hours - young_h),
        per_h[1] * hours,
    ];
    ends.map(|ends| 1.0 - libm::exp(-ends))
}

impl Steps {
    fn new(terms: &Terms, work_step_h: f64, slack: &Grid) -> Steps {
        let d = terms.changeover_h;
        let at_h = slack.hours();
        let waits = |at: usize| {
            if at == 0 {
                0.0
            } else {
                at_h[at] - at_h[at - 1]
            }
        };
        let (losses, returns) = (terms.losses_per_h[1], terms.returns_per_h[1]);
        Steps {
            worked_h: work_step_h,
            lost: odds(terms.losses_per_h, work_step_h),
            returns: odds(terms.returns_per_h, work_step_h)[1],
            grows_old: aged(work_step_h),
            started: at_h.iter().map(|&h| slack.between(h - d)).collect(),
            half: at_h.iter().map(|&h| slack.between(h - 0.5 * d)).collect(),
            returned: (0..slack.len())
                .map(|at| odds(terms.returns_per_h, waits(at)))
                .collect(),
            ages: (0..slack.len()).map(|at| aged(waits(at))).collect(),
            least_start: at_h.partition_point(|&h| h < 2.0 * d),
            least_wait: at_h.partition_point(|&h| h < d) + 1,
            is_up: returns / (losses + returns),
        }
    }
}

impl Table {
    /// The table of a zone by itself, or of one that may be left for the cost `elsewhere`, per cell.
    pub(super) fn new(terms: &Terms, elsewhere: Option<&[f64]>) -> Table {
        let slack = Grid::up_to_hours(terms.slack_h);
        let wide = slack.len();
        let work_steps = (terms.work_h / WORK_STEP_H).ceil().clamp(1.0, MOST_WORK) as usize;
        let empty = || vec![0.0; (work_steps + 1) * wide];
        let work_step_h = terms.work_h / work_steps as f64;
        let steps = Steps::new(terms, work_step_h, &slack);
        let mut table = Table {
            terms: *terms,
            starts: Starts::new(terms),
            steps_per_h: 1.0 / work_step_h,
            work_steps,
            slack,
            stays_from_h: 0.0,
            spot: [empty(), empty()],
            wait: [empty(), empty()],
            idle: empty(),
            on_demand: empty(),
            entry: empty(),
        };
        // On demand, with the choice of spot machines that have just returned.
        let mut offered = vec![0.0; wide];
        for row in 1..=work_steps {
            table.work(row, &steps, &offered);
            let cells = row * wide..(row + 1) * wide;
            table.fill_waiting_row(row, &steps, elsewhere.map(|all| &all[cells]), &mut offered);
        }
        table.stays_from_h = table.stays_from_h();
        table
    }

    pub(super) fn values(&self) -> usize {
        7 * self.entry.len()
    }

    /// A row of working states, from the one with a step less of work.
    fn work(&mut self, row: usize, steps: &Steps, offered: &[f64]) {
        let (terms, step, lost) = (self.terms, steps.worked_h, steps.lost);
        let d = terms.changeover_h;
        let wide = self.slack.len();
        let (old, here) = ((row - 1) * wide, row * wide);
        let [young, aged] = &mut self.spot;
        let (young_then, young) = young[old..here + wide].split_at_mut(wide);
        let (aged_then, aged) = aged[old..here + wide].split_at_mut(wide);
        let (on_demand_then, on_demand) = self.on_demand[old..here + wide].split_at_mut(wide);
        let paid = terms.ratio * step;
        for at in 0..wide {
            let idle = self.idle[old + at];
            let goes_on = mixed(steps.grows_old, young_then[at], aged_then[at]);
            young[at] = paid + (1.0 - lost[0]) * goes_on + lost[0] * idle;
            aged[at] = paid + (1.0 - lost[1]) * aged_then[at] + lost[1] * idle;
            on_demand[at] = step + mixed(steps.returns, on_demand_then[at], offered[at]);
        }
        // On spot machines there must always be slack to start on demand once more.
        let forced = d + on_demand[0];
        let at_h = self.slack.hours();
        for at in (0..wide).take_while(|&at| at_h[at] < d) {
            young[at] = young[at].max(forced);
            aged[at] = aged[at].max(forced);
        }
    }

    /// A row without machines, and on demand with spot machines offered.
    fn fill_waiting_row(
        &mut self,
        row: usize,
        steps: &Steps,
        elsewhere: Option<&[f64]>,
        offered: &mut [f64],
    ) {
        let wide = self.slack.len();
        let here = row * wide..(row + 1) * wide;
        let (young, old) = (&self.spot[0][here.clone()], &self.spot[1][here.clone()]);
        let on_demand = &self.on_demand[here.clone()];
        let [young_waits, old_waits] = &mut self.wait;
        let young_waits = &mut young_waits[here.clone()];
        let old_waits = &mut old_waits[here.clone()];
        let entry = &mut self.entry[here.clone()];
        let idles = &mut self.idle[here];
        let (start, starts) = (self.terms.changeover_h, self.starts);
        let mut comes = f64::INFINITY;
        let mut idle = [f64::INFINITY; 2];
        for at in 0..wide {
            let started = steps.started[at];
            let leaves = elsewhere.map_or(f64::INFINITY, |all| all[at]);
            let goes = (start + started.interpolate(on_demand)).min(leaves);
            let mut waits = [f64::INFINITY; 2];
            if at >= steps.least_wait {
                let then = [mixed(steps.ages[at], idle[0], idle[1]), idle[1]];
                let returned = steps.returned[at];
                waits = [0, 1].map(|age| mixed(returned[age], then[age], comes.min(then[age])));
            }
            idle = waits.map(|waits| goes.min(waits));
            [young_waits[at], old_waits[at]] = waits;
            idles[at] = idle[0];
            let old_then = started.interpolate(old);
            let (mut met, mut comes_now) = (f64::INFINITY, f64::INFINITY);
            if at >= steps.least_start {
                let young_then = mixed(starts.ages, started.interpolate(young), old_then);
                let back = steps.half[at].interpolate(idles);
                comes_now = starts.spot[0] + mixed(starts.lost[0], young_then, back);
                met = starts.spot[1] + mixed(starts.lost[1], old_then, back);
            }
            comes = comes_now;
            offered[at] = on_demand[at].min(comes);
            entry[at] = mixed(steps.is_up, idle[1], met.min(idle[1]));
        }
    }

    /// Slack from which working spot machines are never worse than a start on demand, whatever the work.
    fn stays_from_h(&self) -> f64 {
        let wide = self.slack.len();
        let start = self.terms.changeover_h;
        let leaves = |cell: &usize| {
            let on_demand = start + self.on_demand[*cell];
            self.spot.iter().any(|spot| spot[*cell] > on_demand)
        };
        let last = (wide..self.entry.len())
            .filter(leaves)
            .map(|cell| cell % wide)
            .max();
        match last {
            Some(at) if at + 1 == wide => f64::INFINITY,
            Some(at) => self.slack.hours()[at + 1],
            None => 0.0,
        }
    }

    #[inline]
    fn rows(&self, work_h: f64) -> Rows {
        let at = (work_h * self.steps_per_h).clamp(0.0, self.work_steps as f64);
        let low = (at as usize).min(self.work_steps - 1);
        let wide = self.slack.len();
        Rows {
            low: low * wide,
            high: (low + 1) * wide,
            share: at - low as f64,
        }
    }

    /// A table's value; less than a step of work costs its share.
    #[inline]
    fn value(&self, of: &[f64], rows: Rows, slack: GridPosition) -> f64 {
        let wide = self.slack.len();
        let high = slack.interpolate(&of[rows.high..rows.high + wide]);
        if rows.low == 0 || rows.share == 1.0 {
            return rows.share * high;
        }
        let low = slack.interpolate(&of[rows.low..rows.low + wide]);
        low + rows.share * (high - low)
    }

    pub(super) fn on_spot(&self, work_h: f64, slack_h: f64, age: Age) -> f64 {
        let slack = self.slack.between(slack_h);
        self.value(&self.spot[age as usize], self.rows(work_h), slack)
    }

    pub(super) fn on_demand(&self, work_h: f64, slack_h: f64) -> f64 {
        let slack = self.slack.between(slack_h);
        self.value(&self.on_demand, self.rows(work_h), slack)
    }

    pub(super) fn waiting(&self, work_h: f64, slack_h: f64, age: Age) -> f64 {
        let slack = self.slack.between(slack_h);
        let value = self.value(&self.wait[age as usize], self.rows(work_h), slack);
        // Beside a slack with which nobody can wait.
        if value.is_nan() { f64::INFINITY } else { value }
    }

    pub(super) fn start_spot(&self, work_h: f64, slack_h: f64, age: Age) -> f64 {
        let d = self.terms.changeover_h;
        let then = slack_h - d;
        if then < d {
            return f64::INFINITY;
        }
        let (rows, slack) = (self.rows(work_h), self.slack.between(then));
        let old = self.value(&self.spot[1], rows, slack);
        let works = match age {
            Age::Young => mixed(
                self.starts.ages,
                self.value(&self.spot[0], rows, slack),
                old,
            ),
            Age::Old => old,
        };
        let half = self.slack.between(slack_h - 0.5 * d);
        let back = self.value(&self.idle, rows, half);
        // A start is dear by its share where less than a step of work is left, as all else.
        let start = self.starts.spot[age as usize] * (work_h * self.steps_per_h).min(1.0);
        start + mixed(self.starts.lost[age as usize], works, back)
    }

    /// Working on demand until a new run is old, then starting spot machines if it lasts.
    pub(super) fn look_first(&self, work_h: f64, slack_h: f64) -> f64 {
        let looks_h = YOUNG_H.min(work_h);
        let left_h = work_h - looks_h;
        let lasts = libm::exp(-self.terms.losses_per_h[0] * looks_h);
        let on_demand = self.on_demand(left_h, slack_h);
        let starts = self.start_spot(left_h, slack_h, Age::Old).min(on_demand);
        looks_h + mixed(lasts, on_demand, starts)
    }

    pub(super) fn start_on_demand(&self, work_h: f64, slack_h: f64) -> f64 {
        let d = self.terms.changeover_h;
        if slack_h < d {
            return f64::INFINITY;
        }
        let slack = self.slack.between(slack_h - d);
        let then = self.value(&self.on_demand, self.rows(work_h), slack);
        d * (work_h * self.steps_per_h).min(1.0) + then
    }

    /// Whether working spot machines are kept at this slack, whatever the rest.
    pub(super) fn stays(&self, slack_h: f64) -> bool {
        slack_h >= self.stays_from_h
    }
}
