//! Random scenarios with `[policy]`, with unround numbers, and laws that hold in each: bounds, deadlines, monotonicity, continuity.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use scavsim::{OwnedRecord, Scenario};

use crate::luck::Luck;

const CLAIRVOYANT: &str = "clairvoyant";
/// Relative error of a comparison of sums of floating-point numbers.
const ROUNDING: f64 = 1e-9;
/// Maximum change of a key without effect, relative to the cost.
const CONTINUOUS: f64 = 1e-3;

/// A scenario that is the work of a job, its fastest hours, and strategies that search it while the job runs.
struct Work {
    name: &'static str,
    text: &'static str,
    fastest_h: f64,
    strategies: &'static [&'static str],
}

/// A training on clusters, parallel plans and a bag of jobs.
const WORKS: [Work; 3] = [
    Work {
        name: "clusters",
        text: "workloads = [\"scavenger-resnet18\"]\ncluster.workers = [8, 12, 16, 20]\n\
               search.strategies = [\"oracle\"]\npricing.policies = [\"per-second\"]\n",
        fastest_h: 4.26,
        strategies: &["online", "partial", "no-search", "full"],
    },
    Work {
        name: "plans",
        text: "parallel = { model = \"gpt2-1.5b\", precision = \"fp16\", global_batch = [512], target_tokens = 1.5e8,\n\
               most_gpus = 32, nodes = [{ vm = \"p3.2xlarge\" }] }\n\
               pricing = { policies = [\"own\"], define.own.usd_per_vm_hour = 0.918 }\n\
               search = { strategies = [\"oracle\"], objectives = [\"cost\"] }\n",
        fastest_h: 3.36,
        strategies: &["planner", "random"],
    },
    Work {
        name: "bag",
        text: "bag = { jobs = 40, job_times = [{ vm = \"n1-standard-4\", vms_per_job = 2, mean_s = 600 }], parallel_jobs = [1, 2, 4] }\n\
               search.strategies = [\"oracle\"]\n",
        fastest_h: 1.67,
        strategies: &[],
    },
];

/// The folder with the files of all works.
fn works() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let name = format!("works-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("a folder for files");
        for work in &WORKS {
            let file = folder.join(format!("{}.toml", work.name));
            fs::write(file, work.text).expect("a folder for files");
        }
        folder
    })
}

/// A scenario: the values of its keys.
#[derive(Clone)]
struct PolicyScenario {
    numbers: BTreeMap<&'static str, f64>,
    words: BTreeMap<&'static str, String>,
}

/// A random number between two, with all its digits.
fn between(low: f64, high: f64, luck: &mut Luck) -> f64 {
    low + (high - low) * luck.below(1 << 30) as f64 / f64::from(1 << 30)
}

impl PolicyScenario {
    fn draw(number: u64) -> PolicyScenario {
        let luck = &mut Luck::new(0x9011_u64, number);
        let mut scenario = PolicyScenario {
            numbers: BTreeMap::new(),
            words: BTreeMap::new(),
        };
        let work_h = between(0.3, 8.0, luck);
        let spare_h = between(0.02, 1.5, luck) * work_h + 0.5;
        let changeover_s = match luck.below(4) {
            0 => 0.0,
            1 => 1e-6,
            _ => between(1.0, 1500.0, luck),
        };
        scenario.set("job.work_h", work_h);
        scenario.set("job.deadline_h", work_h + spare_h);
        scenario.set("job.changeover_s", changeover_s);
        if luck.once_in(3) {
            scenario.set("job.checkpoint_gb", between(0.0, 80.0, luck));
        }
        if luck.once_in(4) {
            scenario.say("job.whole_last_tick", "true");
        }
        if luck.once_in(3) {
            scenario.set("pricing.define.own.minimum_s", between(0.0, 9000.0, luck));
            scenario.set(
                "pricing.define.own.granularity_s",
                between(0.0, 4000.0, luck),
            );
            scenario.set("pricing.define.own.usd_per_job", between(0.0, 3.0, luck));
            scenario.say("pricing.define.own.market_price", "true");
            scenario.say("pricing.policies", "[\"market\", \"own\"]");
        }
        let work = luck.once_in(3).then(|| luck.pick(&WORKS));
        if let Some(work) = work {
            scenario.take(work, luck);
        }
        if luck.once_in(5) {
            let lives = [
                "aws-2020-g4dn-trace",
                "gcp-v100-us-central1",
                "gcp-2019-bathtub",
            ];
            let zones = ["us-east-1", "us-east-2", "us-west-2"];
            let taken = &zones[..1 + luck.below(3)];
            scenario.say("market.vm", "[\"g4dn.12xlarge\"]");
            scenario.say("market.zones", &format!("{taken:?}"));
            scenario.say("market.lifetimes", &format!("{:?}", luck.pick(&lives)));
            scenario.set("market.pause_h", between(0.1, 4.0, luck));
            scenario.set("market.tick_s", between(37.0, 900.0, luck));
            scenario.say("market.replicas", "6");
        } else if luck.once_in(2) {
            scenario.set("market.run_h", between(0.1, 6.0, luck));
            scenario.set("market.pause_h", between(0.1, 4.0, luck));
            let spot_usd = between(0.1, 3.0, luck);
            scenario.set("market.spot_usd_per_h", spot_usd);
            scenario.set(
                "market.on_demand_usd_per_h",
                spot_usd * between(1.0, 4.0, luck),
            );
            scenario.set("market.tick_s", between(37.0, 900.0, luck));
            scenario.say("market.replicas", "6");
        } else if work.is_some() {
            scenario.say("market.traces", "\"aws-p3-parcae\"");
            scenario.say("starts.spread", "4");
        } else {
            let zones = ["us-east-1f", "us-east-2a", "us-west-2c"];
            let first = luck.below(zones.len());
            let taken = &zones[first..zones.len().min(first + 1 + luck.below(3))];
            scenario.say("market.traces", "\"aws-v100-2023\"");
            scenario.say("market.zones", &format!("{taken:?}"));
            scenario.say("starts.spread", "4");
        }
        if luck.once_in(3) {
            scenario.set("job.reconfigure_s", between(0.0, 900.0, luck));
        }
        scenario
    }

    /// Uses a work for the job, with a deadline and perhaps strategies that search it.
    fn take(&mut self, work: &Work, luck: &mut Luck) {
        let file = works().join(format!("{}.toml", work.name));
        self.numbers.remove("job.work_h");
        self.say("job.work", &format!("{:?}", file.display().to_string()));
        self.set(
            "job.deadline_h",
            work.fastest_h * between(0.99, 2.5, luck) + 0.5,
        );
        if !work.strategies.is_empty() && luck.once_in(2) {
            let name = luck.pick(work.strategies);
            self.say("search.strategies", &format!("[{name:?}]"));
            self.set("search.reconsider.every_h", between(0.1, 3.0, luck));
            if luck.once_in(2) {
                let occasion = luck.pick(&["preemption", "price", "capacity"]);
                self.say("search.reconsider.on", &format!("[{occasion:?}]"));
            }
        }
    }

    fn set(&mut self, key: &'static str, value: f64) {
        self.numbers.insert(key, value);
    }

    fn say(&mut self, key: &'static str, value: &str) {
        self.words.insert(key, value.to_owned());
    }

    /// The scenario with one number changed; nothing if it has none.
    fn changed(&self, key: &'static str, change: impl Fn(f64) -> f64) -> Option<PolicyScenario> {
        let mut changed = self.clone();
        let value = changed.numbers.get_mut(key)?;
        *value = change(*value);
        Some(changed)
    }

    fn text(&self) -> String {
        let numbers = self
            .numbers
            .iter()
            .map(|(key, value)| format!("{key} = {value:?}\n"));
        let words = self
            .words
            .iter()
            .map(|(key, value)| format!("{key} = {value}\n"));
        let names =
            "policy.names = [\"on-demand\", \"greedy\", \"uniform-progress\", \"cost-to-go\"]\n";
        numbers.chain(words).chain([names.to_owned()]).collect()
    }

    /// The lives of all policies; nothing if the scenario is refused with a reason.
    fn run(&self) -> Option<Vec<OwnedRecord>> {
        let scenario = Scenario::parse(&self.text()).ok()?;
        let mut lives = Vec::new();
        let finished = scenario.run(|record| lives.push(record.clone().into_owned()));
        finished.is_ok().then_some(lives)
    }

    /// USD of a tick on demand: decisions are made at ticks, and a tiny change may shift one of them.
    fn tick_usd(&self) -> f64 {
        let of = |key, usual| self.numbers.get(key).copied().unwrap_or(usual);
        of("market.on_demand_usd_per_h", 3.912) * of("market.tick_s", 600.0) / 3600.0
    }

    /// Mean USD of the cheapest life in time, if it is exact.
    fn bound_usd(&self) -> Option<f64> {
        exact_usd(&self.run()?)
    }
}

/// Records of the clairvoyant at the market's price.
fn of_clairvoyant(lives: &[OwnedRecord]) -> impl Iterator<Item = &OwnedRecord> {
    (lives.iter()).filter(|life| life.strategy == CLAIRVOYANT && life.pricing == "market")
}

/// Mean USD of a clairvoyant that is exact in all lives.
fn exact_usd(lives: &[OwnedRecord]) -> Option<f64> {
    let usd = of_clairvoyant(lives).map(|life| life.cost_usd.filter(|_| life.exact == Some(1.0)));
    let usd: Vec<f64> = usd.collect::<Option<_>>()?;
    (!usd.is_empty()).then(|| usd.iter().sum::<f64>() / usd.len() as f64)
}

/// Comparisons of laws, and their violations.
#[derive(Default)]
struct Verdict {
    comparisons: usize,
    broken: Vec<String>,
}

impl Verdict {
    /// Counts a comparison, and records a violation in words if it does not hold.
    fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.comparisons += 1;
        if !holds {
            self.broken.push(what());
        }
    }
}

/// A law about the lives of a scenario.
type Law = fn(&PolicyScenario, &[OwnedRecord], &mut Verdict);

const LAWS: [Law; 3] = [
    deadlines_are_kept,
    rules_only_add,
    the_clairvoyant_is_a_bound,
];

/// The verdicts of all laws on a scenario's lives.
fn judge(scenario: &PolicyScenario, lives: &[OwnedRecord]) -> Verdict {
    let mut verdict = Verdict::default();
    LAWS.iter()
        .for_each(|law| law(scenario, lives, &mut verdict));
    verdict
}

/// Figures are finite, and policies with a safety net meet every deadline.
fn deadlines_are_kept(_: &PolicyScenario, lives: &[OwnedRecord], verdict: &mut Verdict) {
    for life in lives {
        let all = [life.cost_usd, life.late_h, life.spot_h, life.on_demand_h];
        let is_sound = |figure: &Option<f64>| figure.is_some_and(|figure| figure >= 0.0);
        let is_sound = life.as_record().is_finite() && all.iter().all(is_sound);
        verdict.expect(is_sound, || format!("figures {life:?}"));
        verdict.expect(life.kept_net == Some(1.0), || format!("in time {life:?}"));
    }
}

/// A life under rules that only add costs is no cheaper than at the market's price, and as long.
fn rules_only_add(_: &PolicyScenario, lives: &[OwnedRecord], verdict: &mut Verdict) {
    for own in lives.iter().filter(|life| life.pricing == "own") {
        let key = |life: &OwnedRecord| (life.strategy.clone(), life.replica, life.workload.clone());
        let at_market =
            (lives.iter()).find(|life| life.pricing == "market" && key(life) == key(own));
        let adds = at_market.is_some_and(|life| {
            let usd = |life: &OwnedRecord| life.cost_usd.unwrap_or(f64::NAN);
            usd(own) >= usd(life) * (1.0 - ROUNDING) && own.time_h == life.time_h
        });
        verdict.expect(adds, || {
            format!("rules that add {own:?} beside {at_market:?}")
        });
    }
}

/// The clairvoyant is a bound, and higher prices, longer jobs or earlier deadlines are never cheaper.
fn the_clairvoyant_is_a_bound(
    scenario: &PolicyScenario,
    lives: &[OwnedRecord],
    verdict: &mut Verdict,
) {
    for life in lives {
        if let Some(over) = life.overhead_net_cost {
            verdict.expect(over >= -ROUNDING, || format!("below the bound {life:?}"));
        }
    }
    let Some(bound) = exact_usd(lives) else {
        return;
    };
    type Change = fn(f64) -> f64;
    let bound_of = |key, change: Change| scenario.changed(key, change)?.bound_usd();
    let never_better: [(&str, Change); 6] = [
        ("job.work_h", |hours| hours * 1.013),
        ("job.changeover_s", |seconds| seconds + 71.3),
        ("job.reconfigure_s", |seconds| seconds + 71.3),
        ("market.spot_usd_per_h", |usd| usd * 1.17),
        ("market.on_demand_usd_per_h", |usd| usd * 1.17),
        ("job.checkpoint_gb", |gb| gb * 1.7),
    ];
    for (key, change) in never_better {
        if let Some(usd) = bound_of(key, change) {
            verdict.expect(usd >= bound * (1.0 - ROUNDING), || {
                format!("more {key}: {bound} USD, then {usd}")
            });
        }
    }
    if let Some(usd) = bound_of("job.deadline_h", |hours| hours + 0.37) {
        verdict.expect(usd <= bound * (1.0 + ROUNDING), || {
            format!("a later deadline: {bound} USD, then {usd}")
        });
    }
    for key in ["job.changeover_s", "job.work_h", "job.deadline_h"] {
        if let Some(usd) = bound_of(key, |value| value + 1e-6) {
            let jump_usd =
                CONTINUOUS * bound + scenario.tick_usd() / of_clairvoyant(lives).count() as f64;
            verdict.expect((usd - bound).abs() <= jump_usd, || {
                format!("a hair more {key}: {bound} USD, then {usd}")
            });
        }
    }
}

/// Tries `count` scenarios from `first` on; returns the verdicts, and the number of accepted scenarios.
fn generate(first: u64, count: u64) -> (Verdict, usize) {
    let (mut all, mut legal) = (Verdict::default(), 0);
    for number in first..first + count {
        let scenario = PolicyScenario::draw(number);
        if let Some(lives) = scenario.run() {
            legal += 1;
            let text = scenario.text();
            let own = judge(&scenario, &lives);
            all.comparisons += own.comparisons;
            let broken = own.broken.into_iter();
            (all.broken).extend(broken.map(|what| format!("scenario {number}: {what}\n{text}")));
        }
    }
    (all, legal)
}

#[test]
fn policies_keep_all_laws_in_some_scenarios() {
    let (
        Verdict {
            comparisons,
            broken,
        },
        legal,
    ) = generate(0, 25);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(legal >= 15, "{legal} of 25 were not refused");
    assert!(comparisons >= 450, "{comparisons} comparisons");
}

#[test]
fn laws_of_policies_notice_figures_that_were_changed() {
    type Change = fn(&mut OwnedRecord);
    let changes: [(&str, &str, Change); 5] = [
        ("greedy", "figures", |life| life.cost_usd = Some(f64::NAN)),
        ("greedy", "in time", |life| life.kept_net = Some(0.0)),
        ("greedy", "below the bound", |life| {
            life.overhead_net_cost = Some(-0.001);
        }),
        (CLAIRVOYANT, "more job.work_h", |life| {
            life.cost_usd = life.cost_usd.map(|usd| usd * 1.1);
        }),
        (CLAIRVOYANT, "a later deadline", |life| {
            life.cost_usd = life.cost_usd.map(|usd| usd * 0.5);
        }),
    ];
    let scenario = PolicyScenario::draw(1);
    let lives = scenario.run().expect("it is legal");
    for (name, what, change) in changes {
        let mut lives = lives.clone();
        let own = lives.iter_mut().filter(|life| life.strategy == name);
        own.for_each(change);
        let broken = judge(&scenario, &lives).broken;
        assert!(
            broken.iter().any(|broken| broken.contains(what)),
            "{name}, {what}: {broken:?}"
        );
    }
}

/// `SCAVSIM_GENERATED_COUNT=2000 cargo test --test generated -- --ignored policies`
#[test]
#[ignore = "it takes minutes"]
fn policies_keep_all_laws_in_as_many_scenarios_as_are_asked_for() {
    let (all, legal) = generate(super::number("FIRST", 0), super::number("COUNT", 2000));
    println!(
        "{legal} scenarios with policies, {} comparisons, {} broken laws",
        all.comparisons,
        all.broken.len()
    );
    assert!(all.broken.is_empty(), "{}", all.broken.join("\n"));
}
