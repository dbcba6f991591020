use super::{Block, CompetitionUnit};
use scavsim_experiment::{Case, Plan};

#[derive(Debug)]
pub(crate) struct Places {
    repeats: u64,
    /// Units of each block before those of the plan.
    firsts: Vec<usize>,
}

impl Places {
    /// Adds the search problems of a plan under each policy to the blocks. `part`: number of the half of the configurations,
    /// from 1; 0: all.
    pub(crate) fn open(blocks: &mut [Block], plan: &Plan, part: u32, repeats: u64) -> Places {
        let firsts = blocks.iter().map(|block| block.units.len()).collect();
        let unit = |arena: usize, policy: usize| CompetitionUnit {
            scenario: plan.scenario.clone(),
            workload: plan.arena_name(arena),
            program: plan.program(arena).to_owned(),
            policy: plan.policies[policy].name.clone(),
            part,
            may_fail: plan.limits.max_miss.unwrap_or(0.0),
        };
        let units: Vec<CompetitionUnit> = (0..plan.arena_count())
            .flat_map(|arena| (0..plan.policies.len()).map(move |policy| (arena, policy)))
            .map(|(arena, policy)| unit(arena, policy))
            .collect();
        for block in blocks.iter_mut() {
            if block.repeats == repeats && plan.objectives.contains(&block.objective) {
                block.units.extend_from_slice(&units);
                for entry in &mut block.entries {
                    entry.units.resize_with(block.units.len(), Default::default);
                }
            }
        }
        Places { repeats, firsts }
    }

    /// The block of a case and its unit there; `None` if it is not compared.
    pub(crate) fn block_and_unit(
        &self,
        blocks: &[Block],
        plan: &Plan,
        case: Case,
    ) -> Option<(usize, usize)> {
        let objective = plan.objectives[case.objective];
        let mut all = blocks.iter();
        let block = all.position(|b| b.objective == objective && b.repeats == self.repeats)?;
        let unit = self.firsts[block] + case.arena * plan.policies.len() + case.policy;
        Some((block, unit))
    }
}
