use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::prices::Market;
use super::super::sources::{Embedded, Sources, embedded};
use super::lifetime::{Law, Lifetime};
use super::{Batch, Bathtub, EmpiricalLaw, Exponential, Trace};
use super::{batch, bathtub, empirical_law, exponential, trace};
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source, closest};

/// Ages in hours at which losses are counted: the first that a trace is long enough for.
const AGES_H: [f64; 4] = [24.0, 12.0, 6.0, 3.0];

pub const FILE: &str = "data/clouds/lifetimes/models.csv";
pub(crate) const TABLE: &str = include_str!("../../../../../data/clouds/lifetimes/models.csv");

type LifetimeTableReader = fn(&Arc<Source>, &mut Diagnostics) -> HashMap<String, LifetimeEntry>;

macro_rules! table {
    ($name:literal) => {
        (
            concat!("data/clouds/lifetimes/", $name),
            include_str!(concat!("../../../../../data/clouds/lifetimes/", $name)),
        )
    };
}

/// Kind, file and text of its figures, how they are read.
const KINDS: [(Declaration, (&str, &str), LifetimeTableReader); 5] = [
    (
        Exponential::DECLARATION,
        table!("exponential.csv"),
        |s, d| all(exponential::read(s, d), law),
    ),
    (Bathtub::DECLARATION, table!("bathtub.csv"), |s, d| {
        all(bathtub::read(s, d), law)
    }),
    (
        EmpiricalLaw::DECLARATION,
        table!("empirical.csv"),
        |s, d| all(empirical_law::read(s, d), law),
    ),
    (Batch::DECLARATION, table!("trace.csv"), |s, d| {
        all(batch::read(s, d), LifetimeEntry::Batch)
    }),
    (Trace::DECLARATION, table!("trace.csv"), |s, d| {
        all(trace::read(s, d), LifetimeEntry::Trace)
    }),
];

pub fn laws() -> impl Iterator<Item = &'static Declaration> {
    KINDS.iter().map(|(declared, ..)| declared)
}

#[derive(Debug, Clone)]
enum LifetimeEntry {
    Law(Arc<dyn Law>),
    Batch(Batch),
    Trace(Trace),
}

fn law(law: impl Law + 'static) -> LifetimeEntry {
    LifetimeEntry::Law(Arc::new(law))
}

fn all<F>(
    read: HashMap<String, F>,
    figures: fn(F) -> LifetimeEntry,
) -> HashMap<String, LifetimeEntry> {
    let all = read.into_iter();
    all.map(|(name, found)| (name, figures(found))).collect()
}

#[derive(Debug, Clone)]
pub enum Kind {
    /// Each by itself, by its age.
    Alone(Lifetime),
    /// Several at once, at random times.
    Batch(Batch),
    /// Several at once, as it was seen.
    Trace(Trace),
}

#[derive(Debug, Clone)]
pub struct Model {
    pub name: String,
    pub law: &'static str,
    pub kind: Kind,
    pub provider: String,
    pub market: Market,
    pub gpu: Option<String>,
    /// Where; none if several regions are pooled, or the source names none.
    pub region: Option<String>,
    /// Seconds from the provider's warning to the loss.
    pub notice_s: u64,
    pub source_keys: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}`scavsim list lifetimes` shows all {known}", .near.map_or(String::new(), |near| format!("did you mean `{near}`? ")))]
pub struct UnknownModel {
    pub name: String,
    pub near: Option<&'static str>,
    pub known: usize,
}

impl Model {
    pub fn embedded() -> (&'static [Model], Diagnostics) {
        static ALL: Embedded<Vec<Model>> = Embedded::new(|| embedded(TABLE, read));
        (&ALL.0, ALL.1.clone())
    }

    pub fn named(name: &str) -> Result<&'static Model, UnknownModel> {
        let models = Model::embedded().0;
        let found = models.iter().find(|m| m.name == name);
        found.ok_or_else(|| UnknownModel {
            name: name.to_owned(),
            near: closest(name, models.iter().map(|m| &*m.name)),
            known: models.len(),
        })
    }

    /// Mean hours until one of several machines is lost, each by itself: of an exponential law with as many losses as there are up to
    /// a day of age, cut off where the provider ends all; `None` where none is lost.
    pub fn mean_h_of_first(&self, machines: u32) -> Option<f64> {
        let lost = |age_h: &f64| Some((*age_h, self.lost_by(*age_h)?));
        let (age_h, lost) = AGES_H.iter().find_map(lost)?;
        let per_h = -libm::log1p(-lost.min(1.0 - 1e-9)) / age_h * f64::from(machines.max(1));
        let cap_h = match &self.kind {
            Kind::Alone(lifetime) => lifetime.cap_h(),
            Kind::Batch(_) | Kind::Trace(_) => f64::INFINITY,
        };
        let mean_h = if per_h > 0.0 {
            -libm::expm1(-per_h * cap_h) / per_h
        } else {
            cap_h
        };
        mean_h.is_finite().then_some(mean_h)
    }

    /// The life of one machine: by its law, or exponential where machines are lost together; `None` where none is lost.
    pub fn lifetime_of_one(&self) -> Option<Lifetime> {
        match &self.kind {
            Kind::Alone(lifetime) => Some(lifetime.clone()),
            Kind::Batch(_) | Kind::Trace(_) => {
                let law = Exponential::new(self.mean_h_of_first(1)?)?;
                Some(Lifetime::new(law, None))
            }
        }
    }

    /// P(a new VM is lost before `hours`), without those that a cap ends at that age; `None` where a trace is too short.
    pub fn lost_by(&self, hours: f64) -> Option<f64> {
        match &self.kind {
            Kind::Alone(lifetime) => Some(lifetime.cdf_before(hours)),
            Kind::Batch(batch) => Some(batch.lost_by(hours)),
            Kind::Trace(trace) => trace.lost_by(hours),
        }
    }
}

fn read(text: &str, sources: &Sources, d: &mut Diagnostics) -> Vec<Model> {
    let figures: Vec<HashMap<String, LifetimeEntry>> = (KINDS.iter())
        .map(|(_, (file, text), read)| read(&Source::new(*file, *text), d))
        .collect();
    let file = Source::new(FILE, text);
    let columns = [
        "name", "kind", "figures", "provider", "market", "gpu", "region", "cap_h", "notice_s",
        "source",
    ];
    let table = Table::read(&file, &columns, &[], d);
    let mut names = HashSet::new();
    let mut models = Vec::new();
    for row in table.iter().flat_map(Table::rows) {
        let is_sourced = sources.check(&row, d);
        let kind = kind(&row, &figures, d);
        let described = description(&row, kind, d);
        let name = row.optional_text("name");
        if let Some(name) = name.filter(|name| !names.insert(*name)) {
            let title = format!("two models are called `{name}`");
            row.report("name", title, "named before", d);
        }
        models.extend(described.filter(|_| is_sourced));
    }
    models
}

fn kind(
    row: &Row<'_>,
    figures: &[HashMap<String, LifetimeEntry>],
    d: &mut Diagnostics,
) -> Option<(&'static str, Kind)> {
    let cap_h = match row.optional_text("cap_h") {
        None => None,
        Some(_) => Some(row.number("cap_h", 1e-3..=1e6, d)?),
    };
    let places: [usize; KINDS.len()] = std::array::from_fn(|at| at);
    let at = row.known("kind", &places, |at| KINDS[at].0.name, d)?;
    let (Declaration { name: law, .. }, (figures_file, _), _) = KINDS[at];
    let column = match row.optional_text("figures") {
        Some(_) => "figures",
        None => "name",
    };
    let name = row.text(column, d)?;
    let Some(found) = figures[at].get(name) else {
        let near = closest(name, figures[at].keys().map(String::as_str));
        let label = near.map_or("not there".to_owned(), |near| {
            format!("did you mean `{near}`?")
        });
        let title = format!("{figures_file} has no `{name}`");
        row.report(column, title, label, d);
        return None;
    };
    let kind = match found.clone() {
        LifetimeEntry::Law(law) => Kind::Alone(Lifetime::shared(law, cap_h)),
        _ if cap_h.is_some() => {
            let title = format!("`cap_h` goes with lives of single VMs, not with `{law}`");
            row.report("cap_h", title, "expected an empty cell", d);
            return None;
        }
        LifetimeEntry::Batch(batch) => Kind::Batch(batch),
        LifetimeEntry::Trace(trace) => Kind::Trace(trace),
    };
    Some((law, kind))
}

fn description(
    row: &Row<'_>,
    kind: Option<(&'static str, Kind)>,
    d: &mut Diagnostics,
) -> Option<Model> {
    let market = Market::read(row, d);
    let (name, provider) = (row.text("name", d), row.text("provider", d));
    let notice_s = row.whole_number("notice_s", ..=1_000_000, d);
    let source_keys = row.optional_text("source")?;
    let (law, kind) = kind?;
    let optional = |column| row.optional_text(column).map(str::to_owned);
    Some(Model {
        name: name?.to_owned(),
        law,
        kind,
        provider: provider?.to_owned(),
        market: market?,
        gpu: optional("gpu"),
        region: optional("region"),
        notice_s: notice_s?,
        source_keys: source_keys.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::sources::tests::sources;
    use crate::tests::near;
    use scavsim_base::rng::{ModelKey, Purpose, Streams};
    use scavsim_base::stats::kolmogorov_smirnov_against;

    fn lifetime(name: &str) -> Lifetime {
        match &Model::named(name).expect("it is there").kind {
            Kind::Alone(lifetime) => lifetime.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_embedded_tables_are_sound_and_every_figure_is_used() {
        let (models, wrong) = Model::embedded();
        assert!(wrong.is_empty(), "{}", wrong.render(false));
        assert_eq!(models.len(), 39);
        for (_, (file, text), _) in KINDS {
            // Kinds may share a table.
            let of_file = KINDS.iter().filter(|(_, (own, _), _)| *own == file);
            let kinds: Vec<&str> = of_file.map(|(kind, ..)| kind.name).collect();
            let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
            for name in rows.filter_map(|line| line.split(',').next()) {
                let is_used = TABLE.lines().any(|line| {
                    let cells: Vec<&str> = line.split(',').collect();
                    cells.get(1).is_some_and(|kind| kinds.contains(kind))
                        && (cells[0] == name || cells[2] == name)
                });
                assert!(is_used, "{name} of {file}");
            }
        }
    }

    /// Forty thousand lives of each; one false alarm in ten thousand, at this fixed seed. Ties at the cap count once.
    #[test]
    fn drawn_lives_are_those_of_their_curves_atoms_included() {
        for model in Model::embedded().0 {
            let Kind::Alone(life) = &model.kind else {
                continue;
            };
            let purpose = Purpose::ModelLives(ModelKey::from_name(&model.name));
            let mut stream = Streams::new(11).stream(0, purpose);
            let lives: Vec<f64> = (0..40_000).map(|_| life.sample(&mut stream)).collect();
            let test = kolmogorov_smirnov_against(&lives, |t| life.cdf(t), |t| life.cdf_before(t));
            assert!(test.p_value > 1e-4, "{}: {test:?}", model.name);
            let rest = (0..10_000).map(|_| life.sample_rest(2.0, &mut stream));
            let rest: Vec<f64> = rest.collect();
            let left = life.survival(2.0);
            let cdf = |t: f64| 1.0 - life.survival(2.0 + t) / left;
            let before = |t: f64| {
                let counted = life.cdf_before(2.0 + t) - life.cdf(2.0);
                if t > 0.0 { counted / left } else { 0.0 }
            };
            let test = kolmogorov_smirnov_against(&rest, cdf, before);
            assert!(test.p_value > 1e-4, "{} from 2 h on: {test:?}", model.name);
        }
    }

    /// The censoring-aware curve as published beside the data, which ours is thinned from.
    #[test]
    fn the_default_curve_of_2019_is_the_censoring_aware_one() {
        let life = lifetime("gcp-2019");
        for (age, lost) in [
            (0.5, 0.1037),
            (1.0, 0.1493),
            (3.0, 0.2323),
            (6.0, 0.2764),
            (12.0, 0.3175),
            (20.0, 0.3669),
            (23.9, 0.3857),
            (24.1, 0.5609),
            (24.6, 0.9208),
        ] {
            near(life.cdf(age), lost, 0.005);
        }
    }

    /// A row per hour of age: GPU, region, VMs, share lost by 1, 6 and 24 h, as published.
    #[test]
    fn revocations_by_gpu_and_region_are_the_published_ones() {
        for (name, by_1h, by_6h, by_24h) in [
            ("gcp-k80-us-central1", 0.104, 0.167, 0.562),
            ("gcp-k80-us-west1", 0.042, 0.167, 0.229),
            ("gcp-k80-europe-west1", 0.400, 0.467, 0.667),
            ("gcp-k80-us-east1", 0.467, 0.467, 0.467),
            ("gcp-p100-us-central1", 0.267, 0.333, 0.533),
            ("gcp-p100-us-west1", 0.167, 0.433, 0.667),
            ("gcp-p100-europe-west1", 0.000, 0.167, 0.267),
            ("gcp-p100-us-east1", 0.200, 0.633, 0.700),
            ("gcp-v100-us-central1", 0.667, 0.667, 0.667),
            ("gcp-v100-us-west1", 0.300, 0.733, 0.733),
            ("gcp-v100-europe-west4", 0.067, 0.200, 0.433),
            ("gcp-v100-asia-east1", 0.233, 0.467, 0.467),
        ] {
            let life = lifetime(name);
            near(life.cdf(1.0), by_1h, 6e-4);
            near(life.cdf(6.0), by_6h, 6e-4);
            near(life.cdf_before(24.0), by_24h, 6e-4);
            assert_eq!(life.cdf(24.0), 1.0, "{name}");
        }
    }

    #[test]
    fn correlated_losses_are_those_of_their_traces() {
        for (name, per_vm_h, mean_vms, held) in [
            ("aws-2020-p3-batch", 0.61, 2.11, 24.0),
            ("aws-2020-g4dn-batch", 0.55, 1.54, 12.8),
        ] {
            let Kind::Batch(batch) = &Model::named(name).expect("it is there").kind else {
                panic!("{name} is a batch");
            };
            let found = batch.losses_per_h * batch.mean_vms / batch.held_vms;
            near(found, per_vm_h, 0.005);
            near(batch.mean_vms, mean_vms, 0.005);
            near(batch.held_vms, held, 0.05);
        }
    }

    #[test]
    fn mistakes_are_all_told_with_their_places() {
        let head = "name,kind,figures,provider,market,gpu,region,cap_h,notice_s,source\n";
        let text = format!(
            "{head}gcp-2019,empiric,,gcp,spot,,,,30,s\n\
             gcp-2020,empirical,,gcp,spot,,,0,30,s\n\
             gcp-2018,empirical,,gcp,spott,,,,30,s\n\
             gcp-2019-fit,bathtub,,gcp,spot,,,24,,t\n\
             gcp-2019-fit,batch,aws-2020-p3,,spot,,,24,30,s\n"
        );
        let mut d = Diagnostics::default();
        assert!(read(&text, &sources(), &mut d).is_empty());
        insta::assert_snapshot!(d.render(false));
    }

    #[test]
    fn mistakes_in_figures_are_told_with_their_places() {
        for (kind, head, rows, expected) in [
            ("exponential", "mean_h", "a,0\na,1\na,1", "2:3"),
            (
                "exponential",
                "mean_h",
                "a,1\na,1",
                "two rows are called `a`",
            ),
            ("bathtub", "a,tau1_h,tau2_h,b_h", "x,1.5,1,1,24", "2:3"),
            ("bathtub", "a,tau1_h,tau2_h,b_h", "y,0.4,0,1,24", "2:7"),
            ("empirical", "age_h,lost", "x,1,0.5\nx,1,0.6", "3:3"),
            ("empirical", "age_h,lost", "x,1,0.5\nx,2,0.4", "3:5"),
            ("empirical", "age_h,lost", "x,3,1.4", "2:5"),
            ("trace", "at_s,added,removed", "x,0,1,0\nx,0,1,0", "3:3"),
            ("trace", "at_s,added,removed", "x,0,1,0\nx,5,0,2", "3:7"),
            ("trace", "at_s,added,removed", "y,0,0,0", "`y` holds no VM"),
        ] {
            let mut d = Diagnostics::default();
            let mut kinds = KINDS.iter();
            let (_, _, read) = kinds.find(|(own, ..)| own.name == kind).expect(kind);
            let text = format!("name,{head}\n{rows}\n");
            read(&Source::new("f.csv", text), &mut d);
            let shown = d.render(false);
            assert!(shown.contains(expected), "{shown}");
        }
    }

    #[test]
    fn more_machines_are_lost_sooner_and_a_cap_ends_all() {
        let model = Model::named("gcp-2020-v100-probes").expect("it is there");
        let one = model.mean_h_of_first(1).expect("a mean");
        let eight = model.mean_h_of_first(8).expect("a mean");
        assert!(one <= 24.0 && eight < one, "{one} {eight}");
        let lost = model.lost_by(24.0).expect("known");
        let per_h = -(1.0 - lost).ln() / 24.0;
        let expected = (1.0 - (-24.0 * per_h).exp()) / per_h;
        assert!((one - expected).abs() < 1e-9, "{one} {expected}");
    }
}
