//! What the rest is expected to cost in one zone, by work and slack left: stochastic dynamic programming.
//!
//! Spot machines are lost and return at constant rates. Slack is the time until the deadline beyond the work that is left:
//! work leaves it as it is, waiting and starting use it up. Machines are started on demand while there is still slack for
//! that, so that the deadline is kept.

/// What a table is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub(super) spot_usd_per_h: f64,
    pub(super) on_demand_usd_per_h: f64,
    pub(super) losses_per_h: f64,
    pub(super) returns_per_h: f64,
    pub(super) changeover_h: f64,
    /// Most work and most slack that it is asked for.
    pub(super) work_h: f64,
    pub(super) slack_h: f64,
}

impl Terms {
    /// Whether a table for these serves others: rates within a tenth, prices within a hundredth.
    pub(super) fn is_near(&self, other: &Terms) -> bool {
        let near = |a: f64, b: f64, share: f64| (a - b).abs() <= share * a.abs();
        near(self.losses_per_h, other.losses_per_h, 0.1)
            && near(self.returns_per_h, other.returns_per_h, 0.1)
            && near(self.spot_usd_per_h, other.spot_usd_per_h, 0.01)
            && near(self.on_demand_usd_per_h, other.on_demand_usd_per_h, 0.01)
    }
}

/// Steps of slack; steps of work are as long.
const STEPS: usize = 40;
/// Most steps of work.
const MOST_WORK: usize = 96;

/// Expected costs in USD, at steps of work (rows) and slack.
#[derive(Debug)]
pub(super) struct Table {
    terms: Terms,
    work_step_h: f64,
    slack_step_h: f64,
    work_steps: usize,
    /// On spot machines that work.
    spot: Vec<f64>,
    /// Without machines, while there are none in the spot market: the better of waiting and on demand.
    idle: Vec<f64>,
    /// Without machines, waiting at least a step.
    wait: Vec<f64>,
    /// On demand, while there are none in the spot market, or when those that are there are left.
    on_demand: Vec<f64>,
    /// On demand, with the choice of spot machines.
    offered: Vec<f64>,
}

const WIDE: usize = STEPS + 1;

impl Table {
    pub(super) fn of(terms: &Terms) -> Table {
        let slack_step_h = (terms.slack_h / STEPS as f64).max(1e-6);
        let wanted = (terms.work_h / slack_step_h.clamp(0.25, 1.0)).ceil();
        let work_steps = (wanted as usize).clamp(1, MOST_WORK);
        let empty = || vec![0.0; (work_steps + 1) * WIDE];
        let mut table = Table {
            terms: *terms,
            work_step_h: terms.work_h / work_steps as f64,
            slack_step_h,
            work_steps,
            spot: empty(),
            idle: empty(),
            wait: empty(),
            on_demand: empty(),
            offered: empty(),
        };
        for row in 1..=work_steps {
            table.fill(row);
        }
        table
    }

    /// A row, from the one with a step less of work.
    fn fill(&mut self, row: usize) {
        let terms = self.terms;
        let (d, step) = (terms.changeover_h, self.work_step_h);
        let lost = (terms.losses_per_h * step).min(1.0);
        let returned = (terms.returns_per_h * step).min(1.0);
        let (before, here) = ((row - 1) * WIDE, row * WIDE);
        for at in 0..WIDE {
            let (old, new) = (before + at, here + at);
            self.spot[new] = terms.spot_usd_per_h * step
                + (1.0 - lost) * self.spot[old]
                + lost * self.idle[old];
            self.on_demand[new] = terms.on_demand_usd_per_h * step
                + (1.0 - returned) * self.on_demand[old]
                + returned * self.offered[old];
        }
        // On spot machines there must always be slack to start on demand once more.
        let forced = d * terms.on_demand_usd_per_h + self.on_demand[here];
        for at in 0..WIDE {
            if (at as f64) * self.slack_step_h < d {
                self.spot[here + at] = self.spot[here + at].max(forced);
            }
        }
        let returned = (terms.returns_per_h * self.slack_step_h).min(1.0);
        for at in 0..WIDE {
            let slack_h = at as f64 * self.slack_step_h;
            let goes = self.go_on_demand(row, slack_h);
            let waits = if at == 0 || slack_h - self.slack_step_h < d {
                f64::INFINITY
            } else {
                let then = slack_h - self.slack_step_h;
                let idle = self.idle[here + at - 1];
                let comes = self.go_spot(row, then).min(idle);
                returned * comes + (1.0 - returned) * idle
            };
            self.wait[here + at] = waits;
            self.idle[here + at] = goes.min(waits);
            let stays = self.on_demand[here + at];
            self.offered[here + at] = stays.min(self.go_spot(row, slack_h));
        }
    }

    /// Starting spot machines that are there, at a row.
    fn go_spot(&self, row: usize, slack_h: f64) -> f64 {
        let terms = &self.terms;
        let then = slack_h - terms.changeover_h;
        if then < terms.changeover_h {
            return f64::INFINITY;
        }
        let lost = (terms.losses_per_h * terms.changeover_h).min(1.0);
        terms.spot_usd_per_h * terms.changeover_h
            + (1.0 - lost) * self.along(&self.spot, row, then)
            + lost * self.along(&self.idle_or_spot(), row, then)
    }

    /// Where machines are lost as they start: about as dear as lost at once, which this row does not know yet.
    fn idle_or_spot(&self) -> &[f64] {
        &self.spot
    }

    fn go_on_demand(&self, row: usize, slack_h: f64) -> f64 {
        let d = self.terms.changeover_h;
        d * self.terms.on_demand_usd_per_h + self.along(&self.on_demand, row, (slack_h - d).max(0.0))
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

    pub(super) fn on_spot(&self, work_h: f64, slack_h: f64) -> f64 {
        self.between(work_h, |row| self.along(&self.spot, row, slack_h))
    }

    pub(super) fn on_demand(&self, work_h: f64, slack_h: f64) -> f64 {
        self.between(work_h, |row| self.along(&self.on_demand, row, slack_h))
    }

    pub(super) fn waiting(&self, work_h: f64, slack_h: f64) -> f64 {
        self.between(work_h, |row| self.along(&self.wait, row, slack_h))
    }

    pub(super) fn start_spot(&self, work_h: f64, slack_h: f64) -> f64 {
        self.between(work_h, |row| self.go_spot(row, slack_h))
    }

    pub(super) fn start_on_demand(&self, work_h: f64, slack_h: f64) -> f64 {
        if slack_h < self.terms.changeover_h {
            return f64::INFINITY;
        }
        self.between(work_h, |row| self.go_on_demand(row, slack_h))
    }
}
