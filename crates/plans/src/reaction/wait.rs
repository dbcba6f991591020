use super::Situation;
use crate::formation::Formation;
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "wait",
    what: "The job waits until another VM is in the place of a lost one, and all go back to the last checkpoint.",
    formula: "",
    source: "usual",
    example: "parallel.reaction.policy = \"wait\"",
};

pub(super) const GOES_ON: bool = false;

pub(super) fn next(situation: &Situation<'_>) -> Option<Formation> {
    let all = situation.there.iter().all(|is_there| *is_there);
    all.then_some(situation.whole)
}
