//! A search strategy of one's own, against the oracle and random search.
//!
//! `cargo run --example own_strategy`
//!
//! *Thrifty* search probes configurations in random order and stops when looking has cost 5 % of what the
//! best run seen so far would: in hours where the objective is time, in USD where it is cost.

use std::collections::BTreeMap;

use scavsim::{
    Depends, Extent, Forecast, Objective, Past, Recipe, Registry, Scenario, Stop, Strategy, Stream,
    Task, Testbed, UnusableStrategy,
};

/// What a user of the strategy may set.
struct Thrifty {
    /// Largest search, as a fraction of the best run seen.
    share: f64,
}

impl Recipe for Thrifty {
    fn summary(&self) -> &str {
        "probe in random order until looking costs more than a share of the best run seen"
    }

    /// Once per workload. Whatever is taken from `past` stands in the records with its price.
    fn build(
        &self,
        task: &Task<'_>,
        past: &mut Past<'_>,
    ) -> Result<Box<dyn Strategy>, UnusableStrategy> {
        // A probe shows seconds per step. How many steps there are to the target comes from earlier
        // runs of the job: n = e·D/B, with e epochs, D samples per epoch, B samples per step.
        let earlier = past.take_own(|run| run.has_epochs);
        let of = |at: usize| {
            let (workers, batch) = (task.space.workers(at), task.space.batch(at));
            let mut runs = earlier.runs.iter();
            let same = runs.find(|run| run.workers == workers && run.batch == batch)?;
            let samples = same.epochs? * task.samples_per_epoch?;
            Some((at, samples / f64::from(batch?)))
        };
        let (share, steps) = (self.share, (0..task.space.len()).filter_map(of).collect());
        let search = Search { share, steps };
        if search.steps.is_empty() {
            let why = "no configuration was run before";
            return Err(UnusableStrategy(why.to_owned()));
        }
        Ok(Box::new(search))
    }
}

/// The strategy, ready for one workload; many threads search with it at once.
struct Search {
    share: f64,
    /// Configurations that were run before, with their steps to the target.
    steps: Vec<(usize, f64)>,
}

impl Strategy for Search {
    /// It wants to know what it looks for and what things cost: it is run once per objective and
    /// pricing policy, and `task` and `testbed` tell it both.
    fn depends(&self) -> Depends {
        Depends::BOTH
    }

    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let mut left = self.steps.clone();
        let mut best = f64::INFINITY;
        while !left.is_empty() {
            // From the stream, not from elsewhere: the same seed gives the same search.
            let (at, steps) = left.swap_remove(stream.below(left.len()));
            // The job moves there (37 s for a checkpoint and its restore) and trains a few steps,
            // which count as progress. `?` ends the search when the job itself comes to its end.
            let seen = testbed.probe(at, Extent::Steps(task.probe_steps))?;
            let Some(step_s) = seen.step_s else { continue };
            let time_s = steps * step_s;
            // The objective will pick from these; a strategy may also set `forecast.decided`.
            forecast.predict(at, time_s);
            let spent = testbed.spent();
            let (spent, run) = match task.objective {
                Some(Objective::Time) => (Some(spent.seconds), Some(time_s)), // seconds
                _ => (spent.usd, task.prices.and_then(|p| p.run_usd(at, time_s))), // USD
            };
            best = best.min(run.unwrap_or(f64::INFINITY));
            if spent.is_some_and(|spent| spent > self.share * best) {
                break;
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::default().with("thrifty", Thrifty { share: 0.05 });
    // 16 measured configurations: 8 to 20 workers, 384 to 1024 samples per step.
    let scenario = Scenario::options().registry(registry).parse(
        r#"
        replicas = 200
        workloads = ["scavenger-resnet18"]
        variation = { step_cv = 0.05, noise_cv = 0.10 }
        search.strategies = ["oracle", "thrifty", "random"]
        search.objectives = ["time", "cost"]
        "#,
    )?;

    // Means over replicas: regret is what the choice costs more than the oracle's, overhead what
    // search and choice together do; in time where the objective is time, in USD where it is cost.
    let mut rows: BTreeMap<(String, String), [f64; 3]> = BTreeMap::new();
    scenario.run(|record| {
        let (regret, overhead) = match record.objective {
            "time" => (record.regret_time, record.overhead_net_time),
            _ => (record.regret_cost, record.overhead_net_cost),
        };
        let key = (record.objective.to_owned(), record.strategy.to_owned());
        let row = rows.entry(key).or_default();
        let figures = [regret, overhead, record.search_time_h];
        for (sum, figure) in row.iter_mut().zip(figures) {
            *sum += figure.expect("every case has a result") / 200.0;
        }
    })?;

    println!("objective  strategy   regret  overhead  search");
    for ((objective, strategy), [regret, overhead, search_h]) in &rows {
        let (regret, overhead) = (100.0 * regret, 100.0 * overhead);
        print!("{objective:<9}  {strategy:<8}");
        println!("  {regret:5.1} %  {overhead:6.1} %  {search_h:.2} h");
    }
    let overhead = |objective: &str, strategy: &str| rows[&(objective.into(), strategy.into())][1];
    for objective in ["time", "cost"] {
        assert_eq!(overhead(objective, "oracle"), 0.0);
        assert!(overhead(objective, "thrifty") < overhead(objective, "random"));
    }
    Ok(())
}
