use super::super::prices::Market;
use super::super::sources::{Embedded, Sources, embedded};
use super::delay::Delay;
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};

pub const FILE: &str = "data/clouds/delays/startup.csv";
pub(crate) const TABLE: &str = include_str!("../../../../../data/clouds/delays/startup.csv");

/// How long a VM takes to start. A replacement takes as long: 70 s right after a loss, 68 s later (Li, Walls & Guo, ICDCS
/// 2020).
#[derive(Debug, Clone, PartialEq)]
pub struct Startup {
    pub provider: String,
    pub gpu: String,
    pub market: Market,
    pub region: String,
    pub delay: Delay,
    pub source_keys: String,
}

impl Startup {
    /// Name of the measurement in scenarios: provider, GPU and region.
    pub fn name(&self) -> String {
        format!("{}-{}-{}", self.provider, self.gpu, self.region).to_lowercase()
    }

    pub fn embedded() -> (&'static [Startup], Diagnostics) {
        static ALL: Embedded<Vec<Startup>> = Embedded::new(|| embedded(TABLE, read));
        (&ALL.0, ALL.1.clone())
    }

    pub fn measured(
        provider: &str,
        gpu: &str,
        market: Market,
        region: &str,
    ) -> Option<&'static Startup> {
        let mut all = Startup::embedded().0.iter();
        all.find(|s| {
            (&*s.provider, &*s.gpu, s.market, &*s.region) == (provider, gpu, market, region)
        })
    }
}

fn read(text: &str, sources: &Sources, d: &mut Diagnostics) -> Vec<Startup> {
    let file = Source::new(FILE, text);
    let columns = [
        "provider", "gpu", "market", "region", "mean_s", "sd_s", "vms", "source",
    ];
    let table = Table::read(&file, &columns, &[], d);
    let mut all: Vec<Startup> = Vec::new();
    for row in table.iter().flat_map(Table::rows) {
        let is_sourced = sources.check(&row, d);
        row.whole_number("vms", 1.., d);
        let delay = Delay::read(&row, d);
        let market = Market::read(&row, d);
        let mut text = |column| row.text(column, d).map(str::to_owned);
        let names = (text("provider"), text("gpu"), text("region"));
        let ((Some(provider), Some(gpu), Some(region)), Some(market), Some(delay), true) =
            (names, market, delay, is_sourced)
        else {
            continue;
        };
        let startup = Startup {
            provider,
            gpu,
            market,
            region,
            delay,
            source_keys: row.optional_text("source").unwrap_or_default().to_owned(),
        };
        let key = |s: &Startup| {
            (
                s.provider.clone(),
                s.gpu.clone(),
                s.market,
                s.region.clone(),
            )
        };
        if all.iter().any(|before| key(before) == key(&startup)) {
            let title = "two times for the same VMs";
            row.report_line(title, "given before", d);
        }
        all.push(startup);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::sources::tests::sources;
    use crate::tests::is_told_at;

    #[test]
    fn spot_vms_take_longer_to_start_as_measured() {
        let (all, wrong) = Startup::embedded();
        assert!(wrong.is_empty(), "{}", wrong.render(false));
        assert_eq!(all.len(), 8);
        let seconds = |gpu, market| {
            let found = Startup::measured("gcp", gpu, market, "us-east1");
            found.map(|s| s.delay.mean_s())
        };
        assert_eq!(seconds("K80", Market::OnDemand), Some(75.56));
        assert_eq!(seconds("K80", Market::Spot), Some(80.65));
        assert_eq!(seconds("P100", Market::Spot), Some(91.88));
        assert_eq!(seconds("V100", Market::Spot), None);
    }

    #[test]
    fn mistakes_are_all_told_with_their_places() {
        let text = "provider,gpu,market,region,mean_s,sd_s,vms,source\n\
                    gcp,K80,spott,r,80,1,3,s\n\
                    gcp,K80,spot,r,0,-1,0,t\n\
                    gcp,K80,spot,r,80,1,3,s\n\
                    gcp,K80,spot,r,90,1,3,s\n";
        let mut d = Diagnostics::default();
        read(text, &sources(), &mut d);
        is_told_at(FILE, "2:9 3:16 3:18 3:21 3:23 5:1", &d);
    }
}
