use super::Situation;
use crate::formation::Formation;
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "re-plan",
    what: "The job changes to the plan that is worth most on present and predicted VMs, with a pause; state that no node has a copy of is lost.",
    formula: "the plan with most steps until the horizon, by dynamic programming over the predicted spans",
    source: "Parcae (Duan et al., NSDI 2024)",
    example: "parallel.reaction.policy = \"re-plan\"",
};

pub(super) const GOES_ON: bool = true;

pub(super) fn next(situation: &Situation<'_>) -> Option<Formation> {
    let (best, replicas) = super::worth::best(&situation.prospect)?;
    Some(Formation {
        at: situation.prospect.fastest[best].at,
        replicas,
        doubled: None,
        redundant: false,
    })
}
