//! Plans that fit, as configurations.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::feasible_plan::Fastest;
use crate::feasible_plan::{FeasiblePlan, Parts, Target, terms_place};
use crate::{Axes, Draft, Flops, Holes, Offer, PreparedForm, space};
use scavsim_base::rng::{VmTypeKey, WorkloadKey, identity};
use scavsim_data::space::Space;
use scavsim_data::usage::RentedVm;
use scavsim_engine::{Interrupt, Parallelism};
use scavsim_parallel::memory::GIB;
use scavsim_parallel::runtime::{PlanForm, PredictedPlan, PredictionUncertainty};
use scavsim_parallel::{Links, Misfit, ParallelPlan, PathScratch, PreparedPlan, StageCuts};

#[derive(Debug)]
pub struct Choices {
    pub name: String,
    pub target: Target,
    pub space: Space,
    /// The plans as ways, in the order of the configurations.
    pub ways: Vec<FeasiblePlan>,
    pub types: Vec<RentedVm>,
    /// GPUs of each, and key of its machines.
    pub vm_types: Vec<(u32, VmTypeKey)>,
    /// Seconds of a pass over every layer, by offer.
    passes_s: Vec<f64>,
    pub axes: Axes,
    pub holes: Holes,
    pub forms: Vec<PreparedForm>,
    pub links: Arc<Links>,
    /// How far steps may be off.
    pub doubt: PredictionUncertainty,
    /// FLOPs, where the model is known by its architecture.
    pub flops: Option<Flops>,
    pub hashes: Vec<String>,
    pub(crate) fastest: OnceLock<Fastest>,
}

/// Plans that a thread takes up at once.
const AT_ONCE: usize = 64;

impl Choices {
    /// All `drafts` that fit. `Err`: none does.
    pub fn from_drafts(
        parts: Parts,
        drafts: &[Draft],
        hands: Parallelism,
    ) -> Result<Choices, Holes> {
        let mut holes = Holes::for_model(&parts.name);
        let (types, vm_types, places) = types(&parts.axes);
        let table = CutTable::new(&parts, drafts, hands);
        // Plans that differ in nothing but the market are figured once.
        let mut place_of: HashMap<Draft, usize> = HashMap::with_capacity(drafts.len());
        let mut distinct: Vec<Draft> = Vec::new();
        let of: Vec<usize> = (drafts.iter())
            .map(|draft| {
                *place_of.entry(table.anywhere(draft)).or_insert_with(|| {
                    distinct.push(*draft);
                    distinct.len() - 1
                })
            })
            .collect();
        let figured: Vec<Vec<Result<FeasiblePlan, Misfit>>> =
            hands.each(distinct.len().div_ceil(AT_ONCE), 1, |block| {
                let first = block * AT_ONCE;
                let some = &distinct[first..distinct.len().min(first + AT_ONCE)];
                let mut scratch = PathScratch::default();
                (some.iter())
                    .take_while(|_| !Interrupt::is_raised_here())
                    .map(|draft| way(&parts, draft, &table, &mut scratch))
                    .collect()
            });
        let figured: Vec<Result<FeasiblePlan, Misfit>> = figured.into_iter().flatten().collect();
        let mut ways = Vec::new();
        // What was cut off has none.
        let all = drafts.iter().zip(&of);
        for (draft, figures) in all.filter_map(|(draft, of)| Some((draft, figured.get(*of)?))) {
            match figures {
                Ok(figures) => {
                    holes.fits();
                    ways.push(figures.offered(*draft, &parts.axes, &places));
                }
                Err(why) => holes.add(why),
            }
        }
        let Some(space) = space::space_of_plans(&parts, &ways).filter(|_| !ways.is_empty()) else {
            return Err(holes);
        };
        let passes_s = passes(&parts, &ways);
        let of = WorkloadKey::from_name(&parts.name);
        for (at, way) in ways.iter_mut().enumerate() {
            way.key = of.configuration(identity(&space.name(at)));
        }
        Ok(Choices {
            name: parts.name,
            target: parts.target,
            space,
            ways,
            types,
            vm_types,
            passes_s,
            axes: parts.axes,
            holes,
            forms: parts.forms,
            links: parts.links,
            doubt: parts.doubt,
            flops: parts.flops,
            hashes: parts.hashes,
            fastest: OnceLock::new(),
        })
    }

    /// Standard deviation of ln(real / foretold) of a plan's step; `None` where its runtime says nothing of it.
    pub fn log_sd(&self, configuration: usize) -> Option<f64> {
        let draft = &self.ways[configuration].draft;
        let offer = self.axes.offers.get(draft.offer as usize)?;
        let gpus: Vec<&str> = (offer.lanes.iter().flatten())
            .filter_map(|kind| self.doubt.gpus.get(*kind as usize).map(|gpu| &**gpu))
            .collect();
        let spread = self.doubt.errors.log_sd(&PredictedPlan {
            gpus: &gpus,
            count: draft.gpus(),
            precision: &self.doubt.precision,
            tensor: draft.tensor,
            is_unlike: offer.lanes.len() > 1,
            forms: &self.unusual_forms(draft),
        });
        (spread > 0.0).then_some(spread)
    }

    /// Forms of a plan that not every runtime was measured in.
    fn unusual_forms(&self, draft: &Draft) -> Vec<PlanForm> {
        PlanForm::with([
            draft.virtual_stages > 1 || draft.schedule.needs_overlap(),
            draft.sharing.context > 1,
            self.doubt.has_experts,
            self.forms[usize::from(draft.form)].form.compress > 1,
        ])
    }

    /// One VM of the first type of a plan, by itself.
    pub fn one_vm(&self, configuration: usize) -> FeasiblePlan {
        let way = &self.ways[configuration];
        FeasiblePlan {
            nodes: way.nodes.iter().take(1).map(|(vm, _)| (*vm, 1)).collect(),
            ..way.clone()
        }
    }

    /// Seconds of a pass over every layer on the GPU of a plan's first stages, at all tensor degrees and micro-batches.
    pub fn pass_s(&self, configuration: usize) -> f64 {
        self.passes_s[self.ways[configuration].draft.offer as usize]
    }

    /// A plan with all that does not depend on luck; never an error, as it was made before.
    pub fn prepared(&self, configuration: usize) -> Result<PreparedPlan, Misfit> {
        self.prepare(&self.ways[configuration])
    }

    pub(crate) fn prepare(&self, way: &FeasiblePlan) -> Result<PreparedPlan, Misfit> {
        let plan = plan(&self.axes, &way.draft, &way.cuts)?;
        let formed = self.formed(&way.draft);
        PreparedPlan::new(
            &formed.profile,
            &self.links,
            &self.axes.kinds,
            &formed.runtime,
            &plan,
        )
    }

    pub fn formed(&self, draft: &Draft) -> &PreparedForm {
        &self.forms[usize::from(draft.form)]
    }

    /// The plan itself; never an error, as it was made before.
    pub fn plan(&self, configuration: usize) -> Result<ParallelPlan, Misfit> {
        let way = &self.ways[configuration];
        plan(&self.axes, &way.draft, &way.cuts)
    }
}

/// VM types on their terms, with GPUs and keys; and the place of each kind of node on spot terms, on demand and on those of the
/// price.
type Types = (Vec<RentedVm>, Vec<(u32, VmTypeKey)>, Vec<[u16; 3]>);

fn types(axes: &Axes) -> Types {
    let (mut types, mut vm_types): (Vec<RentedVm>, Vec<(u32, VmTypeKey)>) = Default::default();
    let mut places = vec![[0; 3]; axes.kinds.len()];
    for offer in &axes.offers {
        for &kind in offer.lanes.iter().flatten() {
            let node = &axes.kinds[kind as usize];
            let is_it = |vm: &RentedVm| vm.name == node.name && vm.on_spot == offer.on_spot;
            let place = types.iter().position(is_it).unwrap_or_else(|| {
                types.push(RentedVm {
                    name: Arc::clone(&node.name),
                    on_spot: offer.on_spot,
                });
                vm_types.push((node.gpus_per_node, VmTypeKey::from_name(&node.name)));
                types.len() - 1
            });
            places[kind as usize][terms_place(offer.on_spot)] = place as u16;
        }
    }
    (types, vm_types, places)
}

fn passes(parts: &Parts, ways: &[FeasiblePlan]) -> Vec<f64> {
    let axes = &parts.axes;
    let of = |offer: usize| {
        let drafts = ways.iter().map(|way| &way.draft);
        let own = drafts.filter(|draft| draft.offer as usize == offer);
        let mut all: Vec<(u16, u32, u32)> =
            own.map(|d| (d.form, d.tensor, d.micro_batch)).collect();
        all.sort_unstable();
        all.dedup();
        let Some(kind) = axes.kinds_of(offer as u32).next() else {
            return 0.0;
        };
        let pass_s = |&(form, tensor, micro): &(u16, u32, u32)| {
            let profile = &parts.forms[usize::from(form)].profile;
            let times = profile.times(profile.gpu(&kind.gpu)?, tensor, micro)?;
            let all = times.seconds_between(0, profile.layers - 1);
            Some(all.forward + all.backward + all.update)
        };
        all.iter().filter_map(pass_s).sum()
    };
    (0..axes.offers.len()).map(of).collect()
}

/// Where pipelines are cut, once for all plans whose stages take as long: all batches, replicas, schedules and markets.
struct CutTable<'a> {
    axes: &'a Axes,
    /// The first offer with the same kinds of nodes, by offer.
    alike: Vec<u32>,
    known: HashMap<CutKey, Option<StageCuts>>,
}

/// Offer, form, tensor degree, micro-batch; and stages and virtual ones, where the kinds of nodes depend on how many there are.
type CutKey = (u32, u16, u32, u32, (u32, u32));

impl<'a> CutTable<'a> {
    fn new(parts: &'a Parts, drafts: &[Draft], hands: Parallelism) -> CutTable<'a> {
        let axes = &parts.axes;
        let first = |offer: &Offer| axes.offers.iter().position(|o| o.lanes == offer.lanes);
        let alike = axes.offers.iter().map(|o| first(o).unwrap_or(0) as u32);
        let mut table = CutTable {
            axes,
            alike: alike.collect(),
            known: HashMap::new(),
        };
        // The deepest pipeline of each key holds the cuts of all others.
        let mut deepest: HashMap<CutKey, Draft> = HashMap::new();
        for draft in drafts {
            let known = deepest.entry(table.key(draft)).or_insert(*draft);
            if cut_stages(draft) > cut_stages(known) {
                *known = *draft;
            }
        }
        let deepest: Vec<(CutKey, Draft)> = deepest.into_iter().collect();
        let found = hands.each(deepest.len(), 1, |at| {
            let (key, draft) = &deepest[at];
            let kinds = axes.stage_kinds(draft);
            let slot = |stage: usize| -> Vec<(&str, u32)> {
                let of_lanes = kinds.iter().map(|lane| &axes.kinds[lane[stage] as usize]);
                of_lanes.map(|kind| (&*kind.gpu, draft.tensor)).collect()
            };
            // The virtual stages of a stage are on its GPUs.
            let all = 0..cut_stages(draft) as usize;
            let slots: Vec<Vec<(&str, u32)>> = all
                .map(|number| slot(number % draft.pipeline as usize))
                .collect();
            let profile = &parts.forms[usize::from(draft.form)].profile;
            (*key, profile.cutting_among(&slots, draft.micro_batch))
        });
        table.known.extend(found);
        table
    }

    fn key(&self, draft: &Draft) -> CutKey {
        let lanes = &self.axes.offers[draft.offer as usize].lanes;
        let is_mixed = (lanes.iter()).any(|kinds| kinds.iter().any(|kind| *kind != kinds[0]));
        (
            self.alike[draft.offer as usize],
            draft.form,
            draft.tensor,
            draft.micro_batch,
            if is_mixed {
                (draft.pipeline, draft.virtual_stages)
            } else {
                (0, 0)
            },
        )
    }

    /// A plan as all of its kind, on whatever market.
    fn anywhere(&self, draft: &Draft) -> Draft {
        let offer = self.alike[draft.offer as usize];
        Draft { offer, ..*draft }
    }

    /// The last layer of each stage: as given, or cut evenly.
    fn cuts(&self, draft: &Draft) -> Option<Vec<u32>> {
        let stages = cut_stages(draft) as usize;
        let given = self.axes.cuts.iter().find(|cut| cut.len() == stages);
        if let Some(given) = given {
            let mut last = 0;
            return Some(
                (given.iter())
                    .map(|layers| {
                        last += layers;
                        last.saturating_sub(1)
                    })
                    .collect(),
            );
        }
        self.known.get(&self.key(draft))?.as_ref()?.cuts(stages)
    }
}

fn cut_stages(draft: &Draft) -> u32 {
    draft.pipeline * draft.virtual_stages
}

fn plan(axes: &Axes, draft: &Draft, cuts: &[u32]) -> Result<ParallelPlan, Misfit> {
    let even = ParallelPlan::unlike(
        &axes.kinds,
        &axes.stage_kinds(draft),
        cuts,
        draft.replicas(),
        draft.tensor,
        draft.micro_batch,
        draft.batch,
        draft.schedule,
    )?;
    Ok(ParallelPlan {
        sharing: draft.sharing,
        ..even
    })
}

fn way(
    parts: &Parts,
    draft: &Draft,
    table: &CutTable<'_>,
    scratch: &mut PathScratch,
) -> Result<FeasiblePlan, Misfit> {
    let axes = &parts.axes;
    let Some(cuts) = table.cuts(draft) else {
        let title = format!("no layer has a time in {} stages", cut_stages(draft));
        return Err(Misfit::Shape(title));
    };
    let plan = plan(axes, draft, &cuts)?;
    let formed = &parts.forms[usize::from(draft.form)];
    let prepared = PreparedPlan::new(
        &formed.profile,
        &parts.links,
        &axes.kinds,
        &formed.runtime,
        &plan,
    )?;
    let (step_s, breakdown) = prepared.step_with_breakdown(scratch);
    let stages = 0..draft.pipeline as usize;
    let peak = stages.map(|stage| prepared.peak_memory_bytes(stage)).max();
    Ok(FeasiblePlan {
        draft: *draft,
        // What depends on the offer is said by who knows it.
        nodes: Box::default(),
        on_spot: false,
        steps: parts.target.steps(draft.batch),
        step_s,
        communication_s: breakdown.activations_s + breakdown.gradients_s,
        inside_s: breakdown.inside_s,
        compute_s: breakdown.compute_s + breakdown.update_s,
        bubble_share: breakdown.bubble_share() as f32,
        peak_gib: (peak.unwrap_or(0) as f64 / GIB) as f32,
        may_not_fit: prepared.may_not_fit,
        state_bytes: prepared.checkpoint_bytes as f64,
        cuts: cuts.into(),
        // It is known with the names of all.
        key: WorkloadKey::from_name(&parts.name).configuration(0),
    })
}
