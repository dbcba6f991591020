use std::collections::HashMap;
use std::sync::Arc;

use super::lifetime::Law;
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};

/// F(t) = 1 − exp(−t/m), m the mean life in hours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential {
    mean_h: f64,
}

impl Declared for Exponential {
    const DECLARATION: Declaration = Declaration {
        name: "exponential",
        what: "VMs are lost each by itself, at any age alike.",
        formula: "F(t) = 1 − exp(−t/m), m the mean life in hours",
        source: "probes of 2020",
        example: "spot.lifetime = \"gcp-2019-exponential\"",
    };
}

impl Exponential {
    pub fn new(mean_h: f64) -> Option<Self> {
        (mean_h.is_finite() && mean_h > 0.0).then_some(Exponential { mean_h })
    }
}

impl Law for Exponential {
    fn cdf(&self, age_h: f64) -> f64 {
        -libm::expm1(-age_h / self.mean_h)
    }

    fn density(&self, age_h: f64) -> f64 {
        libm::exp(-age_h / self.mean_h) / self.mean_h
    }

    fn inverse_cdf(&self, u: f64) -> f64 {
        -self.mean_h * libm::log1p(-u)
    }

    fn ageless_rate(&self) -> Option<f64> {
        Some(1.0 / self.mean_h)
    }

    fn mean_until(&self, age_h: f64) -> f64 {
        self.mean_h * self.cdf(age_h)
    }
}

pub(super) fn read(source: &Arc<Source>, d: &mut Diagnostics) -> HashMap<String, Exponential> {
    let table = Table::read(source, &["name", "mean_h"], &["observed_h", "losses"], d);
    let mut laws = HashMap::new();
    for row in table.iter().flat_map(Table::rows) {
        row.optional_number("observed_h", 0.0.., d);
        row.optional_number("losses", 0.0.., d);
        let cells = (row.text("name", d), row.number("mean_h", 1e-6..=1e9, d));
        let (Some(name), Some(mean_h)) = cells else {
            continue;
        };
        if (laws.insert(name.to_owned(), Exponential { mean_h })).is_some() {
            row.named_before("name", d);
        }
    }
    laws
}
