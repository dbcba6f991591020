//! A paper's scenario, ready to be asked.

use crate::configuration::Configuration;
use crate::experiment::Arena;
use crate::experiment::PlanError;
use crate::experiment::{Case, Evaluator, Plan};
use crate::scenario::Scenario;
use crate::space;
use crate::testbed::History;
use crate::units::SECONDS_PER_HOUR;
use crate::workload::{Reach, Workload};

use super::selector::Selector;

/// The scenario of a paper with its plan.
pub struct Stage {
    /// The scenario.
    pub scenario: Scenario,
    /// What its cases share.
    pub plan: Plan,
}

impl Stage {
    /// Sets up `scenario`.
    ///
    /// # Errors
    /// [`PlanError`]; none after the scenario's own check.
    pub fn new(scenario: Scenario) -> Result<Stage, PlanError> {
        let plan = Plan::new(&scenario)?;
        Ok(Stage { scenario, plan })
    }

    /// The workload that a selector names.
    ///
    /// # Errors
    /// A sentence when it names none of the scenario's.
    pub fn workload(&self, selector: &Selector) -> Result<(usize, &Workload, &Arena), String> {
        let name = selector.text("workload")?;
        let index = (self.scenario.workloads.iter())
            .position(|(w, _)| w.name == name)
            .ok_or_else(|| format!("the scenario has no workload `{name}`"))?;
        let workload = &self.scenario.workloads[index].0;
        let arena = self.plan.arena(index).map_err(str::to_owned)?;
        Ok((index, workload, arena))
    }

    /// What an earlier run of a selector's workload left behind.
    ///
    /// # Errors
    /// A sentence when there is no such workload.
    pub fn history(&self, selector: &Selector) -> Result<History, String> {
        Ok(History::of(self.workload(selector)?.1, &Reach::default()))
    }

    /// Index of the configuration that a selector names by its values on the axes: `workers` and `batch`, and
    /// any others where these do not tell it.
    ///
    /// # Errors
    /// A sentence when there is none.
    pub fn cell(&self, selector: &Selector) -> Result<(&Arena, usize), String> {
        let (_, _, arena) = self.workload(selector)?;
        let space = &arena.space;
        for usual in [space::WORKERS, space::BATCH] {
            if space.axis(usual).is_some() {
                selector.number::<u32>(usual)?;
            }
        }
        let asked: Vec<(usize, &str)> = (space.axes().iter().enumerate())
            .filter_map(|(index, axis)| Some((index, selector.optional(&axis.name)?)))
            .collect();
        let is_it = |at: &usize| {
            let mut all = asked.iter();
            all.all(|(axis, value)| space.text(*at, *axis) == *value)
        };
        let index = (0..space.len()).find(is_it).ok_or_else(|| {
            let name =
                |(axis, value): &(usize, &str)| format!("{}={value}", space.axes()[*axis].name);
            let names: Vec<String> = asked.iter().map(name).collect();
            format!("no configuration has {}", names.join(" "))
        })?;
        Ok((arena, index))
    }

    /// Index of the pricing policy that a selector names.
    ///
    /// # Errors
    /// A sentence when it names none of the scenario's.
    pub fn policy(&self, selector: &Selector) -> Result<usize, String> {
        let name = selector.text("pricing")?;
        (self.plan.policies.iter())
            .position(|p| p.name == name)
            .ok_or_else(|| format!("the scenario has no pricing policy `{name}`"))
    }

    /// Simulates a cell from the start to the target in replica 0: hours and, under the policy
    /// with index `policy`, USD.
    ///
    /// # Errors
    /// A sentence when the simulation has a defect.
    pub fn simulate(
        &self,
        arena: &Arena,
        cell: usize,
        policy: usize,
    ) -> Result<(f64, f64), String> {
        let mut site = arena.ground.open(&self.plan.terms);
        site.restart(0);
        let line = site.run_to_target(cell).map_err(|e| e.to_string())?;
        let mut usage = crate::usage::Usage::default();
        site.usage_until(line.net_end, &mut usage);
        Ok((line.net_end.hours(), arena.tariffs[policy].bill_usd(&usage)))
    }

    /// Runs the strategy that a selector names, in replica 0, and gives the relative error of its
    /// predicted time per configuration, with the configuration.
    ///
    /// # Errors
    /// A sentence when there is no such strategy.
    pub fn prediction_errors(
        &self,
        selector: &Selector,
    ) -> Result<Vec<(&Configuration, f64)>, String> {
        let (workload, _, arena) = self.workload(selector)?;
        let name = selector.text("strategy")?;
        let strategy = (arena.contenders.iter())
            .position(|c| c.name == name)
            .ok_or_else(|| format!("the scenario has no strategy `{name}`"))?;
        let mut evaluator = Evaluator::new(&self.plan);
        let predicted = evaluator.predicted(workload, strategy, 0).iter();
        Ok((predicted.zip(&arena.world()?.truths))
            .filter_map(|(time_s, truth)| {
                let error = (*time_s)? / truth.expected_time_s() - 1.0;
                Some((&truth.configuration, error.abs()))
            })
            .collect())
    }

    /// Hours and USD of the cold start of the strategy `partial` under a selector's policy.
    ///
    /// # Errors
    /// A sentence when the scenario lacks what the selector names.
    pub fn cold_start(&self, selector: &Selector) -> Result<(f64, f64), String> {
        let (workload, _, arena) = self.workload(selector)?;
        let strategy = (arena.contenders.iter())
            .position(|c| c.name == "partial")
            .ok_or("the scenario has no strategy `partial`")?;
        let record = Evaluator::new(&self.plan).evaluate(Case {
            number: 0,
            arena: workload,
            policy: self.policy(selector)?,
            objective: 0,
            strategy,
            replica: 0,
        });
        match (record.cold_start_time_h, record.cold_start_cost_usd) {
            (Some(hours), Some(usd)) => Ok((hours, usd)),
            _ => Err("the strategy had no cold start".to_owned()),
        }
    }

    /// Expected hours and USD of a selector's cell under its policy.
    ///
    /// # Errors
    /// A sentence when the scenario lacks what the selector names.
    pub fn expected(&self, selector: &Selector) -> Result<(f64, f64), String> {
        let (arena, cell) = self.cell(selector)?;
        let point = arena.expected[self.policy(selector)?][cell];
        Ok((point.time_s / SECONDS_PER_HOUR, point.cost_usd))
    }
}
