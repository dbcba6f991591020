//! Drafts of scenarios for every subject: their configurations are chosen here, other keys are walked.

use std::fs;

use crate::draft::{Draft, quoted};
use crate::hints::{LINKS, PRICES, list, string};
use crate::luck::Luck;
use crate::names::{Names, repository, table};
use crate::schema::{FILE, Schema, words};
use crate::walk::{Walk, in_turn};
use crate::workload::{FOLDER, own};
use crate::world::{World, between, number, percent};

/// The price that makes a bill a sum of VM-hours.
pub const UNIT: &str = "unit";

/// The draft with this number.
pub fn draft(number: u64, schema: &Schema, names: &Names) -> Draft {
    let mut luck = Luck::new(0x5ca_u64, number);
    let luck = &mut luck;
    let ground = *luck.pick(&[
        "training", "training", "training", "training", "training", "training", "parallel", "bag",
        "grid", "shipped",
    ]);
    let (listed, vms) = names.place(3, luck);
    let mut world = World {
        workloads: Vec::new(),
        vms,
        listed,
        kinds: Vec::new(),
        workers: vec![1, 2, 4],
        local_batches: vec![8, 16],
        worker_s: 1.0,
        job_h: 1.0,
        profile: String::new(),
        own_gpu: false,
        turn: number as usize,
        lists: *luck.pick(&[0, 0, 0, 0, 0, 1, 1, 2]),
    };
    let mut draft = Draft {
        number,
        ground,
        ..Draft::default()
    };
    let mut build = Build {
        schema,
        names,
        world: &mut world,
        luck,
        draft: &mut draft,
        can_be_charged: true,
    };
    match ground {
        "parallel" => build.parallel(),
        "bag" => build.bag(),
        "grid" => build.grid(),
        _ => build.training(ground == "shipped"),
    }
    build.common();
    build.split();
    draft
}

struct Build<'a> {
    schema: &'a Schema,
    names: &'a Names,
    world: &'a mut World,
    luck: &'a mut Luck,
    draft: &'a mut Draft,
    /// Whether it gives its VMs, so that a policy can charge them.
    can_be_charged: bool,
}

impl Build<'_> {
    /// Writes one key of the file.
    fn key(&mut self, of: &str, key: &str, path: &[&str]) {
        let mut walk = Walk {
            schema: self.schema,
            names: self.names,
            world: self.world,
            luck: self.luck,
            points: Vec::new(),
        };
        let value = walk.key(of, key);
        let points = walk.points;
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        self.draft.set_path(path, value, points);
    }

    /// Writes a table of the file key by key; `at` is the name of its parent in the schema.
    fn table(&mut self, of: &str, path: &[&str], at: &str) {
        let keys = Walk {
            schema: self.schema,
            names: self.names,
            world: self.world,
            luck: self.luck,
            points: Vec::new(),
        }
        .keys(of);
        for key in keys {
            let mut own = path.to_vec();
            own.push(&key);
            self.key(of, &key, &own);
        }
        if let Some(line) = self.draft.lines.last_mut() {
            line.points.push(at.to_owned());
        }
    }

    fn once_in(&mut self, many: usize) -> bool {
        self.luck.once_in(many)
    }

    fn set(&mut self, key: &str, value: impl Into<String>) {
        let point = format!("{FILE}.{key}");
        self.draft.set(key, value, vec![point]);
    }

    /// Clusters that train.
    fn training(&mut self, is_shipped: bool) {
        if is_shipped {
            let node = &self.schema.root()["properties"]["workloads"]["items"];
            let all = words(&node["anyOf"][0]);
            let name = *self.luck.pick(&all);
            let steps = table(
                &repository()
                    .join("data/workloads")
                    .join(name)
                    .join("steps.csv"),
            );
            let rows: Vec<(String, u32, u32)> = (steps.iter())
                .filter_map(|row| {
                    Some((
                        row.cell("vm"),
                        row.cell("workers").parse().ok()?,
                        row.cell("batch").parse().ok()?,
                    ))
                })
                .collect();
            // On machines that would make a run too long for a test.
            let small: Vec<_> = rows.iter().filter(|row| row.1 <= 64).collect();
            let (vm, workers, batch) = if small.is_empty() {
                rows[0].clone()
            } else {
                (*self.luck.pick(&small)).clone()
            };
            self.world.vms = vec![vm];
            self.world.workers = vec![workers];
            self.world.local_batches = vec![(batch / workers).max(1)];
            self.world.job_h = 5.0;
            let points = vec![
                format!("{FILE}.workloads"),
                format!("{FILE}.workloads={name}"),
            ];
            self.draft.set("workloads", format!("[\"{name}\"]"), points);
            self.draft.set(
                "cluster.pairs",
                format!("[[{workers}, {batch}]]"),
                vec!["ClusterTable.pairs".to_owned()],
            );
            self.world.workloads = vec![name.to_owned()];
        } else {
            let made = own(self.world, self.luck);
            // With cores, sizes are meaningful.
            if made.is_by_cores {
                self.draft.set(
                    "cluster.outside",
                    "\"extrapolate\"",
                    vec!["Outside=extrapolate".to_owned()],
                );
            }
            self.draft.files.extend(made.files);
            self.draft.step_s = made.step_s;
            self.draft.worker_steps = Some(made.updates * 8.0 * 8.0);
            self.set("workloads", format!("[\"./{FOLDER}\"]"));
            self.world.workloads = vec![FOLDER.to_owned()];
            self.kinds();
            self.table("ClusterTable", &["cluster"], "Scenario.cluster");
        }
        if percent(75, self.luck) {
            self.key(FILE, "sync", &["sync"]);
        }
        for (key, share) in [("staleness", 15), ("sync_of", 5)] {
            if percent(share, self.luck) {
                self.key(FILE, key, &[key]);
            }
        }
        if self.world.kinds.is_empty() && percent(40, self.luck)
            || !self.world.kinds.is_empty() && percent(80, self.luck)
        {
            self.table("SpotTable", &["spot"], "Scenario.spot");
        }
        if self.once_in(12) {
            self.table("ElasticTable", &["elastic"], "Scenario.elastic");
        }
    }

    /// Kinds of clusters and VM types of the scenario.
    fn kinds(&mut self) {
        if self.once_in(6) {
            self.table("VmTable", &["vm", "mine"], "Scenario.vm");
            self.world.vms.push("mine".to_owned());
        }
        if self.once_in(4) {
            for name in ["k1", "k2"].iter().take(1 + self.luck.below(2)) {
                self.table("KindTable", &["kind", name], "Scenario.kind");
                self.world.kinds.push((*name).to_owned());
            }
        }
    }

    fn grid(&mut self) {
        let (name, jobs, has_vms) = self.luck.pick(&self.names.grids).clone();
        self.can_be_charged = has_vms;
        let points = vec![format!("{FILE}.grid"), format!("{FILE}.grid={name}")];
        self.draft.set("grid", string(&name), points);
        if percent(80, self.luck) && !jobs.is_empty() {
            let some: Vec<String> = (0..=self.luck.below(2))
                .map(|_| string(self.luck.pick(&jobs).as_str()))
                .collect();
            self.set("jobs", list(some));
        }
        if self.once_in(4) {
            self.key("ClusterTable", "exclude", &["cluster", "exclude"]);
        }
    }

    fn bag(&mut self) {
        let name = between(60.0, 1200.0, self.luck);
        self.world.job_h = name / 3600.0 * 4.0;
        self.table("BagTable", &["bag"], "Scenario.bag");
        if percent(70, self.luck) {
            self.table("SpotTable", &["spot"], "Scenario.spot");
        }
        if percent(40, self.luck) {
            self.key("ClusterTable", "start_up_s", &["cluster", "start_up_s"]);
        }
    }

    fn parallel(&mut self) {
        if percent(40, self.luck) {
            self.by_model();
        } else {
            self.by_profile();
        }
        if percent(50, self.luck) {
            self.table("SpotTable", &["spot"], "Scenario.spot");
        }
        if percent(30, self.luck) {
            self.table("FailuresTable", &["failures"], "Scenario.failures");
        }
        if percent(60, self.luck) {
            self.key("ClusterTable", "start_up_s", &["cluster", "start_up_s"]);
        }
    }

    /// Plans of a model without a profile, on VMs whose GPUs have a data sheet.
    fn by_model(&mut self) {
        let has_sheet = |gpu: &str| self.names.sheets.iter().any(|known| known == gpu);
        let mut vms: Vec<String> = (self.names.gpu_vms.iter())
            .filter(|(_, gpu, count)| has_sheet(gpu) && [2, 4, 8].contains(count))
            .map(|(vm, ..)| vm.clone())
            .collect();
        vms.dedup();
        while vms.len() > 2 {
            vms.remove(self.luck.below(vms.len()));
        }
        self.world.profile = String::new();
        self.world.vms = vms;
        self.world.own_gpu = percent(20, self.luck);
        self.world.job_h = 1.0;
        self.table("ParallelTable", &["parallel"], "Scenario.parallel");
        self.draft
            .lines
            .retain(|line| !line.is_in("parallel.profile"));
        self.key("ParallelTable", "model", &["parallel", "model"]);
        if self.world.own_gpu {
            self.key("ParallelTable", "gpus", &["parallel", "gpus"]);
        }
        for (key, share) in [
            ("sequence", 60),
            ("precision", 40),
            ("train", 30),
            ("optimizer", 15),
        ] {
            if percent(share, self.luck) {
                self.key("ParallelTable", key, &["parallel", key]);
            }
        }
    }

    fn by_profile(&mut self) {
        let (profile, gpus) = self.luck.pick(&self.names.profiles).clone();
        let of = |gpu: &str| {
            gpus.iter()
                .any(|known| known.starts_with(&gpu.replace("-80GB", "-80")))
        };
        let mut vms: Vec<String> = (self.names.gpu_vms.iter())
            .filter(|(_, gpu, count)| of(gpu) && [2, 4].contains(count))
            .map(|(vm, ..)| vm.clone())
            .collect();
        vms.dedup();
        while vms.len() > 2 {
            vms.remove(self.luck.below(vms.len()));
        }
        self.world.profile = profile;
        self.world.vms = vms;
        if self.world.vms.is_empty() {
            self.world.vms = vec!["a2-highgpu-4g".to_owned()];
        }
        self.world.job_h = 1.0;
        self.table("ParallelTable", &["parallel"], "Scenario.parallel");
    }

    /// Keys that scenarios of all subjects share.
    fn common(&mut self) {
        for (key, share) in [
            ("seed", 90),
            ("replicas", 95),
            ("name", 15),
            ("antithetic", 12),
            ("fidelity", 12),
            ("precision", 4),
        ] {
            if percent(share, self.luck) {
                self.key(FILE, key, &[key]);
            }
        }
        if self.draft.has("precision") {
            self.key(FILE, "most_replicas", &["most_replicas"]);
        }
        if percent(80, self.luck) {
            self.table("VariationTable", &["variation"], "Scenario.variation");
        }
        if percent(15, self.luck) {
            self.table("LimitsTable", &["limits"], "Scenario.limits");
        }
        if self.can_be_charged {
            self.pricing();
        }
        self.search();
        let uses =
            |file: &str, draft: &Draft| draft.lines.iter().any(|line| line.value.contains(file));
        if uses(PRICES, self.draft) {
            let mut text =
                "vm,market,usd_per_hour,valid_from,source,provider,region,zone\n".to_owned();
            let (listed, day) = (
                &self.world.listed,
                &self.world.listed.from[..10.min(self.world.listed.from.len())],
            );
            for vm in &self.world.vms {
                for (market, price) in [("on-demand", 2.0), ("spot", 0.5)] {
                    let price = price * between(0.5, 2.0, self.luck);
                    text += &format!(
                        "{vm},{market},{},{day},own,{},{},\n",
                        number(price),
                        listed.provider,
                        listed.region
                    );
                    text += &format!(
                        "{vm},{market},{},{day}T02:00,own,{},{},\n",
                        number(price * 1.5),
                        listed.provider,
                        listed.region
                    );
                }
            }
            self.draft.files.push((PRICES.to_owned(), text));
        }
        if uses(LINKS, self.draft) {
            let text = fs::read_to_string(repository().join("data/layers/links.csv"));
            self.draft
                .files
                .push((LINKS.to_owned(), text.expect("it is checked in")));
        }
    }

    /// A price by the VM-hour, others derived from it, one of any form, and a shipped one.
    fn pricing(&mut self) {
        let is_grid = self.draft.ground == "grid";
        let mut policies = vec![UNIT.to_owned()];
        self.draft
            .set("pricing.define.unit.usd_per_vm_hour", "1.0", Vec::new());
        if percent(50, self.luck) {
            self.table(
                "PolicyFile",
                &["pricing", "define", "own"],
                "PricingTable.define",
            );
            policies.push("own".to_owned());
        }
        while percent(45, self.luck) {
            let node = &self.schema.definition("PricingTable")["properties"]["policies"]["items"];
            let all = words(&node["anyOf"][0]);
            policies.push(in_turn(&all, self.world.turn, self.luck).to_owned());
        }
        for twin in crate::money::TWINS {
            if !is_grid && self.luck.once_in(4) {
                for (key, value) in twin.keys {
                    self.draft.set(
                        &format!("pricing.define.{}.{key}", twin.name),
                        *value,
                        vec![format!("PolicyFile.{key}")],
                    );
                }
                policies.push(twin.name.to_owned());
            }
        }
        let points = policies
            .iter()
            .map(|name| format!("PricingTable.policies={name}"));
        let points = points.chain([
            "PricingTable.policies".to_owned(),
            "Scenario.pricing".to_owned(),
        ]);
        let points = points.collect();
        self.draft.set(
            "pricing.policies",
            list(policies.iter().map(|name| string(name))),
            points,
        );
    }

    /// The oracle and some others, possibly with settings.
    fn search(&mut self) {
        let node = &self.schema.definition("SearchTable")["properties"]["strategies"]["items"];
        let all = words(&node["anyOf"][0]);
        let mut some = vec!["oracle"];
        for _ in 0..self.luck.below(4) {
            some.push(*self.luck.pick(&all));
        }
        for name in &some {
            let settings = &self.schema.definition("Settings")["properties"][name];
            if let (Some(of), _) = self.schema.resolve(settings)
                && percent(40, self.luck)
            {
                let of = of.to_owned();
                self.table(&of, &["strategy", name], &format!("Settings.{name}"));
            }
        }
        self.table("SearchTable", &["search"], "Scenario.search");
        let mut points: Vec<String> = some
            .iter()
            .map(|name| format!("SearchTable.strategies={name}"))
            .collect();
        points.extend(
            [
                "SearchTable.strategies",
                "Scenario.strategy",
                "Scenario.search",
            ]
            .map(str::to_owned),
        );
        self.draft.set(
            "search.strategies",
            list(some.into_iter().map(string)),
            points,
        );
    }

    /// Sometimes moves a part of the scenario to a file that it includes, with one additional key that is overridden.
    fn split(&mut self) {
        if !self.once_in(14) {
            return;
        }
        let moved = |line: &crate::draft::Line| {
            ["variation", "search", "strategy"]
                .iter()
                .any(|table| line.is_in(table))
        };
        let (base, rest): (Vec<_>, Vec<_>) = self.draft.lines.drain(..).partition(moved);
        self.draft.lines = rest;
        self.draft.base = base;
        self.set("include", string(crate::draft::BASE));
        if !self.draft.has("limits") {
            self.draft.base_only = vec!["limits.max_workers = 1".to_owned()];
            self.set("unset", "[\"limits.max_workers\"]");
        }
    }
}

impl Walk<'_> {
    /// A VM type of plans whose GPU has a data sheet, or is defined by the scenario.
    fn node_with_a_sheet(&mut self, vm: &str) -> String {
        self.points.push("NodeTable.vm".to_owned());
        let mut text = format!("vm = {}", string(vm));
        let own = string(crate::layers::OWN_GPU);
        for (key, value, share) in [
            ("gpu", own, if self.world.own_gpu { 100 } else { 0 }),
            (
                "network_gbit_per_s",
                number(between(10.0, 800.0, self.luck)),
                95,
            ),
            ("zone", string("a"), 10),
        ] {
            if percent(share, self.luck) {
                self.points.push(format!("NodeTable.{key}"));
                text += &format!(", {} = {value}", quoted(key));
            }
        }
        format!("{{ {text} }}")
    }

    /// A VM type of plans, with its GPU.
    pub fn node(&mut self, vm: &str) -> String {
        if self.world.profile.is_empty() {
            return self.node_with_a_sheet(vm);
        }
        let found = self.names.gpu_vms.iter().find(|(name, ..)| name == vm);
        let (gpu, count) = found.map_or(("A100", 4), |(_, gpu, count)| (&**gpu, *count));
        let profile = self
            .names
            .profiles
            .iter()
            .find(|(name, _)| *name == self.world.profile);
        let wanted = gpu.replace("-80GB", "-80");
        let known =
            profile.and_then(|(_, gpus)| gpus.iter().find(|known| known.starts_with(&wanted)));
        let gpu = known.cloned().unwrap_or(wanted);
        let memory: f64 = gpu
            .rsplit('-')
            .next()
            .and_then(|gib| gib.parse().ok())
            .unwrap_or(40.0);
        self.points
            .extend(["NodeTable.vm", "NodeTable.gpu"].map(str::to_owned));
        let mut text = format!("vm = {}, gpu = \"{gpu}\"", string(vm));
        for (key, value) in [
            ("gpus", count.to_string()),
            ("gpu_memory_gib", number(memory)),
            ("zone", string("a")),
        ] {
            if percent(if key == "zone" { 15 } else { 95 }, self.luck) {
                self.points.push(format!("NodeTable.{key}"));
                text += &format!(", {} = {value}", quoted(key));
            }
        }
        format!("{{ {text} }}")
    }
}
