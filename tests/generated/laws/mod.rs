//! Laws that hold in every scenario. A law reports its violations.
//!
//! - [`records`]: figures of single rows, and comparisons of rows. [`money`]: bills under prices derived from each other.
//! - [`neighbours`]: two values of a key compared. [`fidelities`]: figures that no fidelity may change. [`traces`]: traces against bills.
//! - [`bytes`]: threads, shards, files that include others, settings, more replicas, fewer strategies.

pub mod bytes;
pub mod fidelities;
pub mod neighbours;
pub mod records;
pub mod traces;

use std::cell::Cell;

use crate::draft::Draft;
use crate::luck::Luck;
use crate::money;
use crate::program::{Not, Program};
use crate::rows::Row;

/// A violated law.
#[derive(Debug, Clone)]
pub struct Breach {
    pub law: &'static str,
    /// Place and size of the violation.
    pub said: String,
}

/// Number of runs of a scenario that may be given up as too slow; laws that need more are skipped then.
const MOST_SLOW: u64 = 2;

/// A scenario under test, with its records.
pub struct Trial<'a> {
    pub program: &'a Program,
    pub draft: &'a Draft,
    pub rows: &'a [Row],
    /// Number of compared means.
    pub comparisons: &'a Cell<u64>,
    /// Number of runs that were given up as too slow.
    pub slow: &'a Cell<u64>,
}

impl Trial<'_> {
    /// Random numbers of this law, equal for each trial of the scenario.
    pub fn luck(&self, law: u64) -> Luck {
        Luck::new(law, self.draft.number)
    }

    /// The records of a changed draft; nothing if it is too slow, or no longer valid.
    pub fn run(&self, draft: &Draft, jobs: usize) -> Result<Option<Vec<Row>>, Breach> {
        // A scenario that was too slow twice will be too slow again.
        if self.slow.get() >= MOST_SLOW {
            return Ok(None);
        }
        self.take(self.program.run(draft, jobs))
    }

    /// The stated error of its expectations; nothing if that is too slow.
    pub fn stated_error(&self) -> Result<Option<f64>, Breach> {
        self.take(self.program.stated_error(self.draft))
    }

    pub fn take<T>(&self, found: Result<T, Not>) -> Result<Option<T>, Breach> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(Not::Refused(_)) => Ok(None),
            Err(Not::TooSlow) => {
                self.slow.set(self.slow.get() + 1);
                Ok(None)
            }
            Err(Not::Crashed(said)) => Err(Breach {
                law: "no crash",
                said,
            }),
        }
    }
}

/// The result of a law.
pub type Found = Result<(), Breach>;

/// A law of single rows and groups, or one that runs the scenario in other ways.
type Law = (&'static str, fn(&Trial<'_>) -> Found);

/// All laws by name.
pub const LAWS: &[Law] = &[
    (
        "figures exist, are finite and not below nothing",
        records::are_figures,
    ),
    (
        "the parts of a bill are the bill",
        records::parts_are_the_bill,
    ),
    (
        "credit for a search only helps",
        records::net_is_within_gross,
    ),
    (
        "nobody is expected to beat the oracle",
        records::oracle_is_best,
    ),
    (
        "who knows all luck is not beaten by the oracle",
        records::clairvoyant_is_best,
    ),
    (
        "a choice that is worse in both is not right",
        records::dominated_is_wrong,
    ),
    (
        "a choice keeps the limits that it was made within",
        records::limits_are_kept,
    ),
    ("bills follow their prices", money::bills_follow_prices),
    (
        "a bill is VM-hours times the price of one",
        money::bill_is_vm_hours,
    ),
    (
        "another seed, the same verdict on limits",
        records::limits_do_not_depend_on_luck,
    ),
    (
        "the same in every fidelity, and as expected",
        fidelities::agree,
    ),
    ("the trace is that of the bill", traces::agree),
    ("the same for every number of threads", bytes::threads),
    ("shards put together are the run", bytes::shards),
    ("the same by another build", bytes::beside),
    ("an included file is as if written out", bytes::include),
    ("a setting is a scenario", bytes::settings),
    ("a replica is the same among more", bytes::replicas),
    ("a strategy is the same beside others", bytes::strategies),
    (
        "what is worse is never better, and a hair is none",
        neighbours::are_as_they_should,
    ),
];

/// A violation with its description.
pub fn breach(law: &'static str, said: String) -> Found {
    Err(Breach { law, said })
}

/// Every law that a scenario violates.
pub fn broken(trial: &Trial<'_>, only: Option<&str>) -> Vec<Breach> {
    let laws = LAWS
        .iter()
        .filter(|(name, _)| only.is_none_or(|only| only == *name));
    let found = laws.filter_map(|(name, law)| {
        let mut breach = law(trial).err()?;
        breach.law = name;
        Some(breach)
    });
    found.collect()
}
