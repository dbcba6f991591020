//! VMs in a trace match their bill: every requested VM is gone by the end, and the counter of VMs matches.

use std::collections::BTreeMap;

use scavsim::experiment::{Evaluator, Plan, TracedCase};
use scavsim::training::log::{Entry, LogEvent, Track};
use scavsim::units::SimTime;

use crate::replay::scenario;

/// VM-hours by the tracks of VMs and by the counter.
fn vm_hours(entries: &[Entry], end: SimTime) -> [f64; 2] {
    let mut held: BTreeMap<Track, (SimTime, Option<SimTime>)> = BTreeMap::new();
    for entry in entries {
        let number = entry.track;
        if !matches!(number, Track::Vm(_) | Track::Spare(_) | Track::Head) {
            continue;
        }
        match entry.what {
            LogEvent::Requested(_) => {
                let before = held.insert(number, (entry.at, None));
                assert_eq!(before, None, "{number:?} is asked for twice");
            }
            LogEvent::Released | LogEvent::Revoked => {
                let vm = held.get_mut(&number).expect("it was asked for");
                assert_eq!(vm.1, None, "{number:?} is gone twice");
                vm.1 = Some(entry.at);
            }
            _ => {}
        }
    }
    let by_tracks = held.iter().map(|(number, (from, to))| {
        let to = to.unwrap_or_else(|| panic!("{number:?} is never gone"));
        (to - *from).seconds()
    });
    let counter = entries.iter().filter_map(|entry| match entry.what {
        LogEvent::Vms(vms) => Some((entry.at, f64::from(vms))),
        _ => None,
    });
    let (mut seconds, mut last) = (0.0, (SimTime::ZERO, 0.0));
    for (at, vms) in counter.chain([(end, 0.0)]) {
        seconds += last.1 * (at - last.0).seconds();
        last = (at, vms);
    }
    [by_tracks.sum::<f64>() / 3600.0, seconds / 3600.0]
}

/// Every case of a scenario in which a VM costs $1 per hour; cases whose target was reached in the search.
fn agree(text: &str) -> u32 {
    let scenario = scenario(text);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let mut while_searching = 0;
    for number in 0..plan.cases() {
        let case = plan.case(number);
        let record = Evaluator::new(&plan).evaluate(case);
        let TracedCase { line, entries, .. } =
            Evaluator::new(&plan).watch(case, 0).expect("a result");
        let [by_tracks, by_counter] = vm_hours(&entries, line.net_end);
        let billed = record.cost_usd.expect("a result");
        let near = |hours: f64| (hours - billed).abs() <= 1e-9 * billed;
        assert!(
            near(by_tracks) && near(by_counter),
            "case {number}: tracks {by_tracks} h, counter {by_counter} h, bill ${billed}"
        );
        let of_job = entries.iter().filter(|e| e.track == Track::Job);
        let mut spans: Vec<_> = of_job
            .filter(|e| e.until > e.at)
            .map(|e| (e.at, e.until))
            .collect();
        spans.sort_unstable();
        let ends = spans.windows(2).all(|pair| pair[0].1 == pair[1].0);
        assert!(ends, "case {number}: the job's spans leave gaps or overlap");
        assert_eq!(spans.first().map(|span| span.0), Some(SimTime::ZERO));
        assert_eq!(spans.last().map(|span| span.1), Some(line.net_end));
        while_searching += u32::from(line.reached.is_some());
    }
    while_searching
}

const PRICE: &str =
    "[pricing]\npolicies = [\"dollar\"]\n[pricing.define.dollar]\nusd_per_vm_hour = 1.0\n";

#[test]
fn of_plans_whose_target_is_reached_in_the_search() {
    let reached = agree(&format!(
        "replicas = 3\n[parallel]\nprofile = \"gpt-neo-2.7b\"\nglobal_batch = [256, 512]\ntarget_tokens = 10000000.0\n\
         most_gpus = 8\nnodes = [{{ vm = \"a2-highgpu-4g\", gpu = \"A100-40\", gpu_memory_gib = 40 }}]\nnoise_scale = 1000\n\
         [cluster]\nstart_up_s = 120\n{PRICE}[search]\nstrategies = [\"oracle\", \"cheapest\", \"random\"]\n\
         objectives = [\"cost\"]\n"
    ));
    assert!(reached > 0, "no target was reached in a search");
}

/// Spares are rented, and billed, from the beginning to the end, for any use.
#[test]
fn of_plans_with_spares() {
    agree(&format!(
        "replicas = 3\n[parallel]\nmodel = \"gpt2-124m\"\nglobal_batch = [256]\ntarget_steps = 1450\nmost_gpus = 16\n\
         nodes = [{{ vm = \"gpu_4x_h100_sxm5\", network_gbit_per_s = 278.0 }}]\nreaction = {{ spares = 2 }}\n[cluster]\n\
         start_up_s = 87.3\n[spot]\nexponential_mean_h = 0.37\n{PRICE}[search]\n\
         strategies = [\"oracle\", \"cheapest@2\"]\nobjectives = [\"cost\", \"time\"]\n"
    ));
}

const BAG: &str = "replicas = 4\n[bag]\njobs = 20\nsufficient_share = 0.9\njob_times = [\n\
     { vm = \"n1-highcpu-32\", vms_per_job = 1, mean_s = 900 },\n{ vm = \"n1-highcpu-32\", vms_per_job = 2, mean_s = 700 },\n]\n\
     parallel_jobs = [2, 4]\njob_cv = 0.03\ndispatch_lag_s = 18\n";

#[test]
fn of_bags_that_are_done_in_the_search() {
    let reached = agree(&format!(
        "{BAG}[cluster]\nstart_up_s = 90\n[spot]\nlifetime = \"gcp-2019-highcpu-32\"\n{PRICE}\
         [search]\nstrategies = [\"oracle\", \"random\"]\nobjectives = [\"cost\"]\n"
    ));
    assert!(reached > 0, "no bag was done in a search");
}

#[test]
fn of_bags_with_a_surrogate() {
    agree(&format!(
        "{BAG}[bag.surrogate]\nafter_jobs = 5\ntrain_s = 600\nresult_s = 0.1\n[cluster]\nstart_up_s = 90\n{PRICE}\
         [search]\nstrategies = [\"oracle\", \"random\"]\nobjectives = [\"cost\"]\n"
    ));
}

/// With or without a search, the head node exists from the beginning to the end.
#[test]
fn of_bags_with_a_head_node() {
    let with_head = BAG.replace("[bag]\n", "[bag]\nhead_vm = \"n1-highcpu-2\"\n");
    agree(&format!(
        "{with_head}[cluster]\nstart_up_s = 90\n[spot]\nlifetime = \"gcp-2019-highcpu-32\"\n{PRICE}\
         [search]\nstrategies = [\"oracle\", \"random\"]\nobjectives = [\"cost\"]\n"
    ));
}
