use std::collections::HashMap;
use std::sync::Arc;

/// A VM type on the terms that a job rents it on.
///
/// ```
/// # use scavsim_data::face as scavsim;
/// use scavsim::RentedVmType;
///
/// let vm = RentedVmType::as_priced("e2-standard-4");
/// assert_eq!((vm.vm, vm.on_spot), ("e2-standard-4", None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RentedVmType<'a> {
    pub vm: &'a str,
    /// Whether as a spot VM; `None` where only the policy says on which terms.
    pub on_spot: Option<bool>,
}

impl<'a> RentedVmType<'a> {
    /// On the terms of the policy.
    pub fn as_priced(vm: &'a str) -> Self {
        RentedVmType { vm, on_spot: None }
    }
}

/// A rented VM on the terms of the policy, kept with the configurations that rent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RentedVm {
    pub name: Arc<str>,
    /// Whether as a spot VM; `None` where only the price says on which terms.
    pub on_spot: Option<bool>,
}

/// VM types by number, in the order in which they were first named.
#[derive(Debug, Clone, Default)]
pub struct RentedVms {
    all: Vec<RentedVm>,
    places: HashMap<(Arc<str>, Option<bool>), u16>,
    last: usize,
}

impl RentedVms {
    /// The number of a VM type on these terms, new if not named before. A scenario is checked to have fewer than 65,536.
    pub fn number(&mut self, vm: &str, on_spot: Option<bool>) -> u16 {
        let is_it = |known: &RentedVm| &*known.name == vm && known.on_spot == on_spot;
        if self.all.get(self.last).is_some_and(is_it) {
            return self.last as u16;
        }
        let own = RentedVm {
            name: vm.into(),
            on_spot,
        };
        self.number_of(own)
    }

    /// Adds those of `others` that it does not know; the numbers here, by the numbers there.
    pub fn extend(&mut self, others: RentedVms) -> Vec<u16> {
        let others = others.all.into_iter();
        others.map(|vm| self.number_of(vm)).collect()
    }

    fn number_of(&mut self, vm: RentedVm) -> u16 {
        let next = self.all.len() as u16;
        let place = self.places.entry((Arc::clone(&vm.name), vm.on_spot));
        let place = *place.or_insert(next);
        if place == next {
            self.all.push(vm);
        }
        self.last = usize::from(place);
        place
    }

    pub fn into_all(self) -> Vec<RentedVm> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_one_number_on_each_of_its_terms_and_parts_are_told_theirs() {
        let mut all = RentedVms::default();
        let asked = [("a", None), ("b", None), ("a", Some(true)), ("a", None)];
        let numbers = asked.map(|(vm, on_spot)| all.number(vm, on_spot));
        assert_eq!(numbers, [0, 1, 2, 0]);
        let mut part = RentedVms::default();
        assert_eq!(part.number("c", None), 0);
        assert_eq!(part.number("a", Some(true)), 1);
        assert_eq!(all.extend(part), [3, 2]);
        let names: Vec<_> = all.into_all().into_iter().map(|vm| vm.name).collect();
        assert_eq!(names.iter().map(|name| &**name).collect::<String>(), "abac");
    }
}
