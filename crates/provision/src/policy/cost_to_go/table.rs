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

/// Expected costs in hours on demand with some work and slack left: one line of a CPU cache, since a decision asks for several.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Cell {
    /// On working spot machines, in young and old runs.
    spot: [f64; 2],
    /// Without machines, waiting at least a step, in young and old pauses.
    wait: [f64; 2],
    /// Without machines in a new pause: the better of waiting and on demand.
    idle: f64,
    /// On demand, while the spot market has none.
    on_demand: f64,
    /// On demand, with the choice of spot machines that have just returned.
    offered: f64,
    /// Arriving from another zone, without knowledge of the market.
    entry: f64,
}

/// Expected costs at steps of work (rows) and slack.
#[derive(Debug)]
pub(super) struct Table {
    terms: Terms,
    starts: Starts,
    steps_per_h: f64,
    work_steps: u32,
    slack: Grid,
    /// Slack from which working spot machines are never worse than a start on demand, whatever the work.
    stays_from_h: f64,
    cells: Vec<Cell>,
}

/// Position of some work: a row, and the share of the way to the next.
#[derive(Debug, Clone, Copy, Default)]
struct Rows {
    row: usize,
    share: f64,
}

/// Position of some work and slack in all tables of as much work and slack at most.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Position {
    pub(super) work_h: f64,
    pub(super) slack_h: f64,
    rows: Rows,
    /// Slack now, after a start and after half of one.
    now: GridPosition,
    started: GridPosition,
    half: GridPosition,
}

#[derive(Debug, Clone, Copy)]
struct Starts {
    /// Odds of a loss during a spot start, in a young and in an old run.
    lost: [f64; 2],
    /// Paid for a spot start, in a young and in an old run.
    spot: [f64; 2],
    /// Odds that a young run gets old during a start, and ever.
    ages: f64,
    lasts: f64,
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
            lasts: libm::exp(-terms.losses_per_h[0] * YOUNG_H),
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
    of_slack: Vec<SlackStep>,
    /// First step with slack for a start, for two starts, and for one after a wait.
    least_slack: usize,
    least_start: usize,
    least_wait: usize,
    /// Odds of machines in an unseen market.
    is_up: f64,
}

#[derive(Debug)]
struct SlackStep {
    /// After a start, and after half of one, when machines are lost that do not survive it.
    started: GridPosition,
    half: GridPosition,
    /// Odds of a return while waiting for the step before, in young and in old pauses.
    returned: [f64; 2],
    /// Share of young pauses that are old after that wait.
    ages: f64,
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
        let of_step = |at: usize| {
            let waits_h = if at == 0 {
                0.0
            } else {
                at_h[at] - at_h[at - 1]
            };
            SlackStep {
                started: slack.between(at_h[at] - d),
                half: slack.between(at_h[at] - 0.5 * d),
                returned: odds(terms.returns_per_h, waits_h),
                ages: aged(waits_h),
            }
        };
        let (losses, returns) = (terms.losses_per_h[1], terms.returns_per_h[1]);
        Steps {
            worked_h: work_step_h,
            lost: odds(terms.losses_per_h, work_step_h),
            returns: odds(terms.returns_per_h, work_step_h)[1],
            grows_old: aged(work_step_h),
            of_slack: (0..slack.len()).map(of_step).collect(),
            least_slack: at_h.partition_point(|&h| h < d),
            least_start: at_h.partition_point(|&h| h < 2.0 * d),
            least_wait: at_h.partition_point(|&h| h < d) + 1,
            is_up: returns / (losses + returns),
        }
    }

    /// Working states of a row, from the one with a step less of work.
    fn work(&self, terms: &Terms, then: &[Cell], row: &mut [Cell]) {
        let lost = self.lost;
        let paid = terms.ratio * self.worked_h;
        for (then, cell) in then.iter().zip(&mut *row) {
            let [young, aged] = then.spot;
            let goes_on = mixed(self.grows_old, young, aged);
            cell.spot = [
                paid + (1.0 - lost[0]) * goes_on + lost[0] * then.idle,
                paid + (1.0 - lost[1]) * aged + lost[1] * then.idle,
            ];
            cell.on_demand = self.worked_h + mixed(self.returns, then.on_demand, then.offered);
        }
        // On spot machines there must always be slack to start on demand once more.
        let forced = terms.changeover_h + row[0].on_demand;
        for cell in &mut row[..self.least_slack] {
            cell.spot = [cell.spot[0].max(forced), cell.spot[1].max(forced)];
        }
    }

    /// States of a row without machines, and on demand with spot machines offered.
    fn wait(&self, start: f64, starts: &Starts, elsewhere: Option<&[f64]>, row: &mut [Cell]) {
        let mut comes = f64::INFINITY;
        let mut idle = [f64::INFINITY; 2];
        for (at, step) in self.of_slack.iter().enumerate() {
            let started = step.started;
            let leaves = elsewhere.map_or(f64::INFINITY, |all| all[at]);
            let [on_demand, young, old] =
                started.interpolate(row, |cell| [cell.on_demand, cell.spot[0], cell.spot[1]]);
            let goes = (start + on_demand).min(leaves);
            let mut waits = [f64::INFINITY; 2];
            if at >= self.least_wait {
                let stays = [mixed(step.ages, idle[0], idle[1]), idle[1]];
                waits =
                    [0, 1].map(|age| mixed(step.returned[age], stays[age], comes.min(stays[age])));
            }
            idle = [goes.min(waits[0]), goes.min(waits[1])];
            row[at].wait = waits;
            row[at].idle = idle[0];
            let (mut met, mut comes_now) = (f64::INFINITY, f64::INFINITY);
            if at >= self.least_start {
                let young = mixed(starts.ages, young, old);
                let [back] = step.half.interpolate(row, |cell| [cell.idle]);
                comes_now = starts.spot[0] + mixed(starts.lost[0], young, back);
                met = starts.spot[1] + mixed(starts.lost[1], old, back);
            }
            comes = comes_now;
            let cell = &mut row[at];
            cell.offered = cell.on_demand.min(comes);
            cell.entry = mixed(self.is_up, idle[1], met.min(idle[1]));
        }
    }
}

impl Table {
    /// The table of a zone by itself, or of one that may be left for the cost `elsewhere`, for the cells that this has.
    pub(super) fn new(terms: &Terms, elsewhere: Option<&[f64]>) -> Table {
        let slack = Grid::up_to_hours(terms.slack_h);
        let wide = slack.len();
        let work_steps = (terms.work_h / WORK_STEP_H).ceil().clamp(1.0, MOST_WORK) as u32;
        let work_step_h = terms.work_h / f64::from(work_steps);
        let steps = Steps::new(terms, work_step_h, &slack);
        let starts = Starts::new(terms);
        let rows = elsewhere.map_or(work_steps as usize, |all| all.len() / wide - 1);
        let mut cells = Vec::with_capacity((rows + 1) * wide);
        let (mut then, mut row) = (vec![Cell::default(); wide], vec![Cell::default(); wide]);
        cells.extend_from_slice(&then);
        let mut stays_from = 0;
        for done in 1..=rows {
            steps.work(terms, &then, &mut row);
            let leaves = |cell: &Cell| {
                let on_demand = terms.changeover_h + cell.on_demand;
                cell.spot.iter().any(|&spot| spot > on_demand)
            };
            let leaves_at = row.iter().rposition(leaves);
            stays_from = stays_from.max(leaves_at.map_or(0, |at| at + 1));
            let others = elsewhere.map(|all| &all[done * wide..(done + 1) * wide]);
            steps.wait(terms.changeover_h, &starts, others, &mut row);
            cells.extend_from_slice(&row);
            std::mem::swap(&mut then, &mut row);
        }
        Table {
            terms: *terms,
            starts,
            steps_per_h: 1.0 / work_step_h,
            work_steps,
            stays_from_h: *slack.hours().get(stays_from).unwrap_or(&f64::INFINITY),
            slack,
            cells,
        }
    }

    pub(super) fn values(&self) -> usize {
        8 * self.cells.len()
    }

    /// Costs of arriving from another zone, per cell.
    pub(super) fn entries(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().map(|cell| cell.entry)
    }

    /// Cells for as much work, and for less.
    pub(super) fn cells_until(&self, work_h: f64) -> usize {
        (self.rows(work_h).row + 2) * self.slack.len()
    }

    #[inline]
    fn rows(&self, work_h: f64) -> Rows {
        let at = (work_h * self.steps_per_h).clamp(0.0, f64::from(self.work_steps));
        let row = (at as u32).min(self.work_steps - 1);
        let share = at - f64::from(row);
        Rows {
            row: row as usize,
            share,
        }
    }

    /// A table's values; less than a step of work costs its share.
    #[inline]
    fn values_at<const N: usize>(
        &self,
        rows: Rows,
        slack: GridPosition,
        of: impl Fn(&Cell) -> [f64; N],
    ) -> [f64; N] {
        let (low, high) = self.cells[rows.row * self.slack.len()..].split_at(self.slack.len());
        let mut values = slack.interpolate(high, &of);
        if rows.row == 0 || rows.share == 1.0 {
            return values.map(|high| rows.share * high);
        }
        for (high, low) in values.iter_mut().zip(slack.interpolate(low, of)) {
            *high = low + rows.share * (*high - low);
        }
        values
    }

    #[inline]
    fn value(&self, rows: Rows, slack: GridPosition, of: impl Fn(&Cell) -> f64) -> f64 {
        let [value] = self.values_at(rows, slack, |cell| [of(cell)]);
        value
    }

    /// Position of some work and slack, near another of this grid: on demand the slack is that of the tick before.
    pub(super) fn position(&self, work_h: f64, slack_h: f64, near: &Position) -> Position {
        let (d, rows) = (self.terms.changeover_h, self.rows(work_h));
        if slack_h == near.slack_h {
            return Position {
                work_h,
                rows,
                ..*near
            };
        }
        Position {
            work_h,
            slack_h,
            rows,
            now: self.slack.between(slack_h),
            started: self.slack.between(slack_h - d),
            half: self.slack.between(slack_h - 0.5 * d),
        }
    }

    pub(super) fn on_spot(&self, at: &Position, age: Age) -> f64 {
        self.value(at.rows, at.now, |cell| cell.spot[age as usize])
    }

    pub(super) fn on_demand(&self, at: &Position) -> f64 {
        self.value(at.rows, at.now, |cell| cell.on_demand)
    }

    pub(super) fn waiting(&self, at: &Position, age: Age) -> f64 {
        let value = self.value(at.rows, at.now, |cell| cell.wait[age as usize]);
        // Beside a slack with which nobody can wait.
        if value.is_nan() { f64::INFINITY } else { value }
    }

    pub(super) fn start_spot(&self, at: &Position, age: Age) -> f64 {
        let d = self.terms.changeover_h;
        if at.slack_h - d < d {
            return f64::INFINITY;
        }
        let [young, old] = self.values_at(at.rows, at.started, |cell| cell.spot);
        let works = match age {
            Age::Young => mixed(self.starts.ages, young, old),
            Age::Old => old,
        };
        let back = self.value(at.rows, at.half, |cell| cell.idle);
        // A start is dear by its share where less than a step of work is left, as all else.
        let start = self.starts.spot[age as usize] * (at.work_h * self.steps_per_h).min(1.0);
        start + mixed(self.starts.lost[age as usize], works, back)
    }

    /// Working on demand until a new run is old, then starting spot machines if it lasts.
    pub(super) fn look_first(&self, at: &Position) -> f64 {
        let looks_h = YOUNG_H.min(at.work_h);
        let work_h = at.work_h - looks_h;
        let then = Position {
            work_h,
            rows: self.rows(work_h),
            ..*at
        };
        let on_demand = self.on_demand(&then);
        let starts = self.start_spot(&then, Age::Old).min(on_demand);
        looks_h + mixed(self.starts.lasts, on_demand, starts)
    }

    pub(super) fn start_on_demand(&self, at: &Position) -> f64 {
        let d = self.terms.changeover_h;
        if at.slack_h < d {
            return f64::INFINITY;
        }
        let then = self.value(at.rows, at.started, |cell| cell.on_demand);
        d * (at.work_h * self.steps_per_h).min(1.0) + then
    }

    /// Whether working spot machines are kept at this slack, whatever the rest.
    pub(super) fn stays(&self, slack_h: f64) -> bool {
        slack_h >= self.stays_from_h
    }
}
