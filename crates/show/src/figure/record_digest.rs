//! The data that figures and pages need of records, collected in one pass: the size does not depend on the number of cases.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::io;

use super::axis_means::AxisMeans;
use super::place::{Chooser, Outcome, Place};
use scavsim_base::stats::RunningMedian;
use scavsim_experiment::{Group, OwnedRecord, Record, Sink, Status, Summary, Tasks};

/// Maximum number of chosen configurations; others are only counted.
const MOST_CHOSEN: usize = 2_000;
/// Maximum number of cases for inspection.
const MOST_CASES: u64 = 500;
/// Maximum number of separate reasons of failed cases.
const MOST_REASONS: usize = 20;
/// Quantiles of the interval of runs.
pub const ENDS: [f64; 2] = [0.05, 0.95];

pub struct RecordDigest {
    summary: Summary,
    all: Vec<Outcomes>,
    /// Index after the outcomes of the last record.
    next: usize,
    rule: Rule,
    /// Cases that the rule selects.
    pub cases: Vec<OwnedRecord>,
    /// Chosen configurations with their expected time and cost.
    pub chosen: Vec<ChosenPoint>,
    pub axes: AxisMeans,
    /// Indices of the chosen configurations by their hash.
    known: HashMap<u64, usize>,
    /// Whether there were more than the maximum.
    pub is_cut: bool,
    pub count: u64,
    /// Reasons of cases without a result, with their number.
    pub reasons: BTreeMap<String, u64>,
    /// Cases by the provenance of their choice: measured, interpolated, extrapolated.
    pub provenance: BTreeMap<String, u64>,
}

/// The outcomes of the cases of one setting, workload, policy, objective and strategy.
pub struct Outcomes {
    pub setting: String,
    pub workload: String,
    pub pricing: String,
    pub objective: String,
    pub strategy: String,
    time_h: RunningMedian,
    cost_usd: RunningMedian,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChosenPoint {
    pub setting: String,
    pub workload: String,
    pub pricing: String,
    pub place: Place,
}

/// Selects cases to keep: all if there are few, otherwise those with a low scrambled number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    below: u64,
    of: u64,
}

impl Rule {
    fn for_cases(cases: u64) -> Rule {
        Rule {
            below: MOST_CASES,
            of: cases.max(MOST_CASES),
        }
    }

    /// Whether a case is kept. Numbers are scrambled, because consecutive cases cycle through strategies, policies and
    /// objectives.
    pub fn keeps(self, case: u64) -> bool {
        let scrambled = case.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        // The kept share of all cases, as a share of 2^32.
        u128::from(scrambled) * u128::from(self.of) < u128::from(self.below) << 32
    }
}

impl Outcomes {
    pub fn ends(&mut self) -> Outcome {
        Outcome {
            time_h: ends(&mut self.time_h),
            cost_usd: ends(&mut self.cost_usd),
        }
    }

    fn is_of(&self, record: &Record<'_>) -> bool {
        self.strategy == record.strategy
            && self.pricing == record.pricing
            && self.objective == record.objective
            && self.workload == record.workload
            && self.setting == record.setting
    }
}

fn ends(values: &mut RunningMedian) -> Option<[f64; 2]> {
    Some([values.quantile(ENDS[0])?, values.quantile(ENDS[1])?])
}

impl RecordDigest {
    /// An empty digest, for a run of `cases` cases; `across_vms` if every VM type is searched separately.
    pub fn new(cases: u64, across_vms: bool, tasks: Tasks) -> RecordDigest {
        RecordDigest {
            summary: Summary::new(None, across_vms, tasks),
            all: Vec::new(),
            next: 0,
            rule: Rule::for_cases(cases),
            cases: Vec::new(),
            chosen: Vec::new(),
            axes: AxisMeans::default(),
            known: HashMap::new(),
            is_cut: false,
            count: 0,
            reasons: BTreeMap::new(),
            provenance: BTreeMap::new(),
        }
    }

    /// Whether only some of the cases are kept.
    pub fn is_sample(&self) -> bool {
        self.rule.of > self.rule.below
    }

    pub fn finish(&mut self) -> (Vec<Group>, Vec<Outcomes>) {
        let groups = std::mem::take(&mut self.summary).finish_usual();
        (groups, std::mem::take(&mut self.all))
    }

    /// The outcomes of a record. Records cycle through the groups, so it is the next one, or again an early one.
    fn outcomes(&mut self, record: &Record<'_>) -> &mut Outcomes {
        let is_it = |at: &usize| self.all.get(*at).is_some_and(|one| one.is_of(record));
        let at = Some(self.next).filter(|at| is_it(at));
        let at = at.or_else(|| (0..self.all.len()).rev().find(is_it));
        let at = at.unwrap_or_else(|| {
            self.all.push(Outcomes {
                setting: record.setting.to_owned(),
                workload: record.workload.to_owned(),
                pricing: record.pricing.to_owned(),
                objective: record.objective.to_owned(),
                strategy: record.strategy.to_owned(),
                time_h: RunningMedian::new(),
                cost_usd: RunningMedian::new(),
            });
            self.all.len() - 1
        });
        self.next = at + 1;
        &mut self.all[at]
    }

    fn note_choice(&mut self, record: &Record<'_>) {
        let (Some(time_h), Some(cost_usd)) = (record.expected_time_h, record.expected_cost_usd)
        else {
            return;
        };
        let mut hasher = DefaultHasher::new();
        (record.setting, record.workload, record.pricing).hash(&mut hasher);
        record.chosen_vm.hash(&mut hasher);
        (
            record.chosen_workers,
            record.chosen_batch,
            record.chosen_other,
        )
            .hash(&mut hasher);
        let key = hasher.finish();
        if let Some(at) = self.known.get(&key) {
            self.chosen[*at].note(record);
            return;
        }
        if self.chosen.len() == MOST_CHOSEN {
            self.is_cut = true;
            return;
        }
        self.known.insert(key, self.chosen.len());
        let place = Place {
            vm: record.chosen_vm.map(str::to_owned),
            workers: record.chosen_workers,
            batch: record.chosen_batch,
            other: record.chosen_other.map(str::to_owned),
            time_h,
            cost_usd,
            provenance: record.provenance.unwrap_or_default().to_owned(),
            is_allowed: true,
            ..Place::default()
        };
        let mut point = ChosenPoint {
            setting: record.setting.to_owned(),
            workload: record.workload.to_owned(),
            pricing: record.pricing.to_owned(),
            place,
        };
        point.note(record);
        self.chosen.push(point);
    }
}

impl ChosenPoint {
    fn note(&mut self, record: &Record<'_>) {
        let is_it = |one: &&mut Chooser| {
            one.strategy == record.strategy && one.objective == record.objective
        };
        let by = &mut self.place.by;
        match by.iter_mut().find(is_it) {
            Some(one) => one.cases += 1,
            None => by.push(Chooser {
                strategy: record.strategy.to_owned(),
                objective: record.objective.to_owned(),
                cases: 1,
            }),
        }
    }
}

impl Sink for RecordDigest {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.count += 1;
        self.summary.push_record(record)?;
        let outcomes = self.outcomes(record);
        if let (Some(time_h), Some(cost_usd)) = (record.time_h, record.cost_usd) {
            outcomes.time_h.add(time_h);
            outcomes.cost_usd.add(cost_usd);
        }
        self.note_choice(record);
        self.axes.add(record);
        match record.status {
            Status::Ok => {
                if let Some(provenance) = record.provenance {
                    count(&mut self.provenance, provenance, usize::MAX);
                }
            }
            Status::Failed => count(&mut self.reasons, &record.reason, MOST_REASONS),
        }
        if self.rule.keeps(record.case) {
            self.cases.push(record.clone().into_owned());
        }
        Ok(())
    }
}

/// Counts a word; words after the first `most` are counted together.
fn count(words: &mut BTreeMap<String, u64>, word: &str, most: usize) {
    if let Some(count) = words.get_mut(word) {
        *count += 1;
        return;
    }
    let word = if words.len() < most { word } else { "others" };
    *words.entry(word.to_owned()).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_cases_are_all_kept_and_of_many_about_as_many_as_are_said_from_all_turns() {
        let kept = |cases: u64| {
            let rule = Rule::for_cases(cases);
            (0..cases).filter(|case| rule.keeps(*case)).count()
        };
        assert_eq!(kept(MOST_CASES), MOST_CASES as usize);
        let cases = 1_010_000;
        let about = kept(cases) as f64 / MOST_CASES as f64;
        assert!((0.9..1.1).contains(&about), "{about}");
        for turn in 0..15 {
            let rule = Rule::for_cases(cases);
            let own = (0..cases).filter(|case| case % 15 == turn && rule.keeps(*case));
            let share = own.count() as f64 * 15.0 / MOST_CASES as f64;
            assert!((0.5..1.5).contains(&share), "{turn}: {share}");
        }
    }
}
