//! Links: bandwidth by message size, inside of nodes and between them.

use std::fmt;
use std::sync::Arc;

use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    InNode,
    BetweenNodes,
    BetweenZones,
}

scavsim_base::named! {
    Scope:
    InNode = "in-node", BetweenNodes = "between-nodes", BetweenZones = "between-zones",
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::InNode => "inside a node",
            Scope::BetweenNodes => "between nodes",
            Scope::BetweenZones => "between zones",
        })
    }
}

/// How long a message takes: `latency_s + bytes / bandwidth(bytes)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// a, b, c: bandwidth in GB/s is a x² + b x + c with x = log2(size in 10⁶ bytes).
    coefficients: [f64; 3],
    /// Maximum, in GB/s.
    cap: f64,
    latency_s: f64,
}

impl Curve {
    /// Bytes per second of a message. Never less for a larger one: fits apply from 10⁶ bytes to their peak.
    pub fn bandwidth(&self, bytes: f64) -> f64 {
        let [a, b, c] = self.coefficients;
        let mut x = libm::log2(bytes * 1e-6).max(0.0);
        if a < 0.0 {
            x = x.min(-b / (2.0 * a)).max(0.0);
        }
        ((a * x + b) * x + c).min(self.cap) * 1e9
    }

    pub fn seconds(&self, bytes: f64) -> f64 {
        if bytes <= 0.0 {
            return 0.0;
        }
        self.latency_s + bytes / self.bandwidth(bytes)
    }
}

#[derive(Debug, Clone)]
pub struct Links {
    gpus: Vec<Arc<str>>,
    /// By key, rising.
    rows: Vec<(Key, Curve)>,
}

/// Scope, GPU, the GPU at the other end if it matters, and the number of GPUs of a node that send at once.
type Key = (Scope, u16, Option<u16>, u32);

const ABOVE_ZERO: (std::ops::Bound<f64>, std::ops::Bound<f64>) = (
    std::ops::Bound::Excluded(0.0),
    std::ops::Bound::Included(1e9),
);

/// A link with equal seconds per byte for messages of every size.
#[derive(Debug, Clone, PartialEq)]
pub struct UniformLink {
    pub scope: Scope,
    pub gpu: Arc<str>,
    /// GPUs of a node that send at once.
    pub gpus: u32,
    /// 10⁹ bytes per second.
    pub gb_per_s: f64,
    pub latency_s: f64,
}

impl Links {
    pub fn uniform(given: impl IntoIterator<Item = UniformLink>) -> Links {
        let given: Vec<UniformLink> = given.into_iter().collect();
        let mut gpus: Vec<Arc<str>> = given.iter().map(|link| Arc::clone(&link.gpu)).collect();
        gpus.sort_unstable();
        gpus.dedup();
        let mut links = Links {
            gpus,
            rows: Vec::with_capacity(given.len()),
        };
        for link in given {
            let Some(gpu) = links.gpu(&link.gpu) else {
                continue;
            };
            let curve = Curve {
                coefficients: [0.0, 0.0, link.gb_per_s],
                cap: link.gb_per_s,
                latency_s: link.latency_s,
            };
            links.rows.push(((link.scope, gpu, None, link.gpus), curve));
        }
        links.rows.sort_unstable_by_key(|(key, _)| *key);
        links
    }

    /// Reads `scope,gpu,gpus` with `a,b,c,cap_gb_per_s` or `gb_per_s`, and optional `to`, `latency_s`.
    pub fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Links> {
        let before = diagnostics.len();
        let optional = ["to", "a", "b", "c", "cap_gb_per_s", "gb_per_s", "latency_s"];
        let table = Table::read(source, &["scope", "gpu", "gpus"], &optional, diagnostics)?;
        let mut found = Vec::new();
        for row in table.rows() {
            let scope = row.known("scope", &Scope::ALL, Scope::name, diagnostics);
            let gpu = row.name("gpu", diagnostics);
            let to = (row.optional_text("to")).and_then(|_| row.name("to", diagnostics));
            let gpus = row.whole_number("gpus", 1..=1_000_000, diagnostics);
            let curve = curve(&row, diagnostics);
            if let (Some(scope), Some(gpu), Some(gpus), Some(curve)) = (scope, gpu, gpus, curve) {
                found.push((scope, gpu, to, gpus as u32, curve, row));
            }
        }
        let mut names: Vec<Arc<str>> = (found.iter())
            .flat_map(|(_, gpu, to, ..)| [Some(*gpu), *to])
            .flatten()
            .map(Arc::from)
            .collect();
        names.sort_unstable();
        names.dedup();
        let mut links = Links {
            gpus: names,
            rows: Vec::new(),
        };
        for (scope, gpu, to, gpus, curve, row) in found {
            let Some(gpu) = links.gpu(gpu) else { continue };
            let key = (scope, gpu, to.and_then(|to| links.gpu(to)), gpus);
            match links.rows.binary_search_by_key(&key, |(k, _)| *k) {
                Ok(_) => row.report_line(
                    "this link appears twice in the table",
                    "keep one of the two rows",
                    diagnostics,
                ),
                Err(place) => links.rows.insert(place, (key, curve)),
            }
        }
        (diagnostics.len() == before).then_some(links)
    }

    /// The number of a GPU, if any link of it is known.
    pub fn gpu(&self, name: &str) -> Option<u16> {
        let place = self.gpus.binary_search_by(|gpu| (**gpu).cmp(name)).ok()?;
        u16::try_from(place).ok()
    }

    /// The link of `gpus` GPUs of one node that send at once: the row with the most GPUs up to this number.
    fn row(&self, scope: Scope, gpu: u16, to: Option<u16>, gpus: u32) -> Option<&Curve> {
        let after = self
            .rows
            .partition_point(|(key, _)| *key <= (scope, gpu, to, gpus));
        // Fewer than were ever measured: they need at most the time of the fewest measured ones.
        let candidates = [after.checked_sub(1), Some(after)];
        let mut rows = candidates
            .into_iter()
            .flatten()
            .filter_map(|n| self.rows.get(n));
        let of_link = |key: &Key| (key.0, key.1, key.2) == (scope, gpu, to);
        rows.find(|(key, _)| of_link(key)).map(|(_, curve)| curve)
    }

    /// Seconds until `bytes` have arrived from a node in which `gpus.0` GPUs send at once at one with `gpus.1`: the slower
    /// end decides, unless the table has a row for the two.
    pub fn seconds(
        &self,
        scope: Scope,
        ends: (u16, u16),
        gpus: (u32, u32),
        bytes: f64,
    ) -> Option<f64> {
        let pair = (self.row(scope, ends.0, Some(ends.1), gpus.0))
            .or_else(|| self.row(scope, ends.1, Some(ends.0), gpus.1));
        if let Some(curve) = pair {
            return Some(curve.seconds(bytes));
        }
        let from = self.row(scope, ends.0, None, gpus.0)?.seconds(bytes);
        let to = self.row(scope, ends.1, None, gpus.1)?.seconds(bytes);
        Some(from.max(to))
    }
}

/// From coefficients, or constant for all sizes.
fn curve(row: &Row<'_>, diagnostics: &mut Diagnostics) -> Option<Curve> {
    let before = diagnostics.len();
    let latency_s = row.optional_number("latency_s", 0.0..=1e3, diagnostics);
    let constant = row.optional_text("gb_per_s").is_some();
    let given = ["a", "b", "c", "cap_gb_per_s"];
    let any = given
        .iter()
        .find(|column| row.optional_text(column).is_some());
    let curve = match (constant, any) {
        (true, None) => {
            let bandwidth = row.number("gb_per_s", ABOVE_ZERO, diagnostics);
            bandwidth.map(|b| ([0.0, 0.0, b], b))
        }
        (false, Some(_)) => {
            let figures = ["a", "b", "c"].map(|c| row.number(c, -1e9..=1e9, diagnostics));
            let cap = row.number("cap_gb_per_s", ABOVE_ZERO, diagnostics);
            match (figures, cap) {
                ([Some(a), Some(b), Some(c)], Some(cap)) => Some(([a, b, c], cap)),
                _ => None,
            }
        }
        (true, Some(column)) => {
            let title = format!("a link with `gb_per_s` and `{column}`");
            let label = "give either `gb_per_s`, or `a`, `b`, `c` and `cap_gb_per_s`";
            row.report(column, title, label, diagnostics);
            None
        }
        (false, None) => {
            let label = "give `gb_per_s`, or `a`, `b`, `c` and `cap_gb_per_s`";
            row.report_line("a link without coefficients", label, diagnostics);
            None
        }
    };
    let (coefficients, cap) = curve?;
    let curve = Curve {
        coefficients,
        cap,
        latency_s: latency_s.unwrap_or(0.0),
    };
    // With a < 0 and the peak as the largest x, bandwidth only rises from here.
    let [a, b, c] = coefficients;
    if c <= 0.0 || (a >= 0.0 && b < 0.0) {
        let title =
            "the bandwidth of these coefficients is not above 0 and rising from 10^6 bytes on";
        let label = "expected c above 0, and b of at least 0 unless a is below 0";
        row.report_line(title, label, diagnostics);
    }
    (diagnostics.len() == before).then_some(curve)
}
