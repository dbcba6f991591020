//! What an optimiser of prices takes that knows nothing of the job: the lowest price per hour, or the highest. Unseen, or the best
//! of the first few, each run to the target.

use super::trials::Trials;
use super::{BuildResult, Depends, Forecast, Past, Recipe, Task, ready};
use crate::testbed::{Stop, Testbed};
use scavsim_base::settings;
use scavsim_read::input::checked::Count;

settings! {
    /// Settings of the strategy `cheapest`.
    pub struct CheapestSettings {
        /// Runs at the lowest prices, of which it takes the best; without it, it looks at none.
        pub budget: Option<Count>,
    }

    name: "cheapest",
    what: "the lowest price per hour, without a look at the job; with a budget of N, the best of N runs from there up",
    formula: "probes: none; if the lowest price fails, the next. With a budget: runs to the target",
    source: "usual baseline",
    example: "search.strategies = [\"cheapest\", \"cheapest@3\"]",
}

settings! {
    /// Settings of the strategy `dearest`.
    pub struct DearestSettings {
        /// Runs at the highest prices, of which it takes the best; without it, it looks at none.
        pub budget: Option<Count>,
    }

    name: "dearest",
    what: "the highest price per hour, without a look at the job; with a budget of N, the best of N runs from there down",
    formula: "probes: none; if the highest price fails, the next. With a budget: runs to the target",
    source: "usual baseline",
    example: "search.strategies = [\"dearest\", \"dearest@3\"]",
}

impl Recipe for CheapestSettings {
    fn build(&self, _: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        by_price(Corner::Cheapest, self.budget)
    }
}

impl Recipe for DearestSettings {
    fn build(&self, _: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        by_price(Corner::Dearest, self.budget)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Corner {
    Cheapest,
    Dearest,
}

impl Corner {
    /// Configurations from this end on, by what an hour costs; those whose price nobody knows come last, in their order.
    pub(super) fn order(self, task: &Task<'_>) -> Vec<(usize, Option<f64>)> {
        let hour = |at: usize| (task.prices).and_then(|prices| prices.usd_per_hour(at));
        let far = |usd: Option<f64>| match self {
            Corner::Cheapest => usd.unwrap_or(f64::INFINITY),
            Corner::Dearest => usd.map_or(f64::INFINITY, |usd| -usd),
        };
        let mut order: Vec<(usize, Option<f64>)> =
            (0..task.space.len()).map(|at| (at, hour(at))).collect();
        order.sort_by(|a, b| far(a.1).total_cmp(&far(b.1)).then(a.0.cmp(&b.0)));
        order
    }
}

fn by_price(corner: Corner, budget: Option<Count>) -> BuildResult {
    let runs = budget.map_or(0, |budget| budget.get() as usize);
    let depends = match runs {
        0 => Depends::PRICES,
        _ => Depends::BOTH,
    };
    ready(depends, move |task, testbed, _, forecast| {
        corner.search(runs, task, testbed, forecast)
    })
}

impl Corner {
    /// Takes the best of so many runs from this end on; with 0 the end itself, without a look.
    pub(super) fn search(
        self,
        runs: usize,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let order = self.order(task).into_iter();
        let mut order = order.filter_map(|(at, usd)| usd.map(|_| at)).peekable();
        if runs == 0 || order.peek().is_none() {
            let why = "no configuration has a price before it was run";
            return forecast.decide_in_order(order, why);
        }
        let trials = Trials::new(task, testbed, forecast);
        trials.search(runs, [], |_: &Trials<'_, '_>| order.next())
    }
}
