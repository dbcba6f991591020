use super::super::sources::{Embedded, Sources, embedded};
use super::delay::Delay;
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};

pub const FILE: &str = "data/clouds/delays/restart.csv";
pub(crate) const TABLE: &str = include_str!("../../../../../data/clouds/delays/restart.csv");

/// How long a worker takes to join the training of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Restart {
    pub model: String,
    /// On a VM that has just started: libraries and data are loaded.
    pub cold: Delay,
    /// On a VM that has trained before.
    pub warm: Delay,
}

impl Restart {
    pub fn name(&self) -> String {
        self.model.to_lowercase().replace(' ', "-")
    }

    /// The embedded times, the smallest model first, and what is wrong with them; a test keeps that empty.
    pub fn embedded() -> (&'static [Restart], Diagnostics) {
        static ALL: Embedded<Vec<Restart>> = Embedded::new(|| embedded(TABLE, read));
        (&ALL.0, ALL.1.clone())
    }
}

fn read(text: &str, sources: &Sources, d: &mut Diagnostics) -> Vec<Restart> {
    let file = Source::new(FILE, text);
    let columns = ["model", "start", "mean_s", "sd_s", "runs", "source"];
    let table = Table::read(&file, &columns, &[], d);
    // Model, its first row, cold and warm time.
    let mut found: Vec<(&str, _, [Option<Delay>; 2])> = Vec::new();
    for row in table.iter().flat_map(Table::rows) {
        sources.check(&row, d);
        row.whole_number("runs", 1.., d);
        let delay = Delay::read(&row, d);
        let start = row.known("start", &[0, 1], |at| ["cold", "warm"][at], d);
        let (Some(model), Some(start), Some(delay)) = (row.text("model", d), start, delay) else {
            continue;
        };
        let at = found.iter().position(|(known, ..)| *known == model);
        let at = at.unwrap_or_else(|| {
            found.push((model, row.span("model"), [None; 2]));
            found.len() - 1
        });
        if found[at].2[start].replace(delay).is_some() {
            let title = format!("two such times of `{model}`");
            row.report("start", title, "given before", d);
        }
    }
    let mut all = Vec::new();
    for (model, place, times) in found {
        match times {
            [Some(cold), Some(warm)] => all.push(Restart {
                model: model.to_owned(),
                cold,
                warm,
            }),
            _ => {
                let title = format!("`{model}` has only one of cold and warm");
                d.error_at(&file, place, title, "expected both");
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::sources::tests::sources;
    use crate::tests::is_told_at;

    #[test]
    fn restarts_are_those_measured() {
        let (all, wrong) = Restart::embedded();
        assert!(wrong.is_empty(), "{}", wrong.render(false));
        let times = all.iter().map(|r| (r.cold.mean_s(), r.warm.mean_s()));
        let times: Vec<(f64, f64)> = times.collect();
        let measured = [
            (75.6, 14.79),
            (78.74, 19.04),
            (89.11, 29.44),
            (90.83, 30.56),
        ];
        assert_eq!(times, measured);
    }

    #[test]
    fn mistakes_are_all_told_with_their_places() {
        let text = "model,start,mean_s,sd_s,runs,source\n\
                    a,hot,1,0,1,s\n\
                    a,cold,1,0,0,s\n\
                    a,cold,1,0,1,t\n\
                    ,warm,1,0,1,s\n";
        let mut d = Diagnostics::default();
        read(text, &sources(), &mut d);
        is_told_at(FILE, "2:3 3:1 3:12 4:3 4:14 5:1", &d);
    }
}
