//! Rules that are not in the schema: which keys belong together, their probabilities, and compatible values. A key without a
//! line here is written as the schema allows.

use crate::draft::quoted;
use crate::layers;
use crate::luck::Luck;
use crate::walk::Walk;
use crate::world::{World, between, number, percent};

/// Sets of alternatives of a table, one of which is written: keys that belong together.
pub fn alternatives(of: &str) -> &'static [&'static [&'static [&'static str]]] {
    match of {
        "SpotTable" => &[&[
            &["lifetime"],
            &["exponential_mean_h"],
            &["exponential_mean_h"],
        ]],
        "PolicyFile" => &[
            &[
                &["usd_per_vm_hour"],
                &["usd_per_sample_hour"],
                &["usd_per_vcpu_hour", "usd_per_gib_hour"],
                &["usd_per_gpu_hour"],
                &["usd_per_hour_of"],
                &["usd_per_hour_of", "spot_usd_per_hour_of"],
                &["catalogue", "provider", "region", "date"],
                &["catalogue", "provider", "region", "date", "as_rented"],
                &["catalogue", "regions", "date"],
                &["catalogue", "price_table", "date", "zone"],
                &["catalogue", "provider", "region", "date", "priced_as"],
            ],
            &[&[], &[], &["egress_gib", "usd_per_egress_gib"]],
            &[&[], &[], &["storage_gib", "usd_per_storage_gib_month"]],
            &[
                &[],
                &[],
                &["spot_ratio"],
                &["spot_series"],
                &["sustained_use"],
                &["commitment_discount"],
            ],
        ],
        "KindTable" => &[&[&["vm"], &["mix"], &["mix", "batching"]]],
        "ParallelTable" => &[&[&["target_tokens"], &["target_steps"]]],
        "FailuresTable" => &[
            &[&["fleet"], &["causes"]],
            &[&[], &[], &["by_hand_share", "by_hand_mean_s"]],
            &[&[], &[], &["lemon_share", "lemon_factor"]],
            &[&[], &[], &["maintenance_every_h", "maintenance_s"]],
        ],
        "CauseTable" => &[&[&["per_gpu_h"], &["per_node_h"], &["per_switch_h"]]],
        "ClusterTable" => &[&[
            &["pairs"],
            &["pairs"],
            &["workers", "batch"],
            &["workers", "local_batch"],
            &["workers"],
        ]],
        "DefaultSettings" => &[&[&["workers", "batch"], &["workers", "batch"], &["workers"]]],
        "Range" => &[&[&["step"], &["factor"]]],
        "LimitsTable" => &[&[
            &["max_time_h"],
            &["max_cost_usd"],
            &["max_time_h", "max_cost_usd"],
            &["max_workers"],
        ]],
        "Exclusion" => &[&[
            &["vm"],
            &["workers"],
            &["batch"],
            &["local_batch"],
            &["workers", "vm"],
        ]],
        "Bounds" => &[&[&["min"], &["max"], &["min", "max"]]],
        _ => &[],
    }
}

/// Keys that another key requires.
pub fn together(of: &str, key: &str) -> &'static [&'static str] {
    match (of, key) {
        ("PolicyFile", "parameter_server_vm") => &["billed_parameter_servers"],
        ("SpotTable", "checkpoint_write_s" | "checkpoint_mb" | "checkpoint_on_notice") => {
            &["checkpoint"]
        }
        _ => layers::together(of, key),
    }
}

/// Probability of an optional key, in per cent.
pub fn share(of: &str, key: &str) -> usize {
    if let Some(share) = layers::share(of, key) {
        return share;
    }
    match (of, key) {
        ("SpotTable", "checkpoint" | "keeps" | "on_loss") => 60,
        ("SpotTable", "restart" | "start_up" | "checkpoint_mb") => 8,
        ("SpotTable", _) => 25,
        ("VariationTable", "step_cv") => 75,
        ("VariationTable", _) => 25,
        ("PolicyFile", _) => 12,
        ("ClusterTable", "outside" | "exclude" | "search") => 10,
        ("ClusterTable", "vm") => 30,
        ("KindTable", "sync_of") => 6,
        ("KindTable", "lifetime") => 60,
        ("KindTable", _) => 30,
        ("BagTable", "jobs" | "job_times") => 100,
        ("BagTable", "losses") => 25,
        ("BagTable", _) => 35,
        ("ParallelTable", "profile" | "global_batch" | "nodes") => 100,
        ("ParallelTable", "most_gpus") => 90,
        ("ParallelTable", "links" | "layers_per_stage" | "mixes" | "capacity") => 8,
        ("ParallelTable", _) => 25,
        ("SearchTable", "strategies") => 100,
        ("SearchTable", "objectives") => 50,
        ("SearchTable", "stored") => 12,
        ("SearchTable", _) => 15,
        ("VmTable", _) => 40,
        ("LimitsTable", "max_miss") => 30,
        ("Asp", "sharpness") => 15,
        _ => 35,
    }
}

/// A value for a key for which the schema alone would choose badly.
pub fn hint(of: &str, key: &str, walk: &mut Walk<'_>) -> Option<String> {
    if let Some(text) = layers::hint(of, key, walk) {
        return Some(text);
    }
    let (names, world) = (walk.names, &mut *walk.world);
    let luck = &mut *walk.luck;
    if let Some(seconds) = seconds(of, key, world) {
        let (least, most) = seconds;
        return several(world, luck, |luck| {
            if luck.once_in(8) && least < 1.0 {
                "0".to_owned()
            } else {
                number(between(least.max(1e-3), most.max(1e-2), luck))
            }
        });
    }
    let (provider, region) = (world.listed.provider.clone(), world.listed.region.clone());
    let vm = luck.pick(&world.vms).clone();
    match (of, key) {
        (_, "description" | "name") => text("generated"),
        ("Scenario", "replicas") => Some(format!("{}", 2 + luck.below(5))),
        ("Scenario", "seed") => Some(format!("{}", luck.below(1 << 20))),
        ("Scenario", "precision") => Some(number(between(0.05, 0.9, luck))),
        ("Scenario", "most_replicas") => Some(format!("{}", 4 + luck.below(8))),
        ("ClusterTable", "pairs") => {
            let pairs: Vec<String> = (0..=luck.below(3)).map(|_| pair(world, luck)).collect();
            Some(list(pairs))
        }
        ("ClusterTable", "workers") => axis(&world.workers, luck),
        ("ClusterTable", "local_batch") => axis(&world.local_batches, luck),
        ("ClusterTable", "batch") => {
            let (k, b) = (luck.pick(&world.workers), luck.pick(&world.local_batches));
            axis(&[k * b, 2 * k * b], luck)
        }
        ("ClusterTable", "vm") => {
            let all = if world.kinds.is_empty() || luck.once_in(6) {
                world.vms.clone()
            } else {
                world.kinds.clone()
            };
            Some(list(
                (0..=luck.below(2)).map(|_| string(luck.pick(&all).as_str())),
            ))
        }
        ("Exclusion", "axis") => Some("{ workers = { max = 4 } }".to_owned()),
        ("Bounds", "min") => Some(format!("{}", 1 + luck.below(8))),
        ("Bounds", "max") => Some(format!("{}", 8 + luck.below(100))),
        (
            "Exclusion" | "KindTable" | "JobTime" | "BagTable" | "PolicyFile" | "ServersTable",
            "vm" | "head_vm" | "priced_as" | "parameter_server_vm",
        )
        | ("VmTable", "like") => text(&vm),
        ("KindTable", "mix") => {
            let other = luck.pick(&world.vms).clone();
            let part =
                |vm: &str, luck: &mut Luck| format!("{} = {}", quoted(vm), 1 + luck.below(3));
            Some(if vm == other {
                format!("{{ {} }}", part(&vm, luck))
            } else {
                format!("{{ {}, {} }}", part(&vm, luck), part(&other, luck))
            })
        }
        ("KindTable", "market") => text(luck.pick(&["spot", "spot", "on-demand"])),
        ("KindTable" | "Scenario", "sync_of") => {
            let workload = luck.pick(&world.workloads).clone();
            let node = walk.schema.definition("Protocol");
            let name = workload.rsplit('/').next().unwrap_or_default();
            Some(format!(
                "{{ {} = {} }}",
                quoted(name),
                walk.value(node, "Protocol")
            ))
        }
        ("KindTable", "availability") => {
            let hours = number(between(world.job_h / 10.0, world.job_h, luck));
            Some(format!("{{ {} = [[0, 1], [{hours}, 0.5]] }}", quoted(&vm)))
        }
        ("Backup", "spare") => Some(format!("{}", 1 + luck.below(2))),
        ("Speculative", "quantile") => Some(number(between(0.5, 0.99, luck))),
        ("Speculative", "spare") => Some(format!("{}", luck.below(3))),
        ("Ssp", "slack") => Some(format!("{}", luck.below(6))),
        ("Asp", "servers") => Some(format!("{}", 1 + luck.below(3))),
        ("Asp", "service_s") => {
            if luck.once_in(3) {
                Some("0".to_owned())
            } else {
                Some(number(world.worker_s * between(0.01, 0.6, luck)))
            }
        }
        ("Asp", "sharpness") => Some(number(between(1.0, 8.0, luck))),
        ("Flexible", "after_s") => Some(number(world.worker_s * between(0.3, 4.0, luck))),
        ("LocalSgd", "period") => Some(format!("{}", 1 + luck.below(12))),
        ("LocalSgd", "cost_per_local_step") => Some(number(between(0.001, 0.05, luck))),
        ("Staleness", "per_missed_batch") => Some(number(between(0.01, 0.5, luck))),
        ("Dynamic", "every") | ("Omnilearn", "epoch_steps") => {
            Some(format!("{}", 5 + luck.below(60)))
        }
        ("Dynamic" | "Omnilearn", "dead_band") => Some(number(between(0.01, 0.2, luck))),
        ("VariationTable", "step_cv") => {
            several(world, luck, |luck| number(between(0.02, 0.6, luck)))
        }
        ("VariationTable", "placement_sigma" | "vm_sigma") => {
            several(world, luck, |luck| number(between(0.01, 0.3, luck)))
        }
        ("VariationTable", "noise_cv" | "epoch_cv") => {
            several(world, luck, |luck| number(between(0.01, 0.2, luck)))
        }
        ("DriftTable", "sigma") => several(world, luck, |luck| number(between(0.05, 0.6, luck))),
        ("StragglerTable", "probability") => {
            several(world, luck, |luck| number(between(0.001, 0.1, luck)))
        }
        ("StragglerTable", "factor") => {
            several(world, luck, |luck| number(between(1.5, 10.0, luck)))
        }
        ("SpotTable", "exponential_mean_h") => {
            let h = world.job_h;
            several(world, luck, |luck| {
                number(between(h / 2.0, h * 60.0, luck).max(0.02))
            })
        }
        ("SpotTable", "fewest_workers") => Some(format!("{}", 1 + luck.below(3))),
        ("SpotTable", "checkpoint_mb") => {
            several(world, luck, |luck| number(between(5.0, 3000.0, luck)))
        }
        ("SpotTable", "start_up") => text(luck.pick(&names.start_ups)),
        ("SpotTable", "restart") => text(luck.pick(&names.restarts)),
        ("ElasticTable", "prices") => {
            let (first, second) = (
                between(world.job_h / 20.0, world.job_h, luck),
                between(0.2, 2.0, luck),
            );
            Some(format!("[[0, 1], [{}, {}]]", number(first), number(second)))
        }
        ("ElasticTable", "grow_at") => Some("0.8".to_owned()),
        ("ElasticTable", "shrink_above") => Some("1.5".to_owned()),
        ("ElasticTable", "most_vms") => Some(format!("{}", 4 + luck.below(5))),
        ("ElasticTable", "fewest_vms") => Some(format!("{}", 1 + luck.below(3))),
        ("LimitsTable", "max_time_h") => Some(number(world.job_h * between(0.4, 4.0, luck))),
        ("LimitsTable", "max_cost_usd") => Some(number(world.job_h * between(0.1, 50.0, luck))),
        ("LimitsTable", "max_miss") => Some(number(between(0.01, 0.4, luck))),
        ("LimitsTable", "max_workers") => Some(format!("{}", luck.pick(&world.workers))),
        ("VmTable", "compute_scale" | "network_scale") => Some(number(between(0.5, 2.0, luck))),
        ("VmTable", "memory_gib") => Some(number(between(1.0, 64.0, luck))),
        ("VmTable" | "PolicyFile", "usd_per_hour" | "usd_per_vm_hour" | "usd_per_gpu_hour") => {
            several(world, luck, |luck| number(between(0.05, 20.0, luck)))
        }
        ("VmTable", "vcpu" | "size") => Some(number(between(1.0, 32.0, luck).ceil())),
        ("VmTable", "gpus") => Some(format!("{}", luck.below(4))),
        ("PolicyFile", "usd_per_sample_hour" | "usd_per_vcpu_hour" | "usd_per_gib_hour") => {
            Some(number(between(0.001, 0.1, luck)))
        }
        ("PolicyFile", "usd_per_hour_of" | "spot_usd_per_hour_of") => {
            let price = |vm: &String, luck: &mut Luck| {
                format!("{} = {}", quoted(vm), number(between(0.05, 5.0, luck)))
            };
            let all: Vec<String> = world.vms.iter().map(|vm| price(vm, luck)).collect();
            Some(format!("{{ {} }}", all.join(", ")))
        }
        ("PolicyFile", "catalogue") => {
            if luck.once_in(3) {
                None
            } else {
                text("on-demand")
            }
        }
        ("PolicyFile", "provider") => text(&provider),
        ("PolicyFile", "region") => text(&region),
        ("PolicyFile", "regions") => Some(format!("{{ {provider} = \"{region}\" }}")),
        ("PolicyFile", "date") => text(world.listed.from.chars().take(10).collect::<String>()),
        ("PolicyFile", "price_table") => text(PRICES),
        ("PolicyFile", "zone") => text(luck.pick(&["a", "b"])),
        ("PolicyFile", "as_rented") => Some("true".to_owned()),
        ("PolicyFile", "granularity_s" | "minimum_s") => several(world, luck, |luck| {
            (*luck.pick(&["1", "60", "600", "3600"])).to_owned()
        }),
        ("PolicyFile", "billed_parameter_servers") => {
            several(world, luck, |luck| format!("{}", luck.below(4)))
        }
        ("PolicyFile", "spot_series") if percent(60, luck) => {
            let change = number(between(world.job_h / 10.0, world.job_h * 2.0, luck));
            Some(format!("[[0, 0.3], [{change}, 0.6]]"))
        }
        ("PolicyFile", "spot_series") => text(PRICES),
        ("PolicyFile", "sustained_use") => Some("[1.0, 0.8, 0.6, 0.4]".to_owned()),
        ("PolicyFile", "usd_per_job") => {
            several(world, luck, |luck| number(between(0.01, 10.0, luck)))
        }
        ("BagTable", "jobs") => several(world, luck, |luck| format!("{}", 3 + luck.below(30))),
        ("BagTable", "parallel_jobs") => axis(&[1, 2, 3, 4], luck),
        ("BagTable", "sufficient_share") => {
            several(world, luck, |luck| number(between(0.5, 1.0, luck)))
        }
        ("BagTable", "job_cv") => several(world, luck, |luck| number(between(0.01, 0.5, luck))),
        ("BagTable", "lifetimes") => {
            let node = &walk.schema.definition("SpotTable")["properties"]["lifetime"];
            Some(format!(
                "{{ {} = {} }}",
                quoted(&vm),
                walk.value(node, "BagTable.lifetimes")
            ))
        }
        ("JobTime", "vms_per_job") => Some(format!("{}", 1 + luck.below(4))),
        ("SurrogateTable", "after_jobs") => Some(format!("{}", 2 + luck.below(10))),
        ("ParallelTable", "profile") => text(&world.profile),
        ("ParallelTable", "links") => text(LINKS),
        ("ParallelTable", "global_batch") => {
            Some((*luck.pick(&["[256]", "[512]", "[256, 512]"])).to_owned())
        }
        ("ParallelTable", "target_tokens") => Some(number(between(3e6, 3e8, luck))),
        ("ParallelTable", "target_steps") => Some(format!("{}", 5 + luck.below(200))),
        ("ParallelTable", "noise_scale") => Some(number(between(50.0, 2000.0, luck))),
        ("ParallelTable", "most_gpus") => Some((*luck.pick(&["4", "8", "8", "16"])).to_owned()),
        ("ParallelTable", "vms" | "data" | "pipeline" | "tensor" | "micro_batch") => {
            axis(&[1, 2, 4], luck)
        }
        ("ParallelTable", "recompute") => one_or_both(&["none", "full", "selective"], luck),
        ("ParallelTable", "shard") => {
            one_or_both(&["none", "optimizer", "gradients", "full"], luck)
        }
        ("ParallelTable", "virtual_stages") => axis(&[2, 3], luck),
        ("ParallelTable", "replicas") => {
            let (first, last) = (&world.vms[0], &world.vms[world.vms.len() - 1]);
            Some(format!("[[{}], [{}]]", string(first), string(last)))
        }
        ("NodeTable", "markets") => Some("[\"on-demand\"]".to_owned()),
        ("ReactionTable", "policy") => {
            text(*luck.pick(&["wait", "drop-replica", "re-plan", "redundant"]))
        }
        ("ReactionTable", "forecast") => text(*luck.pick(&[
            "none",
            "last-value",
            "moving-average",
            "trained",
            "clairvoyant",
        ])),
        ("ReactionTable", "aim") => text(*luck.pick(&["throughput", "liveput"])),
        ("ReactionTable", "saves") => text(*luck.pick(&["blocking", "asynchronous", "in-memory"])),
        ("ReactionCosts", "link_gb_per_s") => Some(number(between(0.5, 10.0, luck))),
        ("ReactionCosts", _) => Some(number(between(0.01, 30.0, luck))),
        ("FailuresTable", "fleet") => text(*luck.pick(&["llama-3-405b", "opt-175b"])),
        ("FailuresTable", "scale") => Some(number(between(10.0, 1000.0, luck))),
        ("FailuresTable", "lemon_factor") => Some(number(between(2.0, 30.0, luck))),
        ("FailuresTable", "maintenance_every_h") => {
            Some(number((world.job_h * between(0.3, 3.0, luck)).max(0.05)))
        }
        (
            "FailuresTable",
            "detection_s" | "by_hand_mean_s" | "maintenance_s" | "replacement_s" | "restart_s"
            | "checkpoint_write_s",
        ) => Some(number(between(1.0, 300.0, luck))),
        ("CauseTable", "loses") => text(*luck.pick(&["gpu", "node", "switch", "nothing"])),
        ("CauseTable", "per_gpu_h" | "per_node_h" | "per_switch_h") => {
            Some(number(between(0.001, 0.05, luck)))
        }
        ("ParallelTable", "schedule") => {
            let words = [
                "1f1b",
                "gpipe",
                "1f1b",
                "gpipe",
                "interleaved-1f1b",
                "zb-h1",
            ];
            one_or_both(&words, luck)
        }
        ("ParallelTable", "layers_per_stage") => Some("[[18, 16]]".to_owned()),
        ("ParallelTable", "checkpoint_gb_per_s") => {
            several(world, luck, |luck| number(between(0.1, 10.0, luck)))
        }
        ("ParallelTable", "nodes") => {
            let all = world.vms.clone().into_iter().map(|vm| walk.node(&vm));
            Some(list(all.collect::<Vec<_>>()))
        }
        ("ParallelTable", "mixes") => {
            let pair = [
                string(&world.vms[0]),
                string(&world.vms[world.vms.len() - 1]),
            ];
            Some(format!("[[{}]]", pair.join(", ")))
        }
        ("SearchTable", "strategies") => None,
        ("SearchTable", "repeats") => {
            several(world, luck, |luck| format!("{}", 1 + luck.below(20)))
        }
        (settings, "budget" | "probes" | "first" | "least") if settings.ends_with("Settings") => {
            Some(format!("{}", 3 + luck.below(4)))
        }
        (settings, "probe_steps" | "cold_start_steps") if settings.ends_with("Settings") => {
            Some(format!("{}", 2 + luck.below(30)))
        }
        ("DefaultSettings", "workers") => Some(format!("{}", luck.pick(&world.workers))),
        ("DefaultSettings", "batch") => Some(format!(
            "{}",
            luck.pick(&world.workers) * luck.pick(&world.local_batches)
        )),
        _ => None,
    }
}

/// A text in TOML.
fn text(text: impl AsRef<str>) -> Option<String> {
    Some(string(text.as_ref()))
}

/// One of some words, or two of them.
fn one_or_both(words: &[&str], luck: &mut Luck) -> Option<String> {
    let one = *luck.pick(words);
    let other = *luck.pick(words);
    if one == other || luck.once_in(3) {
        return text(one);
    }
    Some(list([string(one), string(other)]))
}

/// The user's table of prices, and of bandwidths.
pub const PRICES: &str = "prices.csv";
pub const LINKS: &str = "links.csv";

/// Range of durations, in seconds.
fn seconds(of: &str, key: &str, world: &World) -> Option<(f64, f64)> {
    let job_s = 3600.0 * world.job_h;
    Some(match (of, key) {
        ("CheckpointChoice", "periodic-s") => (job_s / 40.0, job_s / 2.0),
        ("ClusterTable", "start_up_s") | ("SpotTable", "replacement_s") => (0.0, job_s / 20.0),
        ("SpotTable", "cold_join_s" | "warm_restart_s" | "checkpoint_write_s" | "notice_s") => {
            (0.0, job_s / 50.0)
        }
        ("DriftTable", "period_s") => ((job_s / 300.0).max(1.0), job_s.max(2.0)),
        ("JobTime", "mean_s") => (60.0, 1200.0),
        ("BagTable", "dispatch_lag_s" | "start_stagger_s") => (0.0, 30.0),
        ("BagTable", "keep_spares_s") => (0.0, 4000.0),
        ("SurrogateTable", "train_s") => (0.0, 900.0),
        ("SurrogateTable", "result_s") => (0.0, 5.0),
        ("NoticeChoice", _) | ("GivenLosses", "at-s") => (0.0, 1500.0),
        _ => return None,
    })
}

/// One value, or two if the scenario may have settings.
fn several(
    world: &mut World,
    luck: &mut Luck,
    mut one: impl FnMut(&mut Luck) -> String,
) -> Option<String> {
    if world.lists == 0 || !luck.once_in(3) {
        return Some(one(luck));
    }
    world.lists -= 1;
    let (first, second) = (one(luck), one(luck));
    let numbers: [f64; 2] = [&first, &second].map(|text| text.parse().unwrap_or(0.0));
    let (least, most) = (numbers[0].min(numbers[1]), numbers[0].max(numbers[1]));
    let is_whole = !first.contains(['.', 'e']) && !second.contains(['.', 'e']);
    Some(match luck.below(4) {
        _ if least == most => first,
        0 if least > 0.0 && is_whole => {
            format!("{{ from = {least}, to = {most}, step = {} }}", most - least)
        }
        1 if least > 0.0 && !is_whole => format!(
            "{{ from = {}, to = {}, factor = 2 }}",
            number(least),
            number(2.0 * least)
        ),
        _ => format!("[{first}, {second}]"),
    })
}

fn pair(world: &World, luck: &mut Luck) -> String {
    let workers = *luck.pick(&world.workers);
    format!("[{workers}, {}]", workers * luck.pick(&world.local_batches))
}

/// The measured values, a list, or a range.
fn axis(values: &[u32], luck: &mut Luck) -> Option<String> {
    let mut some: Vec<u32> = (0..=luck.below(2)).map(|_| *luck.pick(values)).collect();
    some.sort_unstable();
    some.dedup();
    let (first, last) = (some[0], some[some.len() - 1]);
    Some(match luck.below(6) {
        0 => return None,
        1 if first < last => format!("{{ from = {first}, to = {last}, step = {} }}", last - first),
        2 if last == 2 * first => format!("{{ from = {first}, to = {last}, factor = 2 }}"),
        _ => list(some.iter().map(u32::to_string)),
    })
}

pub fn string(text: &str) -> String {
    format!("\"{text}\"")
}

pub fn list(values: impl IntoIterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    format!("[{}]", all.join(", "))
}
