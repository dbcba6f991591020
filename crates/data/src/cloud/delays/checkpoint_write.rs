use std::sync::LazyLock;

use super::super::sources::{Embedded, Sources, embedded};
use super::delay::Delay;
use scavsim_base::rng::{Stream, UnitLogNormal};
use scavsim_base::stats::Line;
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};

pub const FILE: &str = "data/clouds/delays/checkpoint.csv";
pub(crate) const TABLE: &str = include_str!("../../../../../data/clouds/delays/checkpoint.csv");

/// Seconds to write a checkpoint: base_s + per_mb_s·MB, times a log-normal factor with mean 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckpointWrite {
    pub base_s: f64,
    pub per_mb_s: f64,
    factor: UnitLogNormal,
}

impl CheckpointWrite {
    /// With a, b (both at least 0, not both 0) and the coefficient of variation of single writes.
    pub fn new(base_s: f64, per_mb_s: f64, cv: f64) -> Option<Self> {
        let legal = |x: f64| x.is_finite() && x >= 0.0;
        let is_legal = [base_s, per_mb_s, cv].into_iter().all(legal) && base_s + per_mb_s > 0.0;
        is_legal.then(|| CheckpointWrite {
            base_s,
            per_mb_s,
            factor: UnitLogNormal::from_cv(cv),
        })
    }

    /// Least squares through what was measured of 6 to 204 MB, and what is wrong with the table; a test keeps that empty.
    pub fn embedded() -> (Option<CheckpointWrite>, Diagnostics) {
        static FITTED: LazyLock<Option<CheckpointWrite>> = LazyLock::new(|| fit(&MEASURED.0));
        (*FITTED, MEASURED.1.clone())
    }

    pub fn mean_s(self, mb: f64) -> f64 {
        self.base_s + self.per_mb_s * mb
    }

    /// Seconds of one write of so many MB; one draw, none without spread.
    pub fn sample(self, mb: f64, stream: &mut Stream) -> f64 {
        self.mean_s(mb) * self.factor.sample(stream)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredWrites {
    pub model: String,
    pub mb: f64,
    pub delay: Delay,
    sd_s: f64,
}

impl MeasuredWrites {
    pub fn embedded() -> &'static [MeasuredWrites] {
        &MEASURED.0
    }
}

static MEASURED: Embedded<Vec<MeasuredWrites>> = Embedded::new(|| embedded(TABLE, read));

fn fit(measured: &[MeasuredWrites]) -> Option<CheckpointWrite> {
    let line = Line::fit(measured.iter().map(|m| (m.mb, m.delay.mean_s())))?;
    // Spread of single writes of one model; what the line misses of a model is no luck.
    let squares: f64 = (measured.iter())
        .map(|m| m.sd_s / m.delay.mean_s())
        .map(|cv| cv * cv)
        .sum();
    let cv = (squares / measured.len() as f64).sqrt();
    CheckpointWrite::new(line.intercept, line.slope, cv)
}

/// All models have equally many writes, so the line through their means is that through the writes.
fn read(text: &str, sources: &Sources, d: &mut Diagnostics) -> Vec<MeasuredWrites> {
    let file = Source::new(FILE, text);
    let columns = ["model", "mb", "mean_s", "sd_s", "writes", "source"];
    let table = Table::read(&file, &columns, &[], d);
    let mut all = Vec::new();
    for row in table.iter().flat_map(Table::rows) {
        sources.check(&row, d);
        let model = row.text("model", d);
        row.whole_number("writes", 1.., d);
        let (mb, delay) = (row.number("mb", 0.0..=1e6, d), Delay::read(&row, d));
        let (Some(model), Some(mb), Some(delay)) = (model, mb, delay) else {
            continue;
        };
        if let Some(sd_s) = row.number("sd_s", 0.0.., d) {
            all.push(MeasuredWrites {
                model: model.to_owned(),
                mb,
                delay,
                sd_s,
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::sources::tests::sources;
    use crate::tests::{is_told_at, near, stream};
    use scavsim_base::stats::Welford;

    /// 0.0199 s/MB and 3.652 s, as fitted to the 100 single writes elsewhere, to their last digits.
    #[test]
    fn the_line_is_that_through_all_hundred_writes() {
        let (write, wrong) = CheckpointWrite::embedded();
        assert!(wrong.is_empty(), "{}", wrong.render(false));
        let write = write.expect("it is fitted");
        near(write.per_mb_s, 0.0199, 5e-5);
        near(write.base_s, 3.652, 5e-4);
        let mut stream = stream(1);
        let mut seen = Welford::default();
        for _ in 0..10_000 {
            seen.add(write.sample(100.0, &mut stream));
        }
        let error = seen.standard_deviation() / 100.0;
        near(seen.mean(), write.mean_s(100.0), 4.0 * error);
        let cv = seen.standard_deviation() / seen.mean();
        assert!((0.04..0.07).contains(&cv), "{cv}");
    }

    #[test]
    fn mistakes_are_all_told_with_their_places() {
        let text = "model,mb,mean_s,sd_s,writes,source\n,-1,0,-1,0,t\n";
        let mut d = Diagnostics::default();
        assert!(fit(&read(text, &sources(), &mut d)).is_none());
        is_told_at(FILE, "2:1 2:2 2:5 2:7 2:10 2:12", &d);
    }
}
