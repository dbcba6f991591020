//! The truths about a list of configurations, all at once or, of very many, each when first asked for. A truth takes half a
//! kilobyte and a microsecond; what a search must know of all of a million is kept in 24 bytes.

use std::ops::Index;
use std::sync::{Arc, OnceLock};

use scavsim_data::configuration::Configuration;
use scavsim_data::usage::RentedVms;
use scavsim_data::workload::{Reach, Workload};

use super::Setup;
use super::sizes::Builder;
use super::truth::Truth;
use crate::training::barrier_waits::BarrierWaits;
use crate::training::variation::Variation;

/// Configurations from which each truth is made when it is first asked for, where nothing can happen to a cluster.
pub(super) const VERY_MANY: usize = 20_000;

#[derive(Debug, Clone)]
pub struct Truths(AtHand);

#[derive(Debug, Clone)]
enum AtHand {
    All(Vec<Truth>),
    Asked(Box<LazyTruths>),
}

/// What is known of all of very many configurations, and the truths about those that were asked for.
#[derive(Debug, Clone)]
pub(super) struct LazyTruths {
    workload: Workload,
    reach: Reach,
    variation: Variation,
    waits: BarrierWaits,
    setup: Setup,
    /// VM shapes by the numbers that briefs have, each with the number of its VM type.
    shapes: Vec<(Arc<str>, u16)>,
    briefs: Vec<Brief>,
    /// Whether a formula tells the mean step of all of them.
    by_formula: bool,
    pages: Vec<OnceLock<Page>>,
}

type Page = Box<[OnceLock<Box<Truth>>]>;

/// Configurations of a page.
const PAGE: usize = 256;

/// What is kept of a configuration whose truth nobody asked for.
#[derive(Debug, Clone, Copy)]
pub struct Brief {
    pub(super) shape: u32,
    pub vms: u32,
    pub(super) workers: u32,
    pub batch: u32,
    pub expected_time_s: f64,
}

impl LazyTruths {
    pub(super) fn new(
        builder: &Builder<'_>,
        shapes: Vec<(Arc<str>, u16)>,
        briefs: Vec<Brief>,
        by_formula: bool,
    ) -> LazyTruths {
        let pages = briefs.len().div_ceil(PAGE);
        LazyTruths {
            workload: builder.workload.clone(),
            reach: builder.reach.clone(),
            variation: builder.variation.clone(),
            waits: builder.waits.clone(),
            setup: builder.setup.clone(),
            shapes,
            briefs,
            by_formula,
            pages: (0..pages).map(|_| OnceLock::new()).collect(),
        }
    }

    fn truth_at(&self, place: usize) -> &Truth {
        let page =
            self.pages[place / PAGE].get_or_init(|| (0..PAGE).map(|_| OnceLock::new()).collect());
        page[place % PAGE].get_or_init(|| Box::new(self.make(self.briefs[place])))
    }

    fn make(&self, brief: Brief) -> Truth {
        let (vm, number) = &self.shapes[brief.shape as usize];
        let configuration = Configuration {
            vm: Arc::clone(vm),
            workers: brief.workers,
            batch: brief.batch,
        };
        let builder = Builder {
            workload: &self.workload,
            reach: &self.reach,
            variation: &self.variation,
            waits: &self.waits,
            setup: &self.setup,
        };
        let built = builder.build(&configuration, &mut RentedVms::default());
        let mut built = built.expect("it was built when its brief was written");
        for group in &mut built.cluster.groups {
            group.vm = *number;
        }
        Truth::new(&self.workload, &configuration, built)
    }
}

impl Truths {
    pub(super) fn all(truths: Vec<Truth>) -> Truths {
        Truths(AtHand::All(truths))
    }

    pub(super) fn from_lazy(asked: LazyTruths) -> Truths {
        Truths(AtHand::Asked(Box::new(asked)))
    }

    pub fn len(&self) -> usize {
        match &self.0 {
            AtHand::All(truths) => truths.len(),
            AtHand::Asked(asked) => asked.briefs.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, in the order of the list; of very many those are made that nobody asked for.
    pub fn iter(&self) -> impl Iterator<Item = &Truth> + Clone {
        (0..self.len()).map(|place| &self[place])
    }

    /// What is known of a configuration without its truth, and the number of its VM type; `None` where all truths are there.
    #[inline]
    pub fn brief(&self, place: usize) -> Option<(&Brief, u16)> {
        match &self.0 {
            AtHand::All(_) => None,
            AtHand::Asked(asked) => {
                let brief = &asked.briefs[place];
                Some((brief, asked.shapes[brief.shape as usize].1))
            }
        }
    }

    #[doc(hidden)]
    pub fn made(&self) -> usize {
        match &self.0 {
            AtHand::All(truths) => truths.len(),
            AtHand::Asked(asked) => {
                let pages = asked.pages.iter().filter_map(OnceLock::get);
                pages
                    .flatten()
                    .filter(|truth| truth.get().is_some())
                    .count()
            }
        }
    }

    /// Truths that tell what may happen to any cluster: all, or of very many, to which nothing can, the first.
    pub fn kinds(&self) -> impl Iterator<Item = &Truth> + Clone {
        let count = match &self.0 {
            AtHand::All(truths) => truths.len(),
            AtHand::Asked(asked) => asked.briefs.len().min(1),
        };
        (0..count).map(|place| &self[place])
    }

    pub fn may_change(&self) -> bool {
        self.kinds().any(|truth| truth.cluster.may_change())
    }

    pub fn are_told_by_formula(&self) -> bool {
        match &self.0 {
            AtHand::All(truths) => (truths.iter()).all(|truth| truth.cluster.is_told_by_formula()),
            AtHand::Asked(asked) => asked.by_formula,
        }
    }
}

impl Index<usize> for Truths {
    type Output = Truth;

    #[inline]
    fn index(&self, place: usize) -> &Truth {
        match &self.0 {
            AtHand::All(truths) => &truths[place],
            AtHand::Asked(asked) => asked.truth_at(place),
        }
    }
}
