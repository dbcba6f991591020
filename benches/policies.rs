//! CPU time of a life under each policy, compared with `greedy`, and of the clairvoyant.
//!
//! `cargo bench --bench policies`. 48 h of work in 70 h with changeovers of 12 minutes, on the nine zones of the market
//! `aws-v100-2023`, each alone, in ticks of about ten minutes. It prints and never fails on time: goals are for people,
//! machines differ.

#[allow(dead_code, reason = "each bench takes its own of it")]
mod table;

use std::hint::black_box;
use std::sync::{Arc, LazyLock};

use scavsim_provision::clairvoyant::optimum;
use scavsim_provision::forms::Form;
use scavsim_provision::job::{Job, LastTick};
use scavsim_provision::policy::registry::{POLICIES, Settings};
use scavsim_provision::policy::{Net, Recipe};
use scavsim_provision::policy_run::live;
use scavsim_provision::world::written::WrittenMarket;
use scavsim_provision::world::{Window, World};
use scavsim_read::input::{Diagnostic, Diagnostics};
use table::{Goal, Path};

static JOB: LazyLock<Job> = LazyLock::new(|| Job {
    work_s: 48.0 * 3600.0,
    deadline_s: 70.0 * 3600.0,
    changeover_s: 720.0,
    reconfigure_s: None,
    checkpoint_gb: 10.0,
    checkpoint_every_s: None,
    forms: vec![Form::of_machines(1)],
    searched: Vec::new(),
    lateness_usd_per_h: None,
    last_tick: LastTick::Used,
    probe_s: 60.0,
});

/// Every this many-th tick of the traces is used: three of 195 s are about ten minutes.
const EVERY: usize = 3;

fn main() {
    // `cargo test --benches` runs the bench without `--bench`: see that it works, quickly.
    let trial =
        !std::env::args().any(|a| a == "--bench") || std::env::args().any(|a| a == "--test");
    let (rounds, starts) = if trial { (1, 2) } else { (9, 100) };
    let worlds = worlds();
    let windows: Vec<Window<'_>> = worlds
        .iter()
        .flat_map(|world| windows(world, starts))
        .collect();
    let settings = Settings::default();
    let recipe = |name: &str| settings.recipe(name).expect("it is registered");
    let names = POLICIES.iter().map(|policy| policy.name);
    let mut recipes: Vec<(&str, Arc<dyn Recipe>)> = names
        .map(|name| (name, recipe(name)))
        .filter(|(_, recipe)| recipe.policy().net() != Net::None)
        .collect();
    // The reference comes first.
    recipes.sort_by_key(|(name, _)| *name != "greedy");

    let first = recipe("cost-to-go");
    let few = &windows[..windows.len().min(20)];

    let mut paths: Vec<Path<'_>> = recipes
        .iter()
        .map(|(name, recipe)| {
            let lives = (windows.len() as u64, "life");
            Path::new(*name, lives, Goal::Beside(0), || {
                for &window in &windows {
                    black_box(run(&**recipe, window));
                }
            })
        })
        .collect();
    paths.push(Path::new(
        "cost-to-go, first life of a thread",
        (few.len() as u64, "life"),
        Goal::Beside(0),
        || {
            for &window in few {
                std::thread::scope(|scope| {
                    scope.spawn(|| black_box(run(&*first, window)));
                });
            }
        },
    ));
    paths.push(Path::new(
        "clairvoyant",
        (few.len() as u64, "life"),
        Goal::Beside(0),
        || {
            for &window in few {
                black_box(optimum(window, &JOB).map(|optimum| optimum.bound_usd));
            }
        },
    ));
    table::measure(&mut paths, rounds);
    table::header(rounds);
    table::print(&paths);
}

fn run(recipe: &dyn Recipe, window: Window<'_>) -> f64 {
    let mut policy = recipe.knowing(window).unwrap_or_else(|| recipe.policy());
    live(window, &JOB, &mut *policy).cost_usd()
}

/// Each zone of the market alone, in longer ticks.
fn worlds() -> Vec<World> {
    let mut d = Diagnostics::default();
    let wrong = Diagnostic::general("no such market");
    let market = WrittenMarket::open("aws-v100-2023", ".".as_ref(), wrong, &mut d);
    let all = market.expect("it is shipped").world;
    let alone = |zone: usize| {
        let mut world = all.of_zones(&[zone]);
        world.tick_s *= EVERY as f64;
        for zone in &mut world.zones {
            zone.offered = zone.offered.iter().step_by(EVERY).copied().collect();
            zone.spot_usd_per_h = zone.spot_usd_per_h.iter().step_by(EVERY).copied().collect();
        }
        world
    };
    (0..all.zones.len()).map(alone).collect()
}

/// Windows of a deadline's length, spread evenly.
fn windows(world: &World, starts: usize) -> Vec<Window<'_>> {
    let ticks = JOB.ticks(world.tick_s);
    let last = world.ticks() - ticks;
    (0..starts)
        .filter_map(|at| world.window(last * at / (starts - 1).max(1), ticks))
        .collect()
}
